"""Words, remarks and remedies for mappings of the edition ``explainable``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from ithaca.formulations.family import Remedies
from ithaca.formulations.hardware.remedies import Remedy
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    RF,
    SPATIAL,
    SPM,
    factors,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.profile import DmazerunnerProfile
from ithaca.plugins.hierarchies.formulations.published.explainable.design import ExplainableDesign
from ithaca.plugins.hierarchies.formulations.published.explainable.model import networks
from ithaca.plugins.hierarchies.formulations.remedies import capacity, lanes


class ExplainableProfile(DmazerunnerProfile[ExplainableDesign]):
    """A layer on a machine with a network for each tensor."""

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """Remedies: a wider network and more links, as far as one sending takes them, or register
        files that the network feeds less often.

        PEs may idle for want of links: where twice as many groups would not fit, more of them, or
        more turns.
        """
        room = partial(
            capacity, self.design.nest, self.design.architecture, self.design.mapping(configuration)
        )
        at, known = (
            factors(self.design.layer, configuration),
            {"computing": lanes(self.design.architecture)},
        )
        for name, tensor in networks(self.design.layer).items():
            access = next(access for access in self.design.nest.accesses if access.tensor == tensor)
            bits = Fraction(access.box(at[RF]) * self.design.machine.word_bits)
            width = Remedy("network.width", most=bits)
            groups, network = (
                self.design.layer.product(at[SPATIAL], access),
                self.design.machine.network,
            )
            links = Remedy(f"network.{name}_links", most=Fraction(groups))
            if 2 * groups > network.links(name) * network.virtual(name):
                known["computing"] += (
                    Remedy(f"network.{name}_links"),
                    Remedy(f"network.{name}_virtual"),
                )
            known[f"network {name}"] = (width, links, *room(tensor, RF))
            known[f"DMA {tensor}"] = room(tensor, SPM)
        return known | {"DMA": (Remedy(f"{DRAM}.shared_bandwidth"),)}
