"""The official conformance suite against Core's `/mcp`; its fixture tools are Python in a browser's page."""

from typing import NamedTuple

import pytest

from tests.conformance.conftest import HERE, NodeTools
from tests.harness import CoreProcess


class Suite(NamedTuple):
    """A release of the suite, at a revision of the protocol."""

    package: str
    revision: str
    options: tuple[str, ...]


SUITES = [
    Suite("conformance", "2025-11-25", ("--spec-version", "2025-11-25")),
    Suite("conformance", "2026-07-28", ("--spec-version", "2026-07-28")),
    Suite("conformance-stable", "2025-11-25", ()),
]


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: f"{suite.package}-{suite.revision}")
def test_every_scenario_passes_but_those_that_the_baseline_explains(
    core: CoreProcess, node_tools: NodeTools, suite: Suite
) -> None:
    done = node_tools.run(
        f"node_modules/{suite.package}/dist/index.js",
        *("server", "--url", f"{core.url}/mcp", "--suite", "all", *suite.options),
        *("--expected-failures", str(HERE / f"baseline-{suite.revision}.yml")),
        options=("--import", "./authorize.mjs"),
        env={"MCP_TOKEN": core.runtime["token"]},
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr
    assert "tools-call-with-progress" in done.stdout
