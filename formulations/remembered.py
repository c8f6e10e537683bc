"""Methods that compute an answer once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
P = ParamSpec("P")
Answer = TypeVar("Answer")


def remembered(
    method: Callable[Concatenate[Owner, P], Answer],
) -> Callable[Concatenate[Owner, P], Answer]:
    """A method whose answers its object keeps: it is computed once for each of its arguments."""

    name = f"known {method.__qualname__}"

    @wraps(method)
    def known(owner: Owner, /, *arguments: P.args, **named: P.kwargs) -> Answer:
        key = (*arguments, *named.items()) if named else arguments
        answers: dict[Any, Answer] = vars(owner).setdefault(name, {})
        try:
            return answers[key]
        except KeyError:
            pass
        answer = answers[key] = method(owner, *arguments, **named)
        return answer

    return known
