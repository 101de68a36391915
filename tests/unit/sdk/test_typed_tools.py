"""`@tool`: schemas from annotations, validated arguments, results written by pydantic."""

import dataclasses
import datetime as dt
import enum
import json
import sys
import uuid
from collections.abc import Awaitable
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from pedelec import PedelecError, ToolContext, ToolError, tool
from pedelec.context import CancelSignal
from pedelec.typed_tools import TypedTool
from tests.unit.sdk.scripted_core import ScriptedCore, open_session


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)
    left_edge: float
    top_edge: float = 0


@dataclasses.dataclass
class Size:
    width_px: int
    day: dt.date = dt.date(2026, 1, 2)


async def result_of(typed: TypedTool, args: Any) -> Any:
    core = ScriptedCore()
    await open_session(core, tools=(typed,))
    return await core.call(typed.name, args)


async def violations_of(typed: TypedTool, args: Any) -> dict[str, dict[str, Any]]:
    error = (await result_of(typed, args))["error"]
    assert error["code"] == "TOOL_ARGS_INVALID"
    return {violation["path"]: violation for violation in error["details"]["violations"]}


@tool
def draw(
    shape_id: str,
    at: Point,
    color: Color = Color.RED,
    mode: Literal["fill", "line"] = "fill",
    width: Annotated[int, Field(ge=1, le=9, description="In pixels.")] = 1,
    label: str | None = None,
    tags: list[str] | None = None,
) -> list[Any]:
    """Draw a shape.

    At a point.
    """
    return [shape_id, type(at).__name__, at.left_edge, color.name, mode, width, label, tags]


def test_the_schema_says_what_the_annotations_say() -> None:
    schema = draw.args_schema
    properties: Any = schema["properties"]
    assert draw.name == "draw"
    assert draw.description == "Draw a shape.\n\nAt a point."
    assert schema["required"] == ["shapeId", "at"]
    assert schema["additionalProperties"] is False
    assert properties["shapeId"] == {"type": "string"}
    assert properties["width"] == {
        "type": "integer", "minimum": 1, "maximum": 9, "default": 1, "description": "In pixels.",
    }  # fmt: skip
    assert properties["mode"] == {"type": "string", "enum": ["fill", "line"], "default": "fill"}
    assert set(schema["$defs"]["Point"]["properties"]) == {"leftEdge", "topEdge"}  # type: ignore[arg-type,call-overload,index]
    assert schema["$defs"]["Color"]["enum"] == ["red", "blue"]  # type: ignore[call-overload,index]


async def test_arguments_arrive_as_the_annotated_types() -> None:
    args = {"shapeId": "s1", "at": {"leftEdge": 3}, "color": "blue", "tags": ["a"]}
    assert await result_of(draw, args) == ["s1", "Point", 3.0, "BLUE", "fill", 1, None, ["a"]]


async def test_all_violations_are_told_at_once_by_json_pointer() -> None:
    args = {"shapeId": 5, "at": {"leftEdge": "x"}, "color": "green", "widht": 3, "tags": ["a", 1]}
    found = await violations_of(draw, args)
    assert set(found) == {"/shapeId", "/at/leftEdge", "/color", "/widht", "/tags/1"}
    assert found["/shapeId"]["got"].startswith("integer ")
    assert all(violation["expected"] and violation["got"] for violation in found.values())
    assert "red" in found["/color"]["expected"]
    assert found["/widht"]["suggestion"] == "width"


async def test_a_missing_argument_is_named() -> None:
    missing = await violations_of(draw, {})
    assert {path: violation["got"] for path, violation in missing.items()} == {
        "/shapeId": "nothing",
        "/at": "nothing",
    }
    assert set(await violations_of(draw, {"shapeId": "a", "at": {}})) == {"/at/leftEdge"}


