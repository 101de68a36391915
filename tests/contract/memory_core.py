"""A scripted Core that does with calls what Core promises: one answer each, at its deadline if need be.

Owns sessions, their pages and their calls, as far as scenarios need them. What it leaves out (journal, joins,
leases, argument checks) is shown on the real Core.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pedelec.transport import MemoryTransport
from tests.unit.sdk.scripted_core import Json, ScriptedCore, ok, refused


@dataclass(eq=False, slots=True)
class CoreCall:
    """One call: its frame's fields, and its answer once there is one."""

    tool: str
    args: object
    fields: Json
    answered: "asyncio.Future[Json]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class CallingCore(ScriptedCore):
    """Keeps calls until a page of their session is there, and answers each once."""

    def __init__(self) -> None:
        super().__init__()
        self._pages: dict[str, list[MemoryTransport]] = {}  # of each session, the one that runs calls first
        self._ended: set[str] = set()
        self._calls: dict[str, CoreCall] = {}
        self._other_end: MemoryTransport | None = None
        self.answers |= {
            "create_session": self._create,
            "resume_session": self._resume,
            "end_session": self._end,
            "submit_tool_result": self._submit,
        }

    @property
    def transport(self) -> MemoryTransport:
        return self._other_end or super().transport

    def _accept(self, transport: MemoryTransport) -> None:
        super()._accept(transport)

        def hear(text: str) -> None:
            with self._speaking_to(transport):
                self._received(text)

        transport.from_page = hear

    @contextmanager
    def _speaking_to(self, transport: MemoryTransport) -> Iterator[None]:
        self._other_end, before = transport, self._other_end
        try:
            yield
        finally:
            self._other_end = before

    def start(self, session_id: str, tool: str, args: object, timeout_ms: int) -> CoreCall:
        """Accept a call for a session."""
        call_id = f"c{len(self._calls)}"
        fields = {"sessionId": session_id, "toolRequestId": call_id, "timeoutMs": timeout_ms}
        call = self._calls[call_id] = CoreCall(tool, args, fields)
        if session_id in self._ended:
            call.answered.set_result({"ok": False, "error": {"code": "SESSION_ENDED"}})
        else:
            asyncio.get_running_loop().call_later(timeout_ms / 1000, self._expire, call)
            with self._speaking_to(self._pages[session_id][0]):
                self.send_call(tool, args, **fields)
        return call

    def cut(self) -> None:
        """Break every connection."""
        for transport in self.transports:
            transport.core_close("cut")

    def _expire(self, call: CoreCall) -> None:
        if call.answered.done():
            return
        call.answered.set_result({"ok": False, "error": {"code": "TOOL_TIMEOUT"}})
        with self._speaking_to(self._pages[call.fields["sessionId"]][0]):
            self.send({"type": "tool_cancel", "seq": 1_000, "reason": "timeout", **_identity(call)})

    def _create(self, frame: Json) -> Json:
        session_id = f"s{len(self._pages) + 1}"
        self._pages[session_id] = [self.transport]
        return ok(frame, sessionId=session_id)

    def _resume(self, frame: Json) -> Json | None:
        session_id = frame["sessionId"]
        if session_id in self._ended:
            return refused(frame, "SESSION_ENDED")
        pages = [page for page in self._pages[session_id] if not page.is_over]
        self._pages[session_id] = [*pages, self.transport]
        self.send(ok(frame, sessionId=session_id))
        if not pages:
            for call in self._open_calls(session_id):
                self.send_call(call.tool, call.args, **call.fields)
        return None

    def _end(self, frame: Json) -> Json:
        session_id = frame["sessionId"]
        self._ended.add(session_id)
        for call in self._open_calls(session_id):
            call.answered.set_result({"ok": False, "error": {"code": "TOOL_CANCELLED"}})
        for page in self._pages[session_id]:
            with self._speaking_to(page):
                self.send({"type": "ended", "sessionId": session_id, "seq": 1_001, "reason": "requested"})
        return ok(frame)

    def _submit(self, frame: Json) -> Json:
        call = self._calls[frame["toolRequestId"]]
        if call.answered.done():
            cause = call.answered.result().get("error", {}).get("code")
            return (
                refused(frame, "SUBMIT_TOOL_RESULT_FAILED", details={"cause": cause}) if cause else ok(frame)
            )
        call.answered.set_result({"ok": True, "result": frame["result"]})
        return ok(frame)

    def _open_calls(self, session_id: str) -> list[CoreCall]:
        return [
            call
            for call in self._calls.values()
            if call.fields["sessionId"] == session_id and not call.answered.done()
        ]


def _identity(call: CoreCall) -> Json:
    return {name: call.fields[name] for name in ("sessionId", "toolRequestId")}
