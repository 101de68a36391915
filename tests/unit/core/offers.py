"""Sessions as pages offer them, for tests of what agents see."""

from pedelec.json_text import JsonObject
from pedelec_core.invocation import CallLimits, Instant
from pedelec_core.registry import ToolRegistry
from pedelec_core.sessions import Session, SessionTimes


def session(
    origin: str, app: str | None, *tools: str, made: int = 0, here: bool = True, guidance: str = ""
) -> Session:
    """A session of an app; `made` says when, `here` whether its page is connected."""
    manifests: list[JsonObject] = [
        {"name": name, "description": "Does.", "argsSchema": {"type": "object"}} for name in tools
    ]
    made_one = Session(
        f"ses_{origin}_{app}_{made}",
        origin=origin,
        app_name=app,
        guidance=guidance,
        registry=ToolRegistry.from_manifests(manifests),
        auto_end=True,
        now=Instant(0, made),
        new_id=lambda prefix: prefix,
        limits=CallLimits(),
        times=SessionTimes(),
    )
    if here:
        made_one.attach("page", "connection", 0, Instant(0, made))
    return made_one
