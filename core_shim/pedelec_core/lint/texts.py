"""What a sentence for an agent must not be: empty of meaning, for developers, or a machine's own words.

Owns the vocabulary. It knows English; of other languages it finds the machine's words alone.
"""

import re
from typing import Final

_SAYS_NOTHING: Final = """
    a an the this that it is was has have had of to in on for with by your our my we us you please try
    again later oops sorry error errors failed failure fail failing fails unknown unexpected internal
    generic general invalid bad wrong incorrect illegal something anything went happened occurred
    encountered problem issue request input operation action call tool server system exception execution
    process processing unable could can cannot not be do did done complete completed perform performed
    found exist exists available allowed permitted supported valid
"""
_EMPTY_WORDS: Final = frozenset(_SAYS_NOTHING.split())

_DEVELOPER: Final = re.compile(
    r"""\b(?:see|check|look\s+(?:at|in|into)|read|view|inspect|open)\s+(?:the\s+|your\s+)?
          (?:\w+\s+)?(?:logs?|console|stack\s?trace|dev\s?tools|source|code|documentation|docs|readme)\b
      | \bcheck\s+(?:the\s+|your\s+)?(?:input|inputs|parameters|arguments|request|settings|configuration)\b
      | \b(?:stack\s?trace|traceback|debugger|breakpoint|dev\s?tools)\b
      | \bcontact\s+(?:the\s+|your\s+)?(?:\w+\s+)?(?:developers?|administrators?|admin|support|team|vendor)\b
      | \b(?:file|open|report)\s+(?:a\s+|an\s+)?(?:bug|issue|ticket)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_RAW: Final = re.compile(
    r"""\b(?:HTTP|status(?:\s+code)?|code)[\s:=/\d.]*\b[45]\d\d\b
      | ^\W*[45]\d\d\b
      | (?-i:\b[A-Z]\w*(?:Error|Exception)\b)
      | \bTraceback\b | \bat\s\S+\s\(\S+:\d+:\d+\)
      | \b(?:undefined|null|NoneType)\b.{0,40}\b(?:function|propert(?:y|ies)|attribute|object)\b
      | <(?:!doctype|html)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_vague(message: str, code: str = "") -> bool:
    """Whether a message says nothing that its reader does not know from there being an error."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?|\d+", message.lower())
    told = set(re.findall(r"[^\W\d_]+", code.lower()))
    return not [word for word in words if word not in _EMPTY_WORDS and word not in told]


def is_raw(message: str) -> str | None:
    """The status or the exception's text in a message, where there is one."""
    return _found(_RAW, message)


def names_developer_means(text: str) -> str | None:
    """What in a sentence only a developer could do, where there is such a thing."""
    return _found(_DEVELOPER, text)


def _found(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match.group().strip()[:80]
