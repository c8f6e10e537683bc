"""The smaller spaces that the published search keeps to."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ithaca.formulations.problem import Limit
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import groups
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    SPM,
    BurstMachine,
    StoredLayer,
)

#: The least shares of PEs, register files and scratchpad in use that the published search begins
#: with, and by how much it lowers them until mappings are left.
UTILISATION, STEP = (Fraction(8, 10), Fraction(8, 10), Fraction(5, 10)), Fraction(1, 10)

Restriction = tuple[Constraints, tuple[Limit, ...]]


def pruned(layer: StoredLayer, machine: BurstMachine) -> Iterator[Restriction]:
    """The published prunings, strictest first.

    PEs and memories are used well, filters are not cut in DRAM's loops, and no reduction is spread
    over PEs.
    """
    reductions = layer.nest.reduction_loops
    filters = [
        loop for group in groups(layer) if len(group) > 1 for loop in group if loop in reductions
    ]
    factors = [FactorRange(DRAM, "temporal", loop, 1, 1) for loop in filters]
    factors += [FactorRange(SPM, "spatial", loop, 1, 1) for loop in reductions]
    pes, rf, spm = UTILISATION
    while max(pes, rf, spm) > 0:
        limits = (
            Limit("0 - rf_words", -rf * machine.rf_words),
            Limit("0 - spm_banks", -spm * machine.banks),
        )
        yield Constraints(factors=tuple(factors), least_used=pes, where="published search"), limits
        pes, rf, spm = (max(share - STEP, Fraction(0)) for share in (pes, rf, spm))
