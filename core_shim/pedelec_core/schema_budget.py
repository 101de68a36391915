"""How dear it may be to list all that is wrong with arguments.

Owns the estimate. Telling whether arguments fit a schema is cheap; but the validator lists what is wrong
with a copy of the value at fault in each entry, and both a page's schema and an agent's arguments can be
made so that these copies take more memory than there is.
"""

from typing import Final

from pedelec.protocol import JsonValue

MAX_COPIED_CHARS: Final = 32 * 1024 * 1024
"""Under half a second and 200 MB in the worst case that was found."""

_CHARS_PER_SCALAR: Final = 8


def size_of_schema(schema: JsonValue) -> int:
    """The number of values in a schema: each can be the reason for one entry per value of the arguments."""
    if isinstance(schema, dict):
        return 1 + sum(map(size_of_schema, schema.values()))
    if isinstance(schema, list):
        return 1 + sum(map(size_of_schema, schema))
    return 1


def may_be_listed(args: JsonValue, schema_size: int) -> bool:
    """Whether all that is wrong with the arguments can be listed within the budget."""
    return _copies(args)[1] * schema_size <= MAX_COPIED_CHARS


def _copies(value: JsonValue) -> tuple[int, int]:
    """The size of a value, and the sizes of it and of all values in it, added up; in characters."""
    if isinstance(value, str):
        return len(value), len(value)
    if isinstance(value, dict):
        parts = [
            (len(key) + size, copies)
            for key, (size, copies) in zip(value, map(_copies, value.values()), strict=True)
        ]
    elif isinstance(value, list):
        parts = [*map(_copies, value)]
    else:
        return _CHARS_PER_SCALAR, _CHARS_PER_SCALAR
    size = _CHARS_PER_SCALAR + sum(part[0] for part in parts)
    return size, size + sum(part[1] for part in parts)
