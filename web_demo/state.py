"""The page's state: shapes, a table that only Python has, and what can be undone. Runs in the page."""

import json
from typing import Literal

from js import window
from pydantic import BaseModel

WIDTH, HEIGHT = 640, 400
MAX_UNDO = 100
type Kind = Literal["circle", "square", "triangle"]


class Shape(BaseModel):
    id: str
    kind: Kind
    color: str
    x: float
    y: float


class Part(BaseModel):
    """A row of the parts list: what the board does not show."""

    shape_id: str
    name: str
    material: str
    grams: float
    price: float


PRICE_PER_GRAM = {"copper": 0.024, "enamel": 0.011, "linen": 0.006, "glass": 0.017}
MATERIALS = {"circle": "copper", "square": "enamel", "triangle": "linen"}

shapes = {
    shape.id: shape
    for shape in (
        Shape(id="s1", kind="circle", color="#c2410c", x=320, y=200),
        Shape(id="s2", kind="square", color="#1d4ed8", x=160, y=290),
        Shape(id="s3", kind="triangle", color="#15803d", x=480, y=120),
        Shape(id="s4", kind="circle", color="#6d28d9", x=520, y=300),
        Shape(id="s5", kind="square", color="#0e7490", x=240, y=290),
    )
}
parts = {
    part.shape_id: part
    for part in (
        Part(shape_id="s1", name="Copper sun", material="copper", grams=412, price=9.89),
        Part(shape_id="s2", name="Blue panel, left", material="enamel", grams=780, price=8.58),
        Part(shape_id="s3", name="Green sail", material="linen", grams=95, price=0.57),
        Part(shape_id="s4", name="Violet moon", material="glass", grams=230, price=3.91),
        Part(shape_id="s5", name="Blue panel, right", material="enamel", grams=765, price=8.42),
    )
}
selection: str | None = None
undone: list[tuple[str, str]] = []  # what was done, and the state before it; the latest is last
redone: list[tuple[str, str]] = []


def snapshot():
    return json.dumps(
        {
            "shapes": [shape.model_dump() for shape in shapes.values()],
            "parts": [part.model_dump() for part in parts.values()],
            "text": window.notes.text(),
        }
    )


def restore(text):
    global selection
    state = json.loads(text)
    shapes.clear()
    shapes.update((each["id"], Shape(**each)) for each in state["shapes"])
    parts.clear()
    parts.update((each["shape_id"], Part(**each)) for each in state["parts"])
    window.notes.show(state["text"])
    if selection not in shapes:
        selection = None
    draw()


def remember(what):
    """Call before a change, so that it can be taken back."""
    undone.append((what, snapshot()))
    del undone[:-MAX_UNDO]
    redone.clear()


def step(source, target):
    if source:
        what, text = source.pop()
        target.append((what, snapshot()))
        restore(text)


def undo():
    step(undone, redone)


def redo():
    step(redone, undone)


def draw():
    window.board.draw(json.dumps([shape.model_dump() for shape in shapes.values()]), selection)
    window.board.table(json.dumps([part.model_dump() for part in parts.values()]))
    window.board.history(undone[-1][0] if undone else None, redone[-1][0] if redone else None)
    window.keep(snapshot())


def place(shape_id, x, y):
    shape = shapes[shape_id]
    shape.x, shape.y = min(max(x, 0), WIDTH), min(max(y, 0), HEIGHT)
    draw()


def select(shape_id):
    global selection
    selection = shape_id
    draw()


def new_shape(kind, color, x, y):
    number = next(n for n in range(1, 10_000) if f"s{n}" not in shapes)
    shape = Shape(id=f"s{number}", kind=kind, color=color, x=x, y=y)
    material = MATERIALS[kind]
    shapes[shape.id] = shape
    parts[shape.id] = Part(
        shape_id=shape.id,
        name=f"New {kind} {number}",
        material=material,
        grams=100,
        price=round(100 * PRICE_PER_GRAM[material], 2),
    )
    draw()
    return shape


def remove(shape_id):
    del shapes[shape_id], parts[shape_id]
    if selection == shape_id:
        select(None)
    draw()
