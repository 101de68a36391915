"""`pedelec-cli`: one request to the running Core, one line of JSON on stdout.

Owns the command line, the exit status, and the errors that arise before Core has the request. Arguments go
to Core as they are, and Core's answer goes to stdout as it is: neither is parsed here.

An agent's shell starts this program for every call, so its start is its speed: it imports nothing of this
package (but `cli_display`, for a person at a terminal), and of the standard library only what is there
anyway, and two C modules (`_socket`, `_json`) whose public faces take longer to import than a call takes.
Codes and limits are therefore literals; a test holds them against `pedelec`.

Exit status: 0 `ok` is true · 1 `ok` is false · 2 wrong command line · 3 Core cannot be reached ·
130 interrupted · 141 stdout was closed.
"""

# pathlib and contextlib would take longer to import than all that is done here.
# ruff: noqa: PTH111, PTH117, PTH118, PTH123, SIM105

import _socket
import os
import sys
from _json import encode_basestring_ascii as _quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pedelec_core.cli_display import Display

OK, NOT_OK, USAGE, UNREACHABLE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141

MAX_ARGS_BYTES = 1024 * 1024
MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000
MAX_CALL_ID_CHARS = 200
MAX_SOCKET_PATH_BYTES = 100

_ATOMIC_WRITE_BYTES = (
    512  # POSIX: a write of at most PIPE_BUF bytes is never split, and PIPE_BUF is never less
)
_OK_PREFIX = b'{"ok":true'
_EVENT_PREFIX = b'{"type":'

_COMMANDS = {
    "tool-call": ("NAME", "JSON|@FILE|-"),
    "tool-spec": ("NAME",),
    "tool-list": (),
    "threads": (),
    "tool-result": ("INVOCATION_ID",),
    "status": (),
}
_AUTHORS_COMMANDS = {"lint": (), "evals": ()}
"""For people who write pages; they may take their time, and are read elsewhere."""

_OPTIONS = {"--state-dir": "DIR", "--thread-id": "ID", "--timeout-ms": "N", "--call-id": "KEY"}
_CALL_OPTIONS = ("--timeout-ms", "--call-id")

_HELP = """\
usage: pedelec-cli [--state-dir DIR] [--thread-id ID] COMMAND …

  tool-call NAME JSON|@FILE|- [--timeout-ms N] [--call-id KEY]
                             call a tool of the page; - reads the arguments from stdin
  tool-spec NAME             a tool's description and argument schema
  tool-list                  the tools of the page
  threads                    the open sessions; --thread-id chooses one
  tool-result INVOCATION_ID  what an earlier call came to
  status                     how Core is
  lint [--manifest FILE]     what in a page's tools and errors leaves an agent without a next step
  evals add|run              keep a failing call as a test case; see which cases still fail

Options may stand anywhere. The thread is --thread-id, else $PEDELEC_THREAD_ID, else the only open session.
The state folder is --state-dir, else $PEDELEC_STATE_DIR, else the platform's.
Every command prints one line: {"ok":true,"result":…} or {"ok":false,"error":{…}}; lint and evals run
print text for people, unless --json is given.
Exit status: 0 ok, 1 not ok (lint, evals run: there is something to mend), 2 wrong command line, 3 Core
cannot be reached.
"""


class CliError(Exception):
    """The command ends here, with an error of its own; `envelope` is what is printed."""

    def __init__(self, status: int, code: str, message: str, steps: list[str], **facts: object) -> None:
        super().__init__(code, message)
        self.status = status
        self.envelope: dict[str, object] = {
            "code": code,
            "class": "permanent",
            "message": message,
            "recoverySteps": steps,
            "retryable": False,
            "effects": "none",
            **facts,
        }


class _Line:
    """A command line that is right."""

    def __init__(self, command: str, operands: list[str], options: dict[str, str]) -> None:
        self.command = command
        self.operands = operands
        self.options = options


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    if sys.stdout is None:  # closed, and its number free for a file of ours: nobody could be told anything
        return BROKEN_PIPE
    try:
        try:
            return _run(sys.argv[1:] if argv is None else argv)
        except CliError as error:
            import json

            answer = json.dumps(
                {"ok": False, "error": error.envelope}, ensure_ascii=False, separators=(",", ":")
            )
            write_out(answer.encode("utf-8", "replace") + b"\n")
            return error.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        os.write(2, f"pedelec-cli: stdout cannot be written: {error.strerror}\n".encode())
        return NOT_OK


