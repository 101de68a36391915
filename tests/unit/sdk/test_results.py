"""Whatever a handler does, the agent gets one answer."""

import asyncio
import logging
from collections.abc import Generator
from typing import Any

import pytest

from pedelec import Code, PedelecError, ToolError
from pedelec.doors import Door
from pedelec.json_text import RawJson
from tests.harness.tables import each_row
from tests.unit.sdk.scripted_core import ScriptedCore, answer_of, open_session


class Awaitable:
    def __await__(self) -> Generator[Any, None, int]:
        yield from asyncio.sleep(0).__await__()
        return 7


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class QuitterError(Exception):
    def __str__(self) -> str:
        raise SystemExit(1)


class Custom(BaseException):
    pass


class BrokenEnvelopeError(PedelecError):
    def to_wire(self, door: Door | None = None) -> dict[str, Any]:
        raise RuntimeError("no envelope")


class HalfMadeError(PedelecError):
    def __init__(self) -> None:
        """Leaves out what the base class needs."""


class UntouchableError(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise SystemExit(name)


def recurse() -> Any:
    return recurse()


def raiser(error: BaseException) -> Any:
    def handler() -> None:
        raise error

    return handler


def async_raiser(error: BaseException) -> Any:
    async def handler() -> None:
        await asyncio.sleep(0)
        raise error

    return handler


def future_of(value: object) -> Any:
    def handler() -> asyncio.Future[object]:
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, value)
        return future

    return handler


async def inner() -> int:
    return 7


async def outer() -> Any:
    return inner()


@pytest.mark.parametrize(
    "handler",
    [
        lambda: 7,
        inner,
        outer,
        lambda: asyncio.ensure_future(inner()),
        Awaitable,
        lambda: RawJson("7"),
        future_of(7),
        future_of(RawJson("7")),
    ],
)
async def test_a_value_and_whatever_can_be_awaited_for_it_are_one_answer(handler: Any) -> None:
    assert await answer_of(handler) == 7


