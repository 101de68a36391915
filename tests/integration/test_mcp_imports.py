"""What is loaded when: the MCP SDK takes longer to import than all the rest."""

import subprocess
import sys

import pytest

HEAVY = ("mcp", "mcp_types")


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("pedelec_core.server.run", HEAVY),
        ("pedelec_core.mcp_bridge.bridge", (*HEAVY, "anyio", "jsonschema_rs", "pydantic", "starlette")),
        ("pedelec_core.mcp_bridge.messages", (*HEAVY, "asyncio", "socket")),
        ("pedelec_core.mcp_bridge.relay", (*HEAVY, "asyncio", "socket")),
        ("pedelec_core.mcp_gateway.catalogue", HEAVY),
    ],
)
def test_a_module_loads_nothing_that_it_may_never_need(module: str, absent: tuple[str, ...]) -> None:
    program = f"import sys, {module}; print([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