def _run(argv: list[str]) -> int:
    words = [_utf8(word) for word in argv]
    if _command_in(words) in _AUTHORS_COMMANDS:
        from pedelec_core.author_cli import run

        return run(words)
    if "--help" in words or "-h" in words:
        write_out(_HELP.encode())
        return OK
    if words == ["--version"]:
        from importlib.metadata import version

        write_out(f"pedelec-cli {version('pedelec-core')}\n".encode())
        return OK
    line = _parse(words)
    request = _request(line)
    connection = open_connection(line.options.get("--state-dir"))
    try:
        return _exchange(connection, request, line.operands[0] if line.command == "tool-call" else None)
    finally:
        connection.close()


# --- the command line ----------------------------------------------------------------------------------


def _utf8(word: str) -> str:
    """A word of the command line as UTF-8, whatever the locale made of its bytes."""
    try:
        return os.fsencode(word).decode()
    except UnicodeDecodeError:
        raise usage_error(None, f"The command line is not UTF-8: {word!r}.") from None


def _command_in(words: list[str]) -> str | None:
    """The command's name: the first word that is neither an option nor the value of one."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word
        if word in _OPTIONS:
            next(rest, "")
    return None


def _parse(words: list[str]) -> _Line:
    operands: list[str] = []
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word == "--":
            operands += rest
        elif word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            command = operands[0] if operands else None
            if name not in _OPTIONS:
                raise usage_error(command, f"There is no option {name}.")
            value = value if equals else next(rest, "")
            if not value:
                raise usage_error(command, f"{name} needs a value: {name} {_OPTIONS[name]}.")
            options[name] = value
        else:
            operands.append(word)
    if not operands:
        raise usage_error(None, "No command was given.")
    line = _Line(operands[0], operands[1:], options)
    _check(line)
    return line


def _check(line: _Line) -> None:
    wanted = _COMMANDS.get(line.command)
    if wanted is None:
        from difflib import get_close_matches

        near = get_close_matches(line.command, [*_COMMANDS, *_AUTHORS_COMMANDS])
        hint = f" Did you mean {near[0]}?" if near else ""
        raise usage_error(None, f"There is no command {line.command}.{hint}")
    if len(line.operands) < len(wanted):
        raise usage_error(line.command, f"{line.command} needs {wanted[len(line.operands)]}.")
    if len(line.operands) > len(wanted):
        extra = line.operands[len(wanted)]
        quoting = " Quote the JSON as one word." if line.command == "tool-call" else ""
        raise usage_error(line.command, f"{line.command} does not take {extra!r}.{quoting}")
    if line.command != "tool-call":
        for name in _CALL_OPTIONS:
            if name in line.options:
                raise usage_error(line.command, f"{line.command} does not take {name}.")


def usage_error(command: str | None, message: str) -> CliError:
    """The command line is wrong; the error tells the usage of the command, if there is one."""
    usage = f"pedelec-cli {_usage(command)}" if command in _COMMANDS else "pedelec-cli --help"
    return CliError(USAGE, "USAGE_ERROR", message, [f"Usage: {usage}"])


def _usage(command: str | None) -> str:
    assert command is not None
    words = [command, *_COMMANDS[command]]
    optional = _OPTIONS if command == "tool-call" else ("--state-dir", "--thread-id")
    return " ".join([*words, *(f"[{name} {_OPTIONS[name]}]" for name in optional)])


# --- the request ---------------------------------------------------------------------------------------


def _request(line: _Line) -> bytes:
    """The request's line, as `docs/protocol.md` has it."""
    fields = {"type": _quote(line.command.replace("-", "_"))}
    thread_id = line.options.get("--thread-id") or os.environ.get("PEDELEC_THREAD_ID")
    if thread_id and line.command in {"tool-call", "tool-spec", "tool-list"}:
        fields["threadId"] = _quote(_utf8(thread_id))
    if line.command in {"tool-call", "tool-spec"}:
        fields["tool"] = _quote(line.operands[0])
    if line.command == "tool-result":
        fields["invocationId"] = _quote(line.operands[0])
    if line.command == "tool-call":
        fields["argsText"] = _quote(_args_text(line.operands[1]))
        if "--timeout-ms" in line.options:
            fields["timeoutMs"] = _timeout_ms(line.options["--timeout-ms"])
        if "--call-id" in line.options:
            fields["callId"] = _quote(_call_id(line.options["--call-id"]))
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}\n").encode()


