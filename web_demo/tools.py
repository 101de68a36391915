"""The tools that the page offers to agents. Two of them, those about the text, are JavaScript (notes.js)."""

import asyncio
from typing import Literal

from js import window
from pydantic import Field

from pedelec import ToolContext, ToolError, define_tool, tool
from pedelec.recovery import choose_one, gather_parts

note = window.board.logCall
flash = window.board.flash


def shape_called(shape_id):
    if shape_id in shapes:
        return shapes[shape_id]
    raise ToolError(
        "SHAPE_NOT_FOUND",
        f"There is no shape {shape_id!r}.",
        recovery_steps=["Call list_shapes to see which shapes there are."],
        suggestions=list(shapes),
    )


@tool(read_only=True)
def list_shapes() -> list[Shape]:
    """All shapes on the board with their kind, colour and centre. The board is 640 wide and 400 high."""
    note("list_shapes")
    return list(shapes.values())


@tool(idempotent=True)
def move_shape(
    shape_id: str = Field(examples=["s1"]),
    x: float = Field(ge=0, le=WIDTH, examples=[120]),
    y: float = Field(ge=0, le=HEIGHT, examples=[80]),
) -> Shape:
    """Move a shape's centre to a point of the board and return the shape as it is then."""
    shape = shape_called(shape_id)
    remember(f"the agent's move of {shape_id}")
    place(shape_id, x, y)
    note(f"move_shape: {shape_id} to {x:g}, {y:g}")
    flash(shape_id)
    return shape


@tool
def add_shape(
    kind: Kind,
    color: str = Field(default="#b45309", pattern="^#[0-9a-fA-F]{6}$", description="Such as #b45309."),
    x: float = Field(default=WIDTH / 2, ge=0, le=WIDTH),
    y: float = Field(default=HEIGHT / 2, ge=0, le=HEIGHT),
) -> Shape:
    """Put a new shape on the board and return it with its id."""
    remember(f"the agent's new {kind}")
    shape = new_shape(kind, color, x, y)
    note(f"add_shape: a {kind}, now {shape.id}")
    flash(shape.id)
    return shape


@tool(approval="always", consequential=True)
def delete_shape(shape_id: str = Field(examples=["s3"])) -> list[str]:
    """Take a shape off the board, and its row out of the parts list. Returns the ids that are left."""
    shape_called(shape_id)
    remember(f"the agent's deletion of {shape_id}")
    remove(shape_id)
    note(f"delete_shape: {shape_id}")
    return list(shapes)


@tool(read_only=True)
def find_shape(name: str = Field(examples=["copper sun"])) -> Part:
    """The row of the parts list that a name means, as a person would say it. Only Python has that list."""
    note(f"find_shape: {name}")
    part = choose_one(name, parts.values(), key="name", value="name")
    flash(part.shape_id)
    return part


async def totals():
    return {"shapes": len(shapes), "grams": sum(part.grams for part in parts.values())}


async def materials():
    grams = {}
    for part in parts.values():
        grams[part.material] = grams.get(part.material, 0) + part.grams
    return grams


async def prices():
    if window.board.isOn("prices-away"):
        raise ToolError.retryable("PRICES_AWAY", "The price list cannot be read.", after=5)
    return {"sum": round(sum(part.price for part in parts.values()), 2), "currency": "EUR"}


SOURCES = {"totals": totals, "materials": materials, "prices": prices}


@tool(read_only=True)
async def dashboard(want: list[Literal["totals", "materials", "prices"]] | None = None) -> dict:
    """Figures about the board: how much there is, of what, and what it costs. What cannot be had is named."""
    note("dashboard")
    return await gather_parts({name: SOURCES[name] for name in want or SOURCES}, argument="want")


@tool(read_only=True, timeout_ms=30_000)
async def export_board(
    ctx: ToolContext,
    pause_ms: int = Field(default=500, ge=0, le=5000, description="What each shape takes.", examples=[500]),
) -> dict:
    """Write the board as SVG, shape by shape: slow, tells how far it is, and stops when it is cancelled."""
    note("export_board")
    written = []
    for number, shape in enumerate(list(shapes.values()), start=1):
        await asyncio.sleep(pause_ms / 1000)
        if ctx.cancelled:
            return {"stopped": ctx.cancelled.reason, "shapes": len(written)}
        written.append(window.board.outlineOf(shape.id))
        ctx.progress(number, len(shapes), f"{shape.id} is written")
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(written)}</svg>'
    return {"shapes": len(written), "svg": svg}


@tool(idempotent=True)
def save() -> dict:
    """Keep the board in this browser, so that it is there again when the page is opened the next time."""
    if window.board.isOn("save-fails"):
        raise ToolError.retryable(
            "SAVE_FAILED",
            "The browser's storage did not take it.",
            after=2,
            recovery_steps=["Wait 2 s, then call save again.", "If it fails again, tell the user."],
        )
    note("save")
    return {"savedCharacters": window.save(snapshot())}


get_selection = define_tool(
    name="get_selection",
    description="What the person has selected: a shape's id, and a part of the text with its place.",
    args_schema={"type": "object", "properties": {}, "additionalProperties": False},
    read_only=True,
    handler=window.notes.getSelection,
)
replace_selection = define_tool(
    name="replace_selection",
    description="Put text in the place of what the person has selected in the notes.",
    args_schema={
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 2000, "examples": ["a calm composition"]}},
        "required": ["text"],
        "additionalProperties": False,
    },
    handler=window.notes.replaceSelection,
)
