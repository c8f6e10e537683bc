"""Errors that the command line reports in one line.

They live in the lowest layer because all others may import them.
"""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: one line that names the field, the value and what is allowed.

    The command line prints it and exits with status 2.

    Parameters
    ----------
    message : str
        The line; where it comes from a function of `ithaca`, it names keywords, not options.
    line : str, optional
        The line as the command line prints it.
    """

    def __init__(self, message: str, line: str | None = None) -> None:
        super().__init__(message)
        self.line = message if line is None else line


class DisagreementError(RuntimeError):
    """Two engines contradict each other: at least one of them is wrong."""


class NothingFoundError(RuntimeError):
    """An error where there is no answer to go on with; the message says why."""


EDITED = "the file was edited or comes from another version"
