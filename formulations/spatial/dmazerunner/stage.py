"""The stage of edition `dmazerunner`: what tiles, rows and their outer choices cost
(`search.TilingStage`)."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.algebra.number_systems import NUMPY, NumbersByName
from ithaca.formulations.spatial.dmazerunner.bounds import inner_parts, outer_parts
from ithaca.formulations.spatial.dmazerunner.choices import ChoiceColumns, OuterChoices
from ithaca.formulations.spatial.dmazerunner.machine import Machine
from ithaca.formulations.spatial.dmazerunner.passes import ArrayPass, array_pass, transfers
from ithaca.formulations.spatial.dmazerunner.search import TilingStage
from ithaca.formulations.spatial.dmazerunner.tables import Tables

if TYPE_CHECKING:
    from ithaca.formulations.spatial.dmazerunner.tilings import TilingDesign


class DmazerunnerTables(Tables):
    """Choices; transfers cost energy (pJ), cycles and words."""

    machine: Machine

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

    _design: TilingDesign

    def _tile_bounds(self, columns: ChoiceColumns) -> Floats:
        """Bounds of tiles: their register files hold and send no more words than need be, their PEs
        share all work."""
        machine, tensors = self._design.machine, self._tables.tensors
        trips = np.maximum(columns["tile"] / machine.pes, columns["r"])
        known = machine.energies
        network, scratchpad = known.units(known.network), known.units(known.spm)
        sent, spread = columns.by_tensor("sent", tensors), columns.by_tensor("spread", tensors)
        energy = {t: spread[t] * network + sent[t] * scratchpad for t in tensors}
        one_pass = ArrayPass(trips, trips, sent, energy, 0.0)
        return self._bounds(
            one_pass,
            columns,
            {"pes": 1.0, "rf_words": 1.0},
            {"pes": machine.pes, "rf_words": machine.rf_words},
        )

    def _bounds(
        self, one_pass: ArrayPass, tiles: ChoiceColumns, low: NumbersByName, high: NumbersByName
    ) -> Floats:
        """The least objective of any completion of inner choices."""
        energy, cycles, words = self._design.tables.least_outer
        least = np.full(tiles["trips"].shape, inf)
        own = tiles.by_tensor("own", self._tables.tensors)
        layer, machine = self._design.layer, self._design.machine
        high = {**high, "spm_banks": machine.banks}
        for e, c in inner_parts(layer, machine, one_pass, tiles["trips"], tiles["whole"], own):
            least = np.minimum(
                least,
                self._corner(
                    e + energy,
                    np.maximum(c, cycles),
                    {**low, "spm_banks": 1.0, "dram_words": words},
                    high,
                ),
            )
        return least

    def _corner(self, energy: Any, latency: Any, low: NumbersByName, high: NumbersByName) -> Floats:
        return self._corners.least(
            {**low, "energy": energy, "latency": latency, "edp": energy * latency}, high
        )

    def _row_bounds(self, rows: ChoiceColumns, tiles: ChoiceColumns) -> Floats:
        exact = {
            "pes": rows["s"],
            "rf_words": sum(rows[f"held.{tensor}"] for tensor in self._tables.tensors),
        }
        return self._bounds(self._pass(rows, tiles), tiles, exact, exact)

    @property
    def _sums(self) -> str:
        """The column of PEs that hold different outputs."""
        return f"s.{self._design.nest.output.tensor}"

    def _pass(self, rows: ChoiceColumns, tiles: ChoiceColumns) -> ArrayPass:
        tensors = self._tables.tensors
        held, sent = rows.by_tensor("held", tensors), tiles.by_tensor("sent", tensors)
        return array_pass(
            self._design.layer,
            self._design.machine.energies,
            rows["r"],
            rows["s"],
            rows[self._sums],
            held,
            sent,
        )

    def _pair_bounds(
        self, outer: OuterChoices, place: Integers, rows: ChoiceColumns, tiles: ChoiceColumns
    ) -> Floats:
        """Bounds of rows, each with an outer choice."""
        layer, machine = self._design.layer, self._design.machine
        one_pass, own = self._pass(rows, tiles), tiles.by_tensor("own", self._tables.tensors)
        exact = {
            "pes": rows["s"],
            "rf_words": sum(rows[f"held.{t}"] for t in self._tables.tensors),
            "spm_banks": outer.banks[place],
        }
        lowest = np.full(place.size, inf)
        inner = inner_parts(layer, machine, one_pass, tiles["trips"], tiles["whole"], own)
        for energy, cycles, words in outer.parts:
            for e, c in inner:
                least = {**exact, "dram_words": words[place]}  # orders of less reuse move more
                lowest = np.minimum(
                    lowest,
                    self._corner(e + energy[place], np.maximum(c, cycles[place]), least, exact),
                )
        return lowest
