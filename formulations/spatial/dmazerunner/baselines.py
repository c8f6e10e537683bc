"""Smaller spaces that others keep to: the published search, and dataflows that are fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from ithaca.formulations.problem import Limit
from ithaca.formulations.spatial.constraints import Asked, Constraints
from ithaca.formulations.spatial.dmazerunner.model import DRAM, SPM, Layer, Machine
from ithaca.formulations.spatial.dmazerunner.tables import groups

#: The least shares of PEs, register files and scratchpad in use that the published search begins with, and by how much it
#: lowers them until mappings are left.
UTILISATION, STEP = (Fraction(8, 10), Fraction(8, 10), Fraction(5, 10)), Fraction(1, 10)

Restriction = tuple[Constraints, tuple[Limit, ...]]


def pruned(layer: Layer, machine: Machine) -> Iterator[Restriction]:
    """The published prunings, strictest first.

    PEs and memories are used well, filters are not cut in DRAM's loops, and no reduction is spread over PEs.
    """
    reductions = layer.nest.reduction_loops
    filters = [loop for group in groups(layer) if len(group) > 1 for loop in group if loop in reductions]
    factors = [(DRAM, "temporal", loop, Asked(1, 1)) for loop in filters]
    factors += [(SPM, "spatial", loop, Asked(1, 1)) for loop in reductions]
    pes, rf, spm = UTILISATION
    while max(pes, rf, spm) > 0:
        limits = (Limit("0 - rf_words", -rf * machine.rf_words), Limit("0 - spm_banks", -spm * machine.banks))
        yield Constraints(factors=tuple(factors), least_used=pes, where="published search"), limits
        pes, rf, spm = (max(share - STEP, Fraction(0)) for share in (pes, rf, spm))


def dataflows(layer: Layer) -> dict[str, Constraints]:
    """Dataflows by name: the loops that are spread over PEs, and the tensor that stays there.

    Output-stationary: output rows and columns (of products without windows, all loops of the output); weight-stationary:
    filters and channels; row-stationary: output rows and filter rows, whatever stays.
    """
    nest, output, weights = layer.nest, layer.nest.output, layer.nest.inputs[1]
    windows = [group for group in groups(layer) if len(group) > 1]
    moved = [loop for group in windows for loop in group]
    pixels = [loop for loop in moved if output.indexed_by(loop)] or [loop for loop in nest.loops if output.indexed_by(loop)]
    found = {
        "output-stationary": _fixed(layer, pixels, [loop for loop in nest.loops if not output.indexed_by(loop)]),
        "weight-stationary": _fixed(
            layer,
            [loop for loop in nest.loops if weights.indexed_by(loop) and loop not in moved],
            [loop for loop in nest.loops if not weights.indexed_by(loop)],
        ),
    }
    return {**found, "row-stationary": _fixed(layer, windows[-1], [])} if windows else found


def _fixed(layer: Layer, spread: Iterable[str], innermost: Iterable[str]) -> Constraints:
    """Only these loops are spread over PEs, and those stand innermost among the scratchpad's."""
    serial = [loop for loop in layer.nest.loops if loop not in set(spread)]
    factors = tuple((SPM, "spatial", loop, Asked(1, 1)) for loop in serial)
    return Constraints(factors=factors, orders=((SPM, tuple(innermost)),), where="dataflow")
