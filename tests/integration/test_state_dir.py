"""What one process leaves behind in the state folder, and what the next one makes of it."""

import subprocess
import sys
from pathlib import Path

from pedelec_core.state_dir import LOCK_NAME, RUNTIME_NAME, StateDir

HOLD_AND_DIE = """\
import os, sys
from pathlib import Path
from pedelec_core.state_dir import RuntimeInfo, StateDir

state = StateDir(Path(sys.argv[1]))
held = state.held()
held.__enter__()
(state.path / "core.sock").touch()
state.write_runtime(
    RuntimeInfo(
        pid=os.getpid(),
        started_at=1.5,
        host="127.0.0.1",
        port=7420,
        url="http://127.0.0.1:7420",
        socket="/run/core.sock",
        core_instance_id="c",
        version="1",
        token="t",
        state_dir="/run",
    )
)
os._exit(1)
"""


def test_what_a_killed_holder_left_behind_is_cleared(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "state")
    state.prepare()
    holder = subprocess.run([sys.executable, "-c", HOLD_AND_DIE, str(state.path)], timeout=60)
    assert holder.returncode == 1
    assert (state.path / "core.sock").exists()
    assert (state.path / RUNTIME_NAME).exists()
    with state.held():
        assert [file.name for file in state.path.iterdir()] == [LOCK_NAME]
