"""`manifest.json`: what a bundle holds. Written last, so a folder that has one was finished.

The only JSON of this package that leaves the machine's native side: Core serves it to the page.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pedelec_core.runtime.digests import sha256_file
from pedelec_core.runtime.errors import BundleError

MANIFEST_NAME: Final = "manifest.json"
FORMAT_VERSION: Final = 4

RUNTIME_DIR: Final = "runtime"
SNAPSHOT_DIR: Final = "runtime/snapshot"
WHEELS_DIR: Final = "wheels"
LICENSES_DIR: Final = "licenses"
COMPRESSED_SUFFIX: Final = ".zst"
"""What is added to a file's name for the same file compressed with Zstandard."""


@dataclass(frozen=True)
class FileEntry:
    """One file of the bundle: its size in bytes and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True)
class LicenseEntry:
    """A part of the bundle, its SPDX licence expression, and the file in the bundle that holds the text."""

    part: str
    license: str
    file: str


@dataclass(frozen=True)
class Manifest:
    """The contents of a bundle.

    Attributes:
        pyodide_version: version of the npm package.
        python_version: the Python inside, such as `3.14.2`.
        abi_version: Pyodide's platform ABI, such as `2026_0`.
        sdk_wheel: file name of the SDK's wheel in `wheels/`, for any Pyodide.
        compiled_sdk_wheel: file name in `runtime/snapshot/` of the same, compiled, for this Pyodide.
        packages: what was asked for beyond the packages of every bundle, as it was asked.
        runtime_inputs: hash over everything that `runtime/` was made from.
        sdk_inputs: hash over the sources that the SDK's wheel was made from.
        snapshot_inputs: hash over everything that the compiled SDK and the memory snapshots were made from.
        licenses: one entry for each part that somebody else wrote.
        files: every file except the manifest, by its path relative to the bundle, with `/`.
    """

    pyodide_version: str
    python_version: str
    abi_version: str
    sdk_wheel: str
    compiled_sdk_wheel: str
    packages: tuple[str, ...]
    runtime_inputs: str
    sdk_inputs: str
    snapshot_inputs: str
    licenses: tuple[LicenseEntry, ...]
    files: Mapping[str, FileEntry]

    def to_json(self) -> str:
        """Return the text of `manifest.json`; the same contents always give the same text."""
        document = {
            "formatVersion": FORMAT_VERSION,
            "pyodideVersion": self.pyodide_version,
            "pythonVersion": self.python_version,
            "abiVersion": self.abi_version,
            "sdkWheel": self.sdk_wheel,
            "compiledSdkWheel": self.compiled_sdk_wheel,
            "packages": list(self.packages),
            "inputs": {
                "runtime": self.runtime_inputs,
                "sdk": self.sdk_inputs,
                "snapshot": self.snapshot_inputs,
            },
            "licenses": [vars(entry) for entry in self.licenses],
            "files": {path: vars(self.files[path]) for path in sorted(self.files)},
        }
        return json.dumps(document, indent=2) + "\n"


def from_document(document: Any) -> Manifest:
    """Return the manifest that a parsed `manifest.json` describes.

    Raises:
        KeyError, TypeError, ValueError: it is not one of ours, or of another format version.
    """
    if document["formatVersion"] != FORMAT_VERSION:
        raise ValueError(f"format version {document['formatVersion']!r}, wanted {FORMAT_VERSION}")
    return Manifest(
        pyodide_version=document["pyodideVersion"],
        python_version=document["pythonVersion"],
        abi_version=document["abiVersion"],
        sdk_wheel=document["sdkWheel"],
        compiled_sdk_wheel=document["compiledSdkWheel"],
        packages=tuple(document["packages"]),
        runtime_inputs=document["inputs"]["runtime"],
        sdk_inputs=document["inputs"]["sdk"],
        snapshot_inputs=document["inputs"]["snapshot"],
        licenses=tuple(LicenseEntry(**entry) for entry in document["licenses"]),
        files={path: FileEntry(**entry) for path, entry in document["files"].items()},
    )


def read(bundle: Path) -> Manifest:
    """Return the manifest of the bundle in a folder.

    Raises:
        BundleError: there is none, or it cannot be read or understood.
    """
    path = bundle / MANIFEST_NAME
    try:
        return from_document(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BundleError(
            f"The Pyodide bundle in {bundle} is unfinished: it has no {MANIFEST_NAME}."
        ) from None
    except OSError as error:
        raise BundleError(f"The bundle's {path} cannot be read: {error.strerror}.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise BundleError(f"The bundle's {path} is damaged or from another version: {error}.") from error


def list_files(bundle: Path) -> dict[str, FileEntry]:
    """Return an entry for every file in a bundle except its manifest, by path relative to the bundle."""
    return {
        path.relative_to(bundle).as_posix(): FileEntry(path.stat().st_size, sha256_file(path))
        for path in sorted(bundle.rglob("*"))
        if path.is_file() and path != bundle / MANIFEST_NAME
    }
