"""Numbers of a network file: integers, parameters, and their products and exact quotients."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ithaca.workloads.errors import InputError

_TERM = r"(?:[0-9]{1,9}|[A-Za-z_][A-Za-z0-9_]{0,39})"
_PRODUCT = re.compile(rf"{_TERM}(?:\s*[*/]\s*{_TERM}){{0,15}}")


def quantity(value: int | str, parameters: Mapping[str, int]) -> int:
    """The number that a network file means, such as ``512``, ``sequence`` or ``hidden/heads``.

    It is an integer, or integers and parameter names joined by ``*`` and ``/``, read from left to right.

    Raises `InputError` if the text is no such product, names no parameter, or a quotient is no integer.
    """
    if isinstance(value, int):
        return value
    allowed = f"integers and {', '.join(parameters) or 'no names'}, joined by * and /"
    if not _PRODUCT.fullmatch(value):
        raise InputError(f"'{value[:60]}' is no quantity; allowed: {allowed}")
    result, sign = 1, "*"
    for token in re.findall(rf"{_TERM}|[*/]", value):
        if token in "*/":
            sign = token
            continue
        if not token.isdigit() and token not in parameters:
            raise InputError(f"'{value}' uses the unknown name '{token}'; allowed: {allowed}")
        number = int(token) if token.isdigit() else parameters[token]
        if sign == "*":
            result *= number
        elif number == 0 or result % number:
            raise InputError(f"'{value}' is {result}/{number}, no integer; allowed: parameters that divide without remainder")
        else:
            result //= number
    return result
