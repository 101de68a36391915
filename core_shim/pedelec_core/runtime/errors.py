"""The one exception of this package: a caller needs one `except` to turn any fault into a clear line."""

BUILD_COMMAND = "pedelec-core runtime build"


class BundleError(Exception):
    """The bundle cannot be found, made or trusted.

    Attributes:
        message: what is wrong, naming the file or the command at fault.
        advice: what the person at the terminal should do next.
    """

    def __init__(self, message: str, advice: str = f"Run `{BUILD_COMMAND}`.") -> None:
        super().__init__(message, advice)
        self.message = message
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}"
