"""JSON as types and as text: what a JSON value is, and how one is written and read.

Owns the one compact form of everything that goes out, and the short way through the standard library's
`json`, whose public functions prepare anew, with each call, what takes longer than a small value itself.
Whether a value is JSON is `json_safe`'s to tell.
"""

import json
import json.encoder
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

type JsonValue = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None
type JsonObject = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class RawJson:
    """A value that is JSON text already, spliced into its frame as it is."""

    text: str


def encode_object(members: Mapping[str, object]) -> str:
    """An object as compact JSON text. A `RawJson` member is not looked at: its writer vouches for it."""
    texts: list[str] = []
    plain: dict[str, object] = {}  # encoded together: each call of the encoder costs more than a member
    for name, value in members.items():
        if type(value) is RawJson:
            if plain:
                texts.append(encode_value(plain)[1:-1])
                plain = {}
            texts.append(f"{encode_value(name)}:{value.text}")
        else:
            plain[name] = value
    if plain:
        texts.append(encode_value(plain)[1:-1])
    return "{" + ",".join(texts) + "}"


def encode_value(value: object) -> str:
    """A value as compact JSON text on one line; the value is known to be JSON-safe."""
    return _to_text(value)


def writer(*, sort_keys: bool = False) -> Callable[[object], str]:
    """What writes values as compact JSON text, as `json.dumps` would that is told to write no NaN.

    It raises what `json.dumps` raises, but for a value that contains itself: that is a `RecursionError`.
    """
    encoder = json.JSONEncoder(
        ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=sort_keys, separators=(",", ":")
    )
    make = json.encoder.c_make_encoder  # type: ignore[attr-defined] # typeshed lacks it
    if make is None:  # an interpreter without the C part
        return encoder.encode
    parts_of = make(
        None,
        encoder.default,
        json.encoder.encode_basestring,
        None,
        encoder.key_separator,
        encoder.item_separator,
        sort_keys,
        False,
        False,
    )
    return lambda value: "".join(parts_of(value, 0))


def reader(decoder: json.JSONDecoder) -> Callable[[str], Any]:
    """What reads whole texts as `decoder.decode` does, faster where no white space comes first."""
    scan = decoder.scan_once  # type: ignore[attr-defined]

    def read(text: str) -> Any:
        try:
            value, end = scan(text, 0)
        except StopIteration:
            return decoder.decode(text)
        return value if not text[end:].strip(_WHITE_SPACE) else decoder.decode(text)

    return read


_WHITE_SPACE: Final = " \t\n\r"
"""RFC 8259, section 2."""

_to_text = writer()
