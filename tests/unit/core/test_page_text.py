"""What is left of pages' own words when they are shown."""

from pedelec.json_text import JsonObject
from pedelec_core.page_text import on_lines
from pedelec_core.registry import ToolRegistry

HIDDEN = "\x00\x07\x1b\x7f\x9b\u202e\u2066\u200b\ufeff\U000e0041"


def test_characters_that_steer_hide_or_turn_the_text_are_taken_out() -> None:
    assert on_lines(f"Move{HIDDEN} it.\n\tThen\r\n look.") == "Move it.\n\tThen\n look."


def test_scripts_and_emoji_stay_whole() -> None:
    text = "שלום، می‌خواهم 👩‍👩‍👧 naïve e\u0301 日本語"
    assert on_lines(text) == text


def test_tools_are_told_without_such_characters() -> None:
    manifest: JsonObject = {
        "name": "move",
        "description": f"Moves{HIDDEN}.",
        "title": f"Move\n{HIDDEN}it",
        "argsSchema": {"type": "object"},
    }
    tool = ToolRegistry.from_manifests([manifest]).get("move")
    assert (tool.description, tool.title) == ("Moves.", "Move it")
