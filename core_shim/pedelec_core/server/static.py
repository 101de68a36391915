"""Files served as they are: the site, the SDK's loader, the Pyodide bundle.

Owns which files of a folder may be seen, their types and their caching. Knows no URL but the ones it is
mounted at.
"""

import mimetypes
import os
import stat
from http import HTTPStatus
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Receive, Scope, Send

from pedelec.errors import Code, PedelecError
from pedelec_core.runtime.errors import BUILD_COMMAND
from pedelec_core.runtime.locations import find_bundle
from pedelec_core.runtime.manifest import MANIFEST_NAME

from .guard import error_response

# Python's own table alone: what the machine's tables say would change with the machine.
_TYPES: Final = mimetypes.MimeTypes()
for _suffix, _type in {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".ts": "text/plain",
    ".wasm": "application/wasm",
    ".whl": "application/octet-stream",
}.items():
    _TYPES.add_type(_type, _suffix)


def _media_type(path: str) -> str:
    media_type, encoding = _TYPES.guess_type(path)
    return media_type if media_type and not encoding else "application/octet-stream"


class Files(StaticFiles):
    """One folder: regular, readable files below it, no listings, nothing whose name begins with a dot.

    Args:
        folder: what is served.
        html: whether `index.html` stands for its folder.
        cross_origin: whether other origins' pages may load the files with a plain tag. What an approved
            origin may *read* is the guard's business.
    """

    def __init__(self, folder: Path, *, html: bool = False, cross_origin: bool = False) -> None:
        super().__init__(directory=folder, html=html, check_dir=False)
        self._resource_policy = "cross-origin" if cross_origin else "same-origin"

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Serve a file, or answer 404 for everything that is not to be seen."""
        if any(part.startswith(".") for part in Path(path).parts):
            raise HTTPException(HTTPStatus.NOT_FOUND)
        return await super().get_response(path, scope)

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Find a file; one that we may not read is as good as none."""
        try:
            full_path, status = super().lookup_path(path)
        except PermissionError:
            return "", None
        if status is not None and stat.S_ISREG(status.st_mode) and not os.access(full_path, os.R_OK):
            return "", None
        return full_path, status

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """The file, or 304 where the browser's copy is current."""
        response = FileResponse(
            full_path, status_code, media_type=_media_type(os.fspath(full_path)), stat_result=stat_result
        )
        response.headers["Cache-Control"] = "no-cache"
        response.headers["Cross-Origin-Resource-Policy"] = self._resource_policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response


class BundleFiles:
    """The Pyodide bundle, or a clear 503 for as long as there is none.

    Args:
        folder: the part of the bundle that is served, such as `runtime`.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._files: Files | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._files is None and (bundle := find_bundle()) is not None:
            self._files = Files(bundle / self._folder, cross_origin=True)
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


def _no_bundle() -> Response:
    error = PedelecError(
        Code.CORE_RUNTIME_UNAVAILABLE,
        "Core has no Pyodide bundle to serve.",
        recovery_steps=[f"Make one on the machine that runs Core: {BUILD_COMMAND}"],
    )
    return error_response(HTTPStatus.SERVICE_UNAVAILABLE, error)
