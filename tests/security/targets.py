"""What is fuzzed: each target takes one input, and raises where it is not borne.

Shared by the tests (hypothesis) and by `atheris_run`, which finds its inputs by coverage.
"""

import asyncio
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pedelec.errors import PedelecError
from pedelec.protocol import PROTOCOL_VERSION, Hello, Response, decode_from_core, encode
from pedelec_core.agent_desk import AgentDesk
from pedelec_core.approvals import Claim
from pedelec_core.hub import Hub
from pedelec_core.ipc import LocalServer
from pedelec_core.limits import CoreLimits, with_settings
from pedelec_core.page_desk import PageDesk
from pedelec_core.registry import ToolRegistry, parse_args

_SECONDS = 60


class _Everybody:
    """Approves every origin."""

    def is_approved(self, origin: str) -> bool:
        return True

    def ask(
        self, origin: str, claim: Claim, decided: Callable[[PedelecError | None], None]
    ) -> tuple[str, float]:
        raise AssertionError("nobody is a stranger")

    def leave(self, waiter: str) -> None:
        raise AssertionError("nobody waits")


class _Page:
    """A page's connection that remembers what it was told."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        self.id = f"connection {next(self._numbers)}"
        self.origin = "https://a.example"
        self.told: list[str] = []
        self.is_open = True

    def send(self, text: str) -> None:
        self.told.append(text)

    def close(self, code: int, reason: str) -> None:
        self.is_open = False

    def batch(self) -> None:
        pass

    def probe(self) -> None:
        pass

    def cut(self) -> None:
        self.is_open = False


class Frames:
    """The frame decoder and all that pages' frames lead to. Sessions come and go on the way."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._runner.run(self._start())

    async def _start(self) -> None:
        self.hub = Hub(limits=with_settings(["sessions-per-second=1000000", "guesses-per-second=1000000"]))
        self.desk = PageDesk(self.hub, _Everybody())
        self._open()

    def _open(self) -> None:
        self.page = _Page()
        self.desk.opened(self.page)
        self._say(encode(Hello(protocol=PROTOCOL_VERSION, page_instance_id=self.page.id, sdk_version="0")))
        self.page.told.clear()

    def _say(self, frame: str) -> None:
        self.desk.frame(self.page, frame)
        self.hub.commits.commit()

    def take(self, frame: str) -> None:
        """One frame: it is answered at most once, in messages of the protocol."""
        self._runner.run(self._take(frame))

    async def _take(self, frame: str) -> None:
        self._say(frame)
        told = [decode_from_core(text) for text in self.page.told]
        assert sum(isinstance(message, Response) for message in told) <= 1, told
        self.page.told.clear()
        for session in self.hub.live_sessions()[16:]:
            self.hub.end(session, "requested")
        for session in list(self.hub.sessions.values()):
            if not session.live:
                self.hub._forget(session)
        self.hub.commits.commit()
        if not self.page.is_open:
            self.desk.closed(self.page)
            self._open()

    def close(self) -> None:
        self._runner.run(self.hub.close())
        self._runner.close()


class LocalLines:
    """The local socket: a real one, with a connection for each input."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "core.sock"
        self._runner = asyncio.Runner()
        self._runner.run(self._start())

    async def _start(self) -> None:
        async def no_mcp(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            return

        self.hub = Hub()
        self._server = LocalServer(AgentDesk(self.hub), self._path, no_mcp, CoreLimits())
        await self._server.__aenter__()

    def take(self, data: bytes) -> None:
        """What one client sends: each line that comes back is a JSON object that says `ok`."""
        self._runner.run(self._take(data))

    async def _take(self, data: bytes) -> None:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_unix_connection(self._path)
            writer.write(data)
            writer.write_eof()
            try:
                answer = await reader.read()
            except ConnectionResetError:
                answer = b""
            writer.close()
        assert answer == b"" or answer.endswith(b"\n")
        for line in answer.splitlines():
            assert json.loads(line)["ok"] in {True, False}

    def close(self) -> None:
        self._runner.run(self._server.__aexit__(None, None, None))
        self._runner.run(self.hub.close())
        self._runner.close()


class Registry:
    """Manifests that pages declare, and arguments that agents send."""

    def take(self, manifests: Any, args_text: str) -> None:
        """Refused with an error of ours, or checked with; what is no object never gets here."""
        try:
            registry = ToolRegistry.from_manifests([each for each in manifests if isinstance(each, dict)])
            args = parse_args(args_text, CoreLimits().wire)
            for name in registry.names():
                registry.get(name).validate(args)
        except PedelecError as error:
            json.dumps(error.to_wire())
