"""Joins Python to its page where no loader did: after `micropip.install`, in a notebook's kernel say.

Owns that Core's JavaScript is fetched for that, and what is told where it cannot be. What it does once it is
there is `attach`'s business (loader.mjs).
"""

import asyncio
from typing import Final

from pedelec._browser import page
from pedelec.errors import Code, Effects, ErrorClass, PedelecError

_PROBE_SECONDS: Final = 5.0


class Joining:
    """The attempts of one page.

    Attributes:
        obstacle: why the last one failed, if it did.
    """

    def __init__(self) -> None:
        self.obstacle: PedelecError | None = None

    async def join(self, core_url: str) -> None:
        """Connect this Python to its page.

        Raises:
            OSError: it cannot be; `obstacle` says why.
        """
        core_url = core_url.rstrip("/")
        self.obstacle = await _obstacle(core_url)
        if self.obstacle is None:
            try:
                await page.attach(core_url)
            except PedelecError as error:
                self.obstacle = error
        if self.obstacle is not None:
            raise ConnectionError(str(self.obstacle))


async def _obstacle(core_url: str) -> PedelecError | None:
    """Why Core's JavaScript would not load. Looked for first: Firefox does not try a module twice."""
    health = f"{core_url}/healthz"
    if await _answers(health):
        return None
    if await _answers(health, mode="no-cors"):  # nothing of it can be read, but it is there
        origin = page.origin()
        return PedelecError(
            Code.CREATE_SESSION_NOT_APPROVED,
            f"Core runs at {core_url} and does not let pages of {origin} in.",
            error_class=ErrorClass.USER_INPUT,
            effects=Effects.NONE,
            recovery_steps=[
                f"Ask the user whether to let it in; if so, the user runs: pedelec-core approve {origin}"
            ],
            details={"origin": origin},
        )
    return PedelecError(
        Code.CORE_RUNTIME_UNAVAILABLE,
        f"Core at {core_url} cannot be reached: it does not run, or runs elsewhere.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        recovery_steps=["Start it with `pedelec-core serve`, then try again."],
    )


async def _answers(url: str, **options: str) -> bool:
    try:
        return await asyncio.wait_for(page.answers(url, **options), _PROBE_SECONDS)
    except TimeoutError:
        return False
