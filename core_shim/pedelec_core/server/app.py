"""Core's ASGI app: which address leads where."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp

from pedelec_core import __version__
from pedelec_core.approval_desk import ApprovalDesk
from pedelec_core.limits import CoreLimits
from pedelec_core.page_desk import PageDesk
from pedelec_core.runtime.manifest import MANIFEST_NAME, RUNTIME_DIR, WHEELS_DIR

from .approval_page import ApprovalPage
from .bearer import BearerMiddleware
from .bundle_files import BundleFiles, bundle_manifest
from .guard import PAGE_PATH, Guard, GuardMiddleware
from .inspector_socket import INSPECTOR_PATH, InspectorEndpoint
from .page_socket import Cork, PageEndpoint
from .sdk_files import SdkFiles
from .static import Files

HEALTH_PATH: Final = "/healthz"
MCP_PATH: Final = "/mcp"
SERVER_NAME: Final = "pedelec-core"
"""How `/healthz` tells a Core from any other server."""

LOADER_FILES: Final = ("pedelec.js", "pedelec.mjs", "pedelec.d.ts")
INSPECTOR_FILES: Final = ("inspector.mjs", "inspector.d.ts")


def build_app(
    desk: PageDesk,
    approvals: ApprovalDesk,
    inspector: InspectorEndpoint,
    mcp: ASGIApp,
    token: str,
    guard: Guard,
    site: Path | None,
    private: Path,
    limits: CoreLimits,
    cork: Cork,
) -> Starlette:
    """Put the app together.

    Args:
        desk: where the pages' frames go.
        approvals: where a person's word on origins goes.
        inspector: where those of inspectors go.
        mcp: serves MCP clients.
        token: what they have to show.
        guard: who may send a request at all.
        site: the folder served at `/`, or None for a note that there is none.
        private: the state folder, of which nothing is served, wherever it lies.
        limits: on the pages' connections.
        cork: of the pages' connections.
    """

    def shares_with(origin: str) -> str:
        """Pages that may only ask are one crowd: a stranger can have as many origins as it likes."""
        return origin if approvals.is_approved(origin) else ""

    sdk_files = SdkFiles()
    inspector_files = Files(Path(str(files("pedelec_core"))) / "inspector" / "static", cross_origin=True)
    routes: list[BaseRoute] = [
        Route(HEALTH_PATH, _health),
        WebSocketRoute(PAGE_PATH, PageEndpoint(desk, limits, shares_with, cork)),
        *ApprovalPage(approvals, guard).routes(),
        WebSocketRoute(INSPECTOR_PATH, inspector),
        Route(MCP_PATH, BearerMiddleware(mcp, token)),
        Route(f"/runtime/{MANIFEST_NAME}", bundle_manifest),
        Mount("/runtime", BundleFiles(RUNTIME_DIR)),
        Mount("/wheels", BundleFiles(WHEELS_DIR)),
        Mount("/sdk", sdk_files),
        *(Route(f"/{name}", sdk_files) for name in LOADER_FILES),
        *(Route(f"/{name}", inspector_files) for name in INSPECTOR_FILES),
        Mount("/inspector", inspector_files),
        Mount("/", Files(site, html=True, private=private)) if site else Route("/", _no_site),
    ]
    return Starlette(routes=routes, middleware=[Middleware(GuardMiddleware, guard=guard)])


async def _health(_request: Request) -> Response:
    # Any page may learn that Core is there, so that its SDK can tell why it does not get in. The text is
    # readable to approved origins alone.
    headers = {"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "cross-origin"}
    return JSONResponse({"ok": True, "name": SERVER_NAME, "version": __version__}, headers=headers)


async def _no_site(_request: Request) -> Response:
    return PlainTextResponse("Pedelec Core is running. It serves a site here with --site DIR.\n", 404)
