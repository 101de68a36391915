"""Whatever an error is made of, its envelope keeps the rules."""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pedelec import ToolError
from pedelec.envelope import KEYS, MAX_ERROR_BYTES

long_text = st.builds(lambda word, times: word * times, st.text(max_size=8), st.integers(0, 800))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | long_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(
    code=st.text(min_size=1, max_size=150),
    message=long_text,
    recovery_steps=st.lists(long_text, max_size=8),
    options=st.builds(
        lambda values, times: values * times, st.lists(json_values, max_size=2), st.integers(0, 9)
    ),
    details=st.dictionaries(long_text, json_values, max_size=5),
)
@example(code="\xa0", message=" ", recovery_steps=[], options=[], details={})
def test_whatever_an_error_holds_it_is_whole_ordered_and_small(code: str, **fields: Any) -> None:
    wire = ToolError(code, fields.pop("message"), **fields).to_wire()
    text = json.dumps(wire, ensure_ascii=False, separators=(",", ":"))
    assert len(text.encode("utf-8", "surrogatepass")) <= MAX_ERROR_BYTES
    assert [key for key in KEYS if key in wire] == list(wire)
    assert {"code", "class", "message"} <= set(wire)
