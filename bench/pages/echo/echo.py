"""The least that a Python handler in a page can do. Runs in the page."""

# ruff: noqa: TID251

import json

from js import WebSocket, bench, location
from pyodide.ffi import create_proxy


def on_open(_event):
    bench.state = "ready"


def on_message(event):
    call = json.loads(event.data)
    socket.send(json.dumps({"id": call["id"], "result": call["args"]}))


socket = WebSocket.new(f"ws://{location.host}/python/socket")
socket.addEventListener("open", create_proxy(on_open))
socket.addEventListener("message", create_proxy(on_message))
