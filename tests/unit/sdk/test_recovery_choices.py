"""`choose_one` takes what is clearly meant, and otherwise says which calls would be clear."""

import json
import logging
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from pedelec import PedelecError, ToolError
from pedelec.advice import advise
from pedelec.call_text import CallFacts
from pedelec.recovery import choose_one
from pedelec.recovery.similarity import EXACT, SAME_WORDS, similarity

CITIES = [
    {"id": "c1", "name": "Springfield", "state": "IL", "people": 114_000},
    {"id": "c2", "name": "Springfield", "state": "MA", "people": 155_000},
    {"id": "c3", "name": "Boston", "state": "MA", "people": 650_000},
    {"id": "c4", "name": "São Paulo", "state": "SP", "people": 12_000_000},
]


@dataclass
class Layer:
    title: str
    opacity: float = 1.0


def refused(query: Any, candidates: Any = CITIES, **options: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        choose_one(query, candidates, **options)
    return caught.value


@pytest.mark.parametrize(
    ("query", "city"),
    [
        ("Boston", "c3"),
        ("boston", "c3"),
        ("Bostn", "c3"),
        ("sao paulo", "c4"),
        ("Paulo, São", "c4"),
        ("c2", "c2"),
    ],
)
def test_what_is_clearly_meant_is_taken(query: str, city: str) -> None:
    assert choose_one(query, CITIES)["id"] == city


def test_a_match_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="pedelec"):
        choose_one("Bostn", CITIES)
    assert caplog.messages == ["“Bostn” was taken for “Boston” (0.91)."]


def test_two_of_one_name_are_told_apart_by_what_differs_and_each_has_its_call() -> None:
    error = refused("Springfield")
    assert (error.code, error.error_class, error.effects) == ("AMBIGUOUS_CHOICE", "userInput", "none")
    told = advise(error, CallFacts(tool="weather", args={"city": "Springfield", "days": 3}))
    assert told["options"] == [
        {
            "label": "Springfield (IL, 114000)",
            "call": 'weather(city="c1", days=3)',
            "value": "c1",
            "state": "IL",
            "people": 114_000,
        },
        {
            "label": "Springfield (MA, 155000)",
            "call": 'weather(city="c2", days=3)',
            "value": "c2",
            "state": "MA",
            "people": 155_000,
        },
    ]
    assert 'weather(city="c1", days=3)' in told["recoverySteps"][0]


def test_the_call_of_each_option_chooses_just_that_one() -> None:
    for option in refused("Springfield").options:
        assert choose_one(option["value"], CITIES)["id"] == option["value"]


def test_the_argument_may_be_named() -> None:
    error = refused("Springfield", argument="place")
    told = advise(error, CallFacts(tool="weather", args={"place": "springfield (some)"}))
    assert told["options"][0]["call"] == 'weather(place="c1")'


def test_a_runner_up_that_is_almost_as_good_makes_it_ambiguous() -> None:
    assert refused("layer 1", ["layer 12", "layer 13"]).code == "AMBIGUOUS_CHOICE"


def test_the_very_name_is_taken_though_others_are_near() -> None:
    assert choose_one("layer 1", ["layer 1", "layer 12", "Layer 1"]) == "layer 1"


def test_part_of_a_name_is_asked_about() -> None:
    error = refused("Springfield", ["Springfield Gardens North", "Boston"])
    assert [option["label"] for option in error.options] == ["Springfield Gardens North"]


def test_what_cannot_be_undone_takes_nothing_but_the_name() -> None:
    assert choose_one("BOSTON", CITIES, consequential=True)["id"] == "c3"
    assert refused("Bostn", consequential=True).code == "AMBIGUOUS_CHOICE"


def test_thresholds_are_parameters() -> None:
    assert choose_one("Bstn", CITIES, accept=0.7)["id"] == "c3"
    assert refused("Bstn").code == "AMBIGUOUS_CHOICE"
    assert refused("Bstn", reject=0.85).code == "NO_MATCH"


@pytest.mark.parametrize("options", [{"accept": 0.4}, {"reject": -0.1}, {"accept": 1.5}, {"limit": 0}])
def test_thresholds_that_contradict_each_other_are_refused(options: Any) -> None:
    with pytest.raises(PedelecError, match="reject <= accept"):
        choose_one("x", CITIES, **options)


def test_nothing_near_is_an_error_with_the_nearest_as_suggestions() -> None:
    error = refused("Kyoto", limit=2)
    assert (error.code, error.error_class) == ("NO_MATCH", "permanent")
    assert len(error.suggestions) == 2
    assert error.details is not None
    assert error.details["leftOut"] == {"suggestions": 1}


def test_no_candidates_are_an_error_with_a_suggestion() -> None:
    error = refused("Kyoto", [])
    assert error.code == "NO_MATCH"
    assert error.suggestions
    assert error.recovery_steps


