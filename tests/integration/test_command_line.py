"""`pedelec-cli` → Core → page and back, with real processes and a page that speaks the wire protocol."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from pedelec.errors import Code
from pedelec.json_text import JsonObject, JsonValue
from pedelec.protocol import Limits, ToolCall, ToolCancel
from tests.harness import CliResult, CoreProcess, PageClient, tool

STRICT = tool(
    "move_shape",
    {
        "type": "object",
        "properties": {"shapeId": {"type": "string"}, "x": {"type": "number"}, "y": {"type": "number"}},
        "required": ["shapeId", "x", "y"],
        "additionalProperties": False,
    },
)


def call(core: CoreProcess, page: PageClient, name: str, args: str, result: JsonValue) -> CliResult:
    """Make a call and let the page answer it."""
    running = core.start_cli("tool-call", name, args)
    page.submit(page.receive(ToolCall), result)
    return running.finish()


def test_a_call_reaches_the_page_and_its_result_is_printed(core: CoreProcess, page: PageClient) -> None:
    session_id = page.create_session([STRICT])
    running = core.start_cli("tool-call", "move_shape", '{"shapeId":"s1","x":120,"y":80}')
    received = page.receive(ToolCall)
    assert received.session_id == session_id
    assert received.tool == "move_shape"
    assert received.args == {"shapeId": "s1", "x": 120, "y": 80}
    assert page.submit(received, {"shapeId": "s1", "x": 120, "y": 80}).ok
    done = running.finish()
    assert done.status == 0
    assert done.stderr == ""
    expected = '{"ok":true,"result":{"shapeId":"s1","x":120,"y":80},"invocationId":"%s"}\n'
    assert done.stdout.decode() == expected % received.tool_request_id


@pytest.mark.parametrize("text", ["null", "0", "false", '""', "[]", "{}", '{"error":{"code":"NO"}}', '"ä😀"'])
def test_every_result_is_printed_as_it_is(core: CoreProcess, page: PageClient, text: str) -> None:
    page.create_session([tool("probe")])
    done = call(core, page, "probe", "{}", json.loads(text))
    assert done.status == 0
    assert done.stdout.decode().startswith(f'{{"ok":true,"result":{text},"invocationId":"')


def test_a_character_that_breaks_a_line_is_printed_as_its_escape(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    done = call(core, page, "probe", "{}", "two\u2028lines")
    assert b'"result":"two\\u2028lines"' in done.stdout
    assert done.json["result"] == "two\u2028lines"


def test_a_result_of_the_full_size_is_printed_whole(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    result = "x" * (Limits().max_result_bytes - 2)
    assert call(core, page, "probe", "{}", result).json["result"] == result


def test_arguments_come_from_a_file(core: CoreProcess, page: PageClient, tmp_path: Path) -> None:
    page.create_session([tool("probe")])
    file = tmp_path / "args.json"
    file.write_text('{"text":"ä"}', encoding="utf-8")
    running = core.start_cli("tool-call", "probe", f"@{file}")
    received = page.receive(ToolCall)
    assert received.args == {"text": "ä"}
    page.submit(received, None)
    assert running.finish().status == 0


def test_arguments_come_from_stdin(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    args: JsonObject = {"text": "ä\n" * 100_000}
    running = core.start_cli("tool-call", "probe", "-", stdin=json.dumps(args, ensure_ascii=False).encode())
    received = page.receive(ToolCall)
    assert received.args == args
    page.submit(received, None)
    assert running.finish().status == 0


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "en_US.ISO-8859-1"])
def test_the_locale_changes_nothing(core: CoreProcess, page: PageClient, locale: str) -> None:
    page.create_session([tool("probe")])
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    running = core.start_cli("tool-call", "probe", '{"a":"ä😀"}', env=env)
    received = page.receive(ToolCall)
    assert received.args == {"a": "ä😀"}
    page.submit(received, "ö€")
    assert '"result":"ö€"'.encode() in running.finish().stdout


def test_options_may_stand_before_and_after_the_command(core: CoreProcess, page: PageClient) -> None:
    thread = page.create_session([tool("probe")])
    state = str(core.state_dir)
    for args in (
        ("--state-dir", state, "--thread-id", thread, "tool-spec", "probe"),
        ("tool-spec", "--thread-id", thread, "probe", f"--state-dir={state}"),
        ("tool-spec", f"--thread-id={thread}", "--", "probe"),
    ):
        assert core.cli(*args).json["result"]["name"] == "probe"


def test_a_misspelt_tool_is_answered_by_core_at_once(core: CoreProcess, page: PageClient) -> None:
    page.create_session([STRICT])
    done = core.cli("tool-call", "moveshape", "{}")
    assert done.status == 1
    assert done.error["code"] == Code.TOOL_NOT_FOUND
    assert done.error["suggestions"] == ["move_shape"]


def test_bad_arguments_are_answered_with_all_that_is_wrong(core: CoreProcess, page: PageClient) -> None:
    page.create_session([STRICT])
    done = core.cli("tool-call", "move_shape", '{"shape_id":"s1","x":"1"}')
    assert done.status == 1
    assert done.error["code"] == Code.TOOL_ARGS_INVALID
    paths = {violation["path"] for violation in done.error["details"]["violations"]}
    assert paths == {"/shapeId", "/y", "/x", "/shape_id"}


@pytest.mark.parametrize(
    "text", ["", "{", "{'a':1}", "[]", '{"a":1,"a":2}', '{"a":NaN}', '{"a":9007199254740993}']
)
def test_what_is_no_strict_json_object_never_reaches_the_page(
    core: CoreProcess, page: PageClient, text: str
) -> None:
    page.create_session([tool("probe")])
    done = core.cli("tool-call", "probe", text)
    assert done.status == 1
    assert done.error["code"] == Code.TOOL_ARGS_INVALID
    assert call(core, page, "probe", '{"next":true}', 1).json["result"] == 1


def test_arguments_over_the_limit_are_refused(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    done = core.cli("tool-call", "probe", "-", stdin=b'{"a":"' + b"x" * Limits().max_args_bytes + b'"}')
    assert done.error["code"] == Code.TOOL_ARGS_INVALID


def test_arguments_that_no_line_can_carry_are_answered_too(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    done = core.cli(
        "tool-call", "probe", "-", stdin=b'{"a":"' + b"\x01" * (Limits().max_args_bytes - 10) + b'"}'
    )
    assert done.status == 1
    assert done.error["code"] == Code.MESSAGE_TOO_LARGE


def test_the_limit_of_the_call_is_kept(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("slow")])
    running = core.start_cli("tool-call", "slow", "{}", "--timeout-ms", "50")
    received = page.receive(ToolCall)
    done = running.finish()
    assert done.status == 1
    assert done.error["code"] == Code.TOOL_TIMEOUT
    assert done.json["invocationId"] == received.tool_request_id
    assert page.receive(ToolCancel).reason == "timeout"
    assert not page.submit(received, "late").ok
    late = core.cli("tool-result", received.tool_request_id)
    assert (late.status, late.json["result"]) == (0, "late")


def test_the_limit_of_the_tool_is_kept(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("slow", timeoutMs=50)])
    assert core.cli("tool-call", "slow", "{}").error["details"]["timeoutMs"] == 50


def test_calls_of_one_session_run_side_by_side(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    running = [core.start_cli("tool-call", "probe", f'{{"n":{number}}}') for number in range(6)]
    received = [page.receive(ToolCall) for _ in running]
    for call_ in reversed(received):
        assert isinstance(call_.args, dict)
        page.submit(call_, call_.args)
    assert [call_.finish().json["result"] for call_ in running] == [{"n": number} for number in range(6)]


def test_without_a_page_the_thread_cannot_be_told(core: CoreProcess) -> None:
    done = core.cli("tool-call", "probe", "{}")
    assert done.status == 1
    assert done.error["code"] == Code.PEDELEC_THREAD_ID_NOT_FOUND


def test_of_several_sessions_one_has_to_be_named(core: CoreProcess, page: PageClient) -> None:
    first = page.create_session([tool("one")])
    with PageClient(core.url) as other:
        second = other.create_session([tool("two")])
        done = core.cli("tool-list")
        assert done.error["code"] == Code.PEDELEC_THREAD_ID_NOT_FOUND
        assert {thread["threadId"] for thread in done.error["details"]["threads"]} == {first, second}
        assert core.cli("tool-list", "--thread-id", second).json["result"]["tools"][0]["name"] == "two"
        named = core.cli("tool-list", env={"PEDELEC_THREAD_ID": first})
        assert named.json["result"]["tools"][0]["name"] == "one"
        assert len(core.cli("threads").json["result"]["threads"]) == 2
        other.end_session()


def test_a_thread_that_does_not_exist_is_told(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    for command in (("tool-call", "probe", "{}"), ("tool-list",), ("tool-spec", "probe")):
        assert core.cli(*command, "--thread-id", "nope").error["code"] == Code.THREAD_NOT_FOUND


def test_a_result_that_nobody_remembers_is_told(core: CoreProcess) -> None:
    done = core.cli("tool-result", "inv_nope")
    assert (done.status, done.error["code"]) == (1, Code.INVOCATION_NOT_FOUND)


def test_status_needs_no_page(core: CoreProcess) -> None:
    done = core.cli("status")
    assert done.status == 0
    assert done.json["result"]["coreInstanceId"] == core.runtime["coreInstanceId"]


def test_an_equal_call_before_the_answer_is_printed_runs_nothing(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    first = core.start_cli("tool-call", "probe", '{"a":1,"b":2}')
    received = page.receive(ToolCall)
    first.signal(signal.SIGSTOP)
    second = core.start_cli("tool-call", "probe", ' {"b":2.0, "a":1e0}')
    page.submit(received, "once")
    again = second.finish().json
    first.signal(signal.SIGCONT)
    assert again["joined"] if "joined" in again else again["replayed"]
    assert [first.finish().json["result"], again["result"]] == ["once", "once"]
    assert again["invocationId"] == received.tool_request_id


def test_an_answer_that_was_printed_is_not_given_again(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    for number in range(3):
        answer = call(core, page, "probe", "{}", number).json
        assert answer["result"] == number
        assert "replayed" not in answer


def test_an_answer_that_was_not_printed_is_given_again(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    running = core.start_cli("tool-call", "probe", "{}")
    received = page.receive(ToolCall)
    running.kill()
    page.submit(received, "kept")
    again = core.cli("tool-call", "probe", "{}").json
    assert (again["result"], again["replayed"]) == ("kept", True)


def test_ctrl_c_ends_the_command_and_not_the_call(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    running = core.start_cli("tool-call", "probe", "{}")
    received = page.receive(ToolCall)
    running.signal(signal.SIGINT)
    assert running.finish() == CliResult(130, b"", "")
    page.submit(received, "kept")
    assert core.cli("tool-call", "probe", "{}").json["replayed"]


def test_sigterm_ends_the_command_without_a_word(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    running = core.start_cli("tool-call", "probe", "{}")
    page.receive(ToolCall)
    running.signal(signal.SIGTERM)
    assert running.finish() == CliResult(-signal.SIGTERM, b"", "")


def test_a_broken_pipe_is_clean_and_the_answer_is_kept(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("probe")])
    running = core.start_cli("tool-call", "probe", "{}")
    stdout = running.process.stdout
    assert stdout is not None
    os.close(os.dup(stdout.fileno()))
    stdout.close()
    page.submit(page.receive(ToolCall), "kept")
    assert running.process.wait(20) == 141
    running.process.stdout = None
    assert running.finish().stderr == ""
    assert core.cli("tool-call", "probe", "{}").json["replayed"]


def test_a_closed_stdout_and_a_full_one_are_clean(core: CoreProcess) -> None:
    cli = core.start_cli("status").process.args
    assert isinstance(cli, list)
    for redirection, status, said in ((">&-", 141, ""), ("> /dev/full", 1, "No space left on device")):
        command = ["sh", "-c", f'"$@" {redirection}', "sh", *cli, "--state-dir", str(core.state_dir)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
        assert done.returncode == status
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_core_that_dies_during_the_call_is_told(own_core: CoreProcess) -> None:
    with PageClient(own_core.url) as page:
        page.create_session([tool("probe")])
        running = own_core.start_cli("tool-call", "probe", "{}")
        page.receive(ToolCall)
        own_core.kill()
        done = running.finish()
        assert done.status == 3
        assert done.error["code"] == Code.CORE_RUNTIME_UNAVAILABLE
        assert done.error["effects"] == "unknown"


def test_a_call_after_core_was_killed_is_told_that_it_died(own_core: CoreProcess) -> None:
    pid = own_core.process.pid
    own_core.kill()
    done = own_core.cli("status")
    assert done.status == 3
    assert f"process {pid} died" in done.error["message"]


def test_a_frozen_core_is_waited_for(own_core: CoreProcess) -> None:
    own_core.process.send_signal(signal.SIGSTOP)
    running = own_core.start_cli("status")
    with pytest.raises(subprocess.TimeoutExpired):
        running.process.wait(0.3)
    own_core.process.send_signal(signal.SIGCONT)
    assert running.finish().status == 0
