"""What pages are told that ask for more than they may have."""

import itertools
from collections.abc import Callable

import pytest

from pedelec.errors import Code, PedelecError
from pedelec.protocol import (
    PROTOCOL_VERSION,
    CreateSession,
    EndSession,
    GetApprovalStatus,
    Hello,
    Message,
    Response,
    ResumeSession,
    decode_from_core,
    encode,
)
from pedelec_core.agent_desk import AgentDesk, ToolCallRequest
from pedelec_core.approvals import Claim
from pedelec_core.hub import Hub
from pedelec_core.limits import with_settings
from pedelec_core.page_desk import PageDesk
from pedelec_core.registry import ToolRegistry
from tests.harness import tool

pytestmark = pytest.mark.anyio


class Everybody:
    """Approves all origins."""

    def is_approved(self, origin: str) -> bool:
        return True

    def ask(
        self, origin: str, claim: Claim, decided: Callable[[PedelecError | None], None]
    ) -> tuple[str, float]:
        raise AssertionError("nobody is a stranger")

    def leave(self, waiter: str) -> None:
        raise AssertionError("nobody waits")


class Page:
    """A page that has said hello; `turn` has Core answer what was asked."""

    _numbers = itertools.count(1)

    def __init__(self, hub: Hub, desk: PageDesk, origin: str = "https://a.example") -> None:
        self.id = f"connection {next(self._numbers)}"
        self.origin = origin
        self.hub = hub
        self.desk = desk
        self.answers: list[Response] = []
        desk.opened(self)
        self.say(Hello(protocol=PROTOCOL_VERSION, page_instance_id=self.id, sdk_version="0"))

    def send(self, text: str) -> None:
        message = decode_from_core(text)
        if isinstance(message, Response):
            self.answers.append(message)

    def close(self, code: int, reason: str) -> None:
        assert reason == "Core stops"

    def batch(self) -> None:
        pass

    def probe(self) -> None:
        pass

    def cut(self) -> None:
        self.desk.closed(self)

    def say(self, message: Message) -> None:
        self.desk.frame(self, encode(message))

    def turn(self) -> list[Response]:
        self.hub.commits.commit()
        answers, self.answers = self.answers, []
        return answers

    def create(self, guidance: str = "", app_name: str | None = None) -> Response:
        self.say(
            CreateSession(
                request_id=f"create {next(self._numbers)}",
                guidance=guidance,
                tools=[tool("probe")],
                auto_end_on_disconnect=True,
                app_name=app_name,
            )
        )
        (answer,) = self.turn()
        return answer


class Stage:
    """A Core without sockets, with some limits set."""

    def __init__(self, *settings: str) -> None:
        self.hub = Hub(limits=with_settings(settings))
        self.desk = PageDesk(self.hub, Everybody())

    def page(self, origin: str = "https://a.example") -> Page:
        return Page(self.hub, self.desk, origin)


def code_of(answer: Response) -> str | None:
    return None if answer.error is None else str(answer.error["code"])


async def test_an_origin_has_so_many_sessions_and_another_one_has_its_own() -> None:
    stage = Stage("sessions-per-origin=2")
    page = stage.page()
    first, second, third = page.create(), page.create(), page.create()
    assert (first.ok, second.ok, code_of(third)) == (True, True, Code.LIMIT_REACHED)
    assert third.error is not None
    assert third.error["details"] == {"limit": "sessions-per-origin", "allowed": 2}
    assert stage.page("https://b.example").create().ok
    assert first.result is not None
    page.say(EndSession(request_id="end", session_id=str(first.result["sessionId"])))
    page.turn()
    assert page.create().ok, "no lasting harm"
    await stage.hub.close()


async def test_a_session_is_joined_by_so_many_pages_and_one_that_was_there_may_come_back() -> None:
    stage = Stage("pages-per-session=2")
    first = stage.page()
    created = first.create().result
    assert created is not None
    second, third = stage.page(), stage.page()
    join = ResumeSession(request_id="join", session_id=str(created["sessionId"]), last_seq=0)
    for page, code in ((second, None), (third, Code.LIMIT_REACHED), (second, None)):
        page.say(join)
        assert [code_of(answer) for answer in page.turn()] == [code]
    second.cut()
    third.say(join)
    assert [code_of(answer) for answer in third.turn()] == [None]
    await stage.hub.close()


