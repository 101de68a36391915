"""The bearer token before an ASGI app: no request gets in without it, and none that a form could send.

Owns the check (RFC 6750, section 2.1: the header, never the address or the body). Where the token comes from
is `state_dir`'s business.
"""

import hmac
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pedelec.errors import Code, ErrorClass, PedelecError

from .guard import error_response, is_json

MIN_TOKEN_CHARS: Final = 32


class BearerMiddleware:
    """Lets a request through that carries the token and, where it is a POST, JSON.

    Any other is answered with 401 or 415 before its body is read.

    Args:
        app: what is protected.
        token: the secret.

    Raises:
        ValueError: the token is too short to be one.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        if len(token) < MIN_TOKEN_CHARS:
            raise ValueError(f"a token has at least {MIN_TOKEN_CHARS} characters")
        self._app = app
        self._expected = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        given = headers.getlist("authorization")
        if len(given) == 1 and hmac.compare_digest(_with_small_scheme(given[0]), self._expected):
            is_fit = scope["method"] != "POST" or is_json(headers)
            await (self._app if is_fit else _refuse_type)(scope, receive, send)
            return
        error = PedelecError(
            Code.INVALID_INPUT,
            "This address needs the bearer token of Core.",
            error_class=ErrorClass.AUTH_REQUIRED,
            recovery_steps=["Send the token of runtime.json, in Core's state folder, as the Bearer token."],
        )
        response = error_response(HTTPStatus.UNAUTHORIZED, error)
        response.headers["WWW-Authenticate"] = 'Bearer realm="pedelec"'
        await response(scope, receive, send)


async def _refuse_type(scope: Scope, receive: Receive, send: Send) -> None:
    error = PedelecError(Code.INVALID_INPUT, "A request to this address is application/json.")
    await error_response(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, error)(scope, receive, send)


def _with_small_scheme(header: str) -> bytes:
    """The scheme's case makes no difference (RFC 9110, section 11.1); the token's does."""
    scheme, _, token = header.partition(" ")
    return f"{scheme.lower()} {token.strip()}".encode("latin-1")
