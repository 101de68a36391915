"""The Pyodide bundle, served: by name, or by name and hash.

`?v=` and the beginning of a file's SHA-256 asks for exactly that file. It is sent when its bytes have that
hash, and may be kept for good; a bundle that was made again or damaged meanwhile is told instead. Files go
compressed to whoever takes that, where the bundle has them so. Owns which address leads to which file of the
bundle; what may be seen, and the other headers, are `static`'s.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from pedelec.errors import Code, PedelecError
from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.errors import BUILD_COMMAND, BundleError
from pedelec_core.runtime.locations import find_bundle
from pedelec_core.runtime.manifest import COMPRESSED_SUFFIX, MANIFEST_NAME, FileEntry, Manifest, read

from .guard import error_response
from .static import FOR_GOOD, Files, media_type

_ENCODING: Final = COMPRESSED_SUFFIX.removeprefix(".").replace("zst", "zstd")
_SHORTEST_VERSION: Final = 16


class BundleFiles:
    """A folder of the bundle, or a clear 503 for as long as there is none.

    Args:
        folder: the part of the bundle that is served, such as `runtime`.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files: _PinnedFiles | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._files is None and (bundle := find_bundle()) is not None:
            self._files = _PinnedFiles(bundle, self._folder)
        if self._files is None:
            await _no_bundle()(scope, receive, send)
        else:
            await self._files(scope, receive, send)


async def bundle_manifest(_request: Request) -> Response:
    """`manifest.json` of the bundle."""
    bundle = find_bundle()
    if bundle is None:
        return _no_bundle()
    headers = {"Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "cross-origin"}
    return FileResponse(bundle / MANIFEST_NAME, headers=headers, media_type="application/json")


class _PinnedFiles(Files):
    def __init__(self, bundle: Path, folder: str) -> None:
        super().__init__(bundle / folder, cross_origin=True)
        self._bundle = bundle
        self._folder = folder
        self._manifests = _Remembered[Manifest | None](_read_or_none)
        self._digests = _Remembered[str](sha256_file)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Serve a file, compressed where that is taken; by its hash, for good or not at all."""
        name = f"{self._folder}/{Path(path).as_posix()}"
        listed = self._listed()
        version = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        compressed = name + COMPRESSED_SUFFIX in listed
        sent = name + COMPRESSED_SUFFIX if compressed and _takes_compressed(scope) else name
        if version:
            entry = listed.get(name)
            if entry is None or len(version) < _SHORTEST_VERSION or not entry.sha256.startswith(version):
                return _other_bundle(name)
            if not await to_thread.run_sync(self._is_intact, sent, listed[sent].sha256):
                return _damaged(name)
        response = await super().get_response(path + sent.removeprefix(name), scope)
        _describe(response, name, compressed=compressed, encoded=sent != name, for_good=bool(version))
        return response

    def _listed(self) -> Mapping[str, FileEntry]:
        try:
            manifest = self._manifests.get(self._bundle / MANIFEST_NAME)
        except OSError:  # a build is about to rename the new bundle into place
            manifest = None
        return {} if manifest is None else manifest.files

    def _is_intact(self, name: str, sha256: str) -> bool:
        try:
            return self._digests.get(self._bundle / name) == sha256
        except OSError:
            return False


def _describe(response: Response, name: str, *, compressed: bool, encoded: bool, for_good: bool) -> None:
    if response.status_code not in {HTTPStatus.OK, HTTPStatus.NOT_MODIFIED, HTTPStatus.PARTIAL_CONTENT}:
        return
    if encoded:
        response.headers["Content-Encoding"] = _ENCODING
        if "Content-Type" in response.headers:
            response.headers["Content-Type"] = media_type(name)
    if compressed:
        response.headers.add_vary_header("Accept-Encoding")
    if for_good:
        response.headers["Cache-Control"] = FOR_GOOD


def _takes_compressed(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    accepted = {part.partition(";")[0].strip() for part in headers.get("Accept-Encoding", "").split(",")}
    return _ENCODING in accepted and "Range" not in headers


@dataclass
class _Remembered[T]:
    """What a function made of a file, until the file changes."""

    make: Callable[[Path], T]
    known: dict[Path, tuple[tuple[int, int, int], T]] = field(default_factory=dict)

    def get(self, path: Path) -> T:
        """Return what the function makes of the file at `path`."""
        status = path.stat()
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if (found := self.known.get(path)) is None or found[0] != stamp:
            found = self.known[path] = (stamp, self.make(path))
        return found[1]


def _read_or_none(path: Path) -> Manifest | None:
    try:
        return read(path.parent)
    except BundleError:
        return None


def _no_bundle() -> Response:
    step = f"Make one on the machine that runs Core: {BUILD_COMMAND}"
    return _unavailable("Core has no Pyodide bundle to serve.", step)


def _damaged(name: str) -> Response:
    step = f"Make the bundle again: {BUILD_COMMAND}"
    return _unavailable(f"{name} of Core's Pyodide bundle is missing or damaged.", step)


def _other_bundle(name: str) -> Response:
    message = f"Core's Pyodide bundle has no such {name}: it was made again meanwhile."
    return _unavailable(message, "Reload the page.")


def _unavailable(message: str, step: str) -> Response:
    error = PedelecError(Code.CORE_RUNTIME_UNAVAILABLE, message, recovery_steps=[step])
    return error_response(HTTPStatus.SERVICE_UNAVAILABLE, error)
