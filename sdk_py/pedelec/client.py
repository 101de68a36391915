"""The client: what a page starts with.

Owns the client's options and what a page asks of Core through it. Its sessions are kept by `switchboard`, its
connection by `connection`.
"""

import itertools
import sys
from collections.abc import Iterable
from typing import Literal

from pedelec.errors import Code, PedelecError
from pedelec.handlers import QUESTION_PARAMETERS, Registration, bind
from pedelec.host import Host
from pedelec.json_text import JsonObject
from pedelec.protocol import REQUEST_TIMEOUT_MS, CreateSession, GetApprovalStatus
from pedelec.session import PedelecSession
from pedelec.switchboard import Switchboard
from pedelec.tools import ToolDefinition, check_guidance, check_tools

_NOT_REACHED = frozenset({Code.CORE_RUNTIME_UNAVAILABLE, Code.LOCAL_NETWORK_DENIED})

_client_numbers = itertools.count(1)


class Pedelec:
    """A page's client of one Core. Connects when it is first needed, and again whenever that breaks.

    Args:
        core_url: `http://host:port`; where the loader came from if not given.
        bridge_timeout_ms: how long a request waits for Core's answer.
        max_result_bytes: refuse results over this size earlier than Core's own limit does.
        app_name: what to call this page where sessions are listed.
        host: where the SDK runs; in a browser found by itself.

    Raises:
        PedelecError: `INVALID_INPUT` for an option that cannot be; `CORE_RUNTIME_UNAVAILABLE` where neither
            an address nor a loader is there; `NOT_SUPPORTED` outside a page without a host.
    """

    def __init__(
        self,
        core_url: str | None = None,
        *,
        bridge_timeout_ms: int = REQUEST_TIMEOUT_MS,
        max_result_bytes: int | None = None,
        app_name: str | None = None,
        host: Host | None = None,
    ) -> None:
        _check_option("core_url", core_url, str, optional=True)
        _check_option("app_name", app_name, str, optional=True)
        _check_option("bridge_timeout_ms", bridge_timeout_ms, int)
        _check_option("max_result_bytes", max_result_bytes, int, optional=True)
        host = host or _host_of_this_page()
        self.core_url = core_url or host.default_core_url()
        self._app_name = app_name
        self._switchboard = Switchboard(
            host,
            self.core_url,
            # Two clients on one page are two instances: each has calls of its own to come back to.
            instance_id=f"{host.page_instance_id}-{next(_client_numbers)}",
            timeout_ms=bridge_timeout_ms,
            max_result_bytes=max_result_bytes,
        )

    @property
    def max_result_bytes(self) -> int:
        """The limit that holds for results: Core's, or this client's own if that is lower."""
        return self._switchboard.max_result_bytes

    async def create_session(
        self,
        guidance: str = "",
        tools: Iterable[ToolDefinition | JsonObject] = (),
        auto_end_on_disconnect: bool = True,
        *,
        webmcp: bool | Literal["polyfill"] = False,
    ) -> PedelecSession:
        """Offer tools to the agent.

        Args:
            guidance: text for the agent: what the page is and how its tools go together.
            tools: what `define_tool` and `@tool` made.
            auto_end_on_disconnect: end the session some seconds after its last page went away.
            webmcp: register the tools with the browser too (`document.modelContext`), where it has that API;
                `"polyfill"` gives the page that API where the browser lacks it.

        Raises:
            PedelecError: `INVALID_INPUT` names the tool and the field; `APPROVAL_REJECTED` or
                `APPROVAL_TIMEOUT` where a person was asked about this page's origin (which takes two minutes
                at most); else as Core or the connection says.
        """
        check_guidance(guidance)
        _check_option("auto_end_on_disconnect", auto_end_on_disconnect, bool)
        if webmcp != "polyfill":
            _check_option("webmcp", webmcp, bool)
        checked = check_tools(tools, self._switchboard.host)

        def message(request_id: str) -> CreateSession:
            return CreateSession(
                request_id=request_id,
                guidance=guidance,
                tools=checked.manifests,
                auto_end_on_disconnect=auto_end_on_disconnect,
                app_name=self._app_name,
            )

        session = await self._switchboard.connection.request(
            message, lambda result: self._switchboard.register(result, checked), repeatable=False
        )
        if webmcp:
            await self._register_with_browser(session, checked.manifests, polyfill=webmcp == "polyfill")
        return session

    async def _register_with_browser(
        self, session: PedelecSession, manifests: list[JsonObject], *, polyfill: bool
    ) -> None:
        context = await self._switchboard.host.model_context(polyfill=polyfill)
        if context is not None:
            from pedelec.webmcp import outbound  # when a page first asks for it

            await outbound.offer(session, manifests, context, self._switchboard)

    async def resume_session(self, session_id: str) -> PedelecSession:
        """Join a session that this page's origin made before, by its id.

        Its calls go to the handlers set on the returned object; those that came with the definitions of an
        earlier page are not known here.

        Raises:
            PedelecError: `INVALID_INPUT`; `THREAD_ACCESS_DENIED` or `SESSION_ENDED` as Core says.
        """
        _check_option("session_id", session_id, str)
        if not session_id.strip():
            raise PedelecError(Code.INVALID_INPUT, "session_id is required.", details={"field": "session_id"})
        return await self._switchboard.resume(session_id, repeatable=True)

    async def get_approval_status(self) -> JsonObject:
        """Whether Core is there and lets this page's origin make sessions.

        Returns:
            `installed`, `approved`, `appConnected` (bool) and `origin` (str or None).
        """
        try:
            return await self._switchboard.connection.request(
                lambda request_id: GetApprovalStatus(request_id=request_id), dict, repeatable=True
            )
        except PedelecError as error:
            if error.code not in _NOT_REACHED:
                raise
            return {"installed": False, "approved": False, "origin": None, "appConnected": False}

    def on_question(self, handler: object) -> Registration:
        """Ask the person in a way of the page's own, in place of the dialog; returns a disposer.

        Used for approvals of calls and for `ToolContext.ask`, one question at a time. A later handler takes
        the place of an earlier one.

        Args:
            handler: called with `(question, ctx)` or fewer, sync or async. `question` is a dict: `kind`
                (`approval` or `question`), `tool`, `message`, of an approval `arguments` (text), `schema` of
                the answer, and `name` where it has one. All of it is text to show as text, never as markup.
                `ctx.cancelled` is set when the question is over, answered elsewhere or not. It returns True
                or False for an approval, for a question the answer, or None where the person gives none.

        Raises:
            PedelecError: `INVALID_INPUT` where it cannot be called.
        """
        bound = bind(handler, QUESTION_PARAMETERS, self._switchboard.host)
        self._switchboard.question_handler = bound

        def dispose() -> None:
            if self._switchboard.question_handler is bound:
                self._switchboard.question_handler = None

        return Registration(handler, dispose)

    def close(self) -> None:
        """Let go of Core. The sessions are over for this page; Core ends those that end by themselves."""
        self._switchboard.close()

    createSession = create_session  # noqa: N815 - the TypeScript SDK's names
    resumeSession = resume_session  # noqa: N815
    onQuestion = on_question  # noqa: N815
    getApprovalStatus = get_approval_status  # noqa: N815


def _check_option(name: str, value: object, kind: type, *, optional: bool = False) -> None:
    if (value is None and optional) or (type(value) is kind and (type(value) is not int or value > 0)):
        return
    expected = {int: "a positive integer", str: "a string", bool: "True or False"}[kind]
    raise PedelecError(Code.INVALID_INPUT, f"{name} must be {expected}.", details={"field": name})


def _host_of_this_page() -> Host:
    if sys.platform == "emscripten":
        from pedelec._browser import browser_host

        return browser_host()
    raise PedelecError(
        Code.NOT_SUPPORTED,
        "Pedelec() runs in a page, under Pyodide. Elsewhere it needs a host, as Pedelec(host=...).",
    )
