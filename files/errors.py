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

    Examples
    --------
    >>> try:
    ...     ithaca.solve("mm", i=0)
    ... except ithaca.InputError as error:
    ...     print(error)
    size of loop 'i' is 0; allowed: an integer from 1 to 1048576
    """

    def __init__(self, message: str, line: str | None = None) -> None:
        super().__init__(message)
        self.line = message if line is None else line


class DisagreementError(RuntimeError):
    """Two engines contradict each other: at least one of them is wrong.

    Examples
    --------
    >>> issubclass(ithaca.DisagreementError, RuntimeError)
    True
    """


class NothingFoundError(RuntimeError):
    """An error where there is no answer to go on with; the message says why.

    Examples
    --------
    >>> question = {"i": 4, "j": 4, "k": 4, "limit": "dsp=1"}
    >>> try:
    ...     ithaca.seed("mm", to="csv", output="seeds.csv", **question)
    ... except ithaca.NothingFoundError as error:
    ...     print(error)
    infeasible: limit dsp = 1 cannot be met; the smallest that could be met with the other limits as
    they are is 5 (design [i] C)
    """


EDITED = "the file was edited or comes from another version"
