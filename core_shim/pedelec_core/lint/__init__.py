"""Advice for page authors: what about their tools and errors leaves an agent without a next step.

Owns the rules, and nothing of how tools and errors are got or findings are shown. Does no I/O.
"""

from collections.abc import Sequence

from pedelec.json_text import JsonValue

from .error_rules import lint_error
from .findings import Finding
from .rules import RULES, Rule, Severity
from .tool_rules import lint_tool

__all__ = ["RULES", "Finding", "Rule", "Severity", "lint"]


def lint(
    tools: Sequence[JsonValue], errors: Sequence[JsonValue] = (), *, hints_stated: bool = False
) -> list[Finding]:
    """What is wrong with tools (manifests) and with results that tell of failures.

    Args:
        tools: manifests, as a page declares them (docs/protocol.md).
        errors: what handlers returned, `{"error": {…}}` or whatever else looks like a failure.
        hints_stated: a hint that is left out was never thought of. Core leaves out those that are false.

    Returns:
        The findings in the order of what they are about; `where` leads into `{"tools": …, "errors": …}`.
    """
    findings: list[Finding] = []
    for index, manifest in enumerate(tools):
        findings += lint_tool(manifest, f"/tools/{index}", hints_stated=hints_stated)
    for index, result in enumerate(errors):
        findings += lint_error(result, f"/errors/{index}")
    return findings
