"""What of a call's arguments is left out before they are stored: secrets by name or looks, and long texts.

Owns these rules, and what stands in the place of what was left out. They find what looks like a secret, and
cannot know everything that is one: that is why a person is shown the result before it is stored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from pedelec.json_text import JsonValue
from pedelec_core.violations import json_pointer

MAX_TEXT_CHARS: Final = 200
SECRET: Final = "<redacted>"  # noqa: S105 - it stands in a secret's place

_SHOWN_CHARS: Final = 40
_MIN_ECHO_CHARS: Final = 4

_TELLTALE_WORDS: Final = """
    password passwd passphrase passcode pwd secret secrets token tokens apikey authorization auth bearer
    credential credentials cookie cookies cvv cvc pin otp ssn iban signature jwt pass pw sid passport
"""
_TELLTALES: Final = frozenset(_TELLTALE_WORDS.split())
_SECRET_PAIRS: Final = frozenset(
    {
        *(("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("card", "number")),
        *(("session", "id"), ("session", "key"), ("security", "code"), ("verification", "code")),
        *(("account", "number"), ("credit", "card")),
    }
)
_SECRET_ENDINGS: Final = ("password", "passwd", "secret", "token", "apikey", "credentials", "privatekey")
"""What names that are written as one word end with."""
_SECRET_TEXT: Final = re.compile(
    r"""eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?                              # a JSON Web Token
      | \b(?:bearer|basic)\s+(?=\S*[\d=+/])[\w.~+/=-]{8,}
      | \b[\w-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|cookie|authorization)["']?
          \s*[=:]\s*[^\s,;]{3,}
      | \bpassw(?:or)?d\s+is\s+(?=\S*\d)\S{4,}
      | (?-i:\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}(?:[ ]?[A-Z0-9]{1,3})?\b)    # an IBAN
      | \b\d{3}-\d{2}-\d{4}\b                                         # a US social security number
      | \b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs])[-_][\w-]{10,}   # keys of well-known services
      | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
      | -----BEGIN[ ][A-Z ]+-----
      | ://[^\s/?\#@]+:[^\s/?\#@]+@
      | \b\d(?:[ -]?\d){12,18}\b                                        # a card's or an account's number
      | \b(?=[A-Za-z+/_-]*\d)(?=[\d+/_-]*[A-Za-z])[A-Za-z0-9+/_-]{24,}={0,2}""",
    re.IGNORECASE | re.VERBOSE,
)
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(slots=True)
class Redactor:
    """Redacts values, and remembers what of them may not be told elsewhere either.

    Attributes:
        places: where something was left out, as JSON Pointers.
    """

    places: list[str] = field(default_factory=list)
    _secrets: list[str] = field(default_factory=list)

    def value(self, value: JsonValue, path: tuple[str | int, ...] = ()) -> JsonValue:
        """A JSON value without what looks like a secret, and with long texts cut."""
        if isinstance(value, dict):
            return {key: self._member(key, part, (*path, key)) for key, part in value.items()}
        if isinstance(value, list):
            return [self.value(part, (*path, index)) for index, part in enumerate(value)]
        if isinstance(value, str) and (kept := self._text(value)) != value:
            self.places.append(json_pointer(path))
            return kept
        if isinstance(value, int) and _is_card_number(str(value)):
            self.places.append(json_pointer(path))
            self._secrets.append(str(value))
            return SECRET
        return value

    def sentence(self, text: str) -> str:
        """An error's text, without the secrets of the values seen so far or any of its own."""
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        return _SECRET_TEXT.sub(_hidden, text)

    def _member(self, key: str, part: JsonValue, path: tuple[str | int, ...]) -> JsonValue:
        if part is None or isinstance(part, bool) or not _is_secret_name(key):
            return self.value(part, path)
        self.places.append(json_pointer(path))
        self._secrets += (each for each in _texts(part) if len(each) >= _MIN_ECHO_CHARS)
        return SECRET

    def _text(self, text: str) -> str:
        if any(_hidden(match) == SECRET for match in _SECRET_TEXT.finditer(text)):
            self._secrets.append(text)
            return SECRET
        if len(text) > MAX_TEXT_CHARS:
            return f"{text[:_SHOWN_CHARS]}… <{len(text)} characters>"
        return text


def _is_secret_name(name: str) -> bool:
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    if not _TELLTALES.isdisjoint(words) or not _SECRET_PAIRS.isdisjoint(pairwise(words)):
        return True
    return any(word.endswith(_SECRET_ENDINGS) for word in words)


def _is_card_number(digits: str) -> bool:
    """Whether a number has the length of a card's, and its check digit (ISO/IEC 7812-1)."""
    if not (14 <= len(digits) <= 19 and digits.isdecimal()):
        return False
    doubled = [int(digit) * 2 for digit in digits[-2::-2]]
    return (sum(map(int, digits[::-2])) + sum(number - 9 * (number > 9) for number in doubled)) % 10 == 0


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    else:
        yield str(value)


def _hidden(match: re.Match[str]) -> str:
    """What stands in place of what looks like a secret; an id that is a UUID is none."""
    return match.group() if _UUID.fullmatch(match.group()) else SECRET
