"""What the JavaScript face (pedelec.js and the modules beside it) calls.

Owns the Python clients and sessions behind JavaScript's, and the text in which both sides speak: a request
is a JSON object, an answer `{"ok": true, "result": …}` or `{"ok": false, "error": …}`. The one kind of live
object that crosses is a JavaScript author's handler.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

from pedelec._browser import dialog, js_handlers, promises, scripts, visibility
from pedelec._browser.outcome import exception_of
from pedelec._browser.page import border, js_null, limit_border
from pedelec.client import Pedelec
from pedelec.context import EventContext
from pedelec.errors import PedelecError, error_from_exception
from pedelec.json_text import JsonObject
from pedelec.session import PedelecSession
from pedelec.wire_fields import to_camel

_OPTIONS = {
    to_camel(name): name for name in ("core_url", "bridge_timeout_ms", "max_result_bytes", "app_name")
}


def start() -> Callable[..., str | None]:
    """Open Python's end of the bridge; returns what JavaScript calls from then on.

    Everything that hears JavaScript begins to here, not when it is imported: see `page`.
    """
    promises.repair()
    limit_border()
    js_handlers.hear_handlers()
    dialog.hear_answers()
    visibility.watch()
    return Face().dispatch


class Face:
    """Python's end of the bridge."""

    def __init__(self) -> None:
        self._clients: dict[int, Pedelec] = {}
        self._sessions: dict[tuple[int, str], FaceSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._question_handlers: dict[tuple[int, int], Callable[[], object]] = {}
        self._at_once: dict[str, Callable[[Any, list[Any]], Any]] = {
            "open_client": self._open_client,
            "get_status": self._get_status,
            "hear_status": self._hear_status,
            "on_tool": self._on_tool,
            "off_tool": self._off_tool,
            "on_question": self._on_question,
            "off_question": self._off_question,
            "stop_import": self._stop_import,
            "inspect_script": self._inspect_script,
            "recover": self._recover,
            "make_content": self._make_content,
        }
        self._later: dict[str, Callable[[Any, list[Any]], Coroutine[Any, Any, Any]]] = {
            "create_session": self._create_session,
            "resume_session": self._resume_session,
            "end_session": self._end_session,
            "import_webmcp": self._import_webmcp,
            "get_approval_status": self._get_approval_status,
            "run_script": self._run_script,
            "install_packages": self._install_packages,
        }

    def dispatch(self, operation: str, request_id: int, payload: str, functions: Any) -> str | None:
        """Do what JavaScript asks. What is done at once is answered at once, the rest through `settle`.

        Args:
            operation: one of the names above.
            request_id: names the request in `settle`.
            payload: its JSON object.
            functions: a JavaScript array of handlers.
        """
        arguments = json.loads(payload), list(functions)
        if operation in self._at_once:
            try:
                return _answer(self._at_once[operation](*arguments))
            except Exception as error:  # noqa: BLE001 - whatever it is, JavaScript gets it as an error
                return _refusal(error)
        task = asyncio.get_running_loop().create_task(self._finish(request_id, operation, arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return None

    async def _finish(self, request_id: int, operation: str, arguments: tuple[Any, list[Any]]) -> None:
        try:
            answer = _answer(await self._later[operation](*arguments))
        except Exception as error:  # noqa: BLE001 - as above
            answer = _refusal(error)
        border.settle(request_id, answer)

    # --- clients ----------------------------------------------------------------------------------------

    def _open_client(self, payload: Any, _functions: list[Any]) -> None:
        options = {_OPTIONS[name]: value for name, value in payload["options"].items() if name in _OPTIONS}
        self._clients[payload["client"]] = Pedelec(**options)

    async def _create_session(self, payload: Any, functions: list[Any]) -> JsonObject:
        manifest = payload["manifest"]
        count = len(manifest["tools"])
        tools = [
            {**tool, "handler": handler}
            if predicate is None
            else {**tool, "handler": handler, "consequential": predicate}
            for tool, handler, predicate in zip(
                manifest["tools"], functions[:count], functions[count:], strict=True
            )
        ]
        session = await self._clients[payload["client"]].create_session(
            manifest["guidance"], tools, manifest["autoEndOnDisconnect"], webmcp=manifest["webmcp"]
        )
        return self._opened(payload["client"], session)

    async def _resume_session(self, payload: Any, _functions: list[Any]) -> JsonObject:
        session = await self._clients[payload["client"]].resume_session(payload["session"])
        return self._opened(payload["client"], session)

    def _on_question(self, payload: Any, functions: list[Any]) -> None:
        dispose = self._clients[payload["client"]].on_question(functions[0])
        self._question_handlers[payload["client"], payload["registration"]] = dispose

    def _off_question(self, payload: Any, _functions: list[Any]) -> None:
        dispose = self._question_handlers.pop((payload["client"], payload["registration"]), None)
        if dispose is not None:
            dispose()

    async def _get_approval_status(self, payload: Any, _functions: list[Any]) -> JsonObject:
        return await self._clients[payload["client"]].get_approval_status()

    def _opened(self, client: int, session: PedelecSession) -> JsonObject:
        place = (client, session.session_id)
        if place not in self._sessions:
            self._sessions[place] = FaceSession(client, session)
            session.on_ended(lambda: self._sessions.pop(place, None))
        return {"sessionId": session.session_id, "sessionCreatedAt": session.session_created_at}

    # --- sessions ---------------------------------------------------------------------------------------

    def _session(self, payload: Any) -> "FaceSession":
        return self._sessions[payload["client"], payload["session"]]

    def _get_status(self, payload: Any, _functions: list[Any]) -> str:
        return self._session(payload).session.get_status()

    def _hear_status(self, payload: Any, _functions: list[Any]) -> None:
        self._session(payload).hear_status()

    def _on_tool(self, payload: Any, functions: list[Any]) -> None:
        self._session(payload).register(payload["registration"], payload["name"], functions[0])

    def _off_tool(self, payload: Any, _functions: list[Any]) -> None:
        self._session(payload).unregister(payload["registration"], payload["name"])

    async def _end_session(self, payload: Any, _functions: list[Any]) -> None:
        await self._session(payload).session.end()

    async def _import_webmcp(self, payload: Any, _functions: list[Any]) -> None:
        session = self._session(payload)
        session.imports[payload["import"]] = await session.session.import_webmcp()

    def _stop_import(self, payload: Any, _functions: list[Any]) -> None:
        stop = self._session(payload).imports.pop(payload["import"], None)
        if stop is not None:
            stop()

    def _recover(self, payload: Any, _functions: list[Any]) -> JsonObject:
        from pedelec.recovery import requests  # when the page first needs it

        return requests.answer(payload["function"], payload["given"], exception_of)

    def _make_content(self, payload: Any, _functions: list[Any]) -> JsonObject:
        from pedelec import content  # as above

        try:
            return {"value": content.from_javascript(payload["kind"], payload["given"])}
        except (TypeError, ValueError) as error:
            return {"refused": str(error)}

    # --- scripts ----------------------------------------------------------------------------------------

    def _inspect_script(self, payload: Any, _functions: list[Any]) -> JsonObject:
        return {**scripts.needs_of(payload["source"])}

    async def _run_script(self, payload: Any, _functions: list[Any]) -> JsonObject | None:
        return await scripts.run_script(payload["source"], payload["name"])

    async def _install_packages(self, payload: Any, _functions: list[Any]) -> None:
        await scripts.install(payload["packages"])


class FaceSession:
    """A session that JavaScript has an object for: tells that object its events, keeps its registrations."""

    def __init__(self, client: int, session: PedelecSession) -> None:
        self.session = session
        self.imports: dict[int, Callable[[], None]] = {}
        self._key = f"{client}:{session.session_id}"
        # For each name (None: generic) the last registration alone: those before it can dispose of nothing.
        self._registrations: dict[str | None, tuple[int, Callable[[], object]]] = {}
        self._tells_status = False
        session.on_error(self._tell_error)
        session.on_ended(self._tell_ended)

    def hear_status(self) -> None:
        """Tell of the session's status from now on: with each call it changes twice, so not unasked."""
        if not self._tells_status:
            self._tells_status = True
            self.session.on_status(self._tell_status)

    def register(self, registration: int, name: str | None, handler: Any) -> None:
        # `undefined` is a handler that is missing; to `on_tool` None would ask for a decorator.
        given: Any = js_null if handler is None else handler
        dispose = self.session.on_tool(given) if name is None else self.session.on_tool(name, given)
        self._registrations[name] = (registration, dispose)

    def unregister(self, registration: int, name: str | None) -> None:
        current, dispose = self._registrations.get(name, (None, None))
        if current == registration and dispose is not None:
            del self._registrations[name]
            dispose()

    def _tell_error(self, error: PedelecError, ctx: EventContext) -> None:
        self._emit("error", ctx, error=error.to_wire())

    def _tell_status(self, status: str, ctx: EventContext) -> None:
        self._emit("status", ctx, status=status)

    def _tell_ended(self, ctx: EventContext) -> None:
        self._emit("ended", ctx)

    def _emit(self, kind: str, ctx: EventContext, **event: object) -> None:
        border.emit(self._key, kind, json.dumps({**event, "context": ctx.to_wire()}))


def _answer(result: object) -> str:
    return json.dumps({"ok": True, "result": result})


def _refusal(error: Exception) -> str:
    return json.dumps({"ok": False, "error": error_from_exception(error).to_wire()})
