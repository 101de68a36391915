"""What one call costs, in things that can be counted: frames, pieces of them, and batches of the journal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pedelec.json_text import JsonObject
from pedelec.protocol import (
    PROTOCOL_VERSION,
    CoreMessage,
    CreateSession,
    Hello,
    Message,
    Response,
    SubmitToolResult,
    ToolCall,
    decode_from_core,
    encode,
)
from pedelec_core.agent_desk import AgentDesk, ToolCallRequest
from pedelec_core.hub import Hub
from pedelec_core.journal import Batch, Journal
from pedelec_core.page_desk import PageDesk
from tests.harness.approvers import EveryOrigin

pytestmark = pytest.mark.anyio

MOVE: JsonObject = {"name": "move", "description": "Move.", "argsSchema": {"type": "object"}}


class CountingJournal(Journal):
    writes = 0

    def write(self, batch: Batch) -> None:
        self.writes += 1
        super().write(batch)


class CountingPage:
    """A page that keeps apart what was sent at once and what might wait for the next frame."""

    id = "connection"
    origin = "http://127.0.0.1:1"

    def __init__(self, hub: Hub) -> None:
        self.at_once: list[CoreMessage] = []
        self.later: list[CoreMessage] = []
        self.desk = PageDesk(hub, EveryOrigin())
        self.desk.opened(self)

    def send(self, text: str) -> None:
        self.at_once.append(decode_from_core(text))

    def send_later(self, text: str) -> None:
        self.later.append(decode_from_core(text))

    def close(self, code: int, reason: str) -> None:
        assert reason == "Core stops"

    def probe(self) -> None:
        raise AssertionError("it answers")

    def cut(self) -> None:
        raise AssertionError("it reads")

    def say(self, message: Message) -> None:
        self.desk.frame(self, encode(message))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[CountingJournal]:
    with CountingJournal(tmp_path) as opened:
        yield opened


async def test_a_call_costs_one_frame_at_once_one_that_may_wait_and_three_batches_of_the_journal(
    journal: CountingJournal,
) -> None:
    hub = Hub(journal=journal)
    page = CountingPage(hub)
    page.say(Hello(protocol=PROTOCOL_VERSION, page_instance_id="page", sdk_version="0"))
    page.say(
        CreateSession(
            request_id="r1",
            guidance="",
            tools=[MOVE],
            auto_end_on_disconnect=True,
        )
    )
    hub.commits.commit()
    page.at_once.clear()
    journal.writes = 0

    desk = AgentDesk(hub)
    running = desk.begin(ToolCallRequest(thread_id=None, tool="move", args_text="{}"))
    hub.commits.commit()
    (call,) = page.at_once
    assert isinstance(call, ToolCall)
    assert journal.writes == 1

    page.say(
        SubmitToolResult(
            request_id="r2", session_id=call.session_id, tool_request_id=call.tool_request_id, result=1
        )
    )
    hub.commits.commit()
    assert (await running.answer()).answer.outcome.result is not None
    assert page.at_once == [call]
    assert page.later == [Response(request_id="r2", ok=True, result={})]
    assert journal.writes == 2

    running.acknowledge()
    running.leave()
    hub.commits.commit()
    assert journal.writes == 3
    await hub.close()


async def test_calls_of_one_turn_share_one_batch_of_the_journal(journal: CountingJournal) -> None:
    hub = Hub(journal=journal)
    page = CountingPage(hub)
    page.say(Hello(protocol=PROTOCOL_VERSION, page_instance_id="page", sdk_version="0"))
    page.say(CreateSession(request_id="r1", guidance="", tools=[MOVE], auto_end_on_disconnect=True))
    hub.commits.commit()
    journal.writes = 0
    desk = AgentDesk(hub)
    running = [
        desk.begin(ToolCallRequest(thread_id=None, tool="move", args_text=f'{{"n":{number}}}'))
        for number in range(10)
    ]
    hub.commits.commit()
    assert journal.writes == 1
    for each in running:
        each.leave()
    await hub.close()
