"""Bring the page's Python to where a page of ours finds it: everything imported, each library used once.

What a library imports or makes on first use is then in the snapshot. What is random, timed or a page's own is
set afresh by `pedelec._browser.waking`.
"""

import importlib
import pkgutil
import sys
import zipfile
from pathlib import Path

SITE_PACKAGES = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def unpack(wheel: str) -> None:
    """Put a wheel where Pyodide would, without its help, which leaves live JavaScript objects behind."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(SITE_PACKAGES)
    importlib.invalidate_caches()


def files() -> list[str]:
    """The files that a page finds in its site-packages: all but libraries, which are in the snapshot."""
    found = (
        path for path in sorted(Path(SITE_PACKAGES).rglob("*")) if path.is_file() and path.suffix != ".so"
    )
    return [str(path) for path in found]


def use_sdk() -> None:
    """Import and use what every page uses."""
    import pedelec

    for module in pkgutil.walk_packages(pedelec.__path__, "pedelec."):
        importlib.import_module(module.name)
    for name in pedelec.__all__:
        getattr(pedelec, name)
    pedelec.define_tool(name="a", description="A.", args_schema={"type": "object"}, handler=len)
    sys.path.remove("")  # Pyodide puts it there at each start


def use_typed_tools() -> None:
    """Import and use what pages with typed tools use besides."""
    from pedelec._browser import waking

    _use_pydantic()
    _make_typed_tool()
    waking.make_model()


def _use_pydantic() -> None:
    import dataclasses
    import datetime as dt
    import enum
    import typing
    import uuid

    import pydantic
    import pydantic.dataclasses

    class Kind(enum.Enum):
        ONE = "one"

    @dataclasses.dataclass
    class Plain:
        number: int = 1

    @pydantic.dataclasses.dataclass
    class Checked:
        number: int = 1

    class Model(pydantic.BaseModel):
        text: str = pydantic.Field(default="a", description="A text.", alias="theText")
        numbers: list[float] = []
        kind: Kind = Kind.ONE
        either: typing.Literal["a", "b"] | None = None
        parts: dict[str, Plain] = {}
        checked: Checked = Checked()
        moment: dt.datetime | None = None
        identity: uuid.UUID | None = None

        @pydantic.field_validator("text")
        @classmethod
        def _text(cls, text: str) -> str:
            return text

        @pydantic.model_validator(mode="after")
        def _all(self) -> typing.Self:
            return self

    Model.model_json_schema()
    Model.model_validate_json('{"theText": "b", "parts": {"c": {"number": 2}}}').model_dump_json()
    Model.model_validate(Model().model_dump(by_alias=True))
    try:
        Model.model_validate({"theText": 1, "kind": "two", "moment": "now"})
    except pydantic.ValidationError as error:
        str(error), error.json()
    adapter = pydantic.TypeAdapter(typing.Annotated[list[Plain] | None, pydantic.Field(description="Some.")])
    adapter.json_schema()
    adapter.dump_json(adapter.validate_python([{"number": 3}]))

    @pydantic.validate_call
    def add(first: int, second: float = 0.5) -> float:
        return first + second

    add(1)


def _make_typed_tool() -> None:
    import pydantic

    import pedelec

    class Point(pydantic.BaseModel):
        x: float

    @pedelec.tool(timeout_ms=1000)
    async def move(shape_id: str, x: float, y: float = 0.0, names: list[str] | None = None) -> Point:
        "Move a shape."
        return Point(x=x)

    assert move.args_schema["required"] == ["shapeId", "x"]
