"""What the SDK shows."""

import tomllib
from pathlib import Path

import pytest

import pedelec
from pedelec.client import Pedelec
from pedelec.session import PedelecSession
from tests.harness.tables import each_row

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


@each_row("name", pedelec.__all__)
def test_each_public_name_is_there(name: str) -> None:
    assert getattr(pedelec, name) is not None


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Pedalec"):
        pedelec.Pedalec  # noqa: B018 - looking it up is the test


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
