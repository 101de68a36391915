"""The port that Core listens on, and who has it when we cannot.

Owns the listening socket's making. Loopback only: whoever calls this has seen to it.
"""

import http.client
import json
import os
import socket
from typing import Final

from pedelec_core.command_errors import CommandError
from pedelec_core.state_dir import StateDir

from .app import HEALTH_PATH, SERVER_NAME

_PROBE_SECONDS: Final = 1
_MAX_HEALTH_BYTES: Final = 4096


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to a loopback address; port 0 takes a free one.

    Raises:
        CommandError: the port cannot be had; where another Core has it, the message says which.
    """
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is: with Nagle, a small
    # frame that follows another waits some 40 ms for the peer's delayed acknowledgement.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(socket.SOMAXCONN)
    except OSError as error:
        listener.close()
        advice = "Choose another with --port (0 takes a free one)."
        raise CommandError(_why_not(host, port, error), advice) from None
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
