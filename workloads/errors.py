"""The error every layer raises for bad input.

It lives in the lowest layer because all others may import it.
"""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: one line that names the field, the value and what is allowed.

    The command line prints the message as it stands and exits with status 2.
    """
