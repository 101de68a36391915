"""The real thing for tests: a Core process, its command line, and a page that speaks the wire protocol."""

from tests.harness.core_process import (
    WITHOUT_RATES,
    CliCall,
    CliResult,
    CoreProcess,
    core_command,
    limits,
    run_cli,
    run_core,
)
from tests.harness.page_client import PageClient, tool

__all__ = [
    "WITHOUT_RATES",
    "CliCall",
    "CliResult",
    "CoreProcess",
    "PageClient",
    "core_command",
    "limits",
    "run_cli",
    "run_core",
    "tool",
]
