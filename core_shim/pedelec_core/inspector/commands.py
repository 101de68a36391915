"""The commands that reach a Core from another terminal, and from an MCP client: for people to copy."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

_CLI = "pedelec-cli"
_CORE = "pedelec-core"


@dataclass(frozen=True, slots=True)
class Commands:
    """Their words. Without more knowledge the bare names, which say nothing of the machine."""

    cli: tuple[str, ...] = (_CLI,)
    mcp: tuple[str, ...] = (_CORE, "mcp")


def commands_for(state_dir: Path | None, search_path: str | None, scripts: Path | None = None) -> Commands:
    """The commands for the Core of a state folder.

    Args:
        state_dir: the folder, or None for the one that is looked for by default.
        search_path: `$PATH` of whoever will run them.
        scripts: the folder of this installation's programs (default: that of the running Python).
    """
    folder = scripts or Path(sys.executable).parent
    option = () if state_dir is None else ("--state-dir", str(state_dir.absolute()))
    program = folder / _CLI
    found = shutil.which(_CLI, path=search_path)
    is_first = found is not None and program.exists() and Path(found).samefile(program)
    # MCP clients do not run commands as this shell does: for them the full path, always.
    return Commands((_CLI if is_first else str(program), *option), (str(folder / _CORE), "mcp", *option))