async def test_nothing_is_coerced_silently() -> None:
    @tool
    def strict(count: int, share: float, yes: bool, text: str) -> list[Any]:
        """Strict."""
        return [count, share, yes, text]

    good = {"count": 1, "share": 2, "yes": True, "text": "12345"}
    assert await result_of(strict, good) == [1, 2.0, True, "12345"]
    bad = {"count": "1", "share": "2", "yes": "yes", "text": 12345}
    assert set(await violations_of(strict, bad)) == {"/count", "/share", "/yes", "/text"}


async def test_a_whole_number_is_an_integer_however_it_is_written() -> None:
    @tool
    def count(n: int, x: float, any_value: Any = None) -> list[str]:
        """Count."""
        return [repr(n), repr(x), repr(any_value)]

    assert await result_of(count, {"n": 5.0, "x": 5}) == ["5", "5.0", "None"]
    assert await result_of(count, {"n": 5, "x": 5.0, "anyValue": 5.0}) == ["5", "5.0", "5.0"]
    assert set(await violations_of(count, {"n": 5.5, "x": 1})) == {"/n"}


async def test_typed_dicts_and_dataclasses_keep_their_names() -> None:
    class Row(TypedDict):
        row_id: int
        note: NotRequired[str]

    @tool
    def keep(row: Row, size: Size) -> list[Any]:
        """Keep."""
        return [row, size.width_px]

    assert await result_of(keep, {"row": {"row_id": 1}, "size": {"width_px": 2}}) == [{"row_id": 1}, 2]


async def test_types_that_json_writes_as_text_are_read() -> None:
    @tool
    def when(day: dt.date, key: uuid.UUID, pair: tuple[int, int]) -> list[Any]:
        """When."""
        return [type(day).__name__, type(key).__name__, type(pair).__name__]

    args = {"day": "2026-01-02", "key": str(uuid.UUID(int=1)), "pair": [1, 2]}
    assert await result_of(when, args) == ["date", "UUID", "tuple"]


async def test_parameters_named_like_a_models_own_parts_are_ordinary() -> None:
    @tool
    def odd(model_config: int, json: int, _hidden: int, schema: int, self: int, copy: int = 6) -> list[int]:
        """Odd."""
        return [model_config, json, _hidden, schema, self, copy]

    args = {"modelConfig": 1, "json": 2, "Hidden": 3, "schema": 4, "self": 5}
    assert await result_of(odd, args) == [1, 2, 3, 4, 5, 6]


async def test_an_alias_names_a_parameter_on_the_wire() -> None:
    @tool
    def aliased(
        shape: Annotated[str, Field(alias="the-shape")], /, *, size_px: int = Field(gt=0)
    ) -> list[Any]:
        """Aliased."""
        return [shape, size_px]

    assert await result_of(aliased, {"the-shape": "s", "sizePx": 2}) == ["s", 2]
    assert set(await violations_of(aliased, {"the-shape": "s", "sizePx": 0})) == {"/sizePx"}


async def test_the_context_is_injected_and_no_argument() -> None:
    @tool
    def by_name(ctx: Any, x: int) -> list[Any]:
        """By name."""
        return [ctx.tool, x]

    @tool
    async def by_type(x: int, where: ToolContext | None = None) -> list[Any]:
        """By type."""
        assert where is not None
        return [where.tool, x]

    assert await result_of(by_name, {"x": 1}) == ["by_name", 1]
    assert await result_of(by_type, {"x": 1}) == ["by_type", 1]
    assert list(by_type.args_schema["properties"]) == ["x"]  # type: ignore[arg-type]


async def test_a_declared_model_or_dataclass_is_written_by_pydantic() -> None:
    @tool
    def model() -> Point:
        """Model."""
        return Point(left_edge=1)

    @tool
    async def several() -> dict[str, list[Size] | None]:
        """Several."""
        return {"sizes": [Size(3)], "none": None}

    assert await result_of(model, {}) == {"leftEdge": 1.0, "topEdge": 0.0}
    assert await result_of(several, {}) == {"sizes": [{"width_px": 3, "day": "2026-01-02"}], "none": None}


