"""One broken rule at one place."""

from dataclasses import dataclass

from pedelec.json_text import JsonObject

from .rules import Rule


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule.

    Attributes:
        rule: which.
        where: the place, as a JSON Pointer (RFC 6901).
        about: the tool it concerns, as far as it has a name, or the error's code.
        note: what was found there, in a few words.
    """

    rule: Rule
    where: str
    about: str
    note: str

    def to_wire(self) -> JsonObject:
        """The finding with all that its rule says."""
        return {
            "rule": self.rule.id,
            "severity": self.rule.severity.value,
            "where": self.where,
            "about": self.about,
            "note": self.note,
            "why": self.rule.why,
            "fix": self.rule.fix,
        }
