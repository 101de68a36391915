"""What calls cost, in things that can be counted: frames to the page, and batches of the journal."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from pedelec.json_text import JsonObject
from pedelec.protocol import (
    PROTOCOL_VERSION,
    CoreMessage,
    CreateSession,
    Hello,
    Message,
    ResultsConfirmed,
    SubmitToolResult,
    ToolCall,
    decode_from_core,
    encode,
)
from pedelec_core.agent_desk import AgentDesk, RunningCall, ToolCallRequest
from pedelec_core.hub import Hub
from pedelec_core.journal import Batch, Journal
from pedelec_core.page_desk import PageDesk
from tests.harness.approvers import EveryOrigin

pytestmark = pytest.mark.anyio

WAIT_SECONDS = 10

MOVE: JsonObject = {"name": "move", "description": "Move.", "argsSchema": {"type": "object"}}


class CountingJournal(Journal):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.writes = 0
        self.written = asyncio.Event()

    def write(self, batch: Batch) -> None:
        super().write(batch)
        self.writes += 1
        self.written.set()


class CountingPage:
    """A page with a session, whose frames are kept."""

    id = "connection"
    origin = "http://127.0.0.1:1"

    def __init__(self, hub: Hub) -> None:
        self.heard: list[CoreMessage] = []
        self.confirmed: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        self.desk = PageDesk(hub, EveryOrigin())
        self.desk.opened(self)
        self.say(Hello(protocol=PROTOCOL_VERSION, page_instance_id="page", sdk_version="0"))
        self.say(CreateSession(request_id="r0", guidance="", tools=[MOVE], auto_end_on_disconnect=True))
        hub.commits.commit()
        self.heard.clear()

    def send(self, text: str) -> None:
        message = decode_from_core(text)
        self.heard.append(message)
        if isinstance(message, ResultsConfirmed):
            self.confirmed.set_result(message.request_ids)

    def close(self, code: int, reason: str) -> None:
        assert reason == "Core stops"

    def batch(self) -> None:
        raise AssertionError("it has not said so")

    def probe(self) -> None:
        raise AssertionError("it answers")

    def cut(self) -> None:
        raise AssertionError("it reads")

    def say(self, message: Message) -> None:
        self.desk.frame(self, encode(message))

    def submit(self, call: CoreMessage, request_id: str) -> None:
        assert isinstance(call, ToolCall)
        ids = {"session_id": call.session_id, "tool_request_id": call.tool_request_id}
        self.say(SubmitToolResult(request_id=request_id, result=1, **ids))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[CountingJournal]:
    with CountingJournal(tmp_path) as opened:
        yield opened


@pytest.fixture
async def hub(journal: CountingJournal) -> AsyncIterator[Hub]:
    hub = Hub(journal=journal)
    yield hub
    await hub.close()


def begin(desk: AgentDesk, number: int = 0) -> RunningCall:
    return desk.begin(ToolCallRequest(thread_id=None, tool="move", args_text=f'{{"n":{number}}}'))


def settled(hub: Hub, desk: AgentDesk) -> RunningCall:
    """A call of a new page that has its result."""
    page, running = CountingPage(hub), begin(desk)
    hub.commits.commit()
    page.submit(page.heard[0], "r1")
    hub.commits.commit()
    return running


async def test_a_call_costs_one_frame_and_two_batches_of_the_journal(
    hub: Hub, journal: CountingJournal
) -> None:
    page, desk = CountingPage(hub), AgentDesk(hub)
    journal.writes = 0
    running = begin(desk)
    hub.commits.commit()
    assert journal.writes == 1
    (call,) = page.heard
    page.submit(call, "r1")
    hub.commits.commit()
    assert (await running.answer()).answer.outcome.result is not None
    running.leave()
    assert page.heard == [call]
    assert journal.writes == 2


async def test_a_page_at_rest_wakes_core_for_nothing_but_its_heartbeat(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    call_at, timers = loop.call_at, list[asyncio.TimerHandle]()

    def watched_call_at(*args: Any, **more: Any) -> asyncio.TimerHandle:
        timers.append(call_at(*args, **more))
        return timers[-1]

    monkeypatch.setattr(loop, "call_at", watched_call_at)
    CountingPage(hub)
    assert len([timer for timer in timers if not timer.cancelled()]) == 1


async def test_an_acknowledgement_costs_the_next_call_nothing(hub: Hub, journal: CountingJournal) -> None:
    desk = AgentDesk(hub)
    running = settled(hub, desk)
    journal.writes = 0
    running.leave()
    running.acknowledge()
    begin(desk, 1).leave()
    hub.commits.commit()
    assert journal.writes == 1
    ((_, records),) = journal.load()
    assert [bool(record.acknowledged) for record in records] == [False, False]


async def test_an_acknowledgement_is_written_before_long(hub: Hub, journal: CountingJournal) -> None:
    running = settled(hub, AgentDesk(hub))
    running.leave()
    running.acknowledge()
    journal.written.clear()
    async with asyncio.timeout(WAIT_SECONDS):
        await journal.written.wait()
    ((_, (record,)),) = journal.load()
    assert record.acknowledged


async def test_calls_of_one_turn_share_one_batch_and_the_confirmation_of_their_results(
    hub: Hub, journal: CountingJournal
) -> None:
    page, desk = CountingPage(hub), AgentDesk(hub)
    journal.writes = 0
    running = [begin(desk, number) for number in range(10)]
    hub.commits.commit()
    assert journal.writes == 1
    for number, call in enumerate(list(page.heard)):
        page.submit(call, f"s{number}")
    hub.commits.commit()
    assert journal.writes == 2
    async with asyncio.timeout(WAIT_SECONDS):
        assert await page.confirmed == [f"s{number}" for number in range(10)]
    assert len(page.heard) == len(running) + 1
    for each in running:
        each.leave()