async def test_a_function_that_returns_an_awaitable_of_a_model_is_written_too() -> None:
    async def later() -> Point:
        return Point(left_edge=2)

    @tool
    def model() -> Point:
        """Model."""
        return later()  # type: ignore[return-value]

    assert (await result_of(model, {}))["leftEdge"] == 2


async def test_what_a_subclass_adds_is_not_dropped() -> None:
    class Point3(Point):
        depth: float = 5

    @dataclasses.dataclass
    class Bigger(Size):
        extra: int = 1

    @tool
    def both() -> list[Point | Size]:
        """Both."""
        return [Point3(left_edge=1), Bigger(2)]

    assert await result_of(both, {}) == [
        {"leftEdge": 1.0, "topEdge": 0.0, "depth": 5.0},
        {"width_px": 2, "day": "2026-01-02", "extra": 1},
    ]


async def test_an_undeclared_model_is_refused_as_any_object() -> None:
    @tool
    def undeclared() -> Any:
        """Undeclared."""
        return {"p": Point(left_edge=1)}

    error = (await result_of(undeclared, {}))["error"]
    assert (error["code"], error["details"]["path"]) == ("TOOL_RESULT_NOT_SERIALIZABLE", "$.p")
    assert "model_dump" in error["details"]["hint"]


async def test_a_result_other_than_declared_is_judged_as_it_is() -> None:
    @tool
    def plain() -> Point:
        """Plain."""
        return {"error": {"code": "NO_SELECTION", "message": "Select first."}}  # type: ignore[return-value]

    assert (await result_of(plain, {}))["error"]["code"] == "NO_SELECTION"


async def test_pydantic_hides_no_nan_and_no_big_integer() -> None:
    class Loose(BaseModel):
        x: float = 0
        anything: Any = None
        n: int = 0

    @tool
    def loose(which: str) -> list[Loose]:
        """Loose."""
        nan = float("nan")
        faults = {"x": Loose(x=nan), "anything": Loose(anything=(1, {"a": nan})), "n": Loose(n=2**60)}
        return [Loose(), faults[which]]

    for which, path in [("x", "$[1].x"), ("anything", "$[1].anything[1].a"), ("n", "$[1].n")]:
        assert (await result_of(loose, {"which": which}))["error"]["details"]["path"] == path


async def test_nothing_but_the_declared_type_is_converted() -> None:
    @tool
    def other() -> Point:
        """Other."""
        return {"tags": {1, 2}}  # type: ignore[return-value]

    assert (await result_of(other, {}))["error"]["details"]["path"] == "$.tags"


async def test_each_call_has_its_own_defaults() -> None:
    @tool
    def collect(item: int, into: list[int] = []) -> list[int]:  # noqa: B006 - this is what is tested
        """Collect."""
        into.append(item)
        return into

    core = ScriptedCore()
    await open_session(core, tools=(collect,))
    assert [await core.call("collect", {"item": number}) for number in (1, 2)] == [[1], [2]]


def test_options_are_those_of_define_tool() -> None:
    @tool(name="other", description="Text.", timeout_ms=5, read_only=True, idempotent=True, exclusive=True)
    def named() -> None: ...

    assert named.to_wire() == {
        "name": "other",
        "description": "Text.",
        "argsSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "timeoutMs": 5,
        "readOnly": True,
        "idempotent": True,
        "exclusive": True,
    }


def test_a_tool_is_called_as_its_function() -> None:
    @tool
    def add(a: int, b: int = 2) -> int:
        """Add."""
        return a + b

    assert add(1) == 3
    assert getattr(add, "__name__", None) == "add"
    assert add.__doc__ == "Add."


class Board:
    """A board."""

    def move(self, x: int) -> list[Any]:
        """Move."""
        return [type(self).__name__, x]

    async def __call__(self, x: int) -> int:
        """Call."""
        return x


