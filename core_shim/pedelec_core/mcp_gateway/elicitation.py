"""Questions of calls, put to the person in front of the agent's client (MCP's elicitation).

Owns what a client is asked, when it is (it can ask, and nobody sees the page), and what its answer means, in
both
eras: a request of ours while the call runs, or since 2026-07-28 an interim result, which the client answers
by making its call again. The page asks as well; which answer counts is `invocations`' business.
"""

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pedelec import forms
from pedelec.shown_text import shown_text
from pedelec_core.agent_desk import RunningCall
from pedelec_core.call_events import CallEvent, Waiting
from pedelec_core.invocation import ClientAnswer, OpenQuestion

from .catalogue import App

MAX_PARKED: Final = 256
"""So many calls may wait for their clients to come back with an answer; of more the oldest are forgotten."""

_MAX_MESSAGE_CHARS: Final = 20_000

_log = logging.getLogger(__name__)

type Context = ServerRequestContext[Any, Any]


def can_ask(ctx: Context) -> bool:
    """Whether the client of a request can show its user a form."""
    capabilities: ClientCapabilities | None = ctx.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None:
        return False
    return elicitation.form is not None or elicitation.url is None  # `{}` means forms (2025-06-18)


def is_modern(ctx: Context) -> bool:
    """Whether the request is of the era in which servers send no requests."""
    return ctx.session.protocol_version in MODERN_PROTOCOL_VERSIONS


def request_for(question: OpenQuestion, app: App) -> ElicitRequest:
    """What the client is asked. The words are a page's, and say so."""
    told = f"The page “{app.name or app.origin}” ({app.origin}) asks:\n{question.message}"
    if question.arguments:
        told += f"\n\n{question.arguments}"
    message = shown_text(told, _MAX_MESSAGE_CHARS)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=question.schema))


def answer_from(result: ElicitResult, question: OpenQuestion) -> ClientAnswer | None:
    """What a client's answer means; None where it does not hold to the schema, and so is no answer."""
    if result.action != "accept":
        return ClientAnswer(accepted=False)
    content: Any = result.content or {}
    fits = forms.received(question.schema).problem_with(content) is None
    return ClientAnswer(accepted=True, content=content) if fits else None


class LiveQuestions:
    """Asks a client that takes requests, while its call runs.

    Args:
        ctx: the request that made the call. app: whose tool was called.
    """

    def __init__(self, ctx: Context, app: App) -> None:
        self._ctx = ctx
        self._app = app
        self._asking: dict[str, asyncio.Task[None]] = {}

    def put(self, waiting: Waiting, running: RunningCall) -> list[OpenQuestion]:
        """Ask what is new and hidden; withdraw what is over. Needs nothing of the client but its answers."""
        there = {question.id for question in waiting.questions}
        for question_id in [each for each in self._asking if each not in there]:
            self._asking.pop(question_id).cancel()
        for question in waiting.questions:
            if question.hidden and question.id not in self._asking:
                self._asking[question.id] = asyncio.create_task(self._ask(question, running))
        return []

    def stop(self) -> None:
        """The call is over: withdraw everything."""
        for task in self._asking.values():
            task.cancel()
        self._asking.clear()

    async def _ask(self, question: OpenQuestion, running: RunningCall) -> None:
        asked = request_for(question, self._app).params
        assert isinstance(asked, ElicitRequestFormParams)
        try:
            result = await self._ctx.session.elicit_form(
                asked.message, asked.requested_schema, related_request_id=self._ctx.request_id
            )
            answer = answer_from(result, question)
        except Exception:  # noqa: BLE001 - a client that cannot be asked: the page asks as well
            _log.debug("a client could not be asked", exc_info=True)
            return
        if answer is not None:
            running.answer_question(question.id, answer)


@dataclass(frozen=True, slots=True)
class Parked:
    """A call whose client went to ask its user: which call, and which question each key stands for."""

    invocation_id: str
    questions: Mapping[str, str]


