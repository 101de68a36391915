"""What it costs to look for a regular expression in a text.

Owns the estimate. The validator's engine takes time in proportion to the length of the text and the size of
the expression with its counted repetitions written out; where the expression looks around or refers back, it
goes over the rest of the text again at each character.
"""

import re
from dataclasses import dataclass
from typing import Final

_LOOKS_AROUND: Final = re.compile(r"\(\?<?[=!]|\(\?>|\\[1-9]|\\k<|[*+?}]\+|\\G|\(\?\(")
_TOKEN: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{(\d{1,9})?,?(\d{1,9})?\}|.", re.DOTALL)
_SQUARES_PER_UNIT: Final = 4
MAX_SIZE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class PatternCost:
    """One expression's cost, in units of about 20 ns."""

    size: int
    """Its elements, each counted as often as it is repeated by a number."""
    looks_around: bool

    def of(self, chars: int) -> int:
        """For a text of so many characters."""
        again = chars * chars // _SQUARES_PER_UNIT if self.looks_around else 0
        return self.size * chars + again


def cost_of(pattern: str) -> PatternCost:
    """The cost of an expression; one that cannot be read costs what its length says."""
    return PatternCost(_size(pattern), bool(_LOOKS_AROUND.search(pattern)))


def _size(pattern: str) -> int:
    totals = [0]  # of the groups that are open, the innermost last
    last = 0  # of the element just read, which a number may repeat
    for found in _TOKEN.finditer(pattern):
        token = found.group()
        if token == "(":  # noqa: S105 - a token of an expression
            totals.append(0)
            last = 0
        elif token == ")" and len(totals) > 1:  # noqa: S105
            last = totals.pop()
            totals[-1] += last
        elif token[0] == "{" and (found[1] or found[2]):
            times = max(int(found[1] or 0), int(found[2] or 0), 1)
            more = min(last * (times - 1), MAX_SIZE)
            totals[-1] += more
            last += more
        else:
            last = 1
            totals[-1] += 1
    return min(max(sum(totals), 1), MAX_SIZE)
