"""Where nobody sees the page, an MCP client that can asks its user: over both transports, in both eras."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ElicitRequestParams, ElicitResult, InputRequiredResult

from pedelec.json_text import JsonObject, JsonValue
from pedelec.protocol import ToolAnswer, ToolCall
from tests.harness import CoreProcess, PageClient, tool
from tests.harness.mcp_client import WAYS, Way, mcp_client

NOTHING: JsonObject = {"type": "object", "properties": {}}
ONE_FIELD: JsonObject = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["answer"],
}

type User = Callable[[ElicitRequestParams], Awaitable[ElicitResult]]


@pytest.fixture(params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> Way:
    return Way(*request.param)


class Asked:
    """What a client's user was asked, and answers."""

    def __init__(self, *answers: ElicitResult | None) -> None:
        self.params: list[Any] = []
        self.answers = list(answers)
        self.is_asked = asyncio.Event()

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.params.append(params)
        self.is_asked.set()
        answer = self.answers.pop(0)
        if answer is None:  # the user looks elsewhere
            await asyncio.get_running_loop().create_future()
        assert answer is not None
        return answer


@asynccontextmanager
async def client_of(core: CoreProcess, way: Way, user: Asked | None) -> AsyncIterator[Client]:
    async with mcp_client(core, way, user=user) as client:
        yield client


async def call_of(page: PageClient) -> ToolCall:
    return await asyncio.to_thread(page.receive, ToolCall)


async def answer_at(page: PageClient, call: ToolCall, question_id: str = "q1") -> ToolAnswer:
    """What the page is told; it goes on with it."""
    answer = await asyncio.to_thread(page.receive, ToolAnswer)
    assert (answer.tool_request_id, answer.question_id) == (call.tool_request_id, question_id)
    page.stop_asking(call, question_id=question_id)
    return answer


YES = ElicitResult(action="accept", content={})


@pytest.mark.parametrize(
    ("said", "action"),
    [
        (YES, "accept"),
        (ElicitResult(action="decline"), "decline"),
        (ElicitResult(action="cancel"), "decline"),
    ],
    ids=["accept", "decline", "cancel"],
)
async def test_an_approval_is_asked_for_at_the_client_where_nobody_sees_the_page(
    core: CoreProcess, page: PageClient, way: Way, said: ElicitResult, action: str
) -> None:
    page.create_session([tool("erase", approval="always")], app_name="Board")
    user = Asked(said)
    async with client_of(core, way, user) as client:
        calling = asyncio.create_task(client.call_tool("erase", {}))
        call = await call_of(page)
        page.ask(call, message="Erase?", arguments="id: 1", schema=NOTHING, hidden=True)
        assert (await answer_at(page, call)).action == action
        await asyncio.to_thread(page.submit, call, "done")
        assert (await calling).structured_content == {"result": "done"}
    (params,) = user.params
    for word in ("“Board”", core.url, "Erase?", "id: 1"):
        assert word in params.message
    assert params.requested_schema == NOTHING


async def test_a_handler_asks_twice_and_gets_both_answers(
    core: CoreProcess, page: PageClient, way: Way
) -> None:
    page.create_session([tool("paint")])
    answers = [ElicitResult(action="accept", content={"answer": word}) for word in ("red", "blue")]
    async with client_of(core, way, Asked(*answers)) as client:
        calling = asyncio.create_task(client.call_tool("paint", {}))
        call = await call_of(page)
        told: list[JsonValue] = []
        for question in ("q1", "q2"):
            page.ask(call, question_id=question, kind="question", schema=ONE_FIELD, name="color", hidden=True)
            told.append((await answer_at(page, call, question)).content)
        await asyncio.to_thread(page.submit, call, told)
        result = await calling
    assert result.structured_content == {"result": [{"answer": "red"}, {"answer": "blue"}]}


async def test_a_page_that_is_seen_asks_alone_until_it_is_hidden_and_progress_says_that_it_waits(
    core: CoreProcess, page: PageClient, way: Way
) -> None:
    page.create_session([tool("erase", approval="always")])
    user, heard = Asked(YES), asyncio.Event()
    messages: list[str | None] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        messages.append(message)
        heard.set()

    async with client_of(core, way, user) as client:
        calling = asyncio.create_task(client.call_tool("erase", {}, progress_callback=on_progress))
        call = await call_of(page)
        page.ask(call, message="Erase?", schema=NOTHING)
        await heard.wait()
        assert (messages, user.params) == (["Waiting for the user: Erase?"], [])
        page.ask(call, message="Erase?", schema=NOTHING, hidden=True)
        await answer_at(page, call)
        await asyncio.to_thread(page.submit, call, "done")
        assert (await calling).structured_content == {"result": "done"}
    assert len(user.params) == 1


