"""The pages that describe the protocol and the errors say what the code does."""

import dataclasses
import re
from pathlib import Path
from typing import Any, get_args

from pedelec import ToolDefinition, errors
from pedelec.doors import COMMAND_LINE, MCP, Door
from pedelec.envelope import HEAD_CHARS, MAX_CHOICES, MAX_ERROR_BYTES
from pedelec.errors import CATALOGUE, Code, CodeInfo, Effects, ErrorClass, ErrorType, PedelecError
from pedelec.protocol import CoreMessage, Limits, Message, PageMessage
from pedelec.wire_fields import to_camel
from tests.harness.tables import each_row

DOCS = Path(__file__).parents[3] / "docs"
MESSAGES: list[type[Message]] = sorted(
    {*get_args(PageMessage.__value__), *get_args(CoreMessage.__value__)}, key=lambda kind: kind.type
)
TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "bool | Handler": "boolean",
    "Approval": "string",
    "JsonObject": "object",
    "JsonObject | RawJson": "object",
    "list[JsonObject]": "array of objects",
    "list[str]": "array of strings",
    "JsonValue | RawJson": "any JSON value",
}


def sections(page: str, level: int) -> dict[str, str]:
    parts = re.split(rf"^{'#' * level} (.+)$", (DOCS / page).read_text(), flags=re.MULTILINE)
    return {title.strip("`"): body for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def _annotation(kind: Any) -> str:
    name = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
    return name.replace("pedelec.json_text.", "")


def rows(text: str) -> list[list[str]]:
    """The cells of the first table in a text, without its head."""
    lines = re.search(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    assert lines is not None
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines.group().splitlines()[2:]
    ]


def test_the_page_describes_every_message_and_no_other() -> None:
    described = [title for title in sections("protocol.md", 4) if title.replace("_", "").isalpha()]
    assert sorted(described) == [kind.type for kind in MESSAGES]


@each_row("kind", MESSAGES)
def test_the_page_has_every_field_of_a_message_with_its_type(kind: Any) -> None:
    described = {name.strip("`"): kind for name, kind, _ in rows(sections("protocol.md", 4)[kind.type])}
    expected = {}
    for field in dataclasses.fields(kind):
        annotation = _annotation(field.type)
        name = TYPES[annotation.removesuffix(" | None")]
        expected[to_camel(field.name)] = name + ("?" if field.default is None else "")
    assert described == expected


def test_the_page_has_every_member_of_a_tool_s_manifest() -> None:
    described = {
        name.strip("`"): kind for name, kind, _ in rows(sections("protocol.md", 5)["A tool's manifest"])
    }
    required = {"name", "description", "args_schema"}
    expected = {}
    for field in dataclasses.fields(ToolDefinition):
        if field.name not in {"handler", "asks"}:
            kind = TYPES[_annotation(field.type).removesuffix(" | None")]
            expected[to_camel(field.name)] = kind + ("" if field.name in required else "?")
    assert described == expected


def test_each_direction_lists_its_messages() -> None:
    for title, union in (("Page → Core", PageMessage), ("Core → page", CoreMessage)):
        table = (DOCS / "protocol.md").read_text().split(f"### {title}\n")[1].split("\n#")[0]
        listed = {name for row in rows(table) for name in re.findall(r"\[`(\w+)`\]", row[0])}
        assert listed == {kind.type for kind in get_args(union.__value__)}


def test_the_page_names_every_limit() -> None:
    welcome = sections("protocol.md", 4)["welcome"]
    for field in dataclasses.fields(Limits):
        assert f"`{to_camel(field.name)}`" in welcome


def test_the_page_of_errors_is_the_catalogue() -> None:
    described = rows(sections("errors.md", 2)["Codes"])
    assert described == [
        [
            f"`{code}`",
            f"`{info.error_class}`",
            f"`{info.effects}`" if info.effects else "-",
            info.meaning,
        ]
        for code, info in CATALOGUE.items()
    ]
    assert set(CATALOGUE) == set(Code)


def _steps(info: CodeInfo) -> str:
    where_safe = " · or: " + " · ".join(info.repeatable) if info.repeatable else ""
    where_over = " · when the session is over: " + " · ".join(info.final) if info.final else ""
    return " · ".join(info.recovery) + where_safe + where_over


def test_the_page_of_errors_has_the_words_of_each_door() -> None:
    described = rows(sections("errors.md", 2)["What the agent can ask for"])
    names = {to_camel(each.name): each.name for each in dataclasses.fields(Door) if each.name != "name_of"}
    assert described == [
        [f"`{{{wire_name}}}`", getattr(COMMAND_LINE, name), getattr(MCP, name)]
        for wire_name, name in names.items()
    ]


def test_the_page_of_errors_has_what_the_agent_is_told() -> None:
    described = rows(sections("errors.md", 2)["What the agent is told"])
    assert described == [
        [f"`{code}`", info.message or "-", _steps(info) or "-"]
        for code, info in CATALOGUE.items()
        if info.message or info.recovery
    ]


def test_the_page_of_errors_has_the_envelope_in_its_order_and_all_its_words() -> None:
    full = PedelecError(
        "X", "x", error_class="retryable", error_type="auth", reason="r", recovery_steps=["s"], options=[1],
        suggestions=["t"], effects="none", details={"a": 1},
    )  # fmt: skip
    described = rows((DOCS / "errors.md").read_text())
    assert [name.strip("`") for name, _ in described] == list(full.to_wire())
    text = (DOCS / "errors.md").read_text()
    for words in (ErrorClass, ErrorType, Effects):
        for word in words:
            assert f"`{word}`" in text
    assert f"{errors.MAX_MESSAGE_CHARS:,}".replace(",", " ") in text
    assert f"first {HEAD_CHARS} characters" in text
    assert f"{MAX_ERROR_BYTES // 1024} KiB" in text
    assert f"{MAX_CHOICES} options" in text
