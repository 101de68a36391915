"""How pydantic writes the schemas of typed tools: without the titles that it makes up from names."""

import typing
from functools import cache
from typing import Any

if typing.TYPE_CHECKING:
    from pydantic.json_schema import GenerateJsonSchema


@cache
def untitled_schemas() -> "type[GenerateJsonSchema]":
    """The generator to pass to pydantic, which is imported here and not before."""
    from pydantic.json_schema import GenerateJsonSchema

    class Untitled(GenerateJsonSchema):
        def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
            return False

    return Untitled
