"""The catalogue: every code that Pedelec gives an error, and what holds for each.

Owns the codes with their class, effects, source, delay, and the texts for the agent. Written for agents: what
went wrong and which call to make next, not how the page was built. Holds data alone; `errors` makes errors of
it, and `docs/errors.md` is checked against it.

Texts are templates. `{tool}` is the tool that was called, `{call}` that call written out with its
arguments, `{check}` the call that shows the page's state (or words for it where the page has no read-only
tool). `{toolList}`, `{toolSpec}`, `{toolResult}`, `{threads}` and `{nameThread}` are requests about calls, in
the words of the agent's door (`doors`). Any other name is a member of the error's `details` (with a capital
letter: begun with one). A sentence whose names are not all known is left out.
"""

from dataclasses import dataclass
from enum import StrEnum


class ErrorClass(StrEnum):
    """What the receiver can do about an error."""

    RETRYABLE = "retryable"  # the same call later
    PERMANENT = "permanent"  # another call or none
    USER_INPUT = "userInput"  # ask the user
    AUTH_REQUIRED = "authRequired"  # the user reconnects access


class ErrorType(StrEnum):
    """Where an error comes from, in the terms of the layer below."""

    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    UPSTREAM_4XX = "upstream_4xx"
    UPSTREAM_5XX = "upstream_5xx"
    TIMEOUT = "timeout"
    INVALID_ARGS = "invalid_args"
    NOT_CONFIGURED = "not_configured"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


class Effects(StrEnum):
    """Whether the failed call changed anything."""

    NONE = "none"
    UNKNOWN = "unknown"
    APPLIED = "applied"


