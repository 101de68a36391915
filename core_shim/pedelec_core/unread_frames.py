"""What can be told of a page's frame that is not read: that it is too large, and which request it was.

Owns how much is looked at for that. The frame itself is never parsed here.
"""

import re
from typing import Final

from pedelec.json_safe import is_encodable
from pedelec_core.page_text import MAX_ID_CHARS

_BYTES_PER_CHAR: Final = 4  # in UTF-8, at most

_BEGINNING: Final = re.compile(
    rf'\s*\{{\s*"type"\s*:\s*"[a-z_]{{1,40}}"\s*,\s*"requestId"\s*:\s*"([^"\\]{{1,{MAX_ID_CHARS}}})"'
)


def is_too_large(frame: str, max_bytes: int) -> bool:
    """Whether a frame is over the limit; most are so far below that their bytes need not be counted."""
    chars = len(frame)
    if chars * _BYTES_PER_CHAR <= max_bytes:
        return False
    return chars > max_bytes or len(frame.encode("utf-8", "surrogatepass")) > max_bytes


def request_id_of(frame: str, read: str | None = None) -> str | None:
    """The request id of a frame: the one that was `read`, else that of one which begins as the SDK's do.

    One that could not be sent back is none.
    """
    found = _BEGINNING.match(frame)
    request_id = read if read is not None else found[1] if found else None
    is_usable = request_id is not None and len(request_id) <= MAX_ID_CHARS and is_encodable(request_id)
    return request_id if is_usable else None
