"""JSON as types and as text: what a JSON value is, and how a value that is known to be one is written.

Owns the one compact form of everything that goes out. Whether a value is JSON is `json_safe`'s to tell.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

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
    return _encoder.encode(value)


_encoder = json.JSONEncoder(  # once: json.dumps would make one for each value
    ensure_ascii=False, separators=(",", ":"), allow_nan=False
)
