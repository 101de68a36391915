"""Hashes of files and of lists of inputs. Standard library only."""

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def integrity(path: Path) -> str:
    """Return the SHA-512 of a file's bytes in the notation of W3C Subresource Integrity, as npm prints it."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    return "sha512-" + base64.b64encode(digest).decode()


def combine(parts: Iterable[str | bytes]) -> str:
    """Return one SHA-256 over `parts` in order; moving a byte from one part to the next changes it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
