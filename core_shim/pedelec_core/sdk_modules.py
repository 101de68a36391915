"""The SDK's JavaScript as Core serves it: the loader names its modules by an address that changes with them.

Owns that address: browsers keep what lies there for good, and a page asks for nothing that it has. Serves
nothing itself.
"""

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

SDK_STATIC: Final = Path(str(files("pedelec"))) / "static"
LOADER: Final = "pedelec.js"

_VERSION_CHARS: Final = 16
_PLAIN: Final = 'const MODULES = "sdk/";'
_NAMED: Final = 'const MODULES = "sdk/{version}/";'


class SdkModules:
    """The modules in one folder, which may change while Core runs."""

    def __init__(self, folder: Path = SDK_STATIC) -> None:
        self._folder = folder
        self._stamps: list[tuple[str, int, int]] = []
        self._version = ""

    def version(self) -> str:
        """What stands for all the modules as they are now: the beginning of a SHA-256, in hexadecimal."""
        stamps = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in self._modules()]
        if stamps != self._stamps:
            digest = hashlib.sha256()
            for path in self._modules():
                digest.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
            self._stamps, self._version = stamps, digest.hexdigest()[:_VERSION_CHARS]
        return self._version

    def loader(self) -> bytes:
        """The loader's text, with that in its modules' address."""
        text = (self._folder / LOADER).read_text()
        return text.replace(_PLAIN, _NAMED.format(version=self.version()), 1).encode()

    def _modules(self) -> Iterator[Path]:
        return iter(sorted(self._folder.glob("*.mjs")))
