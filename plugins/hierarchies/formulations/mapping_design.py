"""The common base of designs of memory hierarchies, whatever the edition: a nest that is mapped
onto an architecture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.formulations.design import Design
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import Constraints
from ithaca.plugins.hierarchies.formulations.counts import Number, Numbers
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Laid
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.uneven.plans import Tiled


class MappingDesign(Design):
    """Mappings of a nest onto an architecture."""

    nest: LoopNest
    """The nest."""
    architecture: Architecture
    """The architecture that it is mapped onto."""
    constraints: Constraints
    """The restrictions of mappings."""
    family: ClassVar[str] = "spatial"
    edition: ClassVar[str]
    """Edition of the model."""

    @property
    def alone(self) -> LoopNest:
        """The nest by itself, whatever it computes again for others."""
        return self.nest

    def passing(self, limits: Sequence[Any]) -> Mapping[str, Fraction] | None:
        """Roofs whatever tiles it takes and passes on; None if it can do neither."""
        return None

    def tiled(self, following: Sequence[Design]) -> Tiled | None:
        """Designs that may pass tiles on, from this to what runs after it; None if they cannot."""
        return None

    def ordered(self, slot: Slot, loop: str) -> bool:
        """Whether no other choice decides which places of a loop are inside one."""
        return True

    def numbers_of(
        self,
        numbers: NumberSystem,
        factor: Callable[[Slot, str], Number],
        inside: Callable[[int, str, str], Number],
        keeps: tuple[Mapping[str, Number], ...],
        most: Callable[[int, str], int],
    ) -> Numbers:
        """Mappings by their factors; for the rest see `Numbers`.

        Parameters
        ----------
        numbers : NumberSystem
            The number system.
        factor : callable
            Trips of a loop in a slot.
        inside : callable
            1 where, of the temporal loops of the level of a number, the first named lies inside the
            second; else 0.
        keeps : tuple of mapping of str to number
            For each level, outermost first: 1 by tensor where it keeps that; else 0.
        most : callable
            At least the lanes of a loop inside the level of a number.
        """
        one, loops = numbers.number(Fraction(1)), self.nest.loops
        trips, lanes, mesh = [], [], []
        for place, level in enumerate(self.architecture.levels):
            trips.append({loop: factor(Slot(level.name), loop) for loop in loops})
            x, y = Slot(level.name, "x"), Slot(level.name, "y")
            has_mesh = self.architecture.inner_mesh(place) is not None
            along = [[factor(slot, d) for d in loops] if has_mesh else [one] for slot in (x, y)]
            pairs = zip(loops, *along, strict=True) if has_mesh else ()
            lanes.append({loop: a * b for loop, a, b in pairs})
            mesh.append((reduce(mul, along[0]), reduce(mul, along[1])))
        return Numbers(numbers, tuple(trips), tuple(lanes), tuple(mesh), inside, keeps, most)

    @property
    @abstractmethod
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        """The orders of loops that levels offer, outermost loop first."""

    @abstractmethod
    def mapping(self, configuration: Mapping[str, int]) -> Laid:
        """A configuration as factors, orders and kept tensors."""

    @property
    def name(self) -> str:
        return self.architecture.name


def mapping_design(design: Design) -> MappingDesign:
    """The design, for what only this family has; an `InputError` if it is of another one."""
    if not isinstance(design, MappingDesign):
        raise InputError(
            f"the result is of family {design.family}; allowed here: one of memory hierarchies"
        )
    return design


def nested_loops(laid: Laid, parts: Iterable[tuple[str, Order, Iterable[Slot]]]) -> tuple[str, ...]:
    """A mapping as a loop nest in lines, outermost first: headings, with the loops, in some order,
    of their slots."""
    lines: list[str] = []
    for heading, order, slots in parts:
        lines.append(f"{'  ' * len(lines)}{heading}")
        for slot in slots:
            for loop in order:
                if (trips := laid.factor(slot, loop)) > 1:
                    every = "for" if slot.temporal else "parallel for"
                    lines.append(f"{'  ' * len(lines)}{every} {loop} in 0..{trips - 1}")
    return tuple(lines)


def check_supported(nest: LoopNest) -> None:
    """Refuse subscripts that the model has no closed form for."""
    for access in nest.accesses:
        where = f"workload {nest.name}: {access}"
        seen: set[str] = set()
        for subscript in access:
            if len(subscript.terms) > 2 or any(c < 1 for _, c in subscript.terms):
                raise refuse(
                    where,
                    f"has the subscript {subscript}; allowed: at most two "
                    "loops, times positive numbers",
                )
            if repeated := seen & set(subscript.loops):
                raise refuse(where, f"has {min(repeated)} in two subscripts; allowed: in one")
            seen |= set(subscript.loops)
