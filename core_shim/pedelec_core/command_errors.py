"""What keeps a `pedelec-core` command from doing its work, told to the person at the terminal.

Owns the one exception for it. Never sent to a page or an agent: those get `pedelec.errors.PedelecError`,
whose text, unlike this one's, names no paths.
"""


class CommandError(Exception):
    """A command cannot go on.

    Attributes:
        message: what is wrong, in one sentence.
        advice: what the person can do about it, in one sentence, or "".
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message, advice)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".rstrip()