async def test_an_origin_asks_for_sessions_at_a_rate() -> None:
    stage = Stage("sessions-at-once=2", "sessions-per-second=0.1")
    page = stage.page()
    assert page.create().ok
    assert page.create().ok
    refused = page.create()
    assert code_of(refused) == Code.TOO_MANY_REQUESTS
    assert refused.error is not None
    assert refused.error["errorType"] == "rate_limited"
    assert refused.error["retryAfterSeconds"] == 10
    assert stage.page("https://b.example").create().ok
    await stage.hub.close()


async def test_an_origin_that_kept_core_busy_with_schemas_has_to_wait() -> None:
    stage = Stage("schema-seconds=0.001")
    page = stage.page()
    page.create()
    assert code_of(page.create()) == Code.TOO_MANY_REQUESTS
    assert code_of(stage.page("https://b.example").create()) != Code.TOO_MANY_REQUESTS
    await stage.hub.close()


def test_tools_that_cannot_be_made_ready_in_time_are_refused() -> None:
    answers = iter([True, True, False])
    with pytest.raises(PedelecError, match="Only 2 of 3 tools") as caught:
        ToolRegistry.from_manifests([tool(name) for name in "abc"], has_time=lambda: next(answers))
    assert caught.value.code == Code.INVALID_INPUT


async def test_a_page_has_so_many_requests_unanswered() -> None:
    stage = Stage("requests-per-page=3")
    page = stage.page()
    page.turn()
    for number in range(5):
        page.say(GetApprovalStatus(request_id=str(number)))
    answers = page.turn()
    assert {answer.request_id: code_of(answer) for answer in answers} == {
        "0": None,
        "1": None,
        "2": None,
        "3": Code.TOO_MANY_REQUESTS,
        "4": Code.TOO_MANY_REQUESTS,
    }
    page.say(GetApprovalStatus(request_id="5"))
    assert [code_of(answer) for answer in page.turn()] == [None]
    await stage.hub.close()


@pytest.mark.parametrize(
    ("words", "field"), [({"guidance": "x" * 11}, "guidance"), ({"app_name": "x" * 11}, "appName")]
)
async def test_text_that_is_too_long_is_refused(words: dict[str, str], field: str) -> None:
    stage = Stage("guidance-chars=10", "app-name-chars=10")
    page = stage.page()
    refused = page.create(**words)
    assert code_of(refused) == Code.INVALID_INPUT
    assert refused.error is not None
    assert refused.error["details"] == {"field": field, "limit": 10}
    assert page.create(guidance="x" * 10, app_name="x" * 10).ok
    await stage.hub.close()


async def test_guidance_and_name_are_told_without_characters_that_mislead() -> None:
    stage = Stage()
    stage.page().create(guidance="Use\x1b[2J it.\nWell\u202e.", app_name="Pay\u202epal\n")
    (session,) = stage.hub.live_sessions()
    assert (session.guidance, session.app_name) == ("Use[2J it.\nWell.", "Paypal")
    await stage.hub.close()


async def test_calls_over_the_rate_of_their_session_are_busy_and_others_go_on() -> None:
    stage = Stage("calls-burst=2", "calls-per-second=0.5", "calls-running=99")
    desk = AgentDesk(stage.hub)
    one, other = (stage.page(origin).create().result for origin in ("https://a.example", "https://b.example"))
    assert one is not None
    assert other is not None

    def call(thread_id: object, number: int) -> None:
        text = f'{{"n":{number}}}'
        desk.begin(ToolCallRequest(thread_id=str(thread_id), tool="probe", args_text=text))

    call(one["sessionId"], 1)
    call(one["sessionId"], 2)
    with pytest.raises(PedelecError, match=r"0\.5 calls per second") as caught:
        call(one["sessionId"], 3)
    told = caught.value.to_wire()
    assert (told["code"], told["effects"], told["retryAfterSeconds"]) == (Code.TOOL_BUSY, "none", 2)
    assert told["recoverySteps"] == ["Wait 2 s, then make the same call: probe(n=3)"]
    call(other["sessionId"], 1)
    await stage.hub.close()
