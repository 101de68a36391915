"""What no log of the product may hold: checked of every Core that the suite starts, when it is gone, of what
is logged in the suite's own processes, and of every log file that is left.

Tests plant `PLANTED` in arguments, results, errors, texts, addresses and headers; each Core has its token.
"""

import json
import logging
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


class Recorder(logging.Handler):
    """What is logged in this process, for as long as nobody forgets it."""

    def __init__(self) -> None:
        super().__init__()
        self._records: list[logging.LogRecord] = []

    def listen(self) -> None:
        """Hear what is logged from now on, also where a test has set up logging anew."""
        self._records.clear()
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(record)

    def check(self) -> None:
        """Fail where something was logged that no log may hold.

        Raises:
            AssertionError: with the line at fault.
        """
        for record in self._records:
            check(record.getMessage())


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
