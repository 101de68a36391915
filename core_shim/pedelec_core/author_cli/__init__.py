"""`pedelec-cli lint` and `pedelec-cli evals`: for people who write pages.

Owns their command lines and what they print. Core has the findings and the cases; here they are asked for,
shown, and written to files. Loaded by `cli` only for these commands: it may import what it likes.
"""

from .commands import run

__all__ = ["run"]
