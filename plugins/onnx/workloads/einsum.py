"""Einsum of ONNX as a (batched) matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.workloads.networks.operators import KernelUse, matrix_product


def einsum(equation: str, shapes: Sequence[tuple[int, ...]]) -> KernelUse:
    """The kernel of an Einsum (https://onnx.ai/onnx/operators/onnx__Einsum.html).

    Indices of both factors and the result are a batch, those of one factor and the result rows or
    columns, those of both factors alone are summed up. An index of extent 1 is none of its factor.

    Raises `InputError` if it is no product of two factors, an index is in one factor only and
    summed up, twice in one or in the result, or in the result only.

    Parameters
    ----------
    equation : str
        Indices of factors and of the result.
    shapes : sequence of tuple of int
        Shapes of the factors.
    """
    inputs, arrow, result = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    where = f"equation {quoted(equation)}"
    if len(terms) != 2 or len(shapes) != 2:
        raise InputError(
            f"{where} has {len(terms)} factors, so the order of products is not fixed; "
            "allowed: two factors"
        )
    named = [_indices(term, shape, where) for term, shape in zip(terms, shapes, strict=True)]
    spans: dict[str, int] = {}
    for index, extent in (pair for term in named for pair in term.items()):
        if 1 not in (extent, spans.get(index, 1)) and spans[index] != extent:
            raise InputError(f"{where}: index {index} is {spans[index]} and {extent}")
        spans[index] = max(extent, spans.get(index, 1))
    left, right = ({index for index in term if spans[index] == term[index]} for term in named)
    dots = {index for index in spans if index.startswith(".")}
    if arrow:
        stated = result.replace("...", "")
        if len({*stated}) < len(stated) or not spans.keys() >= {*stated}:
            raise InputError(
                f"{where}: the result is {quoted(result)}; allowed: indices of factors, each once"
            )
        kept = {*stated, *(dots if "..." in result else ())}
    else:  # all indices that occur once
        kept = dots | {index for index in spans if inputs.count(index) == 1}
    if lost := {index for index in (left ^ right) - kept if spans[index] > 1}:
        raise InputError(f"{where}: index {min(lost)} of one factor is summed up; allowed: of both")

    sides = left & right & kept, left - right, right - left, (left & right) - kept
    batch, rows, columns, inner = (prod(spans[index] for index in side) for side in sides)
    return matrix_product((batch, rows, inner), (batch, inner, columns))


def _indices(term: str, shape: tuple[int, ...], where: str) -> dict[str, int]:
    """The extents of a factor by index; those of its ellipsis are numbered from the last."""
    before, dots, after = term.partition("...")
    hidden = len(shape) - len(before) - len(after)
    names = [*before, *(f".{place}" for place in range(hidden, 0, -1)), *after]
    if len(names) != len(shape) or (hidden and not dots):
        raise InputError(f"{where} does not fit the shapes; allowed: an index each")
    if len({*names}) != len(names):
        raise InputError(f"{where}: an index is twice in one factor; allowed: once")
    return dict(zip(names, shape, strict=True))