def _timeout_ms(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 0 < int(text) <= MAX_TIMEOUT_MS):
        problem = f"--timeout-ms is a whole number of milliseconds from 1 to {MAX_TIMEOUT_MS}, not {text!r}."
        raise usage_error("tool-call", problem)
    return str(int(text))


def _call_id(text: str) -> str:
    if len(text) > MAX_CALL_ID_CHARS:
        raise usage_error(
            "tool-call", f"--call-id has at most {MAX_CALL_ID_CHARS} characters, not {len(text)}."
        )
    return text


def _args_text(operand: str) -> str:
    """The arguments as they are written: on the command line, in a file, or on stdin."""
    if operand == "-":
        data = _read_args(0, "stdin")
    elif operand.startswith("@"):
        path = operand[1:]
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            raise _unreadable(f"The file {path!r}", error) from None
        try:
            data = _read_args(descriptor, f"The file {path!r}")
        finally:
            os.close(descriptor)
    else:
        data = operand.encode()
    if len(data) > MAX_ARGS_BYTES:
        raise _args_error(f"The arguments are larger than {MAX_ARGS_BYTES} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _args_error(
            f"The arguments are not UTF-8: byte {error.start} is {data[error.start]:#04x}."
        ) from None


def _read_args(descriptor: int, what: str) -> bytes:
    """All there is, or one byte more than is allowed."""
    data = bytearray()
    try:
        while len(data) <= MAX_ARGS_BYTES and (chunk := os.read(descriptor, MAX_ARGS_BYTES + 1 - len(data))):
            data += chunk
    except OSError as error:
        raise _unreadable(what, error) from None
    return bytes(data)


def _unreadable(what: str, error: Exception) -> CliError:
    reason = error.strerror if isinstance(error, OSError) else error
    return usage_error("tool-call", f"{what} cannot be read: {reason}.")


def _args_error(message: str) -> CliError:
    steps = ["Correct the arguments and call again: nothing ran."]
    details = {"violations": [{"path": "", "message": message}]}
    return CliError(NOT_OK, "TOOL_ARGS_INVALID", message, steps, errorType="invalid_args", details=details)


# --- Core ----------------------------------------------------------------------------------------------


def _default_state_dir() -> str:
    """The platform's folder for state, as platformdirs has it."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/state"
    return os.path.join(base, "pedelec")


def open_connection(state_dir: str | None) -> _socket.socket:
    """A connection to the Core of a state folder: the given one, else the usual one."""
    if not hasattr(_socket, "AF_UNIX"):
        raise _unreachable("This system has no Unix sockets, over which Core is reached.", [])
    folder = state_dir or os.environ.get("PEDELEC_STATE_DIR") or _default_state_dir()
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        _connect(connection, os.path.expanduser(folder))
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(connection: _socket.socket, state_dir: str) -> None:
    _refuse_what_others_can_change(state_dir)
    try:
        connection.connect(os.path.join(state_dir, "core.sock"))
    except OSError as error:
        path, why_not = _look_closer(state_dir, error)
        try:
            connection.connect(path)
        except OSError:
            raise why_not from None


def _refuse_what_others_can_change(state_dir: str) -> None:
    """Whoever can write in the folder can answer in Core's place, and read what the agent sends."""
    try:
        status = os.lstat(state_dir)
    except OSError:
        return  # what is wrong with it is told where it is used
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise _unreachable(
            f"The state folder {state_dir} is not this user's alone: others could answer in Core's place.",
            ["Run this command as the user who runs Core, with the state folder that Core made."],
        )


