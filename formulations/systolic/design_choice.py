"""Which designs of a nest to consider."""

from __future__ import annotations

from ithaca.formulations.systolic.dataflows import dataflows, find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.permutations import loop_order, permutations
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


def choose_designs(
    nest: LoopNest,
    edition: Edition = Edition.EXACT,
    dataflow: tuple[str, ...] | None = None,
    permutation: str | None = None,
    *,
    include_unbuildable: bool = False,
) -> tuple[SystolicArray, ...]:
    """The designs of a nest that meet some wishes.

    Parameters
    ----------
    nest : LoopNest
        The loop nest.
    edition : Edition
        The statement of the cost model they shall follow.
    dataflow : tuple of str, optional
        Their dataflow; all by default.
    permutation : str, optional
        Their permutation; all by default.
    include_unbuildable : bool
        Whether designs that HLS cannot build are among them.

    Raises
    ------
    InputError
        If there is no such dataflow or permutation, or no design is left.
    """
    chosen = dataflows(nest) if dataflow is None else (find_dataflow(nest, dataflow),)
    orders = permutations(nest) if permutation is None else (permutation,)
    loop_order(nest, orders[0])  # refuses an unknown permutation
    found = tuple(derive(nest, loops, order, edition) for loops in chosen for order in orders)
    kept = tuple(a for a in found if a.buildable or include_unbuildable)
    if not kept:
        names = "; ".join(f"{a.name}: {a.obstacle}" for a in found[:1])
        raise InputError(f"no buildable design is left ({names}); allowed: --include-unbuildable")
    return kept