def test_more_options_than_the_limit_are_counted() -> None:
    wire = refused("item", [f"item {number}" for number in range(30)], limit=4).to_wire()
    assert len(wire["options"]) == 4
    assert wire["details"]["leftOut"] == {"options": 26}


def test_candidates_may_be_strings_mappings_or_objects() -> None:
    layers = [Layer("Sky"), Layer("Sea", 0.5)]
    assert choose_one("sea", layers).opacity == 0.5
    assert choose_one("sea", ["Sky", "Sea"]) == "Sea"
    assert choose_one("4", [{"nr": 3}, {"nr": 4}], key="nr") == {"nr": 4}
    assert choose_one("b", [("a", 1), ("b", 2)], key=lambda pair: pair[0]) == ("b", 2)
    assert refused("x", [{"t": "x", "v": 1}, {"t": "x", "v": 2}], key="t", value="v").options[1]["value"] == 2


class Pin:
    __slots__ = ("_title", "id")

    def __init__(self, number: int, title: str) -> None:
        self.id, self._title = number, title

    @property
    def title(self) -> str:
        return self._title


class City(NamedTuple):
    id: UUID
    name: str
    founded: date


def test_objects_are_read_by_slots_properties_and_named_fields() -> None:
    assert choose_one("sea", [Pin(1, "Sky"), Pin(2, "Sea")]).id == 2
    cities = [City(UUID(int=number), "Ulm", date(800 + number, 1, 1)) for number in (1, 2)]
    options = refused("Ulm", cities).options
    assert [option["label"] for option in options] == ["Ulm (0801-01-01)", "Ulm (0802-01-01)"]
    assert [option["value"] for option in options] == [str(city.id) for city in cities]
    assert choose_one(options[1]["value"], cities) == cities[1]


@pytest.mark.parametrize(("query", "number"), [(5, 5), ("5", 5), (7.5, None), (None, None), ("", None)])
def test_a_query_may_be_a_number_or_nothing(query: Any, number: int | None) -> None:
    shapes = [{"id": 5, "name": "five"}, {"id": 60, "name": "sixty"}]
    if number is not None:
        assert choose_one(query, shapes)["id"] == number
    else:
        assert refused(query, shapes).code == "NO_MATCH"


def test_a_number_finds_the_argument_that_it_came_in() -> None:
    rooms = [{"id": "a", "name": "5"}, {"id": "b", "name": "5"}]
    told = advise(refused(5, rooms), CallFacts(tool="book", args={"room": 5}))
    assert [option["call"] for option in told["options"]] == ['book(room="a")', 'book(room="b")']


def test_twins_are_told_apart_by_their_ids_and_where_they_have_none_no_call_is_named() -> None:
    options = refused("Ann", [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Ann"}]).options
    assert [option["label"] for option in options] == ["Ann (1)", "Ann (2)"]
    told = advise(refused("Ann", ["Ann", "Ann"]), CallFacts(tool="call", args={"who": "Ann"}))
    assert told["options"] == [{"label": "Ann"}, {"label": "Ann"}]
    assert told["recoverySteps"][0].startswith("Do not repeat the same call: no call can tell these 2 apart.")


def test_numbers_that_json_has_not_are_told_as_text() -> None:
    rooms = [{"id": 2**60 + number, "name": "Hall", "size": float("nan") + number} for number in (0, 1)]
    error = refused("Hall", rooms)
    assert json.dumps(error.options, allow_nan=False)
    assert error.options[0]["value"] == str(2**60)


def test_a_field_that_is_not_there_is_refused() -> None:
    with pytest.raises(PedelecError, match="no field 'nope'"):
        choose_one("x", CITIES, key="nope")


def test_options_hold_only_what_json_can_carry_and_little_of_it() -> None:
    candidates = [
        {
            "id": number,
            "name": "same",
            "blob": object(),
            "text": "x" * 5_000 + str(number),
            "_own": number,
        }
        for number in range(3)
    ]
    options = refused("same", candidates).options
    assert len(json.dumps(options)) < 1_000
    assert set(options[0]) == {"label", "value"}


# --- similarity -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "name", "low", "high"),
    [
        ("Berlin", "Berlin", EXACT, EXACT),
        ("berlin!", "Berlin", SAME_WORDS, SAME_WORDS),
        ("Köln", "Koln", SAME_WORDS, SAME_WORDS),
        ("Berlin", "Berlin Mitte", 0.75, 0.9),
        ("Mitte Berlin", "Berlin Mitte", 0.75, 0.98),
        ("Berln", "Berlin", 0.9, 0.98),
        ("Tokyo", "Berlin", 0, 0.4),
        ("", "Berlin", 0, 0),
        ("?", "!", 0, 0),
        ("東京", "東京", EXACT, EXACT),
    ],
)
def test_similarity_is_graded(query: str, name: str, low: float, high: float) -> None:
    assert low <= similarity(query, name) <= high
