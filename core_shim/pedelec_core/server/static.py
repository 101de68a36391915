"""Files served as they are: the site and the SDK's loader; `bundle_files` builds on it.

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
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

FOR_GOOD: Final = "public, max-age=31536000, immutable"
"""`Cache-Control` of what never changes under its address (RFC 8246)."""

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


def media_type(path: str) -> str:
    """The type of a file, by its name."""
    guessed, encoding = _TYPES.guess_type(path)
    return guessed if guessed and not encoding else "application/octet-stream"


class Files(StaticFiles):
    """One folder: regular, readable files below it, no listings, nothing whose name begins with a dot.

    Args:
        folder: what is served.
        html: whether `index.html` stands for its folder.
        cross_origin: whether other origins' pages may load the files with a plain tag. What an approved
            origin may *read* is the guard's business.
        private: a folder of which nothing is served, should it lie in this one.
    """

    def __init__(
        self, folder: Path, *, html: bool = False, cross_origin: bool = False, private: Path | None = None
    ) -> None:
        super().__init__(directory=folder, html=html, check_dir=False)
        self._private = None if private is None else private.resolve()
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
        if self._private is not None and Path(full_path).resolve().is_relative_to(self._private):
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
            full_path, status_code, media_type=media_type(os.fspath(full_path)), stat_result=stat_result
        )
        self.describe(response)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response

    def describe(self, response: Response) -> None:
        """Add what is told of every file: who may have it, and that a kept copy is to be asked about."""
        response.headers["Cache-Control"] = "no-cache"
        response.headers["Cross-Origin-Resource-Policy"] = self._resource_policy
        response.headers["X-Content-Type-Options"] = "nosniff"
