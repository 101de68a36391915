"""Sessions whose tool `echo` is Python: with its schema given, and typed. Runs in the page."""

# ruff: noqa: F704, PLE1142, TID251

import asyncio

from js import bench
from pyodide.ffi import to_js

from pedelec import Pedelec, define_tool, tool

manifest = bench.manifest.to_py()
schema_given = define_tool(
    name="echo",
    description=manifest["description"],
    args_schema=manifest["argsSchema"],
    handler=lambda args: args,
)


@tool
def echo(n: int, text: str) -> dict[str, int | str]:
    """Give the arguments back."""
    return {"n": n, "text": text}


client = Pedelec()


async def open_sessions(offered):
    sessions = await asyncio.gather(
        *(client.create_session(tools=[offered]) for _ in range(bench.sessionCount))
    )
    return to_js([session.session_id for session in sessions])


bench.pythonThreads = await open_sessions(schema_given)
bench.typedThreads = await open_sessions(echo)
bench.javascriptThreads = await bench.javascriptThreads
bench.state = "ready"
