"""Core's own page on which a person lets an origin in, or does not.

Owns what the page shows and how its answer comes back, and what keeps other pages from opening, framing or
answering it. What the answer leads to is decided in `approvals`.

A link is good for one look. The page that it shows carries another key, which answers that one request, once,
and only from Core's own origin, as JSON and in a header that no form can send.
"""

import html
import json
import secrets
from http import HTTPStatus
from importlib.resources import files
from string import Template
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from pedelec_core.approval_desk import ApprovalDesk, Question
from pedelec_core.command_errors import CommandError
from pedelec_core.origins import readable_origin

from .guard import Guard, is_json

APPROVAL_PATH: Final = "/approve"
KEY_HEADER: Final = "X-Pedelec-Approval"

_MAX_BODY_BYTES: Final = 1024
_TEMPLATE: Final = Template((files("pedelec_core.server") / "approval_page.html").read_text(encoding="utf-8"))
_USED_UP: Final = (
    "This link is not valid: it was used, or the request has ended.\n"
    "Reload the page that asked, or run: pedelec-core approve ORIGIN\n"
)


def approval_link(core_url: str, key: str) -> str:
    """Where a person can look at a request, once."""
    return f"{core_url}{APPROVAL_PATH}/{key}"


class ApprovalPage:
    """The page and its answer.

    Args:
        desk: where requests wait.
        guard: knows Core's own origins.
    """

    def __init__(self, desk: ApprovalDesk, guard: Guard) -> None:
        self._desk = desk
        self._own_origins = guard.own_origins

    def routes(self) -> list[BaseRoute]:
        """Where the app finds it."""
        return [
            Route(f"{APPROVAL_PATH}/{{key}}", self._show, methods=["GET"]),
            Route(APPROVAL_PATH, self._answer, methods=["POST"]),
        ]

    async def _show(self, request: Request) -> Response:
        if not _is_opened_by_a_person(request):
            return _refused(HTTPStatus.FORBIDDEN, "Open this link in a tab of its own.")
        question = self._desk.take(request.path_params["key"])
        if question is None:
            return PlainTextResponse(_USED_UP, HTTPStatus.NOT_FOUND, headers=_headers())
        nonce = secrets.token_urlsafe(16)
        return HTMLResponse(_TEMPLATE.substitute(_shown(question), nonce=nonce), headers=_headers(nonce))

    async def _answer(self, request: Request) -> Response:
        if request.headers.get("origin") not in self._own_origins:
            return _refused(HTTPStatus.FORBIDDEN, "Only Core's own page may answer.")
        if not is_json(request.headers):
            return _refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "An answer is application/json.")
        key = request.headers.get(KEY_HEADER, "")
        approve = await _word_of(request)
        if not key or approve is None:
            return _refused(HTTPStatus.BAD_REQUEST, "That is no answer.")
        try:
            origin = self._desk.answer(key, approve=approve)
        except CommandError as error:
            return _refused(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        if origin is None:
            return _refused(HTTPStatus.NOT_FOUND, "The request has ended, or was answered already.")
        told = f"{origin} is let in." if approve else f"{origin} is not let in."
        return JSONResponse({"ok": True, "message": f"{told} You can close this page."}, headers=_headers())


def _is_opened_by_a_person(request: Request) -> bool:
    """Whether it is a tab's own navigation that no other site started (Fetch Metadata); not a look ahead."""
    headers = request.headers
    return (
        headers.get("sec-fetch-dest", "document") == "document"
        and headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
        and "sec-purpose" not in headers
    )


async def _word_of(request: Request) -> bool | None:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY_BYTES:
            return None
    try:
        word = json.loads(body)["approve"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return word if type(word) is bool else None


def _shown(question: Question) -> dict[str, str]:
    claim = question.claim
    readable = readable_origin(question.origin)
    note = (
        f'<p class="warning">Browsers may show it as <strong id="readable">{html.escape(readable)}</strong>. '
        "Letters of other alphabets can look like those of a name that you know.</p>"
    )
    name = html.escape(claim.app_name)
    return {
        "origin": html.escape(question.origin),
        "readable": note if readable != question.origin else "",
        "claimed_name": f"It calls itself <q>{name}</q>." if name else "It gives no name.",
        "tools": _tools(question),
        "key": html.escape(question.key),
    }


def _tools(question: Question) -> str:
    claim = question.claim
    if not claim.tools:
        return "<p>The page has not told its tools yet: it starts once it is let in.</p>"
    items = "".join(
        f"<dt>{html.escape(tool.name)}</dt><dd>{html.escape(tool.description)}</dd>" for tool in claim.tools
    )
    more = f"<p>… and {claim.more_tools} more.</p>" if claim.more_tools else ""
    return f"<dl>{items}</dl>{more}"


def _refused(status: HTTPStatus, message: str) -> Response:
    return JSONResponse({"ok": False, "message": message}, status, headers=_headers())


def _headers(nonce: str = "") -> dict[str, str]:
    allowed = f"script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; " if nonce else ""
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; {allowed}img-src data:; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        ),
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
