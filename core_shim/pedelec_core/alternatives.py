"""Of the alternatives of an `anyOf` or `oneOf`, the one that was probably meant.

Owns that choice, for who tells of it and for who corrects it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jsonschema_rs import ValidationError

type Branch = Sequence[ValidationError]
"""What is wrong for one alternative; nothing, if it fits."""


@dataclass(frozen=True, slots=True)
class Alternatives:
    """How a value stands to each alternative.

    Attributes:
        fitting: how many fit; only with `oneOf` can that be wrong.
        types: the types that are wanted, where each alternative was refused for its type alone.
        closest: what is wrong for the one that was probably meant; nothing where `fitting` or `types` tells.
        candidates: how many have the right type.
    """

    fitting: int
    types: Sequence[str]
    closest: Branch
    candidates: int


def alternatives(error: ValidationError) -> Alternatives:
    """How the value of an `anyOf` or `oneOf` error stands to the alternatives."""
    branches: list[Branch] = error.kind.as_dict()["context"]
    fitting = sum(not branch for branch in branches)
    if fitting:
        return Alternatives(fitting, (), (), 0)
    types = [_type_mismatch(branch, error.instance_path) for branch in branches]
    if all(types):
        return Alternatives(0, list(dict.fromkeys(name for names in types for name in names)), (), 0)
    candidates = [branch for branch, names in zip(branches, types, strict=True) if not names]
    return Alternatives(0, (), min(candidates, key=_distance), len(candidates))


def _type_mismatch(branch: Branch, path: Sequence[str | int]) -> list[str]:
    """The types that an alternative wanted, where it was refused for its type alone."""
    first = branch[0]
    if len(branch) == 1 and first.kind.name == "type" and list(first.instance_path) == list(path):
        names: list[str] = first.kind.as_dict()["types"]
        return names
    return []


def _distance(branch: Branch) -> tuple[int, int]:
    """How far an alternative is from what was given: a wrong tag (`kind`, `type`) means another one."""
    tags = sum(error.kind.name in {"const", "enum"} for error in branch)
    return tags, len(branch)
