"""How well a name fits what was asked for, from 0 to 1.

Owns the score that `choices` decides by. Case, accents, punctuation and the order of words count for
nothing or little; words that are missing count for more than letters.
"""

import re
import unicodedata
from difflib import SequenceMatcher

EXACT = 1.0
SAME_WORDS = 0.99
_ALL_WORDS_FOUND = 0.75
_ALIKE = 0.75
_MAX_CHARS = 200


def similarity(query: str, name: str) -> float:
    """`EXACT` for the same text, `SAME_WORDS` where only case, accents or punctuation differ.

    Where the name has all the words that were asked for and more, from 0.75 to 0.9; else as far as the
    letters agree.
    """
    if query == name:
        return EXACT
    asked, found = _words(query), _words(name)
    if not asked or not found:
        return 0.0
    if asked == found:
        return SAME_WORDS
    letters = max(_letters(asked, found), _letters(sorted(asked), sorted(found)))
    if set(asked) <= set(found):
        return max(min(letters, 0.9), _ALL_WORDS_FOUND + 0.15 * len(asked) / len(found))
    return min(letters, SAME_WORDS - 0.01)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text[:_MAX_CHARS]).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return re.findall(r"\w+", letters)


def _letters(one: list[str], other: list[str]) -> float:
    ratio = SequenceMatcher(None, " ".join(one), " ".join(other), autojunk=False).ratio()
    # Short words share half their letters by chance: Kyoto and Boston.
    return ratio if ratio >= _ALIKE else ratio**2 / _ALIKE
