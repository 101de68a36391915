"""Errors that heal: the kit for page authors whose handlers can fail.

    from pedelec import ToolError
    from pedelec.recovery import choose_one, gather_parts

Each of these turns one way of failing into an error, or a result, that tells the agent its next call. The
public names, nothing else; `docs/designing-errors.md` has an example of each.
"""

from pedelec.recovery.choices import choose_one
from pedelec.recovery.fallbacks import Alternative, first_that_works
from pedelec.recovery.parts import gather_parts
from pedelec.recovery.upstream import upstream_error
from pedelec.recovery.versions import require_version, stale_call

__all__ = [
    "Alternative",
    "choose_one",
    "first_that_works",
    "gather_parts",
    "require_version",
    "stale_call",
    "upstream_error",
]
