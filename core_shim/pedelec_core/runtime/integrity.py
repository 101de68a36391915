"""The loader's script tag with the hash of the loader that this Core serves (Subresource Integrity)."""

import base64
import hashlib
import html

from pedelec_core.sdk_modules import LOADER, SdkModules


def loader_tag(core_url: str) -> str:
    """Return the tag. A browser that is given it runs this very loader, which names its modules, or none.

    It has `crossorigin`, without which browsers check no hash of another origin's file; so on pages of other
    origins than Core's it works once that origin is approved.
    """
    digest = hashlib.sha384(SdkModules().loader()).digest()
    hashed = f"sha384-{base64.b64encode(digest).decode()}"
    address = html.escape(f"{core_url.rstrip('/')}/{LOADER}")
    return f'<script src="{address}" integrity="{hashed}" crossorigin="anonymous"></script>'
