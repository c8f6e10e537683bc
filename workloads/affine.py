"""Affine subscripts and tensor accesses of a loop nest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import Any


@dataclass(frozen=True, slots=True)
class Affine:
    """An affine form ``Σ coefficient · loop + constant`` over loop iterators."""

    terms: tuple[tuple[str, int], ...]
    """Loop name and non-zero coefficient, in the order written."""
    constant: int = 0
    """The constant offset (elements)."""

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the loops that occur with a non-zero coefficient."""
        return tuple(name for name, _ in self.terms)

    def coefficient(self, loop: str) -> int:
        """Coefficient of ``loop``, 0 where it does not occur."""
        return dict(self.terms).get(loop, 0)

    def reach(self, sizes: Mapping[str, Any]) -> Any:
        """Elements from the first to the last that loops of such sizes reach; coefficients are
        positive."""
        return 1 + sum(c * (sizes[loop] - 1) for loop, c in self.terms)

    def step(self, once: Collection[str]) -> int:
        """The step from one element that is used to the next, where loops have one iteration
        (``once``)."""
        return gcd(*(c for loop, c in self.terms if loop not in once)) or 1

    def without_gaps(self, once: Collection[str]) -> Affine:
        """The form that numbers the elements which are used, where this one steps over others.

        Loops of one iteration (``once``) are left out, and so is what the other coefficients have
        in common, and the constant.
        """
        step = self.step(once)
        return Affine(tuple((loop, c // step) for loop, c in self.terms if loop not in once))

    def __str__(self) -> str:
        parts = [name if c == 1 else f"{c}*{name}" for name, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return "+".join(parts).replace("+-", "-")


@dataclass(frozen=True, slots=True)
class Access:
    """One reference to a tensor, such as ``cin[r+p][c+q][i]``."""

    tensor: str
    subscripts: tuple[Affine, ...]
    """One affine form per dimension, outermost first."""

    @property
    def loops(self) -> frozenset[str]:
        """Names of the loops that index the tensor."""
        return frozenset(name for s in self.subscripts for name in s.loops)

    def sides(self, sizes: Mapping[str, Any]) -> list[Any]:
        """Sides of the box around what a tile of such sizes touches, in any numbers."""
        return [subscript.reach(sizes) for subscript in self.subscripts]

    def box(self, sizes: Mapping[str, Any]) -> Any:
        """Elements of the bounding box."""
        return prod(self.sides(sizes))

    def indexed_by(self, loop: str) -> bool:
        """Whether ``loop`` occurs in any subscript."""
        return any(name == loop for form in self.subscripts for name, _ in form.terms)

    def __iter__(self) -> Iterator[Affine]:
        return iter(self.subscripts)

    def __str__(self) -> str:
        return self.tensor + "".join(f"[{s}]" for s in self.subscripts)


def span(subscript: Affine, extents: Mapping[str, int]) -> int:
    """Elements that a subscript ranges over, gaps included."""
    return sum(abs(c) * (extents[loop] - 1) for loop, c in subscript.terms) + 1


def reach_below(subscript: Affine, extents: Mapping[str, int]) -> int:
    """The distance that the terms of a subscript reach below 0."""
    return sum(-c * (extents[loop] - 1) for loop, c in subscript.terms if c < 0)


def row_weights(shape: Sequence[int]) -> list[int]:
    """The row-major strides of a shape: the step of an address along each dimension."""
    return [prod(shape[at + 1 :]) for at in range(len(shape))]
