"""Arguments that mean the same have one key."""

from typing import Any

import pytest

from pedelec_core.args_key import key_of


@pytest.mark.parametrize(
    ("one", "other"),
    [({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({"x": 1}, {"x": 1.0}), ({"x": 0}, {"x": -0.0})],
    ids=["order", "whole float", "minus zero"],
)
def test_arguments_that_mean_the_same_have_one_key(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert key_of(one) == key_of(other)