class ParkedCalls:
    """The calls whose clients are to come back, by the token that they come back with (`requestState`).

    A token is unguessable and stands for itself: what a client changes of it is no token.
    """

    def __init__(self) -> None:
        self._parked: OrderedDict[str, Parked] = OrderedDict()

    def park(self, parked: Parked) -> str:
        """Remember a call; returns its token."""
        token = secrets.token_urlsafe(32)
        self._parked[token] = parked
        if len(self._parked) > MAX_PARKED:
            self._parked.popitem(last=False)
        return token

    def find(self, token: str | None) -> Parked | None:
        """The call that a client comes back to; None for a client that makes a new call.

        Raises:
            MCPError: there is no such token (-32602).
        """
        if token is None:
            return None
        parked = self._parked.get(token)
        if parked is None:
            raise MCPError(INVALID_PARAMS, "This requestState is not known. Make the call again without it.")
        return parked


class RoundTrip:
    """One request of a client that asks its user between two requests.

    Args:
        params: the request's. parked: the call that it comes back to, if it does.
    """

    def __init__(self, params: CallToolRequestParams, parked: Parked | None) -> None:
        responses = params.input_responses or {}
        self._brought = {key: given for key, given in responses.items() if isinstance(given, ElicitResult)}
        self._parked = parked

    def put(self, waiting: Waiting, running: RunningCall) -> list[OpenQuestion]:
        """Answer what the client has brought an answer to; it has to ask for what else is hidden."""
        missing: list[OpenQuestion] = []
        for question in waiting.questions:
            if not question.hidden or running.is_answered(question.id):
                continue
            answer = self._answer_to(question)
            if answer is None:
                missing.append(question)
            else:
                running.answer_question(question.id, answer)
        return missing

    def stop(self) -> None:
        """The call is over, or goes on without the request: nothing is left to withdraw."""

    def _answer_to(self, question: OpenQuestion) -> ClientAnswer | None:
        """What the client brought for a question; each answer is good for one.

        Unasked it may bring answers to questions that have a name. A call is never approved before it is
        asked.
        """
        if self._parked is not None:
            key = next((key for key, asked in self._parked.questions.items() if asked == question.id), None)
        else:
            key = question.name if question.kind == "question" else None
        brought = None if key is None else self._brought.pop(key, None)
        return None if brought is None else answer_from(brought, question)


def interim(
    questions: list[OpenQuestion], running: RunningCall, app: App, parked: ParkedCalls
) -> InputRequiredResult:
    """The result that sends the client to its user."""
    keys: dict[str, OpenQuestion] = {}
    for question in questions:
        named = question.name if question.name and question.name not in keys else question.id
        keys[named] = question
    ids = {key: question.id for key, question in keys.items()}
    token = parked.park(Parked(running.invocation_id, ids))
    requests: dict[str, Any] = {key: request_for(question, app) for key, question in keys.items()}
    return InputRequiredResult(input_requests=requests, request_state=token)


class ClientQuestions:
    """Where a call's questions go, as far as its client may be asked.

    Args:
        way: how it is asked, if it can be.

    Attributes:
        needed: what the client has to ask its user between two requests, once there is something.
    """

    def __init__(self, way: LiveQuestions | RoundTrip | None) -> None:
        self.needed: asyncio.Future[list[OpenQuestion]] = asyncio.get_running_loop().create_future()
        self._way = way
        self._running: RunningCall | None = None

    def put(self, event: CallEvent) -> None:
        """An event of the call. What comes before the call is at hand comes again with `begin`."""
        if self._way is None or self._running is None or not isinstance(event, Waiting):
            return
        missing = self._way.put(event, self._running)
        if missing and not self.needed.done():
            self.needed.set_result(missing)

    def begin(self, running: RunningCall) -> None:
        """The call is at hand."""
        self._running = running
        self.put(running.waiting())

    def stop(self) -> None:
        """Nobody waits for the call any more."""
        self._running = None
        if self._way is not None:
            self._way.stop()


def questions_for(
    ctx: Context, params: CallToolRequestParams, app: App, parked: Parked | None
) -> ClientQuestions:
    """The way of a request's client."""
    if not can_ask(ctx):
        return ClientQuestions(None)
    return ClientQuestions(RoundTrip(params, parked) if is_modern(ctx) else LiveQuestions(ctx, app))
