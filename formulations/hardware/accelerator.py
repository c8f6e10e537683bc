"""Accelerators with free figures: how they pose problems of layers, and how each figure helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Protocol

from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Objective, Problem
from ithaca.workloads.nest import LoopNest, Stored
from ithaca.workloads.networks.network import Omission


class Trend(Enum):
    """The effect of more of a figure on the least objective of any layer, by any metrics."""

    HELPS = "never hurts"
    """Capacities, bandwidths, PEs: the best of a box is the largest."""
    HURTS = "never helps"
    """Energies of accesses: the best of a box is the smallest."""
    IDLE = "does not matter"
    """A figure that costs speak of, and layers do not."""
    MIXED = "may do either"
    """Boxes have to have one value of it: such figures are enumerated."""


@dataclass(frozen=True)
class Work:
    """A layer that accelerators are chosen for."""

    name: str
    """Its name."""
    nest: LoopNest
    """The nest of one run."""
    count: int = 1
    """Runs in the workload."""
    weight: Fraction = Fraction(1)
    """The weight of the workload among others."""
    workload: str = ""
    """The workload that it belongs to."""
    stored: Stored = ()
    """Extents of tensors in memory, where they are not as needed."""
    omitted: tuple[Omission, ...] = field(default=(), compare=False)
    """Operators of its workload that become no layer; nothing is solved for them."""

    @property
    def factor(self) -> Fraction:
        """The number of runs that the layer counts in totals: count times weight."""
        return self.weight * self.count


class Accelerator(Protocol):
    """A kind of accelerator with free figures, such as capacities of levels.

    It is picklable and comparable.
    """

    family: ClassVar[str]
    """The family that its designs belong to."""

    def dividing(self) -> Accelerator | None:
        """The accelerator with factors that divide extents; None where that cannot be asked for."""
        return None

    def stages(self, work: Work) -> tuple[Work, ...]:
        """A layer as those that it is run as, one after the other."""
        return (work,)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics of layers that objectives and limits may speak of, by name."""

    @property
    def trends(self) -> Mapping[str, Trend]:
        """The figures that spaces may set, by name, with what more of each does."""

    def names(self, figure: str) -> tuple[str, ...]:
        """The names that a figure counts from 1 on, where it is a choice of such."""
        return ()

    def problems(
        self, work: Work, figures: Mapping[str, Fraction], objective: Objective
    ) -> tuple[Problem, ...]:
        """The problems of a layer, one for each design that may run it: the best of them counts.

        Parameters
        ----------
        work : Work
            The layer.
        figures : mapping of str to Fraction
            Value of each free figure; they may be those of no accelerator (a box's largest
            capacities at its smallest energies).
        objective : Objective
            What is minimised.

        Returns
        -------
        tuple of Problem
            The problems.

        Raises
        ------
        InputError
            If the layer cannot run at all, whatever the figures.
        """

    def floors(
        self, problems: Sequence[Problem], figures: Mapping[str, Fraction], objective: Objective
    ) -> Sequence[Fraction | float] | None:
        """Bounds of layers, of which each has one of the problems on some figures, on others,
        infinite where nothing fits; None: their own problems bound them.

        Parameters
        ----------
        problems : sequence of Problem
            A problem of every layer, on some figures.
        figures : mapping of str to Fraction
            The figures that bounds are of.
        objective : Objective
            What is minimised.
        """
        return None

    def roofs(self, work: Work, spans: Mapping[str, Interval]) -> Mapping[str, Fraction]:
        """Lower bounds of metrics of a layer on any figures within ranges, also of those whose best
        end is not known; none of a metric left out.

        Parameters
        ----------
        work : Work
            The layer.
        spans : mapping of str to Interval
            The ranges of the figures.
        """
        return {}
