"""The start: what the person does reaches the state, and the tools reach Core."""

import json

from js import window
from pyodide.ffi import create_proxy

from pedelec import Pedelec, PedelecError

TOOLS = [
    list_shapes,
    move_shape,
    add_shape,
    delete_shape,
    find_shape,
    dashboard,
    export_board,
    save,
    get_selection,
    replace_selection,
    *misbehaving,
]

client = Pedelec(app_name="Shape board")


async def join_or_open():
    """A reloaded tab, and a second one, go on with the session of before; else a new one is made."""
    if (known := window.known("session")) is not None:
        try:
            joined = await client.resume_session(known)
        except PedelecError:
            pass  # it has ended meanwhile
        else:
            for each in TOOLS:
                if each.handler is not None:
                    joined.on_tool(each.name, each)
            return joined
    return await client.create_session(
        guidance="A board of shapes and a text. Look (list_shapes, get_selection) before you change it.",
        tools=TOOLS,
    )


def person_adds(kind):
    remember(f"your new {kind}")
    color = {"circle": "#be185d", "square": "#4338ca", "triangle": "#4d7c0f"}[kind]
    offset = 24 * (len(shapes) % 5)
    select(new_shape(kind, color, WIDTH / 2 + offset, HEIGHT / 2 + offset).id)


def person_deletes():
    if selection is not None:
        remember(f"your deletion of {selection}")
        remove(selection)


def show_status(status, ctx):
    texts = {
        "idle": "Ready for agents",
        "waiting_tool_result": "An agent is at work",
        "error": "The connection to Core is lost; trying again",
        "ended": "The session has ended. Reload the page to offer the tools again",
    }
    window.board.say("failed" if status in ("error", "ended") else "ready", texts.get(status, status))
    window.heard("onStatus", json.dumps({"status": status}))


def show_error(error, ctx):
    window.heard("onError", json.dumps(error.to_wire()))


window.board.listen(
    create_proxy(
        {
            "move": place,
            "select": select,
            "remember": remember,
            "add": person_adds,
            "delete": person_deletes,
            "undo": undo,
            "redo": redo,
            "draw": draw,
        }.__getitem__
    )
)
if (kept := window.known("state")) is not None:
    restore(kept)
draw()

session = await join_or_open()
session.on_status(show_status)
session.on_error(show_error)
window.began(session.session_id)
window.board.say("ready", "Ready for agents")
