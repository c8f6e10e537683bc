"""The stage of edition `dmazerunner`: what tiles, rows and their outer choices cost
(`search.TilingStage`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.bounds import (
    inner_parts,
    outer_parts,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import ChoiceColumns
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import BurstMachine
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.passes import (
    ArrayPass,
    transfers,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tables import Tables
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tiling_stage import TilingStage


class DmazerunnerTables(Tables):
    """Choices; transfers cost energy (pJ), cycles and words."""

    machine: BurstMachine

    def counted(self, tensor: str) -> str:
        return f"s.{tensor}" if tensor == self.layer.nest.output.tensor else "s"

    def least_of_words(self, words: float) -> tuple[float, ...]:
        machine = self.machine
        return words * float(machine.energies.dram), words * float(machine.dma_word), words

    def costs(
        self, tile: Mapping[str, Floats], whole: Mapping[str, Floats], trips: ChoiceColumns
    ) -> list[tuple[Any, ...]]:
        moved = transfers(self.layer, self.machine, tile, whole, NUMPY)
        return outer_parts(
            self.layer, self.machine, moved, trips["trips"], trips.by_tensor("own", self.tensors)
        )


class DmazerunnerStage(TilingStage):
    """One problem on one layer, in stages."""

    def _bounds(
        self,
        one_pass: ArrayPass,
        tiles: ChoiceColumns,
        low: NumbersByName,
        high: NumbersByName,
        outer: Sequence[tuple[Any, ...]],
    ) -> Floats:
        own = tiles.by_tensor("own", self._tables.tensors)
        layer, machine = self._design.layer, self._design.machine
        least, high = np.full(tiles["trips"].shape, inf), {**machine.limits, **high}
        low = {**dict.fromkeys(machine.limits, 1.0), **low}
        inner = inner_parts(layer, machine, one_pass, tiles["trips"], tiles["whole"], own)
        for (more, slower, words), (e, c) in product(outer, inner):
            energy, latency = e + more, np.maximum(c, slower)
            known = {"energy": energy, "latency": latency, "edp": energy * latency}
            # orders of less reuse move more
            corner = {**low, **known, "dram_words": words}
            least = np.minimum(least, self._corners.least(corner, high))
        return least
