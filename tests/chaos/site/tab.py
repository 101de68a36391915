"""The page of a browser's tab: takes its session up, or makes one, however often that takes; then acts.

Its address tells the tool, what the handler does, and the session: `?tool=…&handler=…&session=…`.
`ledgerStarted`, `ledgerFinished` and `opened` are the test's.
"""

import asyncio

import js

from pedelec import Pedelec, PedelecError, define_tool

query = js.URLSearchParams.new(js.location.search)
load = js.crypto.randomUUID()
MOMENT = 0.05


async def act(args, ctx):
    await js.ledgerStarted(load, args["key"], ctx.tool_request_id)
    try:
        match query.get("handler"):
            case "waits":
                await asyncio.sleep(MOMENT)
            case "reports":
                ctx.progress(1, 2, "half")
                await asyncio.sleep(MOMENT)
    finally:
        await js.ledgerFinished(load)
    return {"key": args["key"]}


async def join():
    if known := query.get("session"):
        return await client.resume_session(known)
    tool = define_tool(name=query.get("tool"), description="Acts.", args_schema={"type": "object"})
    return await client.create_session(tools=[tool])


client = Pedelec()
session = None
while session is None:
    try:
        session = await join()
    except PedelecError as error:
        if error.code not in {"SDK_TRANSPORT_ERROR", "CORE_RUNTIME_UNAVAILABLE"}:
            raise
        await asyncio.sleep(MOMENT)
session.on_tool(query.get("tool"), act)
await js.opened(session.session_id)
