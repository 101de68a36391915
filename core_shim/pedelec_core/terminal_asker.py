"""Asks the person at Core's terminal whether an origin may come in.

Owns what stands there, and how an answer is read: only where standard input is a terminal whose foreground we
are. Without one the request is told on stderr all the same, with the link of the approval page. Decides
nothing.
"""

import asyncio
import os
import sys
import termios
from collections.abc import Callable
from typing import Final

from pedelec_core.approval_desk import Question
from pedelec_core.approvals import Verdict
from pedelec_core.origins import readable_origin

_READ_BYTES: Final = 4096
_ANSWERS: Final = {"y": True, "yes": True, "n": False, "no": False}
_TOOLS_SHOWN: Final = 12


class TerminalAsker:
    """Implements `approval_desk.Asker`.

    Args:
        link: the address of the approval page for a question's key.
        decide: what to do with the word on an origin; returns what to tell the person.
        patience: seconds that a request waits.
    """

    def __init__(
        self, link: Callable[[str], str], decide: Callable[[str, bool], str], patience: float
    ) -> None:
        self._link = link
        self._decide = decide
        self._patience = patience
        self._questions: dict[str, Question] = {}  # by origin, the oldest first
        self._prompted: str | None = None

    def ask(self, question: Question) -> None:
        """Tell of a request, and ask for an answer where somebody can give one."""
        known = question.origin in self._questions
        self._questions[question.origin] = question
        _say(_tools_of(question) if known else self._announcement(question))
        self._prompt()

    def withdraw(self, origin: str, verdict: Verdict) -> None:
        """Tell how a request ended, and go on with the next."""
        self._questions.pop(origin, None)
        if self._prompted == origin:
            self._stop_reading()
        if verdict is Verdict.UNANSWERED:
            _say(f"\n{origin}: nobody answered. To let it in: pedelec-core approve {origin}\n")
        self._prompt()

    def close(self) -> None:
        """Let go of the terminal."""
        self._questions.clear()
        self._stop_reading()

    def _announcement(self, question: Question) -> str:
        lines = [f"\nA page of {question.origin} asks to offer tools to your agents."]
        if (readable := readable_origin(question.origin)) != question.origin:
            lines.append(f"  Browsers may show that origin as {readable}")
        if question.claim.app_name:
            lines.append(f"  It calls itself: {question.claim.app_name}")
        lines.append(
            f"  Look and answer within {round(self._patience)} s: {self._link(question.key)}\n"
            f"  Or: pedelec-core approve {question.origin}\n"
        )
        return "\n".join(lines) + _tools_of(question)

    def _prompt(self) -> None:
        if self._prompted is not None or not self._questions or not _has_terminal():
            return
        self._prompted = next(iter(self._questions))
        descriptor = sys.stdin.fileno()
        termios.tcflush(descriptor, termios.TCIFLUSH)  # what was typed before the question is no answer to it
        asyncio.get_running_loop().add_reader(descriptor, self._read)
        _say(f"Let pages of {self._prompted} in? [y/n] ")

    def _read(self) -> None:
        origin = self._prompted
        line = os.read(sys.stdin.fileno(), _READ_BYTES)
        answer = _ANSWERS.get(line.decode(errors="replace").strip().lower())
        self._stop_reading()
        if origin is None or not line:
            return  # nobody is there any more
        if answer is not None:
            self._questions.pop(origin, None)
            _say(self._decide(origin, answer) + "\n")
        self._prompt()

    def _stop_reading(self) -> None:
        if self._prompted is not None:
            self._prompted = None
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())


def _tools_of(question: Question) -> str:
    tools = question.claim.tools
    if not tools:
        return ""
    lines = [f"    {tool.name}: {tool.description}" for tool in tools[:_TOOLS_SHOWN]]
    more = len(tools) - len(lines[:_TOOLS_SHOWN]) + question.claim.more_tools
    return "\n".join(["  Its tools:", *lines, *([f"    … and {more} more"] if more else []), ""])


def _has_terminal() -> bool:
    """Whether somebody can answer. Reading in the background would stop the process (SIGTTIN)."""
    try:
        descriptor = sys.stdin.fileno()
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody reads it
