"""What the inspector's element offers to a page's author: its code, its types and its documentation agree."""

import re
from pathlib import Path

import pedelec_core

STATIC = Path(pedelec_core.__file__).parent / "inspector" / "static"
DOC = Path(__file__).parents[3] / "docs" / "inspector.md"
_INHERITED = {"constructor", "connectedCallback", "disconnectedCallback"}


def _members() -> set[str]:
    source = (STATIC / "element.mjs").read_text("utf-8")
    methods = re.findall(r"^  (?:async |get |set )?(\w+)\(.*\) \{$", source, flags=re.MULTILINE)
    return set(methods) - _INHERITED


def _events() -> set[str]:
    return set(re.findall(r'new CustomEvent\("(\w+)"', (STATIC / "element.mjs").read_text("utf-8")))


def test_the_types_name_every_member_and_event_and_no_other() -> None:
    types = (STATIC / "inspector.d.ts").read_text("utf-8")
    body = types.split("export class PedelecInspector")[1].split("\n}\n")[0]
    declared = set(re.findall(r"^  (?:get |set )?(\w+)(?:\(|<)", body, flags=re.MULTILINE))
    assert declared - {"addEventListener"} == _members()
    events = types.split("export interface PedelecInspectorEvents")[1].split("\n}\n")[0]
    assert set(re.findall(r"^  (\w+): CustomEvent", events, flags=re.MULTILINE)) == _events()


def test_the_documentation_names_every_member_and_event() -> None:
    table = DOC.read_text("utf-8").split("## For the page's author")[1]
    assert _members() | _events() <= set(re.findall(r"\w+", table))
