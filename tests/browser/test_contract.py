"""The tool contract in real browsers, with the real Core and the real command line.

The scenarios are those of `tests/contract/scenarios`, which play over the in-memory transport too. What the
JavaScript face promises by its types stands here as well.
"""

import re

import pytest

from tests.browser.browser_page import BrowserPage
from tests.contract.browser_stage import browser_stage
from tests.contract.scenarios import SCENARIOS, Scenario


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_scenario(shared: BrowserPage, scenario: Scenario) -> None:
    with browser_stage(shared) as stage:
        scenario(stage)
        assert stage.take_log() == ""


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
