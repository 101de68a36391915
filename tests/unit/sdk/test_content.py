"""Rich results: the JSON that stands for pictures, sound and documents."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from mcp_types import CallToolResult

from pedelec import audio, define_tool, image, mixed, resource
from tests.harness.tables import each_row
from tests.unit.sdk.scripted_core import ScriptedCore, open_session

PNG = b"\x89PNG\r\n\x1a\nrest"
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt "
PNG_TEXT = base64.b64encode(PNG).decode()


class Buffer:
    """As Pyodide shows a typed array."""

    def to_bytes(self) -> memoryview:
        return memoryview(PNG)


@pytest.mark.parametrize(
    "data",
    [PNG, bytearray(PNG), memoryview(PNG), Buffer(), PNG_TEXT, f"data:image/png;base64,{PNG_TEXT}"],
    ids=lambda data: type(data).__name__,
)
def test_a_picture_is_one_block_however_its_bytes_come(data: object) -> None:
    assert image(data) == {"content": [{"type": "image", "data": PNG_TEXT, "mimeType": "image/png"}]}


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        (WAV, "audio/wav"),
        (b"ID3\x04", "audio/mpeg"),
        (b"OggS", "audio/ogg"),
        (b"fLaC", "audio/flac"),
    ],
)
def test_the_type_is_found_out_where_the_bytes_tell(data: bytes, mime_type: str) -> None:
    made: Any = (image if mime_type.startswith("image") else audio)(data)
    assert made["content"][0]["mimeType"] == mime_type


def test_the_author_s_type_goes_before_what_the_bytes_tell() -> None:
    made: Any = image(b"<svg/>", "image/svg+xml")
    assert made["content"][0]["mimeType"] == "image/svg+xml"


def test_a_document_is_text_or_bytes_under_an_address() -> None:
    assert resource("app://a/1", text="x", mime_type="text/plain") == {
        "content": [
            {"type": "resource", "resource": {"uri": "app://a/1", "text": "x", "mimeType": "text/plain"}}
        ]
    }
    assert resource("app://a/1", data=PNG) == {
        "content": [
            {"type": "resource", "resource": {"uri": "app://a/1", "blob": PNG_TEXT, "mimeType": "image/png"}}
        ]
    }


def test_parts_stand_in_order_and_data_beside_them() -> None:
    made = mixed("a", image(PNG), mixed("b", audio(WAV)), structured={"n": 1})
    blocks: Any = made["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "text", "audio"]
    assert made["structuredContent"] == {"n": 1}
    assert "structuredContent" not in mixed("a")


def test_what_is_made_is_content_to_mcp() -> None:
    made = mixed("a", image(PNG), audio(WAV), resource("app://a", text="x"), structured={"n": 1})
    read = CallToolResult.model_validate(made)
    assert read.model_dump(by_alias=True, mode="json", exclude_unset=True) == made


@each_row(
    ("make", "problem"),
    [
        (lambda: image(5), "not int"),
        (lambda: image(None), "not NoneType"),
        (lambda: image("no base64!"), "no base64"),
        (lambda: image("data:image/svg+xml,<svg/>"), "must hold base64"),
        (lambda: image(b"?"), "give mime_type"),
        (lambda: image(WAV), "takes no audio/wav"),
        (lambda: image(PNG, "png"), "no media type"),
        (lambda: audio(PNG), "takes no image/png"),
        (lambda: resource("report", text="x"), "absolute URI"),
        (lambda: resource("app://a"), "either text or data"),
        (lambda: resource("app://a", text="x", data=b"x"), "either text or data"),
        (lambda: resource(7, text="x"), "expected string"),  # type: ignore[arg-type]
        (mixed, "at least one"),
        (lambda: mixed({"n": 1}), "not dict"),
        (lambda: mixed(b"x"), "not bytes"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_content_is_refused_where_it_is_made(make: Callable[[], object], problem: str) -> None:
    with pytest.raises((TypeError, ValueError), match=problem):
        make()


async def test_a_handler_s_content_is_an_ordinary_result_under_the_limit_of_results() -> None:
    schema: Any = {"type": "object"}
    small = define_tool(name="small", description="S.", args_schema=schema, handler=lambda: image(PNG))
    huge = define_tool(
        name="huge", description="H.", args_schema=schema, handler=lambda: image(PNG + bytes(2**20))
    )
    core = ScriptedCore()
    await open_session(core, tools=(small, huge))
    assert await core.call("small", {}) == image(PNG)
    assert (await core.call("huge", {}))["error"]["code"] == "TOOL_RESULT_TOO_LARGE"
