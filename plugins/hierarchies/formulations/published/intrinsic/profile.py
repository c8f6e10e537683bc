"""Words and remarks for layers cut into calls of an intrinsic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ithaca.files.numbers import number, percent
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.family import Remarks, Remedies
from ithaca.formulations.hardware.remedies import Remedy
from ithaca.formulations.problem import Limit
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.mapping_design import nested_loops
from ithaca.plugins.hierarchies.formulations.profile import MappingProfile
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import IntrinsicDesign


class IntrinsicProfile(MappingProfile[IntrinsicDesign]):
    """A layer cut into calls of an intrinsic."""

    @property
    def title(self) -> str:
        """Name of the workload, its match, and the edition."""
        nest = self.design.nest
        return (
            f"{nest.name} ({nest.shown_sizes}), {self.design.name}, "
            f"{self.design.edition} model edition"
        )

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """Remedies: more PEs, more banks, or a larger scratchpad, of which sub-problems are
        fewer."""
        banks, room = (
            Remedy("tensorized.banks"),
            Remedy(f"{self.design.architecture.levels[1].name}.words"),
        )
        mesh = (
            Remedy(f"{self.design.architecture.compute.name}.{name}")
            for name in ("mesh_x", "mesh_y")
        )
        return {
            "computing": tuple(mesh),
            "network": (banks,),
            "startup": (banks, room),
            "skew": (room,),
            "bus": (Remedy("tensorized.bus_bits"), room),
            "dram_words": (room,),
        }

    def meaning(self, quantity: str) -> tuple[str, str]:
        """The meaning of a tile, in words."""
        return "iterations", f"of {quantity.partition('.')[0]} in a sub-problem"

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        """Sub-problems, calls and what a call runs, as a loop nest."""
        laid, what = self.design.mapping(configuration), ("sub-problems", "calls", "a call")
        return nested_loops(
            laid,
            (
                (f"{name}: {words}", order, [Slot(name, along) for along in ("", "x", "y")])
                for words, (name, order) in zip(what, laid.orders.items(), strict=True)
            ),
        )

    def remarks(self, configuration: Mapping[str, int], limits: Sequence[Limit]) -> Remarks:
        """The part that binds, what does not overlap, padding, and use of the scratchpad."""
        values = {name: Fraction(value) for name, value in configuration.items()}
        metrics = self.design.metrics(values, FRACTION)
        computing, network = metrics["computing"], metrics["network"]
        slower = "computing" if computing >= network else "network"
        redundant = 1 - self.design.nest.operations / metrics["computes"]
        held, alone = (
            self.design.work.held_words(self.design._tile(values), FRACTION),
            metrics["startup"] + metrics["skew"] + metrics["bus"],
        )
        lines = [
            f"Binding: {slower} (computing {number(computing)} cycles, network {number(network)}).",
            f"Sub-problems: {number(metrics['subproblems'])}, of whose cycles "
            f"{number(alone)} do not overlap.",
            f"Padding: {percent(redundant)} of the work of "
            f"{number(metrics['calls'])} calls is redundant.",
            f"{self.design.architecture.levels[1].name}: {number(held)} of "
            f"{self.design.work.scratchpad:,} words held.",
        ]
        return Remarks(tuple(lines))
