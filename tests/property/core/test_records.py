"""What the journal keeps of a call is what the call was."""

import hypothesis.strategies as st
from hypothesis import given

from pedelec.json_text import JsonValue, RawJson, encode_value
from pedelec_core.invocation import Call, Instant, Invocation, Outcome, State
from pedelec_core.records import from_record, to_record

NOW = Instant(1000.0, 1_700_000_000_000)

TEXT = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=8,
)


@given(result=JSON)
def test_every_result_survives(result: JsonValue) -> None:
    outcome = Outcome(result=RawJson(encode_value(result)))
    settled = Invocation(
        id="inv_1",
        call=Call(tool="move", args=RawJson('{"x":1}'), args_key="key", timeout_ms=60_000),
        turn_id="turn_1",
        turn_started_at=NOW.epoch_ms,
        deadline=NOW.seconds + 60,
        state=State.SETTLED,
        outcome=outcome,
        settled_at=NOW.seconds,
        instance_id="page",
    )
    assert from_record(to_record(settled, "ses_1", NOW), NOW).outcome == outcome
