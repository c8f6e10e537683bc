"""The grid of a what-if study: axes, and the order in which their points are visited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from ithaca.files.errors import InputError
from ithaca.solver.certificate import Certificate

#: Most points of a grid.
MAX_POINTS = 1000

Index = tuple[int, ...]


@dataclass(frozen=True)
class StudyAxis:
    """An axis of a study."""

    name: str
    """Name of the dimension."""
    values: tuple[Any, ...]
    """The values that are put into the problem, in the order given."""
    labels: tuple[str | int | float, ...] = ()
    """The values as coordinates; ``values`` themselves unless given."""
    unit: str = ""
    """Unit of the labels."""
    meaning: str = ""
    """One line for users."""

    def __post_init__(self) -> None:
        if not self.labels:
            object.__setattr__(self, "labels", self.values)
        if not self.values or len(self.labels) != len(self.values):
            raise InputError(
                f"axis {self.name} has no values or not a label for "
                "each; allowed: at least one value"
            )
        seen = set[str | int | float]()
        for label in self.labels:
            if label in seen:
                raise InputError(
                    f"axis {self.name} has the value {label} twice; allowed: distinct values"
                )
            seen.add(label)

    @property
    def document(self) -> dict[str, Any]:
        """The axis as documents state it."""
        return {"name": self.name, "unit": self.unit, "values": list(self.labels)}

    @property
    def numeric(self) -> bool:
        """Whether all labels are numbers."""
        return all(isinstance(label, int | float) for label in self.labels)

    @property
    def order(self) -> tuple[int, ...]:
        """Positions in the order of solving: ascending, so that what is best at one point is
        allowed at the next."""
        positions = range(len(self.values))
        return (
            tuple(sorted(positions, key=lambda p: self.labels[p]))
            if self.numeric
            else tuple(positions)
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of a point of a grid."""

    value: Fraction | None
    """The objective."""
    certificate: Certificate
    """The certificate of its value."""
    name: str
    """The name of the best design."""
    basis: str = ""
    """Words after the status of its proof (`ithaca.files.answer.Answer`)."""


def check_grid(axes: Sequence[StudyAxis]) -> None:
    """Refuse axes that share a name, or have too many points together."""
    names = [axis.name for axis in axes]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"axis {name} is given twice; allowed: every axis once")
    count = prod(len(axis.values) for axis in axes)
    if count > MAX_POINTS:
        sizes = " × ".join(str(len(axis.values)) for axis in axes)
        raise InputError(f"the grid has {sizes} = {count} points; allowed: at most {MAX_POINTS}")


def indices(axes: Sequence[StudyAxis]) -> Iterator[Index]:
    """All points, in the order given: the last axis varies fastest."""
    return product(*(range(len(axis.values)) for axis in axes))


def visits(axes: Sequence[StudyAxis]) -> Iterator[Index]:
    """All points, in the order of solving."""
    return product(*(axis.order for axis in axes))


def neighbours(axes: Sequence[StudyAxis], index: Index) -> Iterator[Index]:
    """The points one step before a point along each axis, in the order of solving."""
    for number, axis in enumerate(axes):
        place = axis.order.index(index[number])
        if place:
            yield (*index[:number], axis.order[place - 1], *index[number + 1 :])
