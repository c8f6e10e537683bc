"""Words, remarks and remedies for mappings of the edition ``dmazerunner``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ithaca.files.numbers import number
from ithaca.formulations.algebra.number_systems import FRACTION, exactly
from ithaca.formulations.design import Design
from ithaca.formulations.family import Baselines, Remarks, Remedies
from ithaca.formulations.problem import Limit
from ithaca.plugins.hierarchies.formulations.baselines import dataflows
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints
from ithaca.plugins.hierarchies.formulations.drawing import costs
from ithaca.plugins.hierarchies.formulations.mapping_design import nested_loops
from ithaca.plugins.hierarchies.formulations.profile import MappingProfile
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.baselines import pruned
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import (
    PLACES,
    TilingDesign,
)
from ithaca.plugins.hierarchies.formulations.remedies import capacity, lanes

#: Designs of tilings.
T = TypeVar("T", bound=TilingDesign)


class DmazerunnerProfile(MappingProfile[T]):
    """A layer on a machine with two levels of tiles."""

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """Remedies: more of the scratchpad for bursts and energy off chip, of the register files
        for the network and its energy."""
        known = {"computing": lanes(self.design.architecture)}
        room = partial(
            capacity, self.design.nest, self.design.architecture, self.design.mapping(configuration)
        )
        for tensor in (access.tensor for access in self.design.nest.accesses):
            known |= {
                f"{part} {tensor}": room(tensor, SPM) for part in ("DMA", "waiting for", DRAM)
            }
            known |= {f"{part} {tensor}": room(tensor, RF) for part in ("network", SPM)}
        return known

    def baselines(self) -> Baselines:
        def within(constraints: Constraints) -> Design:
            return replace(self.design, constraints=constraints)

        search = (
            (within(constraints), limits)
            for constraints, limits in pruned(self.design.layer, self.design.machine)
        )
        flows = dataflows(self.design.nest, self.design.architecture, -1)
        fixed = {name: [(within(constraints), ())] for name, constraints in flows.items()}
        return {"pruned": search, **fixed} if self.design.constraints == NONE else {}

    def meaning(self, quantity: str) -> tuple[str, str]:
        loop, _, slot = quantity.partition(".")
        if loop == "order":
            stays = " or ".join(
                f"{k}: {' '.join(order)}" for k, order in enumerate(self.design.orders[slot], 1)
            )
            return "", f"order of {slot}'s loops, outermost first ({stays})"
        place = {
            DRAM: "outside the scratchpad",
            SPM: "inside the scratchpad",
            RF: "in the register files",
            SPATIAL: "over PEs",
        }
        return "", f"trips of {loop} {place[slot]}"

    def remarks(self, configuration: Mapping[str, int], limits: Sequence[Limit]) -> Remarks:
        """The part that binds, the share of the machine in use, padding, and limits of proofs."""
        taken = self.design.used(exactly(configuration), FRACTION)
        shares = (
            f"{number(taken[name])} of {most} {self.design.vocabulary[name].unit}"
            for name, most in self.design.machine.limits.items()
        )
        statements = [f"used: {', '.join(shares)}."]
        laid = self.design.mapping(configuration).padded(self.design.nest)
        if padded := [
            f"{loop} from {n} to {laid[loop]}"
            for loop, n in self.design.nest.extents
            if laid[loop] != n
        ]:
            statements.append(f"padding: {', '.join(padded)}.")
        if self.design.layer.surplus and not self.design.divisors_only:
            statements.append(
                "optimum: of least paddings; rows of an input that nothing "
                "reads may let larger ones pay."
            )
        remarks = costs(self.design, configuration)
        return replace(remarks, statements=(*remarks.statements, *statements))

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        """The mapping as a loop nest, outermost first; loops of one trip are left out."""
        names = {DRAM: DRAM, SPM: SPM, SPATIAL: "PEs", RF: RF}
        laid = self.design.mapping(configuration)
        orders = {**laid.orders, SPATIAL: self.design.nest.loops}
        return nested_loops(
            laid, ((name, orders[slot], (PLACES[slot],)) for slot, name in names.items())
        )
