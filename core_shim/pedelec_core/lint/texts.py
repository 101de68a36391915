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
    found exist exists available allowed permitted supported valid while when during there and or no none
    null nan n object undefined broke broken crashed retry
"""
_EMPTY_WORDS: Final = frozenset(_SAYS_NOTHING.split())

_DEVELOPER: Final = re.compile(
    r"""\b(?:see|check|look\s+(?:at|in|into)|read|view|inspect|open)\s+(?:the\s+|your\s+)?
          (?:\w+\s+)?(?:logs?|console|stack\s?trace|dev\s?tools|source\s+code|source(?!\s+\w)|code|documentation
          |docs|readme|network\s+(?:tab|panel))\b
      | \b(?:refer\s+to|consult)\s+(?:the\s+|your\s+)?(?:\w+\s+)?(?:logs?|documentation|docs|manual|readme)\b
      | \b(?:check|verify|validate|review)\s+(?:that\s+)?(?:the\s+|your\s+)?
          (?:inputs?|parameters|params|arguments|args|request|payload)\b
      | (?<!user\sto\s)\bcheck\s+(?:the\s+|your\s+)?(?:settings|configuration)\b
      | \benvironment\s+variables?\b | \b(?:verbose|debug)\s+(?:logging|mode|output)\b
      | \b(?:stack\s?trace|traceback|debugger|breakpoint|dev\s?tools)\b
      | \b(?:contact|ask)\s+(?:the\s+|your\s+)?(?:\w+\s+)?
          (?:developers?|administrators?|admin|support|vendor)\b
      | \bcontact\s+(?:the\s+|your\s+)?(?:\w+\s+)?team\b
      | \b(?:file|open|report|submit|raise)\s+(?:a\s+|an\s+)?(?:bug|issue|ticket)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_RAW: Final = re.compile(
    r"""\b(?:HTTP|status(?:\s+code)?|(?:error|response|with)\s+code)[\s:=/\d.]*\b[45]\d\d\b
      | \b(?:errors?|failed|returned|answered|responded)[\s:=(\#]*(?:with\s+)?[45]\d\d\b
      | ^\W*[45]\d\d\b
      | (?-i:\bE(?:CONN[A-Z]+|NOENT|ACCES|TIMEDOUT|PIPE|EXIST|NOTFOUND|HOSTUNREACH)\b)
      | (?-i:\bERR_[A-Z_]+\b|\bSQLSTATE\b)
      | \[object\s\w+\] | \bfailed\sto\sfetch\b | \bunexpected\s(?:token|end\sof)\b
      | \bdivision\sby\szero\b | \bindex\sout\sof\s(?:range|bounds)\b | ^\w+\sis\snot\sdefined\b
      | \bcannot\sread\sprop\w+\b | \b(?:undefined|null)\sis\snot\b
      | \bobject\sis\snot\s(?:callable|iterable|subscriptable)\b | \binvalid\sliteral\sfor\b
      | (?-i:\b[A-Z]\w*(?:Error|Exception)\b)
      | \bTraceback\b | \bat\s\S+\s\(\S+:\d+:\d+\)
      | \bNoneType\b
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
