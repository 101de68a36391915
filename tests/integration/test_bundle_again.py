"""The memory snapshots, made anew, are the same to the byte: whoever has the sources can check them."""

from pathlib import Path

from pedelec_core.runtime import commands
from pedelec_core.runtime.build import wheels_of_snapshot
from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.locations import sdk_source, work_dir
from pedelec_core.runtime.manifest import RUNTIME_DIR, SNAPSHOT_DIR, WHEELS_DIR, read
from pedelec_core.runtime.page_python import PagePythonUnderNode
from pedelec_core.runtime.progress import silent


def test_snapshots_that_are_made_again_are_the_same_to_the_byte(tmp_path: Path) -> None:
    bundle, sdk = commands.build(), sdk_source()
    assert sdk is not None
    manifest, runtime = read(bundle), bundle / RUNTIME_DIR
    wheel, loader = bundle / WHEELS_DIR / manifest.sdk_wheel, sdk / "pedelec" / "static"
    page_python = PagePythonUnderNode(work_dir())
    page_python.make_snapshots(runtime, wheel, loader, wheels_of_snapshot(runtime), tmp_path, silent)
    made = {f"{SNAPSHOT_DIR}/{path.name}": sha256_file(path) for path in tmp_path.iterdir()}
    assert len(made) > 10
    assert made == {name: manifest.files[name].sha256 for name in made}
