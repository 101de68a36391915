"""The two tools that are always there: for clients that list tools once and never again.

Owns their definitions, and what `page_tools_list` tells. How a call is made is `gateway`'s business.
"""

from dataclasses import dataclass
from typing import Final

from pedelec.advice import advise
from pedelec.call_text import CallFacts
from pedelec.doors import MCP
from pedelec.errors import Code, PedelecError
from pedelec.json_text import JsonObject, JsonValue, encode_value
from pedelec_core.near_misses import nearest
from pedelec_core.registry import Tool, ToolRegistry
from pedelec_core.violations import args_invalid, unusable

from .catalogue import App, Catalogue, Entry
from .instructions import guidance_of

LIST_NAME: Final = "page_tools_list"
CALL_NAME: Final = "page_tools_call"
RESULT_OF: Final = "resultOf"
"""The argument of `page_tools_call` that asks for a late result; `pedelec.doors` tells agents of it."""

_NAMES_SHOWN: Final = 10

REGISTRY: Final = ToolRegistry.from_manifests(
    [
        {
            "name": LIST_NAME,
            "title": "List the tools of open pages",
            "description": (
                "Lists the tools that web pages offer now, with their argument schemas, "
                "and what each page says about using them."
            ),
            "argsSchema": {
                "type": "object",
                "properties": {
                    "app": {"type": "string", "description": "Only this app's tools: its label in the list."}
                },
                "additionalProperties": False,
            },
            "readOnly": True,
        },
        {
            "name": CALL_NAME,
            "title": "Call a tool of an open page",
            "description": (
                f"Calls a tool that {LIST_NAME} lists, for clients that do not offer it under its own name; "
                "or fetches what an earlier call came to."
            ),
            "argsSchema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": f"The tool's name, as {LIST_NAME} has it."},
                    "arguments": {
                        "type": "object",
                        "description": "The tool's arguments, as its schema says.",
                    },
                    "threadId": {
                        "type": "string",
                        "description": "Which of the app's tabs, where several are open; else the newest.",
                    },
                    RESULT_OF: {
                        "type": "string",
                        "description": "In place of name: the id of a call whose late result is wanted.",
                    },
                },
                # No "required": some models' interfaces refuse schemas that say "one of these two".
                "additionalProperties": False,
            },
        },
    ]
)


@dataclass(frozen=True, slots=True)
class Target:
    """A call of a page's tool: which, in which of the app's sessions, with which arguments."""

    entry: Entry
    thread_id: str
    args_text: str


def listing(catalogue: Catalogue, args: JsonObject) -> JsonObject:
    """What `page_tools_list` tells."""
    wanted = args.get("app")
    apps = [app for app in catalogue.apps if wanted is None or app.label == wanted]
    return {"apps": [_told(app, catalogue) for app in apps]}


def _told(app: App, catalogue: Catalogue) -> JsonObject:
    tools: list[JsonValue] = [
        entry.tool.to_wire() | {"name": entry.name}
        for entry in catalogue.entries.values()
        if entry.app is app
    ]
    guidance: list[JsonValue] = [*guidance_of(app)]
    threads: list[JsonValue] = [session.id for session in app.sessions]
    return {
        "app": app.label,
        "name": app.name,
        "origin": app.origin,
        "guidance": guidance,
        "threadIds": threads,
        "tools": tools,
    }


def wanted_result(args: JsonObject) -> str | None:
    """The earlier call whose result `page_tools_call` is asked for; None where it is to make a call."""
    earlier = args.get(RESULT_OF)
    return None if earlier is None else str(earlier)


def target(catalogue: Catalogue, args: JsonObject) -> Target:
    """Whom `page_tools_call` means; its arguments fit its schema.

    Raises:
        PedelecError: `TOOL_ARGS_INVALID` where no tool is named, `TOOL_NOT_FOUND`, or `THREAD_NOT_FOUND`
            where the app has no such tab.
    """
    if "name" not in args:
        missing = unusable('they need the key "name"', "a tool's name", "nothing", ["name"])
        raise args_invalid([missing], tool=CALL_NAME)
    name, thread_id = str(args["name"]), args.get("threadId")
    entry = catalogue.entries.get(name)
    arguments = args.get("arguments", {})
    if entry is None:
        facts = CallFacts(tool=name, args=arguments if isinstance(arguments, dict) else None, door=MCP)
        raise PedelecError.from_wire(advise(not_found(catalogue, name), facts))
    args_text = encode_value(arguments)
    if thread_id is None:
        return Target(entry, entry.session.id, args_text)
    tabs: list[JsonValue] = [session.id for session in entry.app.sessions]
    if thread_id not in tabs:
        raise PedelecError(
            Code.THREAD_NOT_FOUND,
            f"{name} is offered by no session {str(thread_id)[:200]!r}.",
            recovery_steps=[f"Leave threadId out, or list the sessions: {LIST_NAME}()"],
            details={"threadIds": tabs},
        )
    return Target(entry, str(thread_id), args_text)


def not_found(catalogue: Catalogue, name: str) -> PedelecError:
    """No open page offers a tool of that name."""
    near = nearest(name, catalogue.entries, limit=3)
    if near:
        hint = f"Did you mean {near[0]}?"
    elif catalogue.entries:
        hint = f"There are: {', '.join(list(catalogue.entries)[:_NAMES_SHOWN])}."
    else:
        hint = "No page offers tools now: ask the user to open the page."
    return PedelecError(
        Code.TOOL_NOT_FOUND,
        f"No open page offers a tool called {name[:200]!r}. {hint}",
        suggestions=near,
        details={"tool": name[:200], **({"nearest": near[0]} if near else {})},
    )


def own_tool(name: str) -> Tool | None:
    """The definition of one of the two, by its name."""
    return REGISTRY.get(name) if name in REGISTRY.names() else None
