"""By which words agents ask about calls, and under which names they know the tools: it depends on their door.

Owns the words that stand for a request in the catalogue's sentences: `{toolList}`, `{toolSpec}`,
`{toolResult}`, `{threads}` and `{nameThread}`. An agent with a shell is told commands, one that speaks MCP
the tools that it has. No I/O.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Door:
    """The way by which an agent came. Its words are templates, as those of the catalogue are.

    Attributes:
        tool_list: how to list the tools.
        tool_spec: how to see what `{tool}` takes.
        tool_result: how to fetch the result of `{invocationId}`.
        threads: how to list the sessions.
        name_thread: how to say that `{liveThread}` is meant.
        name_of: a session's own name of a tool, as the agent knows it.
    """

    tool_list: str
    tool_spec: str
    tool_result: str
    threads: str
    name_thread: str
    name_of: Callable[[str], str] = str

    def words(self, facts: Mapping[str, str | float]) -> dict[str, str]:
        """The requests that can be written out with these facts."""
        templates = {
            "toolList": self.tool_list,
            "toolSpec": self.tool_spec,
            "toolResult": self.tool_result,
            "threads": self.threads,
            "nameThread": self.name_thread,
        }
        filled = {name: _filled(template, facts) for name, template in templates.items()}
        return {name: words for name, words in filled.items() if words}


COMMAND_LINE = Door(
    tool_list="pedelec-cli tool-list",
    tool_spec="pedelec-cli tool-spec {tool}",
    tool_result="pedelec-cli tool-result {invocationId}",
    threads="pedelec-cli threads",
    name_thread="--thread-id {liveThread}",
)
MCP = Door(
    tool_list="page_tools_list()",
    tool_spec="page_tools_list()",
    tool_result='page_tools_call(resultOf="{invocationId}")',
    threads="page_tools_list()",
    name_thread='page_tools_call with threadId="{liveThread}"',
)


def _filled(template: str, facts: Mapping[str, str | float]) -> str:
    try:
        return template.format_map(facts)
    except KeyError:
        return ""
