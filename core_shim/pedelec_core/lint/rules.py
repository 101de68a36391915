"""The rules: what each is called, how bad it is to break it, why it is there, and what to do.

Owns these sentences, which docs/designing-errors.md repeats. Whether a rule is broken is decided in
`tool_rules` and `error_rules`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"  # an agent is left without a next step, or takes a wrong one
    WARNING = "warning"  # it may still guess right


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. `why` and `fix` are for the page's author."""

    id: str
    severity: Severity
    why: str
    fix: str


TOOL_REFUSED: Final = Rule(
    "tool-refused",
    Severity.ERROR,
    "Core does not accept this manifest, so the page gets no session.",
    "Correct the field; the note says what it must be.",
)
TOOL_DESCRIPTION: Final = Rule(
    "tool-description",
    Severity.ERROR,
    "An agent chooses a tool by its description, and this one adds nothing to the tool's name.",
    "Say in a sentence what the tool does, to what, and what it returns.",
)
ARRAY_BOUNDS: Final = Rule(
    "array-bounds",
    Severity.WARNING,
    "Nothing says how long the list may be, so an agent may send thousands of items at once.",
    'Give the array "maxItems" (with typed tools: a Field with max_length).',
)
READ_ONLY_HINT: Final = Rule(
    "read-only-hint",
    Severity.WARNING,
    "Without it the tool counts as one that changes things: its time-outs are not retried, and after other "
    "failures no agent is told to look with it.",
    'Declare "readOnly": true if the tool only reads; else say "readOnly": false.',
)
VAGUE_MESSAGE: Final = Rule(
    "vague-message",
    Severity.ERROR,
    "The message does not say what went wrong, so the agent can only repeat the call or give up.",
    "Say what was asked for and what stood in the way: “No shape is selected.”",
)
MISSING_CLASS: Final = Rule(
    "missing-class",
    Severity.ERROR,
    "Without a class nobody knows whether to retry, to ask the user, or to stop.",
    "Make the error with ToolError.retryable, permanent, user_input or auth_required.",
)
RETRY_DELAY: Final = Rule(
    "retry-delay",
    Severity.ERROR,
    "A retryable error without a delay is retried at once, in a loop.",
    "Say when: ToolError.retryable(…, after=SECONDS), or retryAfterSeconds.",
)
DEVELOPER_TEXT: Final = Rule(
    "developer-text",
    Severity.WARNING,
    "An agent cannot read logs, open consoles or ask developers: this step leads nowhere.",
    "Name the next call with its arguments, or what to ask the user.",
)
RAW_FAILURE: Final = Rule(
    "raw-failure",
    Severity.WARNING,
    "A status number or an exception's text is passed on; it tells how the code failed, not what to do.",
    "Catch it and raise a ToolError in terms of the task (pedelec.recovery knows failures of services).",
)
SUCCESS_SHAPED: Final = Rule(
    "success-shaped-failure",
    Severity.ERROR,
    "A failure that looks like a result: an agent takes the empty data for the truth.",
    "Return or raise a ToolError and nothing beside it; for partial results use gather_parts.",
)
TOO_MANY_OPTIONS: Final = Rule(
    "too-many-options",
    Severity.WARNING,
    "Ten options are told and the others are lost; nobody chooses well among more.",
    "Offer the best ten at most, or ask for a narrower query.",
)

RULES: Final = (
    TOOL_REFUSED,
    TOOL_DESCRIPTION,
    ARRAY_BOUNDS,
    READ_ONLY_HINT,
    VAGUE_MESSAGE,
    MISSING_CLASS,
    RETRY_DELAY,
    DEVELOPER_TEXT,
    RAW_FAILURE,
    SUCCESS_SHAPED,
    TOO_MANY_OPTIONS,
)
