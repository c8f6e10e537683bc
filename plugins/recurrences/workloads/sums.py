"""Sums and conditions over loops, in many iterations at once: exactly, in Python's integers."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ithaca.workloads.affine import Access

#: Values of loops, outermost first.
Point = tuple[int, ...]

#: Values of loops, by name, in many iterations.
Columns = Mapping[str, NDArray[np.object_]]

_OF_COLUMNS = {
    "min": lambda *values: reduce(np.minimum, values),
    "max": lambda *values: reduce(np.maximum, values),
    "__builtins__": {},
}


@cache
def compiled(text: str) -> CodeType:
    """A sum or a condition, ready to be evaluated."""
    return compile(text, "", "eval")


@cache
def tree(text: str) -> ast.expr:
    """An expression, not nested too deeply to be written again."""
    tree = ast.parse(text, mode="eval").body
    ast.unparse(tree)
    return tree


def ends(text: str, function: str) -> list[str]:
    """The arguments of a loop's bound that is a ``min`` or ``max``, or else the bound alone."""
    node = tree(text)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == function:
        return [ast.unparse(each) for each in node.args]
    return [text]


def columns(loops: Sequence[str], points: Sequence[Point]) -> Columns:
    """The values of outer loops, of each in all iterations."""
    values = zip(*points, strict=True) if points else [()] * len(loops)
    return {x: np.array(each, dtype=object) for x, each in zip(loops, values, strict=False)}


def evaluated(text: str, here: Columns, sizes: Mapping[str, int], count: int) -> Any:
    """A sum, or a condition, in so many iterations, an array.

    Parameters
    ----------
    text : str
        What is evaluated: arithmetic of integers, their least and greatest, comparisons.
    here : mapping of str to array
        The values of loops in each iteration.
    sizes : mapping of str to int
        The parameters.
    count : int
        How many iterations there are.
    """
    return _whole(eval(compiled(text), _OF_COLUMNS, {**sizes, **here}), count)


def elements(access: Access, here: Columns, count: int) -> list[Point]:
    """The elements that iterations access.

    Parameters
    ----------
    access : Access
        The access.
    here : mapping of str to array
        The values of all loops in each iteration.
    count : int
        How many iterations there are.
    """
    ranks = (s.constant + sum(c * here[loop] for loop, c in s.terms) for s in access)
    return [*zip(*(_whole(rank, count).tolist() for rank in ranks), strict=True)]


def _whole(column: Any, count: int) -> NDArray[np.object_]:
    return np.broadcast_to(np.asarray(column, dtype=object), (count,))
