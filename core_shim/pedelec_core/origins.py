"""Which web origins besides Core's own may talk to it.

Owns how an origin is written and `origins.json` in the state folder, which outlives Core and may change
while it runs. Decides nothing about requests: that is `server.guard`.
"""

import contextlib
import fcntl
import ipaddress
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pedelec.errors import Code, PedelecError

from .command_errors import CommandError
from .state_dir import read_own, write_privately

ORIGINS_NAME: Final = "origins.json"

_FORMAT: Final = 1
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ORIGIN: Final = re.compile(
    r"(https?)://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(?::([0-9]{1,5}))?", re.ASCII | re.IGNORECASE
)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMERIC_LABEL: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)

_log = logging.getLogger(__name__)


def normalize_origin(text: str) -> str:
    """Write an origin as a browser does: lower case, no default port, no path.

    Rules: RFC 6454 section 6.2 and the host parser of the URL standard.

    Raises:
        PedelecError: `INVALID_INPUT`, saying what is wrong with it.
    """
    match = _ORIGIN.fullmatch(text)
    if match is None:
        raise _invalid(text, _why_not_an_origin(text))
    scheme, host, port_text = match[1].lower(), match[2].lower(), match[3]
    port = _DEFAULT_PORTS[scheme] if port_text is None else int(port_text)
    if not 0 < port < 65_536:
        raise _invalid(text, "a port is between 1 and 65535")
    suffix = "" if port == _DEFAULT_PORTS[scheme] else f":{port}"
    return f"{scheme}://{_normalize_host(text, host)}{suffix}"


def readable_origin(origin: str) -> str:
    """An origin with international names in their own letters, as browsers may show it; for people alone."""
    scheme, _, rest = origin.partition("://")
    host, colon, port = rest.rpartition(":") if re.search(r":[0-9]+$", rest) else (rest, "", "")
    labels = [_readable_label(label) for label in host.split(".")]
    return f"{scheme}://{'.'.join(labels)}{colon}{port}"


def _readable_label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        readable = label[4:].encode().decode("punycode")
    except UnicodeError:
        return label
    return readable if readable.isprintable() else label


def _normalize_host(text: str, host: str) -> str:
    if host.startswith("["):
        try:
            return f"[{_ipv6_text(ipaddress.IPv6Address(host[1:-1]))}]"
        except ValueError:
            raise _invalid(text, "the IPv6 address is not one") from None
    labels = host.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid(text, "the host is not a name that a browser would send")
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise _invalid(text, "an IPv4 address is four numbers, as in 127.0.0.1") from None
    return host


def _ipv6_text(address: ipaddress.IPv6Address) -> str:
    """As the URL standard writes it, which has no dotted form for mapped IPv4 addresses."""
    mapped = address.ipv4_mapped
    if mapped is None:
        return address.compressed
    high, low = divmod(int(mapped), 1 << 16)
    return f"::ffff:{high:x}:{low:x}"


def _why_not_an_origin(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    if text == "null" or "*" in text:
        return "only a single, named origin can be approved"
    if not separator or scheme.lower() not in _DEFAULT_PORTS:
        return "it must begin with http:// or https://"
    if not rest.isascii():
        return "write an international name as the browser does, in its xn-- form"
    if any(character in rest for character in "/?#"):
        return "an origin has no path: leave out everything after the host and port"
    return "it must be scheme://host or scheme://host:port"


def _invalid(text: str, reason: str) -> PedelecError:
    return PedelecError(Code.INVALID_INPUT, f"{text[:200]!r} is not an origin: {reason}.")


class OriginStore:
    """The approved origins: those in the file, as it is at the moment of asking, and those given.

    Args:
        path: the file; it need not exist.
        always: origins, normalised, that are approved without standing in the file.
    """

    def __init__(self, path: Path, always: Iterable[str] = ()) -> None:
        self._path = path
        self._always = tuple(dict.fromkeys(always))
        self._seen: tuple[int, ...] | None = None
        self._approved: tuple[str, ...] = ()  # the first approved first

    def is_approved(self, origin: str) -> bool:
        """Whether an origin, exactly as a browser sent it, is approved. A broken file approves nothing."""
        return origin in self._always or origin in self._current()

    def rank(self, origin: str) -> int:
        """The place of an origin among the approved ones, the first approved first; others come after all."""
        order = (*self._always, *self._current())
        return order.index(origin) if origin in order else len(order)

    def all_approved(self) -> frozenset[str]:
        """Every approved origin at this moment, whether written down or given."""
        return frozenset((*self._always, *self._current()))

    def _current(self) -> tuple[str, ...]:
        try:
            status = self._path.lstat()
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            self._seen, self._approved = None, ()
            return self._approved
        if seen != self._seen:
            self._seen = seen
            try:
                self._approved = tuple(self._read())
            except CommandError as error:
                _log.error("%s No origin is approved until it is mended.", error.message)
                self._approved = ()
        return self._approved

    def approved(self) -> list[str]:
        """The origins in the file, in alphabetical order.

        Raises:
            CommandError: the file cannot be read or understood.
        """
        return sorted(self._read())

    def approve(self, origin: str) -> bool:
        """Add a normalised origin; False where it was there already. Raises `CommandError`."""
        return self._change(lambda entries: entries.setdefault(origin, _now()))

    def revoke(self, origin: str) -> bool:
        """Take a normalised origin out; False where it was not there. Raises `CommandError`."""
        return self._change(lambda entries: entries.pop(origin, None))

    def _change(self, change: Callable[[dict[str, str]], object]) -> bool:
        with self._locked():
            entries = self._read()
            before = set(entries)
            change(entries)
            if set(entries) == before:
                return False
            listed = [{"origin": origin, "approvedAt": since} for origin, since in entries.items()]
            text = json.dumps({"format": _FORMAT, "origins": listed}, indent=1)
            try:
                write_privately(self._path, text + "\n")
            except OSError as error:
                raise CommandError(f"{self._path} cannot be written: {error.strerror}.") from None
            return True

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One change at a time, so that two commands at once do not undo each other."""
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self._path.with_name("origins.lock"), flags, 0o600)
        except OSError as error:
            raise CommandError(f"{self._path} cannot be changed: {error.strerror}.") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> dict[str, str]:
        try:
            stored = json.loads(read_own(self._path))
            if stored["format"] != _FORMAT:
                raise CommandError(f"{self._path} was written by another version of Core.")
            return {entry["origin"]: entry["approvedAt"] for entry in stored["origins"]}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise CommandError(f"{self._path} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError):
            problem = f"{self._path} is not a list of origins."
            raise CommandError(problem, "Remove it, then approve the origins again.") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
