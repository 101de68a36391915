"""Core's state folder: where it is, who may enter it, and which process holds it.

Owns the folder's place and permissions, the lock that lets one Core in, `runtime.json` (how the command
line and others find the running Core), and the place of the local socket. Knows nothing of what else lies
in the folder.
"""

import contextlib
import errno
import fcntl
import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

import platformdirs

from pedelec.wire_fields import to_camel

from .command_errors import CommandError

ENVIRONMENT_VARIABLE: Final = "PEDELEC_STATE_DIR"
RUNTIME_NAME: Final = "runtime.json"
LOCK_NAME: Final = "core.lock"
SOCKET_NAME: Final = "core.sock"
TOKEN_NAME: Final = "token"  # noqa: S105 - a file's name
MAX_SOCKET_PATH_BYTES: Final = 100
"""Below what the systems allow in `sun_path`: 104 bytes on macOS, 108 on Linux, with the ending NUL."""

_SOCKET_DIR_PREFIX: Final = "pedelec-"
_TOKEN_BYTES: Final = 32
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeInfo:
    """What `runtime.json` tells of the running Core, in camelCase. `started_at`: seconds since the epoch."""

    pid: int
    started_at: float
    host: str
    port: int
    url: str
    socket: str
    core_instance_id: str
    version: str
    token: str
    state_dir: str


def default_path() -> Path:
    """The folder used when the command line names none: `$PEDELEC_STATE_DIR`, else the platform's."""
    if named := os.environ.get(ENVIRONMENT_VARIABLE):
        return Path(named)
    return platformdirs.user_state_path("pedelec", appauthor=False)


def write_privately(path: Path, text: str) -> None:
    """Replace a file as a whole, readable by its owner alone: whoever reads it sees the old or the new.

    Raises:
        OSError: it cannot be written; the old file is untouched.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class ForeignFileError(OSError):
    """A file that another user could have written, or put in the place of ours."""


def read_own(path: Path, *, private: bool = False) -> bytes:
    """Read a file that we alone can have written.

    Args:
        path: the file.
        private: others must not have been able to read it either.

    Raises:
        ForeignFileError: it is a link, no regular file, another user's, or open to others.
        OSError: it cannot be read.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ForeignFileError(error.errno, "is a symbolic link") from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        forbidden = 0o077 if private else 0o022
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & forbidden:
            raise ForeignFileError(errno.EPERM, "another user could have written it")
        return file.read()


