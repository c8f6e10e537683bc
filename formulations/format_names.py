"""Names of formats that others use."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.files.errors import InputError
from ithaca.files.messages import among

#: Names that others use, and those that are meant.
ALSO = {"float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16"}


def unknown_format(name: str, what: str, names: Sequence[str]) -> InputError:
    """The error on a name that no format has.

    Parameters
    ----------
    name : str
        The name.
    what : str
        The thing that has it.
    names : sequence of str
        Names that there are.
    """
    known = among(ALSO.get(name.lower(), name), (*names, "int4", "int2"))
    return InputError(f"unknown {what} '{name}'{known}")