def _look_closer(state_dir: str, error: OSError) -> tuple[str, CliError]:
    """The socket's path as `runtime.json` has it, and what to say if there is no answer there either.

    A state folder with a long name keeps its socket elsewhere.
    """
    import json
    import shlex

    serve = "pedelec-core serve"
    if state_dir != os.path.expanduser(_default_state_dir()):
        serve += f" --state-dir {shlex.quote(state_dir)}"
    steps = [f"Start it: {serve}", "Open or reload the page, then run this command again."]
    try:
        with open(os.path.join(state_dir, "runtime.json"), "rb") as file:
            runtime = json.load(file)
        path, pid = str(runtime["socket"]), int(runtime["pid"])
    except FileNotFoundError:
        return "", _unreachable(f"Core is not running (state folder {state_dir}).", steps)
    except OSError as unreadable:
        problem = f"The state folder {state_dir} cannot be read: {unreadable.strerror}."
        return "", _unreachable(problem, ["Run this command as the user who runs Core."])
    except (ValueError, KeyError, TypeError, OverflowError):
        return "", _unreachable(f"{state_dir}/runtime.json is not one that Core wrote.", steps)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return path, _unreachable(
            f"Core is not running: process {pid} died (state folder {state_dir}).", steps
        )
    except PermissionError:
        pass  # the process lives, and is another user's
    problem = f"Core (process {pid}) does not answer on {path}: {error.strerror or error}."
    return path, _unreachable(problem, [f"Stop process {pid} if it hangs, then start Core: {serve}"])


def _unreachable(message: str, steps: list[str], **facts: object) -> CliError:
    facts = {"class": "userInput", **facts}
    return CliError(UNREACHABLE, "CORE_RUNTIME_UNAVAILABLE", message, steps, **facts)


def _exchange(connection: _socket.socket, request: bytes, tool: str | None) -> int:
    """Ask, print the answer, acknowledge it. `tool` is the one that is called, if one is."""
    try:
        connection.sendall(request)
    except (BrokenPipeError, ConnectionResetError):
        pass  # Core may have said why before it hung up
    answer = _answer(connection, tool)
    write_out(answer)
    try:
        connection.sendall(b'{"type":"acknowledge"}\n')
    except OSError:
        pass  # Core is gone: it will take the answer for undelivered, and may give it once more
    return OK if answer.startswith(_OK_PREFIX) else NOT_OK


def _answer(connection: _socket.socket, tool: str | None) -> bytes:
    """Core's answer: the first line that is no event. On a terminal a call's progress is shown meanwhile."""
    if tool is None or not os.isatty(2):
        return read_answer(connection, tool)
    from pedelec_core.cli_display import Display

    display = Display(tool)
    connection.settimeout(1)
    try:
        return read_answer(connection, tool, display)
    finally:
        display.erase()


def read_answer(connection: _socket.socket, tool: str | None, display: "Display | None" = None) -> bytes:
    """The next answer on a connection, a line of JSON."""
    pending = bytearray()
    while True:
        try:
            chunk = connection.recv(65536)
        except ConnectionResetError:
            chunk = b""
        except TimeoutError:
            chunk = None
        if display is not None:
            display.refresh()
        if chunk is None:
            continue
        if not chunk:
            raise cut_off(tool)
        searched = len(pending)
        pending += chunk
        while (end := pending.find(b"\n", searched) + 1) > 0:
            line = bytes(pending[:end])
            if not line.startswith(_EVENT_PREFIX):
                return line
            if display is not None:
                display.hear(line)
            del pending[:end]
            searched = 0


def cut_off(tool: str | None) -> CliError:
    steps = ["Start Core again if it is not running: pedelec-core serve"]
    if tool is None:
        return _unreachable("Core stopped before it answered.", [*steps, "Then run the same command again."])
    steps.append(
        "Then run the same command again, unchanged: it runs nothing twice. "
        f"You get the result of this call of {tool}, or are told that it was cut off."
    )
    return _unreachable(f"Core stopped while {tool} was called.", steps, effects="unknown")


def write_out(line: bytes) -> None:
    """Write to stdout, all of it or nothing."""
    if len(line) > _ATOMIC_WRITE_BYTES:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is short now, and must not stop half-way
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[os.write(1, rest) :]
        except BlockingIOError:
            import select

            select.select([], [1], [])


if __name__ == "__main__":
    from pedelec_core.cli import main as run_as_module  # not a second copy of all that is here

    sys.exit(run_as_module())
