"""`make demo`, after the set-up: run Core with the demo site, and say what to try once it is ready.

Reads PORT, OPEN and PEDELEC_STATE_DIR from the environment. Owns no behaviour of Core; ends as Core ends.
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / ".venv" / "bin"
DEFAULT_PORT = "7420"
READY = "ready "

MCP_CLIENTS = {
    "claude": ("mcp", "add", "--scope", "user", "pedelec", "--"),
    "codex": ("mcp", "add", "pedelec", "--"),
    "gemini": ("mcp", "add", "-s", "user", "pedelec"),
}
"""MCP clients by their programs, and the words that tell each of a server's command (docs/agents.md)."""

_EXAMPLE = ("tool-call", "move_shape", '{"shapeId":"s1","x":120,"y":80}')


def example_line(scripts: Path, environment: Mapping[str, str]) -> str:
    """Return a command that can be pasted into another terminal, which may not share this environment."""
    program = scripts / "pedelec-cli"
    found = shutil.which(program.name, path=environment.get("PATH"))
    is_first = found is not None and Path(found).samefile(program)
    return shlex.join([program.name if is_first else str(program), *_state_dir(environment), *_EXAMPLE])


def mcp_line(scripts: Path, environment: Mapping[str, str]) -> str:
    """Return the command that tells the first MCP client found here of this Core, else the bridge's own.

    It names the program by its full path: clients do not run commands as this shell does.
    """
    bridge = [str(scripts / "pedelec-core"), "mcp", *_state_dir(environment)]
    for client, words in MCP_CLIENTS.items():
        if shutil.which(client, path=environment.get("PATH")):
            return shlex.join([client, *words, *bridge])
    return f"{shlex.join(bridge)}   (docs/agents.md says where to put it)"


def _state_dir(environment: Mapping[str, str]) -> list[str]:
    named = environment.get("PEDELEC_STATE_DIR")
    return ["--state-dir", str(Path(named).absolute())] if named else []


def may_open_browser(environment: Mapping[str, str], platform: str) -> bool:
    """Tell whether somebody sits in front of a screen and has not said no."""
    if environment.get("OPEN", "1") == "0" or environment.get("CI"):
        return False
    return platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def main() -> int:
    """Run Core until it ends, or until Ctrl-C or SIGTERM; return the exit status."""
    port = os.environ.get("PORT") or DEFAULT_PORT
    command: list[str | Path] = [
        SCRIPTS / "pedelec-core",
        "serve",
        "--site",
        ROOT / "web_demo",
        "--port",
        port,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as core:
        assert core.stdout is not None
        signal.signal(signal.SIGTERM, lambda *_: core.terminate())  # sent to us alone, it is meant for Core
        try:
            for line in core.stdout:
                print(line, end="", flush=True)
                if line.startswith(READY):
                    _welcome(line.removeprefix(READY).strip())
            return core.wait()
        except KeyboardInterrupt:
            # The terminal sent it to Core as well, which ends by itself.
            core.wait()
            return 0


def _welcome(address: str) -> None:
    lines = {
        "Open": f"{address}/",
        "Try": example_line(SCRIPTS, os.environ),
        "MCP": mcp_line(SCRIPTS, os.environ),
        "Stop": "Ctrl-C",
    }
    print("\n{}\n".format("\n".join(f"{word:<6} {text}" for word, text in lines.items())), flush=True)
    if may_open_browser(os.environ, sys.platform):
        webbrowser.open(address)


if __name__ == "__main__":
    sys.exit(main())
