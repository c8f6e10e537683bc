"""Dataflows that are fixed beforehand, as smaller spaces: which loops are spread over meshes, and
what stays inside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import Constraints, FactorRange
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest


def dataflows(
    nest: LoopNest, architecture: Architecture, rows: int = 0
) -> Mapping[str, Constraints]:
    """Dataflows by name; all that they leave open is free, so that their losses are lower bounds.

    Output-stationary: rows and columns of the output are spread (of products without windows all
    loops of the output), and reductions run innermost outside each mesh. Weight-stationary: filters
    and channels are spread, and the loops that do not index the weights run innermost.
    Row-stationary: rows of the output and of the filter are spread, in any order.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    architecture : Architecture
        The architecture.
    rows : int, optional
        Which of the windows' dimensions the rows are.

    Returns
    -------
    Mapping of str to Constraints
        None where there is no mesh.
    """
    meshes = [
        level.name
        for place, level in enumerate(architecture.levels)
        if architecture.inner_mesh(place) is not None
    ]
    if not meshes:
        return {}
    windows = [
        subscript.loops
        for access in nest.inputs
        for subscript in access
        if len(subscript.terms) > 1
    ]
    moved = {loop for loops in windows for loop in loops}
    weights = _weights(nest)

    def fixed(spread: Iterable[str], stays: Access | None) -> Constraints:
        over = set(spread)
        factors = [
            FactorRange(level, "spatial", loop, 1, 1)
            for level in meshes
            for loop in nest.loops
            if loop not in over
        ]
        innermost = (
            ()
            if stays is None
            else tuple(loop for loop in nest.loops if not stays.indexed_by(loop))
        )
        return Constraints(
            tuple(factors), orders=tuple((level, innermost) for level in meshes), where="dataflow"
        )

    pixels = [loop for loop in moved if nest.output.indexed_by(loop)] or nest.parallel_loops
    named = {
        "output-stationary": fixed(pixels, nest.output),
        "weight-stationary": fixed(
            (loop for loop in nest.loops if weights.indexed_by(loop) and loop not in moved), weights
        ),
    }
    return {**named, "row-stationary": fixed(windows[rows], None)} if windows else named


def _weights(nest: LoopNest) -> Access:
    """The input that no window slides over; of products without windows the second one."""
    plain = [
        access for access in nest.inputs if all(len(subscript.terms) < 2 for subscript in access)
    ]
    return plain[0] if len(plain) == 1 else nest.inputs[1]
