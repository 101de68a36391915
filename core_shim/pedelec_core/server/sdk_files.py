"""The SDK's JavaScript, served: the loader, and its modules by name, or by name and version.

Owns which address leads to which of them, and what may be kept for good: a module, under the version of them
all. What the version is stands in `sdk_modules`; what may be seen, and the other headers, in `static`.
"""

import hashlib
import re
from pathlib import Path
from typing import Final, override

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import NotModifiedResponse
from starlette.types import Scope

from pedelec_core.sdk_modules import LOADER, SDK_STATIC, SdkModules

from .static import FOR_GOOD, Files, media_type

_VERSIONED: Final = re.compile(r"([0-9a-f]{16})/([^/]+\.mjs)")


class SdkFiles(Files):
    """The folder of the SDK's JavaScript."""

    def __init__(self, folder: Path = SDK_STATIC) -> None:
        super().__init__(folder, cross_origin=True)
        self._modules = SdkModules(folder)

    @override
    async def get_response(self, path: str, scope: Scope) -> Response:
        """Serve a file. Under a version that is not theirs any more modules are what they are now."""
        if path == LOADER and scope["method"] in {"GET", "HEAD"}:
            return self._loader(scope)
        versioned = _VERSIONED.fullmatch(path)
        if versioned is None:
            return await super().get_response(path, scope)
        version, name = versioned.groups()
        response = await super().get_response(name, scope)
        if version == self._modules.version():
            response.headers["Cache-Control"] = FOR_GOOD
        return response

    def _loader(self, scope: Scope) -> Response:
        text = self._modules.loader()
        headers = {"ETag": f'"{hashlib.sha256(text).hexdigest()}"'}
        response = Response(text, headers=headers, media_type=f"{media_type(LOADER)}; charset=utf-8")
        self.describe(response)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response
