"""A layer on an edge accelerator: mappings of dMazeRunner's space, with cycles by networks of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ithaca.formulations.algebra.number_systems import NumberSystem
from ithaca.formulations.design import Metric
from ithaca.formulations.hardware.remedies import Remedy
from ithaca.formulations.spatial.dmazerunner.design import DmazerunnerDesign
from ithaca.formulations.spatial.dmazerunner.model import DRAM, RF, SPATIAL, SPM, Pricing, factors
from ithaca.formulations.spatial.dmazerunner.tables import Tables
from ithaca.formulations.spatial.explainable.model import Machine, networks, pricing, used
from ithaca.formulations.spatial.explainable.stage import ExplainableStage, ExplainableTables
from ithaca.formulations.spatial.remedies import capacity, lanes
from ithaca.workloads.errors import InputError
from ithaca.workloads.footprints import footprints

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit, Problem
    from ithaca.formulations.stage import Stage

VOCABULARY = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "the largest of the next three"),
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
class ExplainableDesign(DmazerunnerDesign):
    """A layer on a machine of the edition `explainable`; how tensors lie in memory does not matter."""

    edition = "explainable"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.nest.inputs) != 2:
            raise InputError(
                f"workload {self.nest.name} has {len(self.nest.inputs)} inputs; allowed in edition explainable: two, "
                "each with a network of its own"
            )

    @cached_property
    def machine(self) -> Machine:
        """What the model reads of the architecture."""
        return Machine.of(self.architecture)

    @cached_property
    def tables(self) -> Tables:
        """What searches of this space are made of, whatever they ask for."""
        return ExplainableTables(self.layer, self.machine, self.constraints, exact=self.divisors_only)

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        return VOCABULARY

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """PEs do all operations, and the DMA moves every word once."""
        moved = Fraction(sum(footprints(self.nest).values()))
        computing, dma = Fraction(self.nest.operations, self.machine.pes), moved / self.machine.bandwidth
        return {"latency": max(computing, dma), "compute_cycles": computing, "dma_cycles": dma, "dram_words": moved}

    def used(self, values: Mapping[str, Any], numbers: NumberSystem) -> dict[str, Any]:
        return used(self.layer, self.machine, factors(self.layer, values), numbers)

    def pricing(self, at: Mapping[str, Mapping[str, Any]], numbers: NumberSystem) -> Pricing:
        return pricing(self.layer, self.machine, at, numbers)

    def remedies(self, configuration: Mapping[str, int]) -> Mapping[str, tuple[Remedy, ...]]:
        """Of a network wider and more links, as far as one sending takes them, or register files that it feeds less often.

        PEs may idle for want of links: where twice as many groups would not fit, more of them, or more turns.
        """
        room = partial(capacity, self.nest, self.architecture, self.mapping(configuration))
        at, found = factors(self.layer, configuration), {"computing": lanes(self.architecture)}
        for name, tensor in networks(self.layer).items():
            access = next(access for access in self.nest.accesses if access.tensor == tensor)
            bits = Fraction(self.layer.words(access, at[RF]) * self.machine.word_bits)
            width = Remedy("network.width", most=bits)
            groups, network = self.layer.product(at[SPATIAL], access), self.machine.network
            links = Remedy(f"network.{name}_links", most=Fraction(groups))
            if 2 * groups > network.links(name) * network.virtual(name):
                found["computing"] += (Remedy(f"network.{name}_links"), Remedy(f"network.{name}_virtual"))
            found[f"network {name}"] = (width, links, *room(tensor, RF))
            found[f"DMA {tensor}"] = room(tensor, SPM)
        return found | {"DMA": (Remedy(f"{DRAM}.shared_bandwidth"),)}

    def stage(self, problem: Problem) -> Stage:
        return ExplainableStage(problem, self)
