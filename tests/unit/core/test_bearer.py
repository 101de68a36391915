"""The bearer token before an app, and where it is kept."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from pedelec_core.server.bearer import BearerMiddleware
from pedelec_core.state_dir import TOKEN_NAME, StateDir


@pytest.mark.parametrize("token", ["", "short", "x" * 31])
def test_a_token_that_can_be_guessed_protects_nothing(token: str) -> None:
    with pytest.raises(ValueError, match="at least"):
        BearerMiddleware(PlainTextResponse("in"), token)


def test_the_token_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    token = StateDir(tmp_path).token()
    assert StateDir(tmp_path).token() == token
    assert (tmp_path / TOKEN_NAME).stat().st_mode & 0o077 == 0
    BearerMiddleware(PlainTextResponse("in"), token)


@pytest.mark.parametrize("text", ["", "short", "x" * 44, "é" * 43])
def test_what_is_no_token_is_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / TOKEN_NAME).write_text(text)
    (tmp_path / TOKEN_NAME).chmod(0o600)
    assert len(StateDir(tmp_path).token()) == 43


def test_a_token_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    token = StateDir(tmp_path).token()
    (tmp_path / TOKEN_NAME).chmod(0o644)
    assert StateDir(tmp_path).token() != token
