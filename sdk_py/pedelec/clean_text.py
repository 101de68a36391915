"""Text that may leave the process.

Owns what is taken out of it: file paths, control and direction characters, lone surrogates, credentials; of
text that others wrote (`clean_foreign_text`) also what URLs carry, and secrets that stand beside their name.
"""

import re

MAX_MESSAGE_CHARS = 2_000

_PATH = re.compile(
    r"""(?:[A-Za-z]:\\|/(?:lib|home|usr|tmp|Users|var|opt|root|private|srv|mnt|etc)/)[^\s'"<>|:]*
      | (?<![\w/.])/(?:[^\s'"<>|:/]+/)+[^\s'"<>|:/]+\.(?:pyc?|m?js|whl|zip)\b""",
    re.VERBOSE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_USERINFO = re.compile(r"(?<=://)[^\s/?#@'\"]+@")
_BEARER = re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/?#'\"<>)\]]+)[^\s'\"<>)\]]*", re.IGNORECASE)
_NAMED_SECRET = re.compile(
    r"""(\b[\w-]*(?:api[_-]?key|token|secret|passw(?:or)?d|authorization|credential)[\w-]*["']?\s*[=:]\s*)
        (?:"[^"]*"|'[^']*'|(?=[^\s,;&]*[\d=+/_-])[^\s,;&)\]}]{4,})""",
    re.IGNORECASE | re.VERBOSE,
)


def clean_text(text: str) -> str:
    """Text of ours or of the page's author, without file paths and credentials.

    Cut to `MAX_MESSAGE_CHARS` characters.
    """
    return _finish(_PATH.sub(_base_name, _well_formed(text)))


def clean_foreign_text(text: str) -> str:
    """Text that a library or a service wrote: of URLs only the origin is kept, of named secrets nothing."""
    text = _NAMED_SECRET.sub(r"\1…", _USERINFO.sub("", _well_formed(text)))
    return _finish(_PATH.sub(_base_name, _URL.sub(r"\1", text)))


def clean_step(text: str) -> str:
    """A sentence of ours or of the page's author that may name files of the page: paths stay."""
    return _finish(_well_formed(text))


def shown_to_people(text: str, max_chars: int) -> str:
    """A page's own words on one line, without characters that could move or hide the words around them."""
    kept = "".join(" " if character.isspace() else character for character in _well_formed(text))
    kept = "".join(character for character in kept if character == " " or character.isprintable())
    kept = " ".join(kept.split())
    return kept if len(kept) <= max_chars else kept[: max_chars - 1] + "…"


def _well_formed(text: str) -> str:
    return text[: MAX_MESSAGE_CHARS * 2].encode("utf-8", "replace").decode("utf-8")


def _finish(text: str) -> str:
    text = _BEARER.sub(r"\1 …", _USERINFO.sub("", text))
    text = _CONTROL.sub(" ", text).strip()
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"


def _base_name(match: re.Match[str]) -> str:
    return re.split(r"[\\/]", match.group().rstrip("\\/"))[-1]
