"""How dear a schema may be: to make ready, to check arguments with, and to say what is wrong with them.

Owns the estimates. The validator is fast, and cannot be stopped: what would take it too long must not reach
it. Both a page's schema and an agent's arguments can be made to: references that fan out, keywords that look
at the same value again, patterns over long text, errors that copy the values they are about.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from pedelec.json_text import JsonObject, JsonValue
from pedelec_core import schema_parts
from pedelec_core.pattern_cost import cost_of
from pedelec_core.schema_parts import BadReferenceError, Part

MAX_CHECKS: Final = 200_000_000
"""Of parts of a schema against values: about a second."""

MAX_MATCHING: Final = 50_000_000
"""In the units of `pattern_cost`: about a second."""

MAX_COPIED_CHARS: Final = 32 * 1024 * 1024
"""Under half a second and 200 MB in the worst case that was found."""

_MAX_STEPS: Final = 100_000
_MAX_REFERENCES_IN_A_ROW: Final = 100
_CHARS_PER_SCALAR: Final = 8


class TooDearError(ValueError):
    """The schema cannot be afforded; the text completes a sentence that begins with its name."""


class SchemaBudget:
    """What one schema costs.

    Args:
        schema: a JSON Schema, at most some hundred levels deep.
        max_size: of it, each part counted as often as references lead to it.
        max_patterns: in it.

    Raises:
        TooDearError: it costs too much, or refers to what is not in it.
    """

    def __init__(self, schema: JsonObject, max_size: int, max_patterns: int) -> None:
        self._whole = schema_parts.whole(schema)
        try:
            self._size = _Unfolding(max_size).size(self._whole)
        except BadReferenceError as error:
            raise TooDearError(f"must refer to nothing but its own parts: {error}") from None
        except RecursionError:
            raise TooDearError("has too many references in a row") from None
        patterns = list(_patterns(schema))
        if len(patterns) > max_patterns:
            raise TooDearError(f"must not hold more than {max_patterns} patterns; it has {len(patterns)}")
        self._patterns = {pattern: cost_of(pattern) for pattern in patterns}

    def may_be_checked(self, args: JsonValue) -> bool:
        """Whether it can be told in little time if arguments fit."""
        return self._is_checked_soon(args) and (not self._patterns or self._is_matched_soon(args))

    def _is_checked_soon(self, args: JsonValue) -> bool:
        if self._size <= _CHEAP_FOR_ALL or self._size * _count(args) <= MAX_CHECKS:
            return True
        return _Walk(lambda schema, _: _faults(schema), MAX_CHECKS).affords(self._whole, args)

    def _is_matched_soon(self, args: JsonValue) -> bool:
        lengths = [len(text) for text in _texts(args)]
        if sum(cost.of(sum(lengths)) for cost in self._patterns.values()) <= MAX_MATCHING:
            return True
        return _Walk(self._matching, MAX_MATCHING).affords(self._whole, args)

    def _matching(self, schema: JsonValue, value: JsonValue) -> int:
        """The cost of one part's own patterns."""
        if not isinstance(schema, dict):
            return 0
        if isinstance(value, str):
            pattern = schema.get("pattern")
            return self._patterns[pattern].of(len(value)) if isinstance(pattern, str) else 0
        by_pattern = schema.get("patternProperties")
        if not (isinstance(value, dict) and isinstance(by_pattern, dict)):
            return 0
        return sum(self._patterns[pattern].of(len(key)) for pattern in by_pattern for key in value)

    def may_be_listed(self, args: JsonValue) -> bool:
        """Whether all that is wrong with arguments can be listed: each entry copies the value at fault."""
        sizes = _Sizes()
        copied = _Walk(lambda schema, value: _faults(schema) * sizes(value), MAX_COPIED_CHARS)
        return copied.affords(self._whole, args)


_CHEAP_FOR_ALL: Final = 200
"""A schema of this size can check any arguments of a megabyte."""


