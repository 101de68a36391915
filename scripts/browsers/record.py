"""Remember, in `build/browsers.json`, which browsers were chosen, so that finding them again costs nothing.

Standard library only, and quick: the set-up asks on every run whether the record still holds.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.browsers.model import Browser


@dataclass(frozen=True)
class Record:
    """What an installation found out.

    Attributes:
        playwright: the version of Playwright that it was found out with.
        download_failed: whether that version's download did not work here.
        browsers: those that were chosen.
    """

    playwright: str
    download_failed: bool
    browsers: Sequence[Browser]

    def still_holds(self) -> bool:
        """Tell whether the files of all browsers are still there."""
        return all(Path(file).exists() for browser in self.browsers for file in browser.files)

    def write(self, path: Path) -> None:
        """Replace the file at `path`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        fresh.replace(path)


def read_record(path: Path) -> Record | None:
    """Return the record at `path`, or None when there is none that can be understood."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        browsers = [Browser(**{**entry, "files": tuple(entry["files"])}) for entry in document["browsers"]]
        return Record(document["playwright"], document["download_failed"], browsers)
    except (OSError, ValueError, KeyError, TypeError):
        return None
