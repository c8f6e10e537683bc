"""Errors that the command line reports in one line.

They live in the lowest layer because all others may import them.
"""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: one line that names the field, the value and what is allowed.

    The command line prints the message as it stands and exits with status 2.
    """


class DisagreementError(RuntimeError):
    """Two engines contradict each other: at least one of them is wrong."""
