"""A table that one test goes through tells as much as one test for each row."""

import inspect

import pytest

from tests.harness.tables import each_row

TABLE = [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_every_row_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @each_row(("number", "letter"), TABLE)
    def check(number: int, letter: str) -> None:
        tried.append((number, letter))
        assert number % 2, "it is even"

    with pytest.raises(ExceptionGroup, match=r"2 of 4 rows fail: row 1: 2, 'b'; row 3: 4, 'd'") as caught:
        check()
    assert tried == TABLE
    assert ["it is even" in str(failed) for failed in caught.value.exceptions] == [True, True]


async def test_rows_may_be_awaited() -> None:
    tried = []

    @each_row("number", [1, 2])
    async def check(number: int) -> None:
        tried.append(number)
        assert number != 1

    with pytest.raises(ExceptionGroup, match="1 of 2 rows fail: row 0: 1"):
        await check()
    assert tried == [1, 2]


def test_an_error_that_does_not_come_is_a_failure_of_its_row() -> None:
    @each_row("text", ["1", "x"])
    def check(text: str) -> None:
        with pytest.raises(ValueError, match="invalid"):
            int(text)

    with pytest.raises(ExceptionGroup, match="1 of 2 rows fail: row 0: '1'"):
        check()


@each_row("number", [1, 2])
def test_fixtures_are_given_beside_the_row(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    assert tmp_path_factory.mktemp(str(number)).is_dir()


def test_what_a_row_is_for_is_no_fixture() -> None:
    @each_row("number", [])
    def check(other: int, number: int) -> None:
        raise AssertionError

    assert list(inspect.signature(check).parameters) == ["other"]


def test_a_row_is_named_at_bearable_length() -> None:
    @each_row("text", ["x" * 10_000])
    def check(text: str) -> None:
        assert not text

    with pytest.raises(ExceptionGroup) as caught:
        check()
    assert len(str(caught.value)) < 300