@pytest.mark.parametrize("make", [raiser, async_raiser])
@each_row(
    ("error", "told"),
    [
        (ValueError(), "ValueError"),
        (ValueError("  \n "), "ValueError"),
        (KeyError("city"), "KeyError: 'city'"),
        (asyncio.CancelledError(), "CancelledError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (GeneratorExit(), "GeneratorExit"),
        (StopAsyncIteration(), "StopAsyncIteration"),
        (MemoryError(), "MemoryError"),
        (RecursionError("maximum recursion depth exceeded"), "RecursionError"),
        (Custom("x"), "Custom: x"),
        (MuteError(), "MuteError"),
        (QuitterError(), "QuitterError"),
        (ExceptionGroup("several", [ValueError("a")]), "ValueError: a"),
        (OSError(2, "No such file", "/home/someone/secret.txt"), "FileNotFoundError: No such file"),
        (RuntimeError("see /home/someone/app.py"), "RuntimeError: see app.py"),
        (RuntimeError("\ud800"), "RuntimeError: ?"),
    ],
)
async def test_everything_that_can_be_raised_is_a_handler_error(
    make: Any, error: BaseException, told: str
) -> None:
    envelope = (await answer_of(make(error)))["error"]
    assert envelope["code"] == "TOOL_HANDLER_ERROR"
    assert envelope["class"] == "permanent"
    assert envelope["effects"] == "unknown"
    assert envelope["message"].startswith(told)
    assert envelope["details"] == {"type": told.partition(":")[0]}


async def test_stop_iteration_of_a_coroutine_is_a_handler_error_too() -> None:
    assert (await answer_of(async_raiser(StopIteration())))["error"]["code"] == "TOOL_HANDLER_ERROR"
    assert (await answer_of(raiser(StopIteration())))["error"]["details"] == {"type": "StopIteration"}


async def test_a_recursion_overflow_is_a_handler_error_and_the_next_call_works() -> None:
    core = ScriptedCore()
    session = await open_session(core)
    session.on_tool("deep", recurse)
    session.on_tool("flat", lambda: 1)
    assert (await core.call("deep"))["error"]["details"] == {"type": "RecursionError"}
    assert await core.call("flat") == 1


async def test_a_long_message_is_cut() -> None:
    envelope = (await answer_of(raiser(ValueError("x" * 100_000))))["error"]
    assert len(envelope["message"]) <= 2_000


async def test_the_traceback_goes_to_the_log_without_arguments(caplog: pytest.LogCaptureFixture) -> None:
    def handler(args: Any) -> None:
        raise ValueError("broken")

    await answer_of(handler, {"secret": "hunter2"})
    (record,) = [item for item in caplog.records if item.levelno == logging.ERROR]
    assert record.name == "pedelec"
    assert record.exc_info is not None
    assert "in handler" in caplog.text
    assert "hunter2" not in caplog.text


async def test_a_tool_error_keeps_its_code_and_is_no_event(caplog: pytest.LogCaptureFixture) -> None:
    core = ScriptedCore()
    session = await open_session(core)
    heard: list[Any] = []
    session.on_error(heard.append)
    session.on_tool("probe_tool", raiser(ToolError("NO_SELECTION", "Select first.", error_class="userInput")))
    envelope = (await core.call())["error"]
    assert envelope == {
        "code": "NO_SELECTION",
        "class": "userInput",
        "message": "Select first.",
        "recoverySteps": ["Tell the user what is needed. When the user says that it is done: probe_tool()"],
        "retryable": False,
    }
    assert heard == []
    assert not [record for record in caplog.records if record.exc_info]


async def test_an_error_result_that_is_returned_is_never_rewritten() -> None:
    core = ScriptedCore()
    session = await open_session(core)
    heard: list[Any] = []
    session.on_error(heard.append)
    result = {"error": {"message": "Select first.", "code": "NO_SELECTION", "odd": [1]}}
    session.on_tool("probe_tool", lambda: result)
    answer = await core.call()
    assert answer == result
    assert list(answer["error"]) == ["message", "code", "odd"]
    assert heard == []


@pytest.mark.parametrize(
    ("handler", "code", "extra"),
    [
        (lambda: {"rows": [{1, 2}]}, "TOOL_RESULT_NOT_SERIALIZABLE", {"path": "$.rows[0]", "type": "set"}),
        (lambda: "x" * 2_000, "TOOL_RESULT_TOO_LARGE", {"size": 2_002, "limit": 1_000}),
        (lambda: RawJson('"' + "x" * 2_000 + '"'), "TOOL_RESULT_TOO_LARGE", {"size": 2_002}),
        (
            raiser(ToolError("MINE", "m", details={"at": [object()]})),
            "TOOL_RESULT_NOT_SERIALIZABLE",
            {"path": "$.error.details.at[0]", "type": "object"},
        ),
    ],
)
async def test_a_result_that_cannot_be_sent_is_an_answer_and_one_event(
    handler: Any, code: str, extra: dict[str, Any]
) -> None:
    core = ScriptedCore()
    session = await open_session(core, max_result_bytes=1_000)
    heard: list[Any] = []
    session.on_error(lambda error, ctx: heard.append((error, ctx)))
    session.on_tool("probe_tool", handler)
    call_id = core.send_call()
    envelope = (await core.result_of(call_id))["error"]
    assert envelope["code"] == code
    assert envelope["effects"] == "applied"
    assert extra.items() <= envelope["details"].items()
    ((error, ctx),) = heard
    assert error.code == Code.SUBMIT_TOOL_RESULT_FAILED
    assert {
        "cause": code,
        "tool": "probe_tool",
        "toolRequestId": call_id,
        **extra,
    }.items() <= error.details.items()
    assert (ctx.type, ctx.source) == ("sdk_error", "sdk")


async def test_the_lower_limit_holds() -> None:
    core = ScriptedCore()
    core.limits = {"maxResultBytes": 100}
    session = await open_session(core, max_result_bytes=1_000)
    session.on_tool("probe_tool", lambda: "x" * 200)
    assert (await core.call())["error"]["details"]["limit"] == 100


@pytest.mark.parametrize(
    "make", [lambda: BrokenEnvelopeError("X", "x"), HalfMadeError, UntouchableError], ids=["a", "b", "c"]
)
async def test_an_error_that_breaks_its_own_report_is_still_an_answer(make: Any) -> None:
    def handler() -> None:
        raise make()

    envelope = (await answer_of(handler))["error"]
    assert envelope["code"] == "TOOL_HANDLER_ERROR"
    assert envelope["message"] in ("BrokenEnvelopeError", "HalfMadeError", "UntouchableError")


async def test_a_domain_error_without_a_code_is_a_handler_error() -> None:
    envelope = (await answer_of(raiser(ToolError("", ""))))["error"]
    assert envelope["code"] == "TOOL_HANDLER_ERROR"
    assert envelope["message"]


class Endless:
    """Awaiting it gives another one, without a pause in which anything else could run."""

    def __await__(self) -> Generator[Any, None, Any]:
        yield from ()
        return Endless()


async def test_an_awaitable_without_end_is_refused() -> None:
    envelope = (await answer_of(Endless))["error"]
    assert (envelope["code"], envelope["details"]["type"]) == ("TOOL_RESULT_NOT_SERIALIZABLE", "Endless")


async def test_a_handler_that_cancels_its_own_task_is_answered() -> None:
    async def handler() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    assert (await answer_of(handler))["error"]["details"] == {"type": "CancelledError"}


async def test_a_handler_may_use_what_needs_a_task() -> None:
    async def handler() -> list[str]:
        told = []
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            told.append("timeout")
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        return [*told, "group"]

    assert await answer_of(handler) == ["timeout", "group"]


async def test_a_handler_that_does_not_wait_answers_in_the_same_turn() -> None:
    core = ScriptedCore()
    session = await open_session(core)

    async def handler() -> int:
        return 1

    session.on_tool("probe_tool", handler)
    turns: list[int] = []
    core.send_call()
    asyncio.get_running_loop().call_soon(turns.append, 1)
    await core.until(lambda: bool(core.sent("submit_tool_result")))
    # Turn 1 brings the call and takes the answer, turn 2 brings the answer to Core.
    assert turns == [1]
