"""Whatever pages write, JSON that a terminal may show says the same."""

import json

from hypothesis import given
from hypothesis import strategies as st

from pedelec_core.page_text import safe_json


@given(st.text())
def test_json_for_a_terminal_says_the_same(text: str) -> None:
    plain = json.dumps({"a": [text]}, ensure_ascii=False)
    safe = safe_json(plain)
    assert json.loads(safe) == {"a": [text]}
    assert not set(safe) & set("\x7f\x85\x9b\u202e\u2067\u200f\u2028")