async def test_an_answer_at_the_page_comes_first_and_the_client_s_is_nobody_s(
    core: CoreProcess, page: PageClient, way: Way
) -> None:
    page.create_session([tool("erase", approval="always")])
    user = Asked(None if way.era == "legacy" else YES)
    async with client_of(core, way, user) as client:
        calling = asyncio.create_task(client.call_tool("erase", {}))
        call = await call_of(page)
        page.ask(call, schema=NOTHING, hidden=True)
        if way.era == "legacy":  # the question is open at the client, which withdraws it
            await user.is_asked.wait()
            page.stop_asking(call)
        await asyncio.to_thread(page.submit, call, "decided at the page")
        assert (await calling).structured_content == {"result": "decided at the page"}


async def test_a_client_that_cannot_ask_is_not_asked(core: CoreProcess, page: PageClient, way: Way) -> None:
    page.create_session([tool("erase", approval="always")])
    async with client_of(core, way, None) as client:
        calling = asyncio.create_task(client.call_tool("erase", {}))
        call = await call_of(page)
        page.ask(call, schema=NOTHING, hidden=True)
        await asyncio.to_thread(page.submit, call, "done")
        assert (await calling).structured_content == {"result": "done"}


# --- what only 2026-07-28 has ------------------------------------------------------------------------------

MODERN = Way("http", "auto")


async def first_round(client: Client, page: PageClient, **asked: Any) -> tuple[InputRequiredResult, ToolCall]:
    """A call of `erase` whose client is sent to its user."""
    calling = asyncio.create_task(client.session.call_tool("erase", {}, allow_input_required=True))
    call = await call_of(page)
    page.ask(call, hidden=True, **{"schema": NOTHING, **asked})
    result = await calling
    assert isinstance(result, InputRequiredResult)
    return result, call


async def test_a_state_that_core_did_not_make_is_refused(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("erase", approval="always")])
    async with client_of(core, MODERN, Asked()) as client:
        asked, _ = await first_round(client, page)
        with pytest.raises(MCPError) as refused:
            await client.session.call_tool(
                "erase", {}, request_state=f"{asked.request_state}x", allow_input_required=True
            )
        assert refused.value.code == INVALID_PARAMS


async def test_a_state_is_good_for_its_own_call_alone(core: CoreProcess, page: PageClient) -> None:
    page.create_session([tool("erase", approval="always")])
    async with client_of(core, MODERN, Asked()) as client:
        asked, _ = await first_round(client, page)
        other = await client.session.call_tool(
            "erase", {"id": 2}, request_state=asked.request_state, allow_input_required=True
        )
        assert not isinstance(other, InputRequiredResult)
        assert other.structured_content is not None
        assert other.structured_content["error"]["code"] == "CALL_ID_CONFLICT"


@pytest.mark.parametrize(
    "brought",
    [{}, {"other": YES}, {"color": ElicitResult(action="accept", content={"answer": "green"})}],
    ids=["nothing", "something-else", "what-does-not-fit"],
)
async def test_a_client_without_a_usable_answer_is_asked_again(
    core: CoreProcess, page: PageClient, brought: dict[str, ElicitResult]
) -> None:
    page.create_session([tool("erase")])
    async with client_of(core, MODERN, Asked()) as client:
        asked, call = await first_round(client, page, kind="question", schema=ONE_FIELD, name="color")
        assert asked.input_requests is not None
        assert list(asked.input_requests) == ["color"]
        again = await client.session.call_tool(
            "erase",
            {},
            input_responses=brought,  # type: ignore[arg-type]
            request_state=asked.request_state,
            allow_input_required=True,
        )
        assert isinstance(again, InputRequiredResult)
        assert again.request_state != asked.request_state
        await asyncio.to_thread(page.submit, call, "decided at the page")
        done = await client.session.call_tool(
            "erase", {}, request_state=again.request_state, allow_input_required=True
        )
        assert done.structured_content == {"result": "decided at the page"}  # type: ignore[union-attr]


async def test_an_answer_brought_unasked_serves_a_named_question_and_never_an_approval(
    core: CoreProcess, page: PageClient
) -> None:
    page.create_session([tool("erase")])
    brought = {"color": ElicitResult(action="accept", content={"answer": "red"}), "q1": YES}
    async with client_of(core, MODERN, Asked()) as client:
        calling = asyncio.create_task(
            client.session.call_tool(
                "erase",
                {},
                input_responses=brought,  # type: ignore[arg-type]
                allow_input_required=True,
            )
        )
        call = await call_of(page)
        page.ask(call, question_id="q0", kind="question", schema=ONE_FIELD, name="color", hidden=True)
        assert (await answer_at(page, call, "q0")).content == {"answer": "red"}
        page.ask(call, schema=NOTHING, hidden=True)
        assert isinstance(await calling, InputRequiredResult)
