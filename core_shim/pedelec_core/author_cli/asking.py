"""Asks Core over the local socket: a request goes out, the result comes back."""

import json
from types import TracebackType
from typing import Self

from pedelec.json_text import JsonObject, encode_value
from pedelec_core.cli import NOT_OK, CliError, open_connection, read_answer


class RefusedError(CliError):
    """Core answered with an error."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(NOT_OK, str(error.get("code")), str(error.get("message")), [])
        self.envelope = dict(error)


class Asker:
    """A connection to the running Core, for as long as the context lasts.

    Args:
        state_dir: whose Core; None for the usual one.

    Raises:
        CliError: Core cannot be reached.
    """

    def __init__(self, state_dir: str | None) -> None:
        self._connection = open_connection(state_dir)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def answer(self, request: JsonObject) -> JsonObject:
        """Core's answer to a request, whether it is ok or not (docs/protocol.md)."""
        self._connection.sendall(encode_value(request).encode() + b"\n")
        answer: JsonObject = json.loads(read_answer(self._connection, None))
        return answer

    def result(self, request: JsonObject) -> JsonObject:
        """The result of a request.

        Raises:
            RefusedError: there is an error instead.
        """
        answer = self.answer(request)
        result, error = answer.get("result"), answer.get("error")
        if answer.get("ok") is not True:
            raise RefusedError(error if isinstance(error, dict) else {})
        return result if isinstance(result, dict) else {}

    def acknowledge(self) -> None:
        """The last answer to a call is in our hands."""
        self._connection.sendall(b'{"type":"acknowledge"}\n')
