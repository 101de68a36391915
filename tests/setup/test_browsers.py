"""Choosing the browsers under test, on machines that a test describes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pedelec_core.runtime.process import ProgramError
from scripts.browsers.choose import Chooser
from scripts.browsers.config import load_config
from scripts.browsers.model import Browser, BrowserError, BrowserSpec
from scripts.browsers.record import Record, read_record

ROOT = Path(__file__).resolve().parents[2]

SPEC = BrowserSpec(
    name="fox",
    engine="firefox",
    download=("firefox",),
    programs=("fox-esr", "fox"),
    debian_package="fox-package",
    system_options={"channel": "wild-fox"},
    arguments=("--quiet",),
)


@dataclass
class DescribedMachine:
    """A machine by description: what is there, what starts, what works; and what was done to it."""

    own_build: Path
    own_is_there: bool = False
    download_works: bool = False
    own_starts: bool = True
    programs: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    is_debian_as_root: bool = False
    apt_brings: dict[str, str] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.own_is_there:
            self._put_own()

    def _put_own(self) -> None:
        self.own_build.mkdir()
        (self.own_build / "INSTALLATION_COMPLETE").touch()

    def run(self, command: Sequence[str | Path], on_line: Callable[[str], None] | None = None) -> str:
        words = [str(word) for word in command]
        if "--dry-run" in words:
            return f"Fox 1.0\n  Install location:    {self.own_build}\n  Download url: x\n"
        name = next(word for word in ("install-deps", "update", "install") if word in words)
        self.done.append(("apt " if "apt-get" in words else "") + name)
        if self.done[-1] == "install":
            if not self.download_works:
                raise ProgramError(words, 1, "no such host")
            self._put_own()
        elif self.done[-1] == "install-deps":
            self.own_starts = True
        elif self.done[-1] == "apt install":
            self.programs.update(self.apt_brings)
            assert on_line is not None
            on_line("dlstatus:1:40.0:Retrieving file 1 of 2")
            on_line("pmstatus:fox:75.5:Unpacking fox")
            on_line("Setting up fox: 100 % done")
        return ""

    def which(self, program: str) -> str | None:
        return self.programs.get(program)

    def starts(self, browser: Browser) -> bool:
        if browser.origin == "playwright":
            return self.own_starts
        return browser.launch_options["executable_path"] not in self.broken

    def can_install_packages(self) -> bool:
        return self.is_debian_as_root


@pytest.fixture
def own_build(tmp_path: Path) -> Path:
    return tmp_path / "fox-1"


def test_playwrights_own_build_comes_first(own_build: Path) -> None:
    machine = DescribedMachine(own_build, own_is_there=True, programs={"fox": "/usr/bin/fox"})
    browser = Chooser(machine).choose(SPEC)
    assert browser == Browser(
        "fox", "firefox", "playwright", {"headless": True, "args": ["--quiet"]}, (str(own_build),)
    )
    assert machine.done == []


def test_its_download_comes_second(own_build: Path) -> None:
    machine = DescribedMachine(own_build, download_works=True, programs={"fox": "/usr/bin/fox"})
    assert Chooser(machine).choose(SPEC).origin == "playwright"
    assert machine.done == ["install"]


def test_the_system_browser_comes_third_and_only_if_it_starts(own_build: Path) -> None:
    programs = {"fox-esr": "/usr/bin/fox-esr", "fox": "/usr/bin/fox"}
    machine = DescribedMachine(own_build, programs=programs, broken={"/usr/bin/fox-esr"})
    browser = Chooser(machine).choose(SPEC)
    assert browser.origin == "system"
    assert browser.launch_options == {
        "headless": True,
        "args": ["--quiet"],
        "executable_path": "/usr/bin/fox",
        "channel": "wild-fox",
    }


def test_on_debian_as_root_the_package_comes_last_with_progress(own_build: Path) -> None:
    machine = DescribedMachine(own_build, is_debian_as_root=True, apt_brings={"fox-esr": "/usr/bin/fox-esr"})
    shown: list[tuple[str, int, int]] = []
    chooser = Chooser(machine, lambda what, done=0, total=0: shown.append((what, done, total)))
    assert chooser.choose(SPEC).files == ("/usr/bin/fox-esr",)
    assert machine.done == ["install", "apt update", "apt install"]
    assert ("downloading fox-package", 40, 100) in shown
    assert ("installing fox-package", 75, 100) in shown


def test_the_package_lists_are_fetched_and_the_download_is_tried_once_for_all_browsers(
    own_build: Path,
) -> None:
    machine = DescribedMachine(own_build, is_debian_as_root=True, apt_brings={"fox-esr": "/usr/bin/fox-esr"})
    chooser = Chooser(machine)
    chooser.choose(SPEC)
    machine.programs.clear()
    chooser.choose(SPEC)
    assert machine.done == ["install", "apt update", "apt install", "apt install"]


def test_a_download_that_lacks_libraries_gets_them_where_that_is_possible(own_build: Path) -> None:
    machine = DescribedMachine(own_build, download_works=True, own_starts=False, is_debian_as_root=True)
    assert Chooser(machine).choose(SPEC).origin == "playwright"
    assert machine.done == ["install", "install-deps"]


def test_a_download_known_to_fail_is_not_tried(own_build: Path) -> None:
    machine = DescribedMachine(own_build, programs={"fox": "/usr/bin/fox"})
    Chooser(machine, download_failed=True).choose(SPEC)
    assert machine.done == []


def test_with_none_to_be_had_the_error_says_what_to_install(own_build: Path) -> None:
    with pytest.raises(BrowserError, match="fox-package"):
        Chooser(DescribedMachine(own_build)).choose(SPEC)


def test_a_record_holds_as_long_as_the_browsers_files_are_there(tmp_path: Path) -> None:
    program = tmp_path / "fox"
    program.touch()
    browser = Browser("fox", "firefox", "system", {"headless": True, "args": []}, (str(program),))
    path = tmp_path / "build" / "browsers.json"
    Record("1.63.0", True, [browser]).write(path)
    record = read_record(path)
    assert record == Record("1.63.0", True, [browser])
    assert record.still_holds()
    program.unlink()
    assert not record.still_holds()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"playwright": "1"}'])
def test_a_damaged_record_counts_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "browsers.json"
    path.write_text(text)
    assert read_record(path) is None


def test_installing_remembers_the_choice_and_that_the_download_failed(tmp_path: Path) -> None:
    config = load_config()
    programs = {"chromium": "/usr/bin/chromium", "firefox": "/usr/bin/firefox"}
    machine = DescribedMachine(tmp_path / "own", programs=programs)
    record_at = tmp_path / "browsers.json"
    record = config.install(machine, record_at)
    assert [browser.name for browser in record.browsers] == list(config.BROWSERS) == ["chromium", "firefox"]
    config.install(machine, record_at)
    assert machine.done == ["install"]