class _Unfolding:
    """Counts a schema's parts, each as often as it is looked at for one value or what is in it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[int, int | None] = {}  # None while it is counted: it leads back to itself
        self._depth = 0

    def size(self, part: Part) -> int:
        schema = part[0]
        known = self._sizes.get(id(schema), 0)
        if known != 0:
            return known or 1
        self._sizes[id(schema)] = None
        self._depth += 1
        if self._depth > 10 * _MAX_REFERENCES_IN_A_ROW:
            raise RecursionError
        same = sum(self.size(each) for each in schema_parts.of_same_value(part))
        repeated = same * schema_parts.repeats(schema)
        below = sum(self.size(each) for each in schema_parts.of_any(part)) - same
        size = _faults(schema) + _choices(schema) + repeated + below
        self._depth -= 1
        if size > self._most:
            raise TooDearError(
                f"must not have more than {self._most} parts, each counted as often as references lead to it"
            )
        self._sizes[id(schema)] = size
        return size


def _choices(schema: JsonValue) -> int:
    choices = schema.get("enum") if isinstance(schema, dict) else None
    return len(choices) if isinstance(choices, list) else 0


def _faults(schema: JsonValue) -> int:
    """How many faults a part can find with one value: one for each keyword and each required member."""
    if not isinstance(schema, dict):
        return 1
    lists = [schema.get("required")]
    for keyword in ("dependentRequired", "dependencies"):
        if isinstance(wanted := schema.get(keyword), dict):
            lists += wanted.values()
    return 1 + len(schema) + sum(len(names) for names in lists if isinstance(names, list))


class _TooMuchError(Exception):
    pass


class _Walk:
    """Adds up what every part of a schema costs for every value that it may be for.

    Args:
        cost: of one part, without those in it, and one value.
        most: the sum that is too much.
    """

    def __init__(self, cost: Callable[[JsonValue, JsonValue], int], most: int) -> None:
        self._cost = cost
        self._most = most
        self._steps = 0
        self._costs: dict[tuple[int, int], int] = {}

    def affords(self, part: Part, value: JsonValue) -> bool:
        """Whether the sum stays below, and can itself be found in little time."""
        try:
            self._sum(part, value)
        except _TooMuchError:
            return False
        return True

    def _sum(self, part: Part, value: JsonValue) -> int:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise _TooMuchError
        key = (id(part[0]), id(value))
        known = self._costs.get(key)
        if known is not None:
            return known
        self._costs[key] = own = self._cost(part[0], value)
        total = 0
        for share in chain((own,), self._shares(part, value)):
            total += share
            if total > self._most:  # told as soon as it is known: what is left may take long to add up
                raise _TooMuchError
        self._costs[key] = total
        return total

    def _shares(self, part: Part, value: JsonValue) -> Iterator[int]:
        """What the parts in a part cost, for the value and for those in it."""
        repeats = schema_parts.repeats(part[0])
        for each in schema_parts.of_same_value(part):
            yield repeats * self._sum(each, value)
        if isinstance(value, dict):
            for name, member in value.items():
                for each in schema_parts.of_member(part, name):
                    yield self._sum(each, member)
        elif isinstance(value, list) and schema_parts.has_items(part):
            for index, item in enumerate(value):
                for each in schema_parts.of_item(part, index):
                    yield self._sum(each, item)


class _Sizes:
    """The sizes of values' texts, in characters."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def __call__(self, value: JsonValue) -> int:
        if isinstance(value, str):
            return len(value)
        if not isinstance(value, (dict, list)):
            return _CHARS_PER_SCALAR
        known = self._known.get(id(value))
        if known is None:
            parts = value.values() if isinstance(value, dict) else value
            keys = sum(map(len, value)) if isinstance(value, dict) else 0
            known = self._known[id(value)] = _CHARS_PER_SCALAR + keys + sum(map(self, parts))
        return known


def _count(value: JsonValue) -> int:
    """The number of values in a value."""
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_count, value))
    return 1


def _texts(value: JsonValue) -> Iterator[str]:
    """The texts in a value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _patterns(schema: JsonValue) -> Iterator[str]:
    """The regular expressions anywhere in a schema."""
    if isinstance(schema, list):
        for item in schema:
            yield from _patterns(item)
    elif isinstance(schema, dict):
        for name, value in schema.items():
            if name == "pattern" and isinstance(value, str):
                yield value
            if name == "patternProperties" and isinstance(value, dict):
                yield from value
            yield from _patterns(value)
