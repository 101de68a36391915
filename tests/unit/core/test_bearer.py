"""The bearer token before an app."""

import pytest
from starlette.responses import PlainTextResponse

from pedelec_core.server.bearer import BearerMiddleware


@pytest.mark.parametrize("token", ["", "short", "x" * 31])
def test_a_token_that_can_be_guessed_protects_nothing(token: str) -> None:
    with pytest.raises(ValueError, match="at least"):
        BearerMiddleware(PlainTextResponse("in"), token)
