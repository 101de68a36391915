"""Every value that JSON has passes unchanged, both ways; what it lacks is found wherever it sits."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pedelec.json_safe import MAX_SAFE_INT, NotJsonSafeError, encode, parse
from pedelec.json_text import RawJson
from tests.unit.sdk.values import BAD_LEAVES, LyingClass, Unnameable, same

MIB = 1024 * 1024

moderate = settings(max_examples=40, deadline=None, database=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INT, MAX_SAFE_INT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@moderate
@given(json_values)
def test_every_i_json_value_arrives_exactly(value: Any) -> None:
    assert same(json.loads(encode(value, max_bytes=MIB).text), value)


@moderate
@given(json_values, st.booleans())
def test_every_i_json_text_is_read_exactly(value: Any, ascii_only: bool) -> None:
    assert same(parse(json.dumps(value, ensure_ascii=ascii_only)), value)


plantable = [value for value, _ in BAD_LEAVES if type(value) not in (RawJson, Unnameable, LyingClass)]
planted: st.SearchStrategy[tuple[Any, str]] = st.deferred(
    lambda: st.sampled_from(plantable).map(lambda leaf: (leaf, "")) | in_list | in_dict
)
in_list: st.SearchStrategy[tuple[Any, str]] = st.tuples(
    st.lists(json_values, max_size=2), planted, st.lists(json_values, max_size=2)
).map(lambda parts: ([*parts[0], parts[1][0], *parts[2]], f"[{len(parts[0])}]{parts[1][1]}"))
in_dict: st.SearchStrategy[tuple[Any, str]] = st.tuples(
    st.dictionaries(st.just("good"), json_values), planted
).map(lambda parts: ({**parts[0], "a b": parts[1][0]}, f'["a b"]{parts[1][1]}'))


@moderate
@given(planted)
def test_a_bad_part_is_refused_by_its_path_wherever_it_sits(plant: tuple[Any, str]) -> None:
    value, path = plant
    with pytest.raises(NotJsonSafeError) as caught:
        encode(value, max_bytes=MIB)
    assert caught.value.path == "$" + path
