"""Methods that compute an answer once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
P = ParamSpec("P")
Answer = TypeVar("Answer")

#: Answers that `latest` keeps by default.
MOST = 8


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


def latest(owner: object, key: Hashable, answer: Callable[[], Answer], most: int = MOST) -> Answer:
    """The answer of a key, computed unless it is among the latest that an object keeps.

    Parameters
    ----------
    owner : object
        The object, whose copies in other processes begin with none.
    key : Hashable
        What the answer follows from.
    answer : Callable
        Computes it.
    most : int, optional
        How many are kept.
    """
    known: _Latest = vars(owner).setdefault("latest", _Latest())
    own: Answer = known.pop(key) if key in known else answer()
    known[key] = own
    if len(known) > most:
        del known[next(iter(known))]
    return own


class _Latest(dict[Hashable, Any]):
    def __reduce__(self) -> tuple[type[_Latest], tuple[()]]:
        return _Latest, ()
