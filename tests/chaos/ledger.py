"""What ran, what was answered, and what of it must never be: one schedule's books.

Looks at the frames on their way; decides at the end. Touches nothing.
"""

import json
from collections import Counter
from typing import Any

from tests.chaos.schedules import Schedule


class Ledger:
    """The books of one schedule. An action is named by its key, which is among its call's arguments."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self.allowed_runs: Counter[str] = Counter()  # by key: how often the agent meant it to run
        self.answers: dict[str, Any] = {}  # by key: the last answer that the agent got
        self.late: dict[str, Any] = {}  # by key: what `tool-result` says after a time-out
        self._runs: Counter[str] = Counter()  # by key
        self._runs_of_call: Counter[str] = Counter()  # by invocation
        self._busy: Counter[str] = Counter()  # by page, of exclusive calls
        self._overlaps = 0
        self._submits: dict[str, str] = {}  # request → invocation
        self._confirmed: set[str] = set()  # invocations whose results Core said it has

    def frame(self, page: str, direction: str, frame: dict[str, Any]) -> None:
        """A frame that was sent, whether or not it arrives."""
        kind = frame["type"]
        if kind == "submit_tool_result":
            self._submits[f"{page} {frame['requestId']}"] = frame["toolRequestId"]
        elif kind == "results_confirmed":
            self._confirmed.update(
                self._submits[f"{page} {request_id}"] for request_id in frame["requestIds"]
            )

    def started(self, page: str, key: str, call: str) -> None:
        """A handler began."""
        self._runs[key] += 1
        self._runs_of_call[call] += 1
        self._busy[page] += 1
        self._overlaps += self._schedule.exclusive and self._busy[page] > 1

    def finished(self, page: str) -> None:
        """A handler is done."""
        self._busy[page] -= 1

    def has_started(self, key: str) -> bool:
        return self._runs[key] > 0

    def complaints(self) -> list[str]:
        """Everything that must not be: unanswered calls, double runs, lost results."""
        told = [f"{call} was run {count} times" for call, count in self._runs_of_call.items() if count > 1]
        if self._overlaps:
            told.append("two exclusive calls ran side by side")
        for key in self.allowed_runs:
            told += self._complaints_about(key)
        return told

    def _complaints_about(self, key: str) -> list[str]:
        answer = self.answers.get(key)
        if answer is None:
            return [f"{key}: unanswered"]
        if self._schedule.handler == "slow":
            return self._complaints_about_late(key, answer)
        told = []
        if self._runs[key] > self.allowed_runs[key]:
            told.append(f"{key}: double run, {self._runs[key]} instead of {self.allowed_runs[key]}")
        if self._runs[key] < self.allowed_runs[key] and not self._schedule.loses_pages:
            told.append(f"{key}: a call that was finished answered another one")
        if answer["ok"]:
            if answer["result"]["key"] != key or not self._runs[key]:
                told.append(f"{key}: somebody else's result: {answer}")
        elif answer.get("invocationId") in self._confirmed or not self._schedule.loses_pages:
            told.append(f"{key}: lost result, the agent was told {json.dumps(answer)}")
        elif (answer["error"]["code"], answer["error"]["effects"]) != ("TOOL_INTERRUPTED", "unknown"):
            told.append(f"{key}: a wrong error: {json.dumps(answer)}")
        return told

    def _complaints_about_late(self, key: str, answer: Any) -> list[str]:
        if answer["ok"]:  # Core was away at the limit, and had the result before anybody asked again
            return [] if answer["result"]["key"] == key else [f"{key}: somebody else's result: {answer}"]
        code = answer["error"]["code"]
        if code not in {"TOOL_TIMEOUT", "TOOL_INTERRUPTED", "TOOL_PAGE_UNAVAILABLE", "TOOL_BUSY"}:
            return [f"{key}: a wrong answer after the limit: {json.dumps(answer)}"]
        if key not in self.late or self._schedule.loses_pages:
            return []  # nobody asked, as it ran after the answer or never; or nobody can know
        late = self.late[key]
        if not (late and late["ok"] and late["result"]["key"] == key):
            return [f"{key}: lost late result, tool-result says {json.dumps(late)}"]
        return []
