"""An agent that does what errors say, to the letter, and knows nothing else.

It reads class, delay, steps and options of an error and makes the next call that they name. It makes three
calls at most, the first one included, and gives up where an error names none.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.literal_agent.calls import Call, Command, actions_in, parse_call, thread_in

MAX_CALLS = 3
ANSWER = "<answer>"

type Json = dict[str, Any]
type User = Callable[[str, list[Any]], Any]
"""Answers a question, given the options to choose from; None: does not want it."""
type Action = Call | Command


class World(Protocol):
    """What an agent can do."""

    async def call(self, tool: str, args: Json, *, thread: str | None = None) -> Json: ...

    async def command(self, name: str, argument: str | None) -> Json: ...

    def is_look(self, tool: str) -> bool: ...

    async def wait(self, seconds: float) -> None: ...


@dataclass
class Report:
    """What came of it: the last answer, and every call that was made."""

    answer: Json = field(default_factory=dict)
    made: list[Action] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    waited: bool = False

    def reached(self, tools: tuple[str, ...]) -> bool:
        """The last answer is a whole result of one of these tools or commands."""
        last = self.made[-1]
        name = last.name if isinstance(last, Command) else last.tool
        return name in tools and self.answer["ok"] is True and problem_in(self.answer) is None

    @property
    def repeats(self) -> int:
        """How many calls were made again unchanged."""
        return sum(action in self.made[:index] for index, action in enumerate(self.made))


def problem_in(answer: Json) -> Json | None:
    """The error in an answer, or a result that is not whole; None for a result."""
    if not answer["ok"]:
        error: Json = answer["error"]
        return error
    result = answer.get("result")
    if not isinstance(result, dict):
        return None
    if isinstance(result.get("error"), dict):
        failure: Json = result["error"]
        return failure
    return result if result.get("completeness") == "partial" else None


def reduced(problem: Json) -> Json:
    """Code and message alone."""
    return {key: problem[key] for key in ("code", "message") if key in problem}


class LiteralAgent:
    """Pursues one call.

    Args:
        world: where calls are made.
        user: whom it may ask.
        reads: what it gets to see of an error.
    """

    def __init__(
        self, world: World, user: User, reads: Callable[[Json], Json] = lambda problem: problem
    ) -> None:
        self._world = world
        self._user = user
        self._reads = reads

    async def pursue(self, goal: Call) -> Report:
        """Make a call, and then what the answers say."""
        report = Report()
        plan: list[Action] = [goal]
        while plan and len(report.made) < MAX_CALLS:
            action = plan.pop(0)
            report.made.append(action)
            report.answer = await self._make(action)
            problem = problem_in(report.answer)
            if problem is None and self._is_done(action, goal):
                break
            if problem is not None:
                report.codes.append(str(problem.get("code")))
                report.waited |= problem.get("class") == "retryable"
                plan = await self._next(self._reads(problem), action)
        return report

    def _is_done(self, action: Action, goal: Call) -> bool:
        """A look at the page, or at what there is, is no more than that."""
        if isinstance(action, Command):
            return action.name == "tool-result"
        return action.tool == goal.tool or not self._world.is_look(action.tool)

    async def _make(self, action: Action) -> Json:
        if isinstance(action, Command):
            return await self._world.command(action.name, action.argument)
        return await self._world.call(action.tool, action.args, thread=action.thread)

    async def _next(self, problem: Json, failed: Action) -> list[Action]:
        steps = [str(step) for step in problem.get("recoverySteps", [])]
        if "class" not in problem and not steps:
            return [failed]  # all that is known is that it failed: try again
        if problem.get("class") in ("userInput", "authRequired"):
            return self._ask(problem, steps)
        seconds = problem.get("retryAfterSeconds")
        if seconds is not None or "completeness" in problem:
            await self._world.wait(seconds if seconds is not None else _seconds_in(steps))
        thread = next((found for step in steps if (found := thread_in(step))), None)
        if thread is not None and isinstance(failed, Call):
            return [Call(failed.tool, failed.args, thread)]
        named = [action for step in steps for action in actions_in(step)]
        if problem.get("class") == "retryable" and not named:
            return [failed]
        return named

    def _ask(self, problem: Json, steps: list[str]) -> list[Action]:
        options = problem.get("options", [])
        answer = self._user(steps[0] if steps else problem["message"], options)
        if answer is None:
            return []
        if options:
            return [parse_call(answer["call"])]
        named = [action for step in steps for action in actions_in(step)]
        return [_answered(action, answer) for action in named]


def _answered(action: Action, answer: Any) -> Action:
    if isinstance(action, Command):
        return action
    args = {name: answer if value == ANSWER else value for name, value in action.args.items()}
    return Call(action.tool, args)


def _seconds_in(steps: list[str]) -> float:
    words = " ".join(steps).split()
    return next((float(word) for word, unit in itertools.pairwise(words) if unit == "s,"), 0)
