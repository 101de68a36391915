"""The configurations in docs/agents.md can be pasted: they parse, and each starts the bridge."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pedelec_core.mcp_gateway.calls import TAKE_OVER_SECONDS
from pedelec_core.mcp_gateway.extensions import CALL_ID_META
from pedelec_core.mcp_gateway.own_tools import REGISTRY
from pedelec_core.mcp_gateway.results import LINK_OVER_CHARS

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")

BRIDGE = ["pedelec-core", "mcp"]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def configurations() -> Iterator[Any]:
    """What each block says of the server `pedelec`."""
    for text in blocks("json"):
        (servers,) = json.loads(text).values()
        yield servers["pedelec"]
    for text in blocks("toml"):
        yield tomllib.loads(text)["mcp_servers"]["pedelec"]


@pytest.mark.parametrize("configuration", list(configurations()))
def test_a_configuration_starts_the_bridge(configuration: Any) -> None:
    assert [configuration["command"], *configuration["args"]] == BRIDGE


def test_the_command_lines_start_the_bridge_or_name_the_address() -> None:
    lines = [shlex.split(line) for text in blocks("sh") for line in text.splitlines()]
    assert len(lines) == 3
    added, inspected, over_http = lines
    assert added[added.index("--") + 1 :] == BRIDGE
    assert inspected[inspected.index("--cli") + 1 : inspected.index("--method")] == BRIDGE
    assert over_http[over_http.index("pedelec") + 1].endswith("/mcp")


def test_names_and_limits_are_those_of_the_code() -> None:
    assert all(name in TEXT for name in REGISTRY.names())
    assert f"`{CALL_ID_META}`" in TEXT
    assert f"{LINK_OVER_CHARS // 1024} Ki characters" in TEXT
    assert TAKE_OVER_SECONDS == 2
    assert "within two seconds" in TEXT
