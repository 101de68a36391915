"""The scenarios' frame: what one is, and the pages that most of them use."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pedelec import ToolDefinition, ToolError, define_tool
from tests.literal_agent.agent import User
from tests.literal_agent.calls import Call
from tests.literal_agent.stage import Json, Stage

type Prepare = Callable[[Stage], Awaitable[Call]]


@dataclass(frozen=True)
class Scenario:
    """One way of failing.

    Args:
        code: of the first error.
        reachable: whether doing what the errors say leads to a result.
        through: the tools or commands whose result it is; the tool that was called, unless given.
        prepare: sets the stage and returns the call that the agent is to make.
        user: answers the agent's questions.
    """

    name: str
    code: str
    reachable: bool
    through: tuple[str, ...]
    prepare: Prepare
    user: User


SCENARIOS: list[Scenario] = []


def declines(_question: str, _options: list[Any]) -> Any:
    """A user who wants none of it."""
    return None


def agrees(_question: str, options: list[Any]) -> Any:
    """A user who does what is asked, and takes the first option."""
    return options[0] if options else True


def picks(label: str) -> User:
    """A user who means the option whose label begins like this."""
    return lambda _question, options: next(one for one in options if one["label"].startswith(label))


def says(answer: Any) -> User:
    """A user who answers a question."""
    return lambda _question, _options: answer


def scenario(
    code: str, *, reachable: bool, user: User = declines, through: tuple[str, ...] = ()
) -> Callable[[Prepare], Prepare]:
    """Add a scenario; its name is the function's."""

    def add(prepare: Prepare) -> Prepare:
        name = prepare.__name__.replace("_", " ")
        SCENARIOS.append(Scenario(name, code, reachable, through, prepare, user))
        return prepare

    return add


SHAPE_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "shapeId": {"type": "string"},
        "x": {"type": "number", "minimum": 0, "maximum": 640},
        "color": {"enum": ["red", "green", "blue"]},
        "at": {"type": "object", "properties": {"layer": {"type": "integer"}}, "additionalProperties": False},
    },
    "required": ["shapeId", "x"],
    "additionalProperties": False,
}
MOVE = Call("move_shape", {"shapeId": "s1", "x": 12})


def tool(name: str, handler: Any, schema: Json | None = None, **hints: Any) -> ToolDefinition:
    """A tool with a handler (None: the page has not written one)."""
    return define_tool(
        name=name,
        description=f"The tool {name}.",
        args_schema={"type": "object"} if schema is None else schema,
        handler=handler,
        **hints,
    )


def moving(handler: Any = lambda: "moved", **hints: Any) -> tuple[ToolDefinition, ToolDefinition]:
    """A page that moves shapes and lists them."""
    look = tool("list_shapes", lambda: [{"id": "s1", "x": 0}], read_only=True)
    return tool("move_shape", handler, SHAPE_SCHEMA, **hints), look


def after(stage: Stage, seconds: float, error: BaseException) -> Callable[[], Any]:
    """A handler that works once so much simulated time has passed, and fails until then."""

    def handler() -> str:
        if stage.clock < seconds:
            raise error
        return "moved"

    return handler


def once(error: BaseException) -> Callable[[], Any]:
    """A handler that fails the first time."""
    errors = [error]

    def handler() -> str:
        if errors:
            raise errors.pop()
        return "moved"

    return handler


def fails(error: BaseException) -> Callable[[], Any]:
    """A handler that always fails."""

    def handler() -> None:
        raise error

    return handler


def busy(seconds: float) -> ToolError:
    return ToolError.retryable("BOARD_BUSY", "The board is being drawn.", after=seconds)
