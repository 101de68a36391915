"""The stage without a browser: the SDK on CPython, over the in-memory transport, with a scripted Core."""

import ast
import asyncio
import functools
import inspect
import json
import logging
import textwrap
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from pedelec import Pedelec
from tests.contract.memory_core import CallingCore, CoreCall
from tests.contract.stage import EPILOGUE, PRELUDE, Call, Stage

BOUND_SECONDS = 10


class MemoryStage(Stage):
    """Implements `Stage`. The page's event loop runs while the stage waits for something, and only then."""

    def __init__(self, runner: asyncio.Runner, log: "Log") -> None:
        self._runner = runner
        self._log = log
        self._core = CallingCore()
        self._scope: dict[str, Any] = {"__name__": "page"}
        self.run(PRELUDE)
        self._scope["Pedelec"] = functools.partial(Pedelec, host=self._core.host)

    def run(self, source: str) -> None:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.wait_for(self._run(compile(textwrap.dedent(source), "page", "exec", flags=flags)))

    async def _run(self, code: Any) -> None:
        rest = eval(code, self._scope)
        if inspect.iscoroutine(rest):
            await rest

    def read(self, expression: str) -> Any:
        return json.loads(json.dumps(eval(expression, self._scope)))

    def start_call(
        self, tool: str, args: object = None, *, session: str = "session", timeout_ms: int = 20_000
    ) -> Call:
        async def start() -> CoreCall:
            session_id = self._scope[session].session_id
            return self._core.start(session_id, tool, {} if args is None else args, timeout_ms)

        return MemoryCall(self, self.wait_for(start()))

    def lose_connection(self) -> None:
        self._core.refuse_connections = True
        self._core.cut()

    def find_connection(self) -> None:
        self._core.refuse_connections = False

    def sent(self, kind: str, *, session: str = "session") -> list[Any]:
        session_id = self._scope[session].session_id
        return [frame for frame in self._core.sent(kind) if frame["sessionId"] == session_id]

    def decide(self, *, accepted: bool, **content: str) -> None:
        async def decide() -> None:
            dialog = self._core.host.dialog
            await _turns_until(lambda: dialog.now is not None)
            asked = dialog.now
            dialog.answer(accepted=accepted, **content)
            await _turns_until(lambda: dialog.now is not asked)

        self.wait_for(decide())

    def is_asking(self) -> bool:
        return self._core.host.dialog.now is not None

    def take_log(self) -> str:
        return self._log.take()

    def wait_for[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Let the page run until something is done."""
        return self._runner.run(asyncio.wait_for(work, BOUND_SECONDS))


async def _turns_until(holds: Callable[[], bool]) -> None:
    """Let the event loop turn until something holds, which takes no time."""
    for _ in range(1_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to hold")


class MemoryCall:
    """Implements `Call`."""

    def __init__(self, stage: MemoryStage, call: CoreCall) -> None:
        self._stage = stage
        self._call = call

    def answer(self) -> Any:
        async def wait() -> Any:
            return await self._call.answered

        return self._stage.wait_for(wait())


class Log(logging.Handler):
    """Keeps what the SDK logs, from warnings on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._records: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._records.append(self.format(record))

    def take(self) -> str:
        taken, self._records = self._records, []
        return "\n".join(taken)


@contextmanager
def memory_stage() -> Iterator[MemoryStage]:
    """A fresh page and a Core of its own."""
    log = Log()
    logger = logging.getLogger("pedelec")
    logger.addHandler(log)
    try:
        with asyncio.Runner() as runner:
            stage = MemoryStage(runner, log)
            yield stage
            stage.run(EPILOGUE)
    finally:
        logger.removeHandler(log)
