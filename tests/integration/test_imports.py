"""What is loaded when, each time in a process of its own.

The SDK is loaded in a page: its modules without I/O need no loop, no socket and no browser. The command line
has to be there at once. The MCP SDK takes longer to import than all the rest of Core.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import pedelec

PACKAGE = Path(pedelec.__file__).parent
MCP = ("mcp", "mcp_types")


def loaded_by(statement: str) -> set[str]:
    """The modules that a process has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def loaded_in_a_page_by(statement: str) -> set[str]:
    """The modules that a process has loaded after a statement, the SDK's package itself being a bare one."""
    program = (
        "import sys, types\n"
        "package = types.ModuleType('pedelec')\n"
        f"package.__path__ = [{str(PACKAGE)!r}]\n"
        "sys.modules['pedelec'] = package\n"
        f"{statement}\n"
        "print(*sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-IS", "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "name", ["protocol", "errors", "handlers", "json_safe", "tools", "session", "outbox", "questions"]
)
def test_the_modules_without_io_need_no_loop_no_socket_and_no_browser(name: str) -> None:
    assert not loaded_in_a_page_by(f"import pedelec.{name}") & {
        "asyncio",
        "socket",
        "ssl",
        "js",
        "pyodide",
        "pydantic",
    }


def test_a_page_without_typed_tools_never_loads_pydantic() -> None:
    statement = (
        "import pedelec.client, pedelec.typed_tools\n"
        "from pedelec.tools import check_tools, define_tool\n"
        "check_tools([define_tool(name='a', description='A.', args_schema={'type': 'object'})])"
    )
    assert "pydantic" not in loaded_in_a_page_by(statement)


def test_core_gets_messages_and_errors_without_the_client() -> None:
    loaded = loaded_by("import pedelec.protocol, pedelec.errors, pedelec.json_safe")
    assert not loaded & {"asyncio", "pedelec.client", "pedelec.session"}


def test_the_queue_of_questions_comes_without_a_loop_and_a_browser() -> None:
    assert not loaded_by("import pedelec.questions") & {"asyncio", "js", "socket"}


def test_the_command_line_imports_nothing_that_takes_time() -> None:
    program = (
        "import sys; before = set(sys.modules); import pedelec_core.cli; print(*set(sys.modules) - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(run.stdout.split()) == {"pedelec_core", "pedelec_core.cli", "_socket", "_json"}


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("pedelec_core.server.run", MCP),
        ("pedelec_core.mcp_bridge.bridge", (*MCP, "anyio", "jsonschema_rs", "pydantic", "starlette")),
        ("pedelec_core.mcp_bridge.messages", (*MCP, "asyncio", "socket")),
        ("pedelec_core.mcp_bridge.relay", (*MCP, "asyncio", "socket")),
        ("pedelec_core.mcp_gateway.catalogue", MCP),
    ],
)
def test_a_module_loads_nothing_that_it_may_never_need(module: str, absent: tuple[str, ...]) -> None:
    assert not loaded_by(f"import {module}") & set(absent)
