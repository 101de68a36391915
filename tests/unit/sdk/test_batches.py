"""Messages that share a frame: fewer frames, and nothing else is different."""

from typing import Any

import pytest

from pedelec import Pedelec, PedelecSession, batches
from tests.unit.sdk.scripted_core import ScriptedCore, ok, settle

pytestmark = pytest.mark.anyio


@pytest.fixture
async def core() -> ScriptedCore:
    return ScriptedCore()


async def session_of(core: ScriptedCore, handler: Any) -> PedelecSession:
    session = await Pedelec(host=core.host).create_session()
    session.on_tool("probe_tool", handler)
    core.frame_sizes.clear()
    return session


def test_messages_share_a_frame_until_it_is_full() -> None:
    short = ["{}"] * (batches.MOST_MESSAGES + 1)
    assert list(batches.join(short)) == ["\n".join(short[:-1]), "{}"]
    half = "x" * (batches.MOST_CHARS // 2)
    assert list(batches.join([half, half, "{}"])) == [f"{half}\n{half}", "{}"]


def test_a_long_message_goes_alone_and_all_keep_their_order() -> None:
    long = "x" * (batches.MOST_CHARS + 1)
    assert list(batches.join(["a", long, "b", "c"])) == ["a", long, "b\nc"]
    assert list(batches.join([])) == []


def test_a_frame_of_too_many_messages_is_left_whole() -> None:
    most = ["{}"] * batches.MOST_MESSAGES
    assert batches.split("\n".join(most)) == most
    too_many = "\n".join([*most, "{}"])
    assert batches.split(too_many) == [too_many]


async def test_calls_that_come_together_are_answered_together(core: ScriptedCore) -> None:
    core.batches = True
    await session_of(core, lambda args: args["n"])
    calls = [core.call_message(args={"n": number}) for number in range(3)]
    core.send(*calls)
    results = [await core.result_of(call["toolRequestId"]) for call in calls]
    assert (results, core.frame_sizes) == ([0, 1, 2], [3])


async def test_a_core_that_does_not_read_batches_gets_frames_of_one(core: ScriptedCore) -> None:
    await session_of(core, lambda: 1)
    core.send(core.call_message(), core.call_message())
    await settle()
    assert core.frame_sizes == [1, 1]


async def test_what_a_handler_does_later_waits_for_nobody(core: ScriptedCore) -> None:
    core.batches = True

    async def later(args: Any) -> Any:
        await settle()
        return args["n"]

    await session_of(core, later)
    calls = [core.call_message(args={"n": number}) for number in range(2)]
    core.send(*calls)
    assert [await core.result_of(call["toolRequestId"]) for call in calls] == [0, 1]
    assert core.frame_sizes == [1, 1]


async def test_one_message_that_cannot_be_read_keeps_no_other_from_being_taken(core: ScriptedCore) -> None:
    core.batches = True
    await session_of(core, lambda: 1)
    call = core.call_message()
    core.send({"type": "nobody-knows"}, call)
    assert await core.result_of(call["toolRequestId"]) == 1


async def test_a_message_that_the_sdk_itself_fails_on_keeps_no_other_from_being_taken(
    core: ScriptedCore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    core.batches = True
    session = await session_of(core, lambda: 1)

    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(session, "_cancel", fail)
    call = core.call_message()
    core.send(
        {"type": "tool_cancel", "sessionId": "s1", "seq": 1, "toolRequestId": "t0", "reason": "x"}, call
    )
    assert await core.result_of(call["toolRequestId"]) == 1
    assert "a fault of ours" in caplog.text


async def test_a_client_that_is_closed_by_one_of_them_takes_no_more(core: ScriptedCore) -> None:
    core.batches = True
    client = Pedelec(host=core.host)
    session = await client.create_session()
    ran = []

    def close() -> None:
        ran.append(1)
        client.close()

    session.on_tool("probe_tool", close)
    core.send(core.call_message(), core.call_message())
    await settle()
    assert (len(ran), core.sent("submit_tool_result")) == (1, [])


async def test_a_new_connection_asks_the_new_core_what_it_reads(core: ScriptedCore) -> None:
    core.batches = True
    session = await session_of(core, lambda: 1)
    core.batches = False
    joined = core.sent("resume_session")
    core.answers["resume_session"] = lambda frame: ok(frame, sessionId=session.session_id)
    core.transport.core_close("cut")
    await core.until(lambda: len(core.sent("resume_session")) > len(joined))
    await settle()
    core.frame_sizes.clear()
    core.send(core.call_message(), core.call_message())
    await settle()
    assert core.frame_sizes == [1, 1]
