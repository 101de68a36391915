"""`make demo`, after the set-up: run Core with the demo site, and say what to try once it is ready.

Reads PORT, OPEN and PEDELEC_STATE_DIR from the environment. Owns no behaviour of Core; ends as Core ends.
"""

import os
import shlex
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / ".venv" / "bin"
DEFAULT_PORT = "7420"
READY = "ready "

_EXAMPLE = ("tool-call", "move_shape", '{"shapeId":"s1","x":120,"y":80}')


def example_line(scripts: Path, environment: Mapping[str, str]) -> str:
    """Return a command that can be pasted into another terminal, which may not share this environment."""
    program = scripts / "pedelec-cli"
    found = shutil.which(program.name, path=environment.get("PATH"))
    is_first = found is not None and Path(found).samefile(program)
    state_dir = environment.get("PEDELEC_STATE_DIR")
    where = ["--state-dir", str(Path(state_dir).absolute())] if state_dir else []
    return shlex.join([program.name if is_first else str(program), *where, *_EXAMPLE])


def may_open_browser(environment: Mapping[str, str], platform: str) -> bool:
    """Tell whether somebody sits in front of a screen and has not said no."""
    if environment.get("OPEN", "1") == "0" or environment.get("CI"):
        return False
    return platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def main() -> int:
    """Run Core until it ends or Ctrl-C; return the exit status."""
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
    print(f"\nOpen   {address}/\nTry    {example_line(SCRIPTS, os.environ)}\nStop   Ctrl-C\n", flush=True)
    if may_open_browser(os.environ, sys.platform):
        webbrowser.open(address)


if __name__ == "__main__":
    sys.exit(main())
