"""Who holds a name in the browser's WebMCP API, where several sessions of a page want it.

A name can be registered once. The newest session that wants it has it: a cell that was run again, or a
module that was replaced, makes a new session beside the old one. When that goes, the one before it has the
name again.
"""


class Claims[Holder]:
    """The claims of one page, by name, the oldest first. Holders are compared by identity."""

    def __init__(self) -> None:
        self._claims: dict[str, list[Holder]] = {}

    def take(self, name: str, holder: Holder) -> Holder | None:
        """Claim a name. Returns who had it, and has to let go of it now."""
        claims = self._claims.setdefault(name, [])
        before = claims[-1] if claims else None
        claims.append(holder)
        return before

    def drop(self, name: str, holder: Holder) -> Holder | None:
        """Give a claim back. Returns who has the name now, and had it not before."""
        claims = self._claims.get(name, [])
        place = next((place for place, each in enumerate(claims) if each is holder), None)
        if place is None:
            return None
        was_last = place == len(claims) - 1
        del claims[place]
        if not claims:
            del self._claims[name]
        return claims[-1] if claims and was_last else None

    def holds(self, name: str, holder: Holder) -> bool:
        """Whether the name is this holder's."""
        claims = self._claims.get(name)
        return bool(claims) and claims[-1] is holder  # type: ignore[index]
