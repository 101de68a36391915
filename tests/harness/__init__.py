"""The real thing for tests: a Core process, its command line, and a page that speaks the wire protocol."""

from tests.harness.core_process import CliCall, CliResult, CoreProcess, core_command, run_cli, run_core
from tests.harness.page_client import PageClient, tool

__all__ = ["CliCall", "CliResult", "CoreProcess", "PageClient", "core_command", "run_cli", "run_core", "tool"]
