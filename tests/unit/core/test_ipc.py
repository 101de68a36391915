"""What is said of a line of the local socket that is no request."""

import pytest
from pydantic import ValidationError

from pedelec_core.ipc import _REQUEST, _problem_with


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('{"type":"status","extra":1}', "status.extra: "),
        ('{"type":"tool_call","tool":"x","argsText":{}}', "tool_call.argsText: "),
        ('{"type":"tool_result"}', "tool_result.invocationId: "),
    ],
)
def test_the_member_that_is_wrong_is_named_as_the_client_knows_it(line: str, place: str) -> None:
    with pytest.raises(ValidationError) as refused:
        _REQUEST.validate_json(line)
    assert _problem_with(refused.value).startswith(f"The line is no request: {place}")
    assert refused.value.error_count() == 1  # no other request was tried
