"""Whose process is on the other side of a connection, where the system tells.

Owns how it is asked: Linux and macOS for the local socket, Linux alone for loopback TCP. What follows from
the answer is the caller's business; that the system does not tell is no answer, and nobody's fault.
"""

import socket
import struct
import sys
from typing import Final

# <linux/sock_diag.h> and <linux/inet_diag.h>: one socket is looked up by its addresses, no list is read.
_NETLINK_SOCK_DIAG: Final = 4
_SOCK_DIAG_BY_FAMILY: Final = 20
_NLM_F_REQUEST: Final = 1
_HEADER: Final = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_REQUEST: Final = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_PORTS: Final = struct.Struct("!HH")
_ANY: Final = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # interface, cookie
_ALL_STATES: Final = 0xFFFFFFFF
_UID_AT: Final = _HEADER.size + 4 + 48 + 12  # after the states, the addresses, and three counts
_MAX_ANSWER_BYTES: Final = 4_096
_PATIENCE_SECONDS: Final = 1.0

type Address = tuple[str, int]


def of_unix_socket(connection: socket.socket) -> int | None:
    """The user id of the process that connected, or None where the system does not tell."""
    uid: int | None = None
    if sys.platform == "linux":
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        uid = struct.unpack("3i", credentials)[1]
    if sys.platform == "darwin":
        # struct xucred of <sys/ucred.h>: version and uid come first. SOL_LOCAL is 0, LOCAL_PEERCRED is 1.
        credentials = connection.getsockopt(0, 1, struct.calcsize("2I"))
        uid = struct.unpack("2I", credentials)[1]
    return uid


def of_tcp_client(client: Address, server: Address) -> int | None:
    """The user id of the process on this machine that holds the client's end, or None.

    Args:
        client: its address and port, as the server sees them.
        server: the address and port that it connected to.
    """
    if sys.platform != "linux":
        return None
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    ends = b"".join(socket.inet_pton(family, host).ljust(16, b"\0") for host, _ in (client, server))
    wanted = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _ALL_STATES)
    wanted += _PORTS.pack(client[1], server[1]) + ends + _ANY
    header = _HEADER.pack(_HEADER.size + len(wanted), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as system:
            system.settimeout(_PATIENCE_SECONDS)
            system.send(header + wanted)
            answer = system.recv(_MAX_ANSWER_BYTES)
        is_found = _HEADER.unpack_from(answer)[1] == _SOCK_DIAG_BY_FAMILY
        return int(struct.unpack_from("=I", answer, _UID_AT)[0]) if is_found else None
    except (OSError, struct.error):
        return None
