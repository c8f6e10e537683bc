"""Where the cycles of a configuration go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.formulations.systolic.cost_model import Costs
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class Cycles:
    """The latency in parts that add up to it (cycles).

    Attributes
    ----------
    useful : Fraction
        The nest's operations on all MAC units at once.
    padding : Fraction
        Operations on padding.
    partial_sums : Fraction
        PEs that load and store partial sums.
    waiting : Fraction
        PEs that wait for transfers in the main phase, or for buffers to swap.
    prologue, epilogue : Fraction
        Filling the pipeline with the first tile, and draining the last.
    """

    useful: Fraction
    padding: Fraction
    partial_sums: Fraction
    waiting: Fraction
    prologue: Fraction
    epilogue: Fraction

    @property
    def latency(self) -> Fraction:
        """The sum of the parts."""
        return self.useful + self.padding + self.partial_sums + self.waiting + self.fill

    @property
    def fill(self) -> Fraction:
        """prologue + epilogue."""
        return self.prologue + self.epilogue

    @property
    def shares(self) -> Mapping[str, Fraction]:
        """Each part over the latency."""
        return {name: getattr(self, name) / self.latency for name in self.__slots__}


def cycles(nest: LoopNest, costs: Costs) -> Cycles:
    """Split the latency of exact costs into its parts."""
    point = costs.point
    moves: Fraction = point.array.pe.moves.evaluate(point.values, point.numbers)
    useful = Fraction(nest.operations) / costs.comp
    return Cycles(useful, costs.pe - moves - useful, moves, costs.main - costs.pe, costs.prologue, costs.epilogue)
