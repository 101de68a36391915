"""Node packages that tests need, installed as their lock file has them."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from pedelec_core.runtime.node import Node

INSTALL_SECONDS = 300


def install_node_packages(node: Node, locked_in: Path, into: Path) -> Path:
    """Install the packages of a folder's `package-lock.json`, once for each lock; others wait meanwhile.

    Args:
        node: whose npm is used. locked_in: the folder of `package.json` and its lock.
        into: where installations are kept, one folder for each lock.

    Returns:
        The folder that holds `node_modules`.
    """
    into.mkdir(parents=True, exist_ok=True)
    with (into / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        return _install(node, locked_in, into)


def _install(node: Node, locked_in: Path, into: Path) -> Path:
    lock = (locked_in / "package-lock.json").read_bytes()
    folder = into / hashlib.sha256(lock).hexdigest()[:12]
    if (folder / "node_modules").is_dir():
        return folder
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}")
    fresh.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(locked_in / name, fresh)
    # Not `npm ci`: it insists on packages for other systems, which not every registry has.
    command = [*node.npm, "install", "--no-save", "--omit=optional"]
    command += ["--ignore-scripts", "--no-audit", "--no-fund"]
    environment = {**os.environ, **node.environment}
    subprocess.run(command, cwd=fresh, env=environment, check=True, timeout=INSTALL_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return folder
