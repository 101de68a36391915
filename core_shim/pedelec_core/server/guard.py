"""Who may send a request at all, decided from its headers before anything of it is read.

Owns the rules for `Host` (against DNS rebinding) and `Origin` (against other sites' pages), as a function
without I/O and as the ASGI middleware that applies it, and the CORS headers that approved origins get.
Which origins are approved is told by `origins`; what a request then does is not looked at here.

An `Origin` is worth something because browsers are honest about it. Other programs need not be, so a socket
for pages is closed to processes of other users, where the system tells whose they are (`peer_user`).
"""

import json
import logging
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pedelec.errors import Code, PedelecError
from pedelec_core import peer_user
from pedelec_core.origins import normalize_origin

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
PAGE_PATH: Final = "/page"

_HOST: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(?::([0-9]{1,5}))?", re.ASCII | re.IGNORECASE)
_HTTP_PORT: Final = 80
_SYSTEM_USER: Final = 0
_PREFLIGHT_SECONDS: Final = "600"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refusal:
    """The request is answered with this and goes no further."""

    status: HTTPStatus
    error: PedelecError


@dataclass(frozen=True, slots=True)
class Admission:
    """The request may go on. `cors_origin` is set where it comes from another, approved, origin.

    `only_to_ask`: it comes from an origin that is not approved, which may ask for approval and no more.
    """

    cors_origin: str | None = None
    only_to_ask: bool = False


class Guard:
    """The rules for one Core.

    Args:
        port: the port that Core listens on.
        is_approved: whether an origin other than Core's own may talk to Core.
        own_names: those of `LOOPBACK_NAMES` under which Core alone serves pages on its port.
    """

    def __init__(
        self, port: int, is_approved: Callable[[str], bool], own_names: Sequence[str] = LOOPBACK_NAMES
    ) -> None:
        self._port = port
        self._is_approved = is_approved
        suffix = "" if port == _HTTP_PORT else f":{port}"
        self.own_origins: frozenset[str] = frozenset(f"http://{name}{suffix}" for name in own_names)

    def check(
        self, hosts: Sequence[str], origins: Sequence[str], *, origin_required: bool, may_ask: bool = False
    ) -> Admission | Refusal:
        """Decide about a request.

        Args:
            hosts: the values of all its `Host` headers.
            origins: the values of all its `Origin` headers.
            origin_required: whether it may only come from a web page.
            may_ask: whether pages of origins that are not approved may ask for approval by it.
        """
        if len(hosts) != 1 or not self._is_our_host(hosts[0]):
            return _refusal(
                HTTPStatus.MISDIRECTED_REQUEST, Code.INVALID_INPUT, "Core answers to its own name only."
            )
        if not origins:
            if origin_required:
                return _refusal(HTTPStatus.FORBIDDEN, Code.INVALID_INPUT, "Only web pages may connect here.")
            return Admission()
        admission = self._admit(origins[0], may_ask=may_ask) if len(origins) == 1 else None
        return admission or _refusal(
            HTTPStatus.FORBIDDEN,
            Code.CREATE_SESSION_NOT_APPROVED,
            "This origin is not approved. Approve it with: pedelec-core approve ORIGIN",
        )

    def _admit(self, origin: str, *, may_ask: bool) -> Admission | None:
        if origin in self.own_origins:
            return Admission()
        if self._is_approved(origin):
            return Admission(cors_origin=origin)
        if may_ask and _is_as_browsers_write_it(origin):
            return Admission(only_to_ask=True)
        return None

    def _is_our_host(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        return match is not None and int(match[2] or _HTTP_PORT) == self._port


def _is_as_browsers_write_it(origin: str) -> bool:
    """Whether it is a web origin in its one spelling; no browser sends another."""
    try:
        return normalize_origin(origin) == origin
    except PedelecError:
        return False


def _refusal(status: HTTPStatus, code: Code, message: str) -> Refusal:
    return Refusal(status, PedelecError(code, message))


def error_response(status: HTTPStatus, error: PedelecError) -> Response:
    """An error in the shape that every answer of Core has."""
    body = json.dumps({"ok": False, "error": error.to_wire()}, separators=(",", ":"))
    return Response(body + "\n", status, media_type="application/json")


def is_json(headers: Headers) -> bool:
    """Whether a request says that its body is JSON: another origin's page cannot, without asking first."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


class GuardMiddleware:
    """Applies a `Guard` to every HTTP request and WebSocket upgrade; the outermost layer of the app.

    Args:
        app: what is guarded.
        guard: the rules.
        users: those whose programs may open WebSockets; else our own, and the system's, for what forwards
            ports from elsewhere often runs as that.
    """

    def __init__(self, app: ASGIApp, guard: Guard, users: Collection[int] | None = None) -> None:
        self._app = app
        self._guard = guard
        self._users = users or {os.geteuid(), _SYSTEM_USER}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        to_page_socket = scope["path"] == PAGE_PATH
        verdict = self._guard.check(
            headers.getlist("host"),
            headers.getlist("origin"),
            origin_required=to_page_socket,
            may_ask=to_page_socket and scope["type"] == "websocket",
        )
        if scope["type"] == "websocket" and isinstance(verdict, Admission) and self._is_somebody_elses(scope):
            _log.warning("a process of another user was refused on a page's socket")
            verdict = _refusal(
                HTTPStatus.FORBIDDEN, Code.INVALID_INPUT, "Only the user who runs Core may connect here."
            )
        if isinstance(verdict, Refusal):
            # Starlette sends it as the answer to the handshake where the request is an upgrade.
            await error_response(verdict.status, verdict.error)(scope, receive, send)
        elif verdict.cors_origin is None or scope["type"] == "websocket":
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await _preflight_response(verdict.cors_origin, headers)(scope, receive, send)
        else:
            await self._app(scope, receive, _with_cors(send, verdict.cors_origin))

    def _is_somebody_elses(self, scope: Scope) -> bool:
        user = peer_user.of_tcp_client(scope["client"], scope["server"])
        return user is not None and user not in self._users


def _preflight_response(origin: str, headers: Headers) -> Response:
    response = Response(status_code=HTTPStatus.NO_CONTENT)
    _add_cors(response.headers, origin)
    response.headers["Access-Control-Allow-Methods"] = "GET, HEAD"
    response.headers["Access-Control-Allow-Headers"] = "Content-Type, Range"
    response.headers["Access-Control-Max-Age"] = _PREFLIGHT_SECONDS
    for network in ("Private-Network", "Local-Network"):  # the older and the newer name, as the browser asks
        if headers.get(f"access-control-request-{network}") == "true":
            response.headers[f"Access-Control-Allow-{network}"] = "true"
    return response


def _with_cors(send: Send, origin: str) -> Send:
    async def send_with_cors(message: Message) -> None:
        if message["type"] == "http.response.start":
            _add_cors(MutableHeaders(scope=message), origin)
        await send(message)

    return send_with_cors


def _add_cors(headers: MutableHeaders, origin: str) -> None:
    headers["Access-Control-Allow-Origin"] = origin
    headers.add_vary_header("Origin")
