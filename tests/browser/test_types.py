"""The types of the JavaScript face, which `pedelec.d.ts` ships next to the loader."""

import re

from tests.browser.browser_page import BrowserPage

_PUBLIC_NAMES = """
const methods = (object) => Object.getOwnPropertyNames(Object.getPrototypeOf(object));
const probe = { name: "probe", description: "A.", argsSchema: { type: "object" } };
const client = new pedelec.Pedelec();
const session = await client.createSession({ skills: { guidance: "", tools: [probe] } });
session.onTool("probe", (args, context) => Object.keys(context));
globalThis.session = session;
const exported = Object.keys(await import("/pedelec.mjs"));
const names = [...exported, ...methods(client), ...methods(session), ...Object.keys(session)];
return { names, thread: session.sessionId, types: await (await fetch("/pedelec.d.ts")).text() };
"""


def test_the_types_name_everything_that_an_author_can_use(shared: BrowserPage) -> None:
    public = shared.run(_PUBLIC_NAMES)
    context = shared.call("probe", thread=public["thread"])["result"]
    assert {"createSession", "onTool", "sessionId", "defineTool"} <= {*public["names"]}
    assert {"toolRequestId", "signal", "progress"} <= {*context}
    typed = set(re.findall(r"\w+", public["types"]))
    assert {*public["names"], *context} - typed == set()
    shared.run("await session.end()")
