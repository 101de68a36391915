"""What no log of the product may hold: checked of every Core that the suite starts, when it is gone, of what
is logged in the suite's own processes, and of every log file that is left.

Tests plant `PLANTED` in arguments, results, errors, texts, addresses and headers; each Core has its token.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

PLANTED = "planted-secret-7f3a91"
"""A test that puts this into anything that passes through Core has it looked for in the log."""

_QUERY = re.compile(r"https?://[^\s\"']*\?[^\s\"']+|\b(?:GET|POST) [^\s\"']*\?")
_PAYLOAD = re.compile(r"argsText|\"args\"|Bearer [\w-]{8,}")


def secrets_of(state_dir: Path) -> list[str]:
    """The token of a Core, where there is one."""
    try:
        return [str(json.loads((state_dir / "runtime.json").read_bytes())["token"])]
    except (OSError, ValueError, KeyError):
        return []


def check(log: str, secrets: Sequence[str] = ()) -> None:
    """Fail where a log holds what it may not.

    Raises:
        AssertionError: with the line at fault.
    """
    for line in log.splitlines():
        told = [secret for secret in (PLANTED, *secrets) if secret in line]
        found = _QUERY.search(line) or _PAYLOAD.search(line)
        assert not told, f"a secret in Core's log: {line}"
        assert found is None, f"a query or a payload in Core's log: {line}"
