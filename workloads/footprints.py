"""Footprints: how many elements of its tensors a loop nest touches."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import gcd, prod

from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest


def footprints(nest: LoopNest) -> dict[str, int]:
    """Elements that a nest touches, per tensor and in the order of the accesses (words).

    Exact where no two subscripts of a tensor share a loop and none has more than two loops,
    otherwise a lower bound. Elements that a stride steps over are not counted.
    """
    return {access.tensor: _elements(access, nest.sizes) for access in nest.accesses}


def _elements(access: Access, sizes: Mapping[str, int]) -> int:
    parts: list[tuple[set[str], int]] = []
    for subscript in access:
        loops, count = set(subscript.loops), _values(subscript, sizes)
        # subscripts with a loop in common are not independent: together they take at least as many
        # values as each alone
        for part in [part for part in parts if part[0] & loops]:
            parts.remove(part)
            loops, count = loops | part[0], max(count, part[1])
        parts.append((loops, count))
    return prod(count for _, count in parts)


def _values(subscript: Affine, sizes: Mapping[str, int]) -> int:
    """The number of values that a subscript takes."""
    terms = [(abs(coefficient), sizes[loop]) for loop, coefficient in subscript.terms]
    if len(terms) < 2:
        return prod(extent for _, extent in terms)
    reach = sum(extent - 1 for _, extent in terms)
    # |S + T| ≥ |S| + |T| − 1 for sets of integers: each loop beyond a pair adds at least its extent
    # less one
    return max(_pair(a, b) + reach - (a[1] - 1) - (b[1] - 1) for a, b in combinations(terms, 2))


def _pair(first: tuple[int, int], second: tuple[int, int]) -> int:
    """The number of values that a·x + b·y takes for 0 ≤ x < m, 0 ≤ y < n.

    With a and b coprime, equal values differ by multiples of (b, −a): the values are the pairs less
    the steps between equal ones.
    """
    (a, m), (b, n) = first, second
    a, b = a // gcd(a, b), b // gcd(a, b)
    return m * n - max(0, m - b) * max(0, n - a)