class Code(StrEnum):
    """Every code that Pedelec itself gives an error. Page authors add their own."""

    # a call, answered by Core
    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_ARGS_INVALID = "TOOL_ARGS_INVALID"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_PAGE_UNAVAILABLE = "TOOL_PAGE_UNAVAILABLE"
    TOOL_INTERRUPTED = "TOOL_INTERRUPTED"
    TOOL_BUSY = "TOOL_BUSY"
    TOOL_CANCELLED = "TOOL_CANCELLED"
    TOOL_LOOP_STOPPED = "TOOL_LOOP_STOPPED"
    CALL_ID_CONFLICT = "CALL_ID_CONFLICT"
    INVOCATION_NOT_FOUND = "INVOCATION_NOT_FOUND"
    TOOL_RESULT_PENDING = "TOOL_RESULT_PENDING"
    # a call, answered in the page
    TOOL_HANDLER_NOT_FOUND = "TOOL_HANDLER_NOT_FOUND"
    TOOL_HANDLER_ERROR = "TOOL_HANDLER_ERROR"
    TOOL_RESULT_NOT_SERIALIZABLE = "TOOL_RESULT_NOT_SERIALIZABLE"
    TOOL_RESULT_TOO_LARGE = "TOOL_RESULT_TOO_LARGE"
    SUBMIT_TOOL_RESULT_FAILED = "SUBMIT_TOOL_RESULT_FAILED"
    # a call that waited for a person, answered in the page
    TOOL_DENIED = "TOOL_DENIED"
    TOOL_UNANSWERED = "TOOL_UNANSWERED"
    # a call, answered by a page author's handler with the kit (`pedelec.recovery`)
    NOT_CONFIGURED = "NOT_CONFIGURED"
    AMBIGUOUS_CHOICE = "AMBIGUOUS_CHOICE"
    NO_MATCH = "NO_MATCH"
    NO_PART_WORKED = "NO_PART_WORKED"
    FALLBACK_NEEDS_CONSENT = "FALLBACK_NEEDS_CONSENT"
    NO_CHANNEL_WORKED = "NO_CHANNEL_WORKED"
    UPSTREAM_FAILED = "UPSTREAM_FAILED"
    VERSION_CONFLICT = "VERSION_CONFLICT"
    STALE_CALL = "STALE_CALL"
    # sessions and requests
    INVALID_INPUT = "INVALID_INPUT"
    SESSION_ENDED = "SESSION_ENDED"
    SESSION_ERROR = "SESSION_ERROR"
    END_SESSION_FAILED = "END_SESSION_FAILED"
    THREAD_NOT_FOUND = "THREAD_NOT_FOUND"
    THREAD_ACCESS_DENIED = "THREAD_ACCESS_DENIED"
    CREATE_SESSION_NOT_APPROVED = "CREATE_SESSION_NOT_APPROVED"
    APPROVAL_REJECTED = "APPROVAL_REJECTED"
    APPROVAL_TIMEOUT = "APPROVAL_TIMEOUT"
    TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS"
    LIMIT_REACHED = "LIMIT_REACHED"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    # the way between page, Core and command line
    SDK_BRIDGE_TIMEOUT = "SDK_BRIDGE_TIMEOUT"
    SDK_TRANSPORT_ERROR = "SDK_TRANSPORT_ERROR"
    SDK_PROTOCOL_ERROR = "SDK_PROTOCOL_ERROR"
    CORE_RUNTIME_UNAVAILABLE = "CORE_RUNTIME_UNAVAILABLE"
    LOCAL_NETWORK_DENIED = "LOCAL_NETWORK_DENIED"
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    PEDELEC_THREAD_ID_NOT_FOUND = "PEDELEC_THREAD_ID_NOT_FOUND"
    USAGE_ERROR = "USAGE_ERROR"
    JOURNAL_UNAVAILABLE = "JOURNAL_UNAVAILABLE"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What holds for every error of a code, unless the error itself says otherwise.

    `repeatable` stands in place of `recovery` where such an error is retryable because the tool is read-only
    or idempotent; `final` where one that is retryable otherwise is not, as the session is over. `meaning` is
    for people who read the catalogue; `message` (where it is blank: `meaning`) and `recovery` are the
    templates of what the agent is told.
    """

    meaning: str
    error_class: ErrorClass = ErrorClass.PERMANENT
    effects: Effects | None = None
    error_type: ErrorType | None = None
    retry_after_seconds: float | None = None
    message: str = ""
    recovery: tuple[str, ...] = ()
    repeatable: tuple[str, ...] = ()
    final: tuple[str, ...] = ()


_WAIT = "Wait {retryAfterSeconds} s, then make the same call: {call}"
_TELL_BUG = "Tell the user that this is a fault of the page, which its author has to mend."

CATALOGUE: dict[Code, CodeInfo] = {
    Code.TOOL_NOT_FOUND: CodeInfo(
        "The session offers no tool of that name.",
        effects=Effects.NONE,
        message="No tool is called {tool}.",
        recovery=("If you mean {nearest}, call it: {nearestCall}", "List the tools: {toolList}"),
    ),
    Code.TOOL_ARGS_INVALID: CodeInfo(
        "The arguments are no JSON object or break the tool's schema; nothing ran.",
        effects=Effects.NONE,
        error_type=ErrorType.INVALID_ARGS,
        message="The arguments of {tool} do not fit its schema. Nothing ran.",
        recovery=(
            "Make the corrected call: {corrected}",
            "See what {tool} takes: {toolSpec}",
        ),
    ),
    Code.TOOL_TIMEOUT: CodeInfo(
        "The page gave no result within the limit; the handler may still be running.",
        effects=Effects.UNKNOWN,
        error_type=ErrorType.TIMEOUT,
        retry_after_seconds=5,
        message="{tool} gave no result within {timeoutMs} ms. The page may still be running it.",
        recovery=(
            "Fetch a late result: {toolResult}",
            "If there is none, see whether it took effect before you repeat it: {check}",
        ),
        repeatable=(
            "Wait {retryAfterSeconds} s, then call again, which is safe: {call}",
            "Or fetch a late result: {toolResult}",
        ),
    ),
    Code.TOOL_PAGE_UNAVAILABLE: CodeInfo(
        "The page is closed or still loading; the call never reached it.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=5,
        message="No open page took {tool} within {timeoutMs} ms: {why}. Nothing ran.",
        recovery=("Ask the user to {ask}, then make the same call: {call}",),
        final=("Ask the user to open the page again, then list its sessions: {threads}",),
    ),
    Code.TOOL_INTERRUPTED: CodeInfo(
        "The page was reloaded or lost, or Core restarted, while the call ran.",
        effects=Effects.UNKNOWN,
        error_type=ErrorType.ABORTED,
        retry_after_seconds=1,
        message="The page was reloaded or lost while it ran {tool}. Whether it took effect is unknown.",
        recovery=("See whether it took effect before you repeat it: {check}",),
        repeatable=("Wait {retryAfterSeconds} s, then call again, which is safe: {call}",),
    ),
    Code.TOOL_BUSY: CodeInfo(
        "The session runs as many calls as it may.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=1,
        message="{tool} was not run: the page is busy with {count} other calls.",
        recovery=(_WAIT,),
    ),
    Code.TOOL_CANCELLED: CodeInfo(
        "The call was cancelled before it had a result.",
        effects=Effects.UNKNOWN,
        error_type=ErrorType.ABORTED,
        message="{tool} was cancelled.",
        recovery=("Do not repeat it unless the user asks for it.",),
    ),
    Code.TOOL_LOOP_STOPPED: CodeInfo(
        "The same call has failed so often in a row that it was not run again.",
        effects=Effects.NONE,
        message="{tool} was not run: the same call has failed {count} times in a row with {failedWith}.",
        recovery=(
            "Do not make this call again unchanged. See what the page shows: {check}",
            "Then make another call, or tell the user what fails, and how.",
        ),
    ),
    Code.CALL_ID_CONFLICT: CodeInfo(
        "The call id was used before for another tool or other arguments.",
        effects=Effects.NONE,
        message="The call id {callId} already stands for another call. Nothing ran.",
        recovery=("Make the call with a call id of its own, or without one: {call}",),
    ),
    Code.INVOCATION_NOT_FOUND: CodeInfo(
        "No invocation of that id is remembered.",
        message="No invocation {invocationId} is remembered: results are kept for a few minutes.",
        recovery=("If you still need the result, see what the session offers: {toolList}",),
    ),
    Code.TOOL_RESULT_PENDING: CodeInfo(
        "The call asked about still runs in the page.",
        error_class=ErrorClass.RETRYABLE,
        retry_after_seconds=2,
        message="{tool} is still running in the page.",
        recovery=("Wait {retryAfterSeconds} s, then ask again: {toolResult}",),
    ),
    Code.TOOL_HANDLER_NOT_FOUND: CodeInfo(
        "The page declares the tool and implements no handler for it; a retry will not help.",
        effects=Effects.NONE,
        message="The page declares {tool} but does not implement it. Calling it again will not help.",
        recovery=("Tell the user that this page cannot do {tool}; its author has to add the handler.",),
    ),
    Code.TOOL_HANDLER_ERROR: CodeInfo(
        "The handler raised or rejected.",
        effects=Effects.UNKNOWN,
        recovery=(
            "See whether it took effect: {check}",
            "Do not repeat the same call; tell the user that {tool} failed, and how.",
        ),
    ),
    Code.TOOL_RESULT_NOT_SERIALIZABLE: CodeInfo(
        "The handler ran, but its result holds a value that JSON cannot carry.",
        effects=Effects.APPLIED,
        recovery=(
            "Do not repeat {tool}: it ran, only its result is lost. See what it did: {check}",
            _TELL_BUG,
        ),
    ),
    Code.TOOL_RESULT_TOO_LARGE: CodeInfo(
        "The handler ran, but its result is over the size limit.",
        effects=Effects.APPLIED,
        recovery=(
            "Do not repeat {tool} as it was: it ran, only its result is lost. See what it did: {check}",
            "If {tool} takes a filter or a page, ask it for less.",
        ),
    ),
    Code.SUBMIT_TOOL_RESULT_FAILED: CodeInfo(
        "A result could not be delivered as it was; `details.cause` has the code of the reason."
    ),
    Code.TOOL_DENIED: CodeInfo(
        "The user was asked and said no.",
        effects=Effects.NONE,
        message="The user did not allow {tool}. Nothing was done.",
        recovery=(
            "Do not make this call again, changed or unchanged, unless the user asks for it.",
            "Tell the user what you wanted {tool} for, and ask how to go on.",
        ),
    ),
    Code.TOOL_UNANSWERED: CodeInfo(
        "The call had to wait for the user, and there was no answer.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        message="{tool} waited for the user, without an answer: {why}.",
        recovery=(
            "Tell the user that {tool} needs an answer at the page, and ask whether to try again.",
            "If so, make the same call: {call}",
        ),
    ),
    Code.NOT_CONFIGURED: CodeInfo(
        "Something that only the user can set up is missing.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        error_type=ErrorType.NOT_CONFIGURED,
        message="{What} is not set up.",
        recovery=("Ask the user to set it up: {how}", "When the user says that it is done: {call}"),
    ),
    Code.AMBIGUOUS_CHOICE: CodeInfo(
        "Several things fit what was asked for, and none clearly better than the others.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        message="“{query}” may mean {names}. Nothing was done.",
        recovery=("Ask the user which one is meant, then make its call: {choices}",),
    ),
    Code.NO_MATCH: CodeInfo(
        "Nothing fits what was asked for.",
        effects=Effects.NONE,
        message="Nothing here is called “{query}”; the nearest is {nearest}. Nothing was done.",
        recovery=("Do not repeat the same call: ask the user what “{query}” means.",),
    ),
    Code.NO_PART_WORKED: CodeInfo(
        "Each of several sources failed; `details.errors` has the reason of each.",
        recovery=("Tell the user that none of this can be had now: {parts}.",),
    ),
    Code.FALLBACK_NEEDS_CONSENT: CodeInfo(
        "The way that was tried failed, and the next one has other side effects.",
        error_class=ErrorClass.USER_INPUT,
        message="{failed} did not work. {channel} would, but does something else: {does}.",
        recovery=("Ask the user whether that is wanted; if so, make its call: {choices}",),
    ),
    Code.NO_CHANNEL_WORKED: CodeInfo(
        "Every way of doing it failed; `details.errors` has the reason of each.",
        recovery=(
            "Do not repeat it: {mayHaveWorked} may have done it all the same. See what is there: {check}",
            "Tell the user that this does not work now: {channels}.",
        ),
    ),
    Code.UPSTREAM_FAILED: CodeInfo(
        "A service that the page relies on refused or failed.",
        recovery=(
            "Do not repeat the same call: change what it asks of {service}, or tell the user that it failed.",
        ),
    ),
    Code.VERSION_CONFLICT: CodeInfo(
        "The call was made for another version than the current one.",
        effects=Effects.NONE,
        message="{What} is at version {current}, and the call was for {expected}. Nothing was done.",
        recovery=("Read {what} anew: {read}", "If the change still makes sense, make it with: {again}"),
    ),
    Code.STALE_CALL: CodeInfo(
        "The page has changed since the agent last looked.",
        effects=Effects.NONE,
        message="The page has changed since you looked: {what}. Nothing was done.",
        recovery=("Look again: {read}", "Then decide anew; do not repeat the same call."),
    ),
    Code.INVALID_INPUT: CodeInfo(
        "An argument of an SDK call is not what it must be.",
        recovery=("Do not repeat {call}: tell the user that this is a fault of the page itself.",),
    ),
    Code.SESSION_ENDED: CodeInfo(
        "The session is over.", recovery=("Ask the user to open the page again: {threads}",)
    ),
    Code.SESSION_ERROR: CodeInfo("The session failed."),
    Code.END_SESSION_FAILED: CodeInfo("Core did not confirm the end of the session."),
    Code.THREAD_NOT_FOUND: CodeInfo(
        "Core knows no session of that id.",
        recovery=("Name one that is there: {nameThread}", "List the sessions: {threads}"),
    ),
    Code.THREAD_ACCESS_DENIED: CodeInfo("The session does not exist or belongs to another origin."),
    Code.CREATE_SESSION_NOT_APPROVED: CodeInfo(
        "The page's origin is not approved.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        message="Core does not let pages of {origin} in: nobody has approved that origin.",
        recovery=("Ask the user whether to let it in; if so, the user runs: pedelec-core approve {origin}",),
    ),
    Code.APPROVAL_REJECTED: CodeInfo(
        "A person was asked whether to let the page's origin in, and said no.",
        effects=Effects.NONE,
        message="The user did not let pages of {origin} in.",
        recovery=(
            "Do not ask again. Should the user change their mind: pedelec-core approve {origin}",
            "Then reload the page.",
        ),
    ),
    Code.APPROVAL_TIMEOUT: CodeInfo(
        "A person was asked whether to let the page's origin in, and did not answer in time.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        message="Nobody said in time whether pages of {origin} may come in.",
        recovery=(
            "Ask the user whether to let it in; if so, the user runs: pedelec-core approve {origin}",
            "Then reload the page.",
        ),
    ),
    Code.TOO_MANY_REQUESTS: CodeInfo(
        "More requests come than Core takes.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        error_type=ErrorType.RATE_LIMITED,
        retry_after_seconds=1,
        recovery=("Wait {retryAfterSeconds} s, then do it again.",),
    ),
    Code.LIMIT_REACHED: CodeInfo(
        "There are as many as may be; `details.limit` says of what.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        recovery=("Ask the user to close other tabs of this page, then to reload it.",),
    ),
    Code.NOT_SUPPORTED: CodeInfo("This part of the TypeScript SDK's interface is not built."),
    Code.SDK_BRIDGE_TIMEOUT: CodeInfo(
        "Core did not answer a request of the page in time.",
        error_class=ErrorClass.RETRYABLE,
        error_type=ErrorType.TIMEOUT,
        retry_after_seconds=1,
    ),
    Code.SDK_TRANSPORT_ERROR: CodeInfo(
        "The connection between the page and Core failed.",
        error_class=ErrorClass.RETRYABLE,
        retry_after_seconds=1,
    ),
    Code.SDK_PROTOCOL_ERROR: CodeInfo("A message between page and Core was not understood."),
    Code.CORE_RUNTIME_UNAVAILABLE: CodeInfo(
        "Core cannot be reached.", error_class=ErrorClass.USER_INPUT, effects=Effects.NONE
    ),
    Code.LOCAL_NETWORK_DENIED: CodeInfo(
        "The browser does not let the page reach this machine's own network.",
        error_class=ErrorClass.USER_INPUT,
        effects=Effects.NONE,
        message="The browser does not let {page} reach Core: it has no permission for apps on this device.",
        recovery=(
            "Ask the user to allow “apps on device” (or “local network”) in the page's site settings.",
            "Then reload the page.",
        ),
    ),
    Code.MESSAGE_TOO_LARGE: CodeInfo("A message is over the size limit."),
    Code.PEDELEC_THREAD_ID_NOT_FOUND: CodeInfo(
        "Which session is meant cannot be told: none is live, or several are.",
        effects=Effects.NONE,
        recovery=("Name one that is there: {nameThread}", "List the sessions: {threads}"),
    ),
    Code.USAGE_ERROR: CodeInfo("The command line is not one that the command knows.", effects=Effects.NONE),
    Code.JOURNAL_UNAVAILABLE: CodeInfo(
        "Core cannot write down what it does, so it begins nothing new.",
        error_class=ErrorClass.RETRYABLE,
        effects=Effects.NONE,
        retry_after_seconds=10,
        recovery=(_WAIT, "If it fails again, ask the user whether the disk is full."),
    ),
    Code.INTERNAL_ERROR: CodeInfo(
        "Pedelec itself failed; this is a bug.",
        effects=Effects.UNKNOWN,
        recovery=(
            "See whether it took effect: {check}",
            "Do not repeat the same call; tell the user that Pedelec itself failed.",
        ),
    ),
}


def info_of(code: str) -> CodeInfo:
    """What holds for a code; of a page author's own code nothing is known."""
    try:
        return CATALOGUE[Code(code)]
    except ValueError:
        return _UNKNOWN


_UNKNOWN = CodeInfo("")