async def test_methods_and_callable_objects_make_tools() -> None:
    assert await result_of(tool(Board().move), {"x": 1}) == ["Board", 1]
    assert await result_of(tool(name="board")(Board()), {"x": 2}) == 2


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: tool(lambda *args: None), "args_schema"),
        (lambda: tool(name="a", description="A.")(clashing), "args_schema"),
        (lambda: tool(lambda **args: None), "args_schema"),
        (lambda: tool(name="a", description="A.")(undescribable), "args_schema"),
        (lambda: tool(name="a", description="A.")(unresolvable), "args_schema"),
        (lambda: tool(name="a")(lambda: None), "description"),
        (lambda: tool(description="A.")(lambda: None), "name"),
        (lambda: tool(timeout_ms=0)(draw.function), "timeout_ms"),
    ],
)
def test_what_makes_no_tool_is_refused_with_the_field(make: Any, field: str) -> None:
    with pytest.raises(PedelecError) as caught:
        make()
    assert caught.value.code == "INVALID_INPUT"
    assert caught.value.details is not None
    assert caught.value.details["field"] == field


def clashing(a_b: int, aB: int) -> None:  # noqa: N803 - the clash is what is tested
    """Two names that are one."""


def undescribable(value: Awaitable[int]) -> None:
    """No JSON Schema for that."""


def unresolvable(value: "Missing") -> None:  # type: ignore[name-defined]  # noqa: F821 - this is what is tested
    """No such name."""


def test_without_pydantic_the_refusal_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(PedelecError) as caught:
        tool(draw.function)
    assert "define_tool" in caught.value.message


def test_the_schema_is_json() -> None:
    assert json.loads(json.dumps(draw.args_schema)) == draw.args_schema


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (int, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (Awaitable[int], {"type": "integer"}),
        (None, None),
        (Any, None),
        (str, None),
        (dict[str, Any], None),
        (list[Any], None),
        (object, None),
        (CancelSignal, None),
    ],
)
def test_the_return_annotation_is_the_result_schema_where_it_says_anything(
    annotation: Any, schema: Any
) -> None:
    def returns() -> Any:
        """Returns."""

    returns.__annotations__["return"] = annotation
    assert tool(returns).result_schema == schema


async def test_a_model_s_result_schema_is_what_pydantic_writes() -> None:
    @tool
    async def edges() -> Point:
        """Tell the edges."""
        return Point(left_edge=1)

    schema = edges.result_schema
    assert schema is not None
    assert set(schema["properties"]) == {"leftEdge", "topEdge"}  # type: ignore[arg-type]
    assert await result_of(edges, {}) == {"leftEdge": 1.0, "topEdge": 0.0}
    assert edges.to_wire()["resultSchema"] == schema


async def test_an_error_that_may_be_returned_is_no_part_of_the_result_s_type() -> None:
    @tool
    def edges(fail: bool = False) -> Point | ToolError:
        """Tell the edges, if there are any."""
        return ToolError.permanent("NO_EDGES", "None.") if fail else Point(left_edge=1)

    assert edges.result_schema is not None
    assert set(edges.result_schema["properties"]) == {"leftEdge", "topEdge"}  # type: ignore[arg-type]
    assert await result_of(edges, {}) == {"leftEdge": 1.0, "topEdge": 0.0}
    assert (await result_of(edges, {"fail": True}))["error"]["code"] == "NO_EDGES"


def test_the_result_schema_can_be_another_or_none() -> None:
    def count() -> int:
        """Count."""
        return 1

    assert tool(result_schema={"minimum": 1})(count).result_schema == {"minimum": 1}
    assert tool(result_schema=False)(count).result_schema is None
    with pytest.raises(PedelecError, match="result_schema"):
        tool(result_schema="integer")(count)  # type: ignore[call-overload]


def test_a_typed_tool_takes_every_other_field_too() -> None:
    def mail() -> None:
        """Read a mail."""

    made = tool(title="Mail", read_only=True, untrusted_content=True, consequential=True)(mail)
    assert (made.title, made.read_only, made.untrusted_content, made.consequential) == (
        "Mail", True, True, True,
    )  # fmt: skip