class StateDir:
    """One state folder. Making the object touches nothing."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = (default_path() if path is None else path).expanduser().absolute()

    def prepare(self) -> None:
        """Make sure that the folder is there, ours, usable, closed to others, and holds nothing of theirs.

        Raises:
            CommandError: it is not, and cannot be made so.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.path.lstat()
            if stat.S_ISLNK(status.st_mode):
                raise CommandError(f"The state folder {self.path} is a symbolic link.", _CHOOSE)
            if status.st_uid != os.geteuid():
                raise CommandError(f"The state folder {self.path} belongs to another user.", _CHOOSE)
            if stat.S_IMODE(status.st_mode) & 0o077:
                self.path.chmod(0o700)
        except FileExistsError:
            raise CommandError(f"The state folder {self.path} is not a folder.", _CHOOSE) from None
        except OSError as error:
            problem = f"The state folder {self.path} cannot be used: {error.strerror}."
            raise CommandError(problem, _CHOOSE) from None
        if not os.access(self.path, os.R_OK | os.W_OK | os.X_OK):
            raise CommandError(f"The state folder {self.path} cannot be read and written.", _CHOOSE)
        self._refuse_what_is_not_ours()

    def _refuse_what_is_not_ours(self) -> None:
        """What others left here while they could. From here on nobody can: the folder is closed."""
        with os.scandir(self.path) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # a running Core has just replaced it
                    _refuse_foreign(entry)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for this process; what a dead predecessor left behind is cleared away.

        Raises:
            CommandError: another Core holds it (the message says which), or the lock cannot be made.
        """
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self.path / LOCK_NAME, flags, 0o600)
        except OSError as error:
            problem = f"The lock file {self.path / LOCK_NAME} cannot be opened: {error.strerror}."
            raise CommandError(problem, _CHOOSE) from None
        try:
            self._lock(descriptor)
            self._clear_leftovers()
            yield
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EWOULDBLOCK, errno.EACCES}:
                raise CommandError(
                    f"The state folder {self.path} cannot be locked: {error.strerror}."
                ) from None
            raise CommandError(self._who_holds(), "Stop it first, or choose another --state-dir.") from None

    def _who_holds(self) -> str:
        runtime = self.read_runtime()
        if runtime is None:
            return f"Another Core is just starting or stopping on the state folder {self.path}."
        which = f"process {runtime.pid}, {runtime.url}"
        return f"Another Core ({which}) already runs on the state folder {self.path}."

    def _clear_leftovers(self) -> None:
        """Remove what a Core that was killed could not: we hold the lock, so it is nobody's any more."""
        stale = self.read_runtime()
        if stale is not None and (folder := Path(stale.socket).parent) != self.path:
            self._remove_socket(folder / SOCKET_NAME)
        (self.path / SOCKET_NAME).unlink(missing_ok=True)
        (self.path / RUNTIME_NAME).unlink(missing_ok=True)

    @contextlib.contextmanager
    def socket_path(self) -> Iterator[Path]:
        """A path for the local socket in a folder that only we can enter; removed again at the end.

        The state folder itself, unless its name is too long for a socket's address.

        Raises:
            CommandError: no folder with a name that is short enough can be made.
        """
        path = self.path / SOCKET_NAME
        if len(os.fsencode(path)) > MAX_SOCKET_PATH_BYTES:
            path = self._fresh_socket_dir() / SOCKET_NAME
        try:
            yield path
        finally:
            self._remove_socket(path)

    def _fresh_socket_dir(self) -> Path:
        problem = f"The path of the state folder {self.path} is too long for a socket"
        for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
            if not parent or not os.access(parent, os.W_OK | os.X_OK):
                continue
            folder = Path(tempfile.mkdtemp(prefix=_SOCKET_DIR_PREFIX, dir=parent))
            if len(os.fsencode(folder / SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES:
                return folder
            folder.rmdir()
        raise CommandError(f"{problem}, and so are the temporary folder's.", _CHOOSE)

    def _remove_socket(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
            if path.parent != self.path and path.parent.name.startswith(_SOCKET_DIR_PREFIX):
                path.parent.rmdir()

    def token(self) -> str:
        """The secret that MCP clients show over HTTP; it outlives Core, since it stands in their settings.

        Raises:
            CommandError: it can neither be read nor be made.
        """
        path = self.path / TOKEN_NAME
        try:
            with contextlib.suppress(FileNotFoundError, ForeignFileError):
                known = read_own(path, private=True).decode(errors="replace").strip()
                if _TOKEN.fullmatch(known):
                    return known
            fresh = secrets.token_urlsafe(_TOKEN_BYTES)
            write_privately(path, fresh + "\n")
        except OSError as error:
            raise CommandError(f"The token {path} cannot be used: {error.strerror}.", "Remove it.") from None
        return fresh

    def write_runtime(self, runtime: RuntimeInfo) -> None:
        """Tell the world that Core is ready.

        Raises:
            CommandError: the file cannot be written.
        """
        text = json.dumps({to_camel(name): value for name, value in asdict(runtime).items()}, indent=1)
        try:
            write_privately(self.path / RUNTIME_NAME, text + "\n")
        except OSError as error:
            raise CommandError(f"{self.path / RUNTIME_NAME} cannot be written: {error.strerror}.") from None

    def remove_runtime(self) -> None:
        """Core is not ready any more."""
        (self.path / RUNTIME_NAME).unlink(missing_ok=True)

    def read_runtime(self) -> RuntimeInfo | None:
        """What the file says, or None where there is none that can be understood.

        Its Core may be dead: only the lock tells.
        """
        try:
            values = json.loads(read_own(self.path / RUNTIME_NAME))
            return RuntimeInfo(**{field.name: values[to_camel(field.name)] for field in fields(RuntimeInfo)})
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _refuse_foreign(entry: "os.DirEntry[str]") -> None:
    status = entry.stat(follow_symlinks=False)
    is_link = stat.S_ISLNK(status.st_mode)
    if is_link or status.st_uid != os.geteuid():
        whose = "is a symbolic link" if is_link else "belongs to another user"
        raise CommandError(f"{entry.path} {whose}.", "Remove it, or choose another --state-dir.")


_CHOOSE: Final = f"Choose another with --state-dir or ${ENVIRONMENT_VARIABLE}."
