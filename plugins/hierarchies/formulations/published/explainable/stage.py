"""The stage of edition `explainable`: what tiles, rows and their outer choices cost at least.

In every mapping at most one tensor a changes less often than PEs get tiles, and no less often than
its own loops have trips q = ceil(extent / u): either the scratchpad's loops let it stay, or these
have no trips, and DRAM's do. So the cycles of rows are those of the model with these counts, for
the best a; DMA cycles are those of the least words of any tile of the scratchpad. Energy
follows from the same counts and words. All of this is whole, and so exact in floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import inf, isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName
from ithaca.formulations.algebra.rounding import EXACT
from ithaca.plugins.hierarchies.formulations.corners import Corners
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import ChoiceColumns
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    Capacities,
    StoredLayer,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.model import Reuse, words_moved
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import (
    ArrayPass,
    ArrayTile,
    operation,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tables import Tables
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tiling_stage import TilingStage
from ithaca.plugins.hierarchies.formulations.published.explainable.model import (
    NetworkMachine,
    carrying,
    cycles,
    energy,
    grouped,
    networks,
)

if TYPE_CHECKING:
    from ithaca.formulations.problem import Problem
    from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign

#: Whole numbers in floats: a quotient that is none is further from the next one than it is rounded.
WHOLE = replace(NUMPY, ceil_div=lambda a, b: np.ceil(a / b))


@lru_cache(maxsize=4096)
def least_words(layer: StoredLayer, banks: int, bank_words: int, *, exact: bool) -> int | None:
    """Words that every mapping moves between DRAM and a scratchpad of that size, whatever is inside
    it; None: nothing fits.

    Parameters
    ----------
    layer : StoredLayer
        The tensors.
    banks : int
        Banks of the scratchpad.
    bank_words : int
        Words of a bank.
    exact : bool
        Whether factors multiply to the extents exactly.
    """
    tables = ExplainableTables(layer, Capacities(1, 1, banks, bank_words), exact=exact)
    (least,) = super(ExplainableTables, tables).least_outer
    return int(least) if isfinite(least) else None


def least_metrics(
    layer: StoredLayer, machine: NetworkMachine, *, exact: bool
) -> dict[str, Any] | None:
    """Lower bounds of the metrics over all mappings, energy and capacities apart: PEs share all
    work, links carry all words once, and the DMA moves the least words of any mapping. None:
    nothing fits.

    Parameters
    ----------
    layer : StoredLayer
        The tensors.
    machine : NetworkMachine
        The figures of the accelerator.
    exact : bool
        Whether factors multiply to the extents exactly.
    """
    words = least_words(layer, machine.banks, machine.bank_words, exact=exact)
    if words is None:
        return None
    least = {
        "compute_cycles": -(-layer.nest.operations // machine.pes),
        "network_cycles": carried(layer, machine),
        "dma_cycles": -(-words * machine.bandwidth.denominator // machine.bandwidth.numerator),
    }
    return {**least, "latency": max(least.values()), "dram_words": words}


def carried(layer: StoredLayer, machine: NetworkMachine) -> int:
    """Cycles in which links carry all operands and outputs once."""
    network = machine.network
    return max(
        -(-words * machine.word_bits // (network.links(name) * network.width))
        for name, words in _read(layer)
    )


@lru_cache(maxsize=1024)
def _read(layer: StoredLayer) -> tuple[tuple[str, int], ...]:
    """Words that networks carry at least, by network; those that strides leave out are none of
    them, and partial sums need not be read."""
    nest, words = layer.nest, {}
    for access in nest.accesses:
        read = (prod(nest.sizes[loop] for loop in rank.loops) for rank in access)
        words[access.tensor] = prod(map(min, access.sides(nest.sizes), read))
    return tuple((name, words[t]) for name, t in networks(layer).items() if name != "read")


class ExplainableTables(Tables):
    """Choices; transfers cost words."""

    def counted(self, tensor: str) -> str:
        return f"s.{tensor}"

    def least_of_words(self, words: float) -> tuple[float, ...]:
        return (words,)

    def costs(
        self, tile: Mapping[str, Floats], whole: Mapping[str, Floats], trips: ChoiceColumns
    ) -> list[tuple[Any, ...]]:
        layer, own = self.layer, trips.by_tensor("own", self.tensors)
        words = layer.words(tile)
        sums, parts = own[layer.nest.output.tensor], []
        for b in self.tensors:
            times = {
                tensor: own[tensor] if tensor == b else trips["trips"] for tensor in self.tensors
            }
            parts.append(
                (sum(words_moved(layer, words, Reuse(trips["trips"], {}, times), sums).values()),)
            )
        return parts

    @cached_property
    def most_groups(self) -> Mapping[str, int]:
        limits = self.machine.limits
        return {
            tensor: limits[f"{role}_groups"]
            for role, tensor in grouped(self.layer).items()
            if f"{role}_groups" in limits
        }

    @cached_property
    def least_outer(self) -> tuple[float, ...]:
        words = least_words(
            self.layer, self.machine.banks, self.machine.bank_words, exact=self.exact
        )
        return (inf if words is None else float(words),)


class ExplainableStage(TilingStage):
    """One problem on one layer, in stages."""

    _numbers = WHOLE

    def __init__(self, problem: Problem, design: TilingDesign) -> None:
        machine = design.machine  # what is divided has fewer digits than a double
        divisors = machine.network.width, machine.bandwidth.numerator, machine.energies.grain
        self._exact = EXACT / (4 * max(divisors))
        self._energetic = bool({"energy", "edp"} & problem.used_metrics)
        super().__init__(problem, design, Corners(problem, self._exact))

    @property
    def least(self) -> float:  # type: ignore[override]
        design, machine = self._design, self._design.machine
        least = least_metrics(design.layer, machine, exact=design.divisors_only)
        if least is None:
            return inf
        energy = design.least_energy(Fraction(least["dram_words"]))
        least |= {"energy": energy, "edp": energy * least["latency"]}
        low = dict.fromkeys(machine.limits, 1) | least
        return float(self._corners.least(low, machine.limits))

    def _pass(self, tile: ArrayTile) -> ArrayPass:
        return carrying(self._design.layer, self._design.machine, tile, WHOLE)

    def _sending(self, tiles: ChoiceColumns) -> NumbersByName:
        network, bits = self._design.machine.network, self._design.machine.word_bits
        return {
            name: np.ceil(tiles[f"spread.{tensor}"] / network.links(name)) * bits
            for name, tensor in networks(self._design.layer).items()
        }

    def _known(self, rows: ChoiceColumns) -> dict[str, Any]:
        groups = grouped(self._design.layer).items()
        return super()._known(rows) | {f"{role}_groups": rows[f"s.{t}"] for role, t in groups}

    def _bounds(
        self,
        one_pass: ArrayPass,
        tiles: ChoiceColumns,
        low: NumbersByName,
        high: NumbersByName,
        outer: Sequence[tuple[Any, ...]],
    ) -> Floats:
        layer, machine, tensors = self._design.layer, self._design.machine, self._tables.tensors
        words = np.min([least for (least,) in outer], axis=0)
        own, trips = tiles.by_tensor("own", tensors), tiles["trips"]
        lowest, high = np.full(trips.shape, inf), {**machine.limits, **high}
        shared = np.ceil(tiles["whole"] / machine.pes)
        sums, run = own[layer.nest.output.tensor], (layer, machine, one_pass)
        for a in tensors:
            changed = {tensor: own[tensor] if tensor == a else trips for tensor in tensors}
            least = {**cycles(*run, trips, changed, sums, words, WHOLE)[0]}
            least["compute_cycles"] = np.maximum(least["compute_cycles"], shared)
            least["network_cycles"] = np.maximum(least["network_cycles"], self._carried)
            least["latency"] = np.maximum(least["latency"], np.maximum(shared, self._carried))
            if self._energetic:
                computed = tiles["whole"] * operation(machine.energies)
                spent = energy(*run, changed, sums, words, computed, WHOLE)["energy"]
                least |= {"energy": spent, "edp": spent * least["latency"]}
            corner = {**dict.fromkeys(machine.limits, 1.0), **low, **least, "dram_words": words}
            lowest = np.minimum(lowest, self._corners.least(corner, high))
        return lowest

    @cached_property
    def _carried(self) -> int:
        return carried(self._design.layer, self._design.machine)
