"""The smallest page with a tool whose schema comes from its annotations. Runs in the page."""

# ruff: noqa: F704, PLE1142

from pedelec import Pedelec, tool


@tool
def echo(n: int, text: str) -> dict[str, int | str]:
    """Give the arguments back."""
    return {"n": n, "text": text}


session = await Pedelec().create_session(tools=[echo])
print("thread", session.session_id)
