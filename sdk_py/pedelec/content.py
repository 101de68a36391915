"""Rich results: pictures, sound and documents, for a handler to return.

    return image(png_bytes)
    return mixed("The board, and what it costs:", image(png_bytes), structured={"total": 12})

Owns the JSON that stands for them, which is MCP's own (2025-11-25, server/tools, "Tool Result"): an object
with `content`, a list of blocks. It is an ordinary result everywhere else: the command line prints it as it
is, and the limit for results counts it, bytes as base64 (a third more). No I/O, stdlib only.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from pedelec.json_text import JsonObject, JsonValue

_MIME_TYPE = re.compile(r"[a-z0-9][\w.+-]*/[a-z0-9][\w.+-]*", re.IGNORECASE | re.ASCII)
_DATA_URL = re.compile(r"data:(?P<type>[^,;]*)(?P<rest>;[^,]*)?,(?P<data>.*)", re.DOTALL | re.IGNORECASE)

_MAGIC: tuple[tuple[str, bytes, bytes], ...] = (  # type, how the data begins, what stands at byte 8
    ("image/png", b"\x89PNG\r\n\x1a\n", b""),
    ("image/jpeg", b"\xff\xd8\xff", b""),
    ("image/gif", b"GIF8", b""),
    ("image/webp", b"RIFF", b"WEBP"),
    ("audio/wav", b"RIFF", b"WAVE"),
    ("audio/mpeg", b"ID3", b""),
    ("audio/mpeg", b"\xff\xfb", b""),
    ("audio/ogg", b"OggS", b""),
    ("audio/flac", b"fLaC", b""),
)


def image(data: object, mime_type: str | None = None) -> JsonObject:
    """A picture.

    Args:
        data: its bytes (in a page also a JavaScript buffer), base64 text, or a `data:` URL.
        mime_type: its type; found out for PNG, JPEG, GIF and WebP.

    Raises:
        TypeError, ValueError: it is nothing of the kind, or its type is not known.
    """
    return _single(_media("image", data, mime_type))


def audio(data: object, mime_type: str | None = None) -> JsonObject:
    """A sound, as `image`; the type is found out for WAV, MP3, Ogg and FLAC."""
    return _single(_media("audio", data, mime_type))


def resource(
    uri: str, *, text: str | None = None, data: object = None, mime_type: str | None = None
) -> JsonObject:
    """A document under an address of its own: either `text`, or `data` as in `image`.

    Raises:
        TypeError, ValueError: it has neither or both, or the address is none.
    """
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", uri):
        raise ValueError("resource() takes an absolute URI, such as app://report/7.")
    if (text is None) == (data is None):
        raise TypeError("resource() takes either text or data.")
    inside: JsonObject = {"uri": uri}
    if text is not None:
        inside["text"] = text
    else:
        encoded, found = _encoded(data)
        inside["blob"] = encoded
        mime_type = mime_type or found
    if mime_type is not None:
        inside["mimeType"] = _checked_type(mime_type)
    return _single({"type": "resource", "resource": inside})


def mixed(*parts: str | Mapping[str, Any], structured: JsonObject | None = None) -> JsonObject:
    """Several parts, in order: texts, and what `image`, `audio`, `resource` and `mixed` make.

    Args:
        parts: at least one.
        structured: the same as data, for agents that read data.

    Raises:
        TypeError: a part is something else.
    """
    blocks: list[JsonValue] = []
    for part in parts:
        match part:
            case str():
                blocks.append({"type": "text", "text": part})
            case {"content": [*inside]}:
                blocks.extend(inside)
            case _:
                raise TypeError(f"mixed() takes texts and rich results, not {type(part).__name__}.")
    if not blocks:
        raise TypeError("mixed() takes at least one part.")
    return {"content": blocks} if structured is None else {"content": blocks, "structuredContent": structured}


def _single(block: JsonObject) -> JsonObject:
    return {"content": [block]}


def _media(kind: str, data: object, mime_type: str | None) -> JsonObject:
    encoded, found = _encoded(data)
    mime_type = mime_type or found
    if mime_type is None:
        raise ValueError(f"The type of this {kind} is not known: give mime_type, such as {kind}/….")
    if not _checked_type(mime_type).startswith(f"{kind}/"):
        raise ValueError(f"{kind}() takes no {mime_type}.")
    return {"type": kind, "data": encoded, "mimeType": mime_type}


def _checked_type(mime_type: str) -> str:
    if not _MIME_TYPE.fullmatch(mime_type):
        raise ValueError(f"{mime_type!r} is no media type, such as image/png.")
    return mime_type


def _encoded(data: object) -> tuple[str, str | None]:
    """The data as base64, and its type as far as the data tells."""
    if not isinstance(data, str):
        raw = _bytes_of(data)
        return base64.b64encode(raw).decode(), _sniffed(raw)
    url = _DATA_URL.fullmatch(data)
    if url is None:
        raw = _decoded(data)
        return data, _sniffed(raw)
    if not (url["rest"] or "").lower().endswith(";base64"):
        raise ValueError("A data: URL must hold base64.")
    raw = _decoded(url["data"])
    return url["data"], url["type"] or _sniffed(raw)


def _bytes_of(data: object) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    to_bytes = None if isinstance(data, int) else getattr(data, "to_bytes", None)
    if to_bytes is None:
        raise TypeError(f"Bytes, base64 text or a data: URL are wanted, not {type(data).__name__}.")
    return bytes(to_bytes())


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("The text is no base64 (RFC 4648, section 4, without line breaks).") from None


def _sniffed(raw: bytes) -> str | None:
    for mime_type, head, inner in _MAGIC:
        if raw.startswith(head) and raw[8:].startswith(inner):
            return mime_type
    return None


_FROM_JS: dict[str, Callable[..., JsonObject]] = {"image": image, "audio": audio, "resource": resource}


def from_javascript(kind: str, given: Mapping[str, Any]) -> JsonObject:
    """What content.mjs asks for: `given` are the arguments of one of the above, by Python's names.

    Raises:
        TypeError, ValueError: as they do.
    """
    if kind == "mixed":
        return mixed(*given["parts"], structured=given.get("structured"))
    return _FROM_JS[kind](**given)
