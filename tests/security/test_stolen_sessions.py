"""Another origin's session: resumed, answered, ended or guessed."""

import re
import secrets

from pedelec.json_text import JsonObject
from pedelec.protocol import (
    CoreMessage,
    Ended,
    EndSession,
    Pong,
    Response,
    ResumeSession,
    SubmitToolResult,
    ToolCall,
    ToolProgress,
)
from tests.harness import CoreProcess, PageClient, tool

VICTIM, THIEF = "https://app.example", "https://other.example"


def error_of(response: Response) -> JsonObject:
    assert response.error is not None
    return response.error


def test_another_origins_session_cannot_be_told_from_one_that_does_not_exist(core: CoreProcess) -> None:
    with PageClient(core.url, origin=VICTIM) as victim, PageClient(core.url, origin=THIEF) as thief:
        real = victim.create_session([tool("probe")])
        for session_id in (real, "ses_" + secrets.token_urlsafe(16), "", "ses_", "x" * 10_000, "../" + real):
            resumed = thief.request(ResumeSession(request_id="r", session_id=session_id, last_seq=0))
            ended = thief.request(EndSession(request_id="e", session_id=session_id))
            assert error_of(resumed) == error_of(ended)
            assert error_of(resumed) == {
                "code": "THREAD_ACCESS_DENIED",
                "class": "permanent",
                "message": "The session does not exist or belongs to another origin.",
                "retryable": False,
            }
        victim.end_session()


def test_another_origin_can_neither_hear_nor_answer_nor_end_a_call(core: CoreProcess) -> None:
    with PageClient(core.url, origin=VICTIM) as victim, PageClient(core.url, origin=THIEF) as thief:
        session_id = victim.create_session([tool("probe")])
        running = core.start_cli("--thread-id", session_id, "tool-call", "probe", "{}")
        call = victim.receive(ToolCall)
        forged = {"session_id": session_id, "tool_request_id": call.tool_request_id}
        unknown = {"session_id": session_id, "tool_request_id": "inv_" + secrets.token_urlsafe(16)}
        answers = [
            error_of(thief.request(SubmitToolResult(request_id="s", result="forged", **ids)))
            for ids in (forged, unknown)
        ]
        assert {answer["code"] for answer in answers} == {"INVOCATION_NOT_FOUND"}
        thief.send(ToolProgress(session_id=session_id, tool_request_id=call.tool_request_id, done=1))
        assert error_of(thief.request(EndSession(request_id="e", session_id=session_id)))
        thief.socket.send('{"type":"ping","id":99}')
        assert thief.receive(Pong).id == 99
        assert not [message for message in heard(thief) if isinstance(message, (ToolCall, Ended))]
        victim.submit(call, "true")
        assert running.finish().json["result"] == "true"
        victim.end_session()


def heard(page: PageClient) -> list[CoreMessage]:
    """What came to a page and nobody has taken."""
    return list(page._unread)


def test_a_page_cannot_take_another_origins_connection_over_by_its_instance_id(core: CoreProcess) -> None:
    with (
        PageClient(core.url, origin=VICTIM) as victim,
        PageClient(core.url, origin=THIEF, page_instance_id=victim.page_instance_id),
    ):
        victim.create_session([tool("probe")])
        running = core.start_cli("--thread-id", victim.session_id, "tool-call", "probe", "{}")
        victim.submit(victim.receive(ToolCall), "mine")
        assert running.finish().json["result"] == "mine"
        victim.end_session()


def test_ids_have_a_hundred_and_twenty_eight_random_bits(core: CoreProcess) -> None:
    with PageClient(core.url, origin=VICTIM) as page:
        ids = set()
        for _ in range(20):
            ids.add(page.create_session([]))
            page.end_session()
    assert len(ids) == 20
    assert all(re.fullmatch(r"ses_[A-Za-z0-9_-]{22}", each) for each in ids)
    for place in range(4, 25):
        assert len({each[place] for each in ids}) > 4, "no part of an id is fixed or counted"
