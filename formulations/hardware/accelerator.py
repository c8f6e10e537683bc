"""What families know of hardware spaces: how figures turn into problems of layers, and which way
each figure helps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol

from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Objective, Problem
from ithaca.workloads.nest import LoopNest, Stored


class Trend(Enum):
    """What more of a figure does to the least objective of any layer, whichever metrics of layers
    that is made of."""

    HELPS = "never hurts"
    """Capacities, bandwidths, PEs: the best of a box is the largest."""
    HURTS = "never helps"
    """Energies of accesses: the best of a box is the smallest."""
    IDLE = "does not matter"
    """Of what costs speak, and layers do not."""
    MIXED = "may do either"
    """Boxes have to have one value of it: such figures are enumerated."""


@dataclass(frozen=True)
class Work:
    """A layer that accelerators are chosen for."""

    name: str
    """Its name."""
    nest: LoopNest
    """What one run computes."""
    count: int = 1
    """Runs in the workload."""
    weight: Fraction = Fraction(1)
    """What the workload counts among others."""
    workload: str = ""
    """The workload that it belongs to."""
    stored: Stored = ()
    """Extents of tensors in memory, where they are not as needed."""

    @property
    def factor(self) -> Fraction:
        """What one run counts in totals."""
        return self.weight * self.count


class Accelerator(Protocol):
    """A kind of accelerator with free figures, such as capacities of levels. Picklable and
    comparable."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics of layers that objectives and limits may speak of, by name."""

    @property
    def trends(self) -> Mapping[str, Trend]:
        """The figures that spaces may set, by name, with what more of each does."""

    def problems(
        self, work: Work, figures: Mapping[str, Fraction], objective: Objective
    ) -> tuple[Problem, ...]:
        """The problems of a layer, one for each design that may run it: the best of them counts.

        Figures may be those of no accelerator (a box's largest capacities at its smallest
        energies). Raises `InputError` if the layer cannot run at all, whatever the figures.
        """
