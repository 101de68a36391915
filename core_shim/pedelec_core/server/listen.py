"""The port that Core listens on, and who has it when we cannot.

Owns the listening sockets' making. Loopback only: whoever calls this has seen to it.

A machine has two loopback addresses, and browsers take `localhost` for either, the IPv6 one first. Whoever
has our port on the other one is `http://localhost:PORT` to them. So Core takes both, and where it cannot, no
page of that name counts as its own.
"""

import errno
import http.client
import json
import os
import socket
from typing import Final

from pedelec_core.command_errors import CommandError
from pedelec_core.state_dir import StateDir

from .app import HEALTH_PATH, SERVER_NAME

_TWINS: Final = {"127.0.0.1": "::1", "::1": "127.0.0.1"}
_NOBODYS: Final = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
"""What the system says of an address that this machine does not have."""

_PROBE_SECONDS: Final = 1
_MAX_HEALTH_BYTES: Final = 4096


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to a loopback address; port 0 takes a free one.

    Raises:
        CommandError: the port cannot be had; where another Core has it, the message says which.
    """
    try:
        return _bound(host, port)
    except OSError as error:
        advice = "Choose another with --port (0 takes a free one)."
        raise CommandError(_why_not(host, port, error), advice) from None


def listen_on_twin(host: str, port: int) -> tuple[socket.socket | None, bool]:
    """Take the same port of the other loopback address.

    Returns:
        its socket, where it could be had; and whether it is certain that no other program has it.
    """
    try:
        return _bound(_TWINS[host], port), True
    except OSError as error:
        return None, error.errno in _NOBODYS


def _bound(host: str, port: int) -> socket.socket:
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is: with Nagle, a small
    # frame that follows another waits some 40 ms for the peer's delayed acknowledgement.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(socket.SOMAXCONN)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def url_of(host: str, port: int) -> str:
    """The address of Core on that host and port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _why_not(host: str, port: int, error: OSError) -> str:
    version = _version_of_core_at(host, port)
    if version is None:
        return f"Core cannot listen on {url_of(host, port)}: {os.strerror(error.errno or 0)}."
    known = StateDir().read_runtime()
    which = ""
    if known is not None and known.port == port:
        which = f": process {known.pid}, state folder {known.state_dir}"
    return f"Port {port} is in use by another Pedelec Core (version {version}{which})."


def _version_of_core_at(host: str, port: int) -> str | None:
    """The version of the Core that answers there, or None where nothing does, or something else."""
    connection = http.client.HTTPConnection(host, port, timeout=_PROBE_SECONDS)
    try:
        connection.request("GET", HEALTH_PATH)
        health = json.loads(connection.getresponse().read(_MAX_HEALTH_BYTES))
        return str(health["version"]) if health["name"] == SERVER_NAME else None
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()
