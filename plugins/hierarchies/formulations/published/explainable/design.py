"""A layer on an edge accelerator: mappings of dMazeRunner's space, with cycles by networks of their
own, and energy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.monotonicity import falling
from ithaca.formulations.design import Metric
from ithaca.formulations.problem import Objective
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign
from ithaca.plugins.hierarchies.formulations.published.explainable import model
from ithaca.plugins.hierarchies.formulations.published.explainable.stage import (
    ExplainableStage,
    ExplainableTables,
    least_metrics,
)
from ithaca.workloads.nest import footprints

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit

VOCABULARY = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "the largest of the next three"),
        Metric("energy", "pJ", "of multiply-accumulates, memories and networks, rounded"),
        Metric("edp", "pJ·cycles", "energy times latency"),
        Metric("compute_cycles", "cycles", "of the PEs, and of reductions over them"),
        Metric("network_cycles", "cycles", "of the slowest network between scratchpad and PEs"),
        Metric("dma_cycles", "cycles", "of words between DRAM and scratchpad"),
        Metric("pes", "PEs", "processing elements that compute"),
        Metric("rf_words", "words", "of a register file"),
        Metric("spm_banks", "banks", "of a half of the scratchpad"),
        Metric("dram_words", "words", "read from DRAM and written to it"),
        Metric("input_groups", "groups", "PEs with tiles of the first operand of their own"),
        Metric("weight_groups", "groups", "PEs with tiles of the second operand of their own"),
        Metric("output_groups", "groups", "PEs with outputs of their own"),
    )
}


@dataclass(frozen=True)
class ExplainableDesign(TilingDesign):
    """A layer on a machine of the edition `explainable`; how tensors lie in memory does not
    matter."""

    edition = "explainable"
    known = VOCABULARY
    model: ClassVar[Any] = model
    machine_kind, tables_kind, stage_kind = (
        model.NetworkMachine,
        ExplainableTables,
        ExplainableStage,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.nest.inputs) > 2:
            raise InputError(
                f"workload {self.nest.name} has {len(self.nest.inputs)} inputs; "
                "allowed in edition explainable: two, "
                "each with a network of its own"
            )

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """PEs do all operations, and the DMA moves every word once."""
        moved = Fraction(sum(footprints(self.nest).values()))
        computing, dma = (
            Fraction(self.nest.operations, self.machine.pes),
            moved / self.machine.bandwidth,
        )
        energy = self.least_energy(moved)
        return {
            "latency": max(computing, dma),
            "energy": energy,
            "edp": energy * max(computing, dma),
            "compute_cycles": computing,
            "dma_cycles": dma,
            "dram_words": moved,
        }


def least_of(
    designs: Sequence[ExplainableDesign], architecture: Architecture, objective: Objective
) -> list[Fraction | float] | None:
    """Bounds of layers on another architecture than theirs, of what no mapping is below; none of
    energy, nor of what may fall with a metric.

    Parameters
    ----------
    designs : sequence of ExplainableDesign
        The layers, each on an architecture of its own.
    architecture : Architecture
        The architecture that bounds are of.
    objective : Objective
        What is minimised.
    """
    if {"energy", "edp"} & objective.expression.symbols or falling(objective.expression):
        return None
    machine = model.NetworkMachine.of(architecture)
    ones = dict.fromkeys(machine.limits, 1)
    each = (least_metrics(d.layer, machine, exact=d.divisors_only) for d in designs)
    return [inf if m is None else Fraction(objective.value(ones | m)) for m in each]
