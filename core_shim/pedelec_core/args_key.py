"""By what equal arguments are known: a hash of their canonical form (RFC 8785).

Owns the short way to that form for arguments that are written in ASCII and hold no fractions, as most are.
"""

import hashlib
import re
from typing import Final

import rfc8785

from pedelec.json_text import JsonObject, writer

_sorted_text: Final = writer(sort_keys=True)
_LIKE_A_FRACTION: Final = re.compile(r"[0-9](\.|e)")
"""How a float is written by Python. Text that looks like it does no harm."""


def key_of(args: JsonObject) -> str:
    """Equal exactly where the arguments are equal after RFC 8785 canonicalisation.

    The standard library's encoder writes strings and integers as the RFC does; it sorts keys by code points
    where the RFC sorts by UTF-16 units, which is the same in ASCII, and it writes floats in another way.
    """
    text = _sorted_text(args)
    if text.isascii() and _LIKE_A_FRACTION.search(text) is None:
        return hashlib.sha256(text.encode()).hexdigest()
    return hashlib.sha256(rfc8785.dumps(args)).hexdigest()
