"""What the SDK shows, and what its modules need in order to be imported."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pedelec
from pedelec.client import Pedelec
from pedelec.session import PedelecSession

PACKAGE = Path(pedelec.__file__).parent


def public(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_the_public_names_are_these() -> None:
    assert set(pedelec.__all__) == {
        *("Code", "Effects", "ErrorClass", "ErrorType", "PedelecError", "ToolError"),
        *("Pedelec", "PedelecSession", "ToolContext", "ToolDefinition"),
        *("define_tool", "defineTool", "tool", "recovery", "__version__"),
        *("image", "audio", "resource", "mixed"),
    }
    assert dir(pedelec) == sorted(pedelec.__all__)


@pytest.mark.parametrize("name", pedelec.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(pedelec, name) is not None


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Pedalec"):
        pedelec.Pedalec  # noqa: B018 - looking it up is the test


def test_core_gets_messages_and_errors_without_the_client() -> None:
    program = "import sys, pedelec.protocol, pedelec.errors, pedelec.json_safe; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"asyncio", "pedelec.client", "pedelec.session"} & set(run.stdout.split())


def test_the_public_names_of_the_classes_are_these() -> None:
    assert public(dir(PedelecSession)) == {
        *("on_tool", "on_error", "on_status", "on_ended", "get_status", "end", "import_webmcp"),
        *("importWebmcp", "onTool", "onError", "onStatus", "onEnded", "getStatus"),
    }
    assert public(dir(Pedelec)) == {
        *("create_session", "resume_session", "get_approval_status", "close", "max_result_bytes"),
        *("createSession", "resumeSession", "getApprovalStatus", "on_question", "onQuestion"),
    }


def test_the_version_is_the_distributions() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    assert pedelec.__version__ == project["project"]["version"]


def imported_by(statement: str) -> set[str]:
    """The modules that a statement imports in a process of its own, the package itself being a bare one."""
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
    "name", ["protocol", "errors", "handlers", "json_safe", "tools", "session", "outbox"]
)
def test_the_modules_without_io_need_no_loop_no_socket_and_no_browser(name: str) -> None:
    assert not imported_by(f"import pedelec.{name}") & {
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
    assert "pydantic" not in imported_by(statement)
