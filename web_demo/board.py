"""The page's state and the tools that it offers to agents. Runs in the page."""

import json
from typing import Literal

from js import window
from pydantic import BaseModel, Field
from pyodide.ffi import create_proxy

from pedelec import Pedelec, ToolError, define_tool, tool

WIDTH, HEIGHT = 640, 400
type Kind = Literal["circle", "square", "triangle"]


class Shape(BaseModel):
    id: str
    kind: Kind
    color: str
    x: float
    y: float


shapes = {
    shape.id: shape
    for shape in (
        Shape(id="s1", kind="circle", color="#c2410c", x=320, y=200),
        Shape(id="s2", kind="square", color="#1d4ed8", x=160, y=290),
        Shape(id="s3", kind="triangle", color="#15803d", x=480, y=120),
    )
}
selection: str | None = None


def draw():
    window.board.draw(json.dumps([shape.model_dump() for shape in shapes.values()]), selection)


def note(text):
    window.board.logCall(text)


def place(shape_id, x, y):
    shape = shapes[shape_id]
    shape.x, shape.y = min(max(x, 0), WIDTH), min(max(y, 0), HEIGHT)
    draw()


def select(shape_id):
    global selection
    selection = shape_id
    draw()


@tool(read_only=True)
def list_shapes() -> list[Shape]:
    """All shapes on the board with their kind, colour and centre. The board is 640 wide and 400 high."""
    note("list_shapes")
    return list(shapes.values())


@tool(idempotent=True)
def move_shape(
    shape_id: str,
    x: float = Field(ge=0, le=WIDTH),
    y: float = Field(ge=0, le=HEIGHT),
) -> Shape:
    """Move a shape's centre to a point of the board and return the shape as it is then."""
    if shape_id not in shapes:
        raise ToolError(
            "SHAPE_NOT_FOUND",
            f"There is no shape {shape_id!r}.",
            recovery_steps=["Call list_shapes to see which shapes there are."],
            suggestions=list(shapes),
        )
    place(shape_id, x, y)
    note(f"move_shape: {shape_id} to {x:g}, {y:g}")
    return shapes[shape_id]


@tool
def add_shape(
    kind: Kind,
    color: str = "#7c3aed",
    x: float = Field(default=WIDTH / 2, ge=0, le=WIDTH),
    y: float = Field(default=HEIGHT / 2, ge=0, le=HEIGHT),
) -> Shape:
    """Put a new shape on the board and return it with its id."""
    shape = Shape(id=f"s{len(shapes) + 1}", kind=kind, color=color, x=x, y=y)
    shapes[shape.id] = shape
    draw()
    note(f"add_shape: a {kind}, now {shape.id}")
    return shape


@tool(read_only=True)
def get_selection() -> Shape | None:
    """The shape that the person has selected, or null."""
    note("get_selection")
    return shapes.get(selection)


flash_shape = define_tool(
    name="flash_shape",
    description="Make one shape stand out for a moment, so that the person sees which one is meant.",
    args_schema={
        "type": "object",
        "properties": {"shapeId": {"type": "string", "description": "The shape's id, such as s1."}},
        "required": ["shapeId"],
        "additionalProperties": False,
    },
    read_only=True,
    handler=window.board.flash,
)

window.board.listen(create_proxy(place), create_proxy(select))
draw()

client = Pedelec(app_name="Shape board")
session = await client.create_session(
    guidance="A board of shapes. Look with list_shapes before you move anything.",
    tools=[list_shapes, move_shape, add_shape, get_selection, flash_shape],
)


@session.on_status
def show_status(status, ctx):
    texts = {
        "idle": "Ready for agents",
        "waiting_tool_result": "An agent is at work",
        "error": "The connection to Core is lost; trying again",
        "ended": "The session has ended",
    }
    window.board.say("failed" if status in ("error", "ended") else "ready", texts.get(status, status))


window.board.say("ready", "Ready for agents")
