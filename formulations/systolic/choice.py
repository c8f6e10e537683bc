"""The designs of a nest that are wanted, that tools build, and that run to their end."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.files.errors import InputError
from ithaca.formulations.machine import Sums
from ithaca.formulations.systolic.buffering import ALL, buffered_arrays
from ithaca.formulations.systolic.dataflows import (
    any_extents,
    dataflows,
    find_dataflow,
    permutations,
)
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.systolic_array import (
    SERIALIZED,
    DramAccess,
    Edition,
    SystolicArray,
)
from ithaca.formulations.target import Target
from ithaca.workloads.nest import LoopNest


def choose_designs(
    nest: LoopNest,
    edition: Edition = Edition.EXACT,
    dataflow: tuple[str, ...] | None = None,
    permutation: str | None = None,
    *,
    include_unbuildable: bool = False,
    target: Target | None = None,
    sums: Sums = Sums.FIRST,
    dram: DramAccess = SERIALIZED,
    double_buffer: str = ALL,
) -> tuple[SystolicArray, ...]:
    """Derive the designs of a nest that are wanted and can be built.

    The cycle edition says nothing of what cannot be built, nor of arrays that may hang: they are
    never among its designs.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    edition : Edition, optional
        The edition of the cost model.
    dataflow : tuple of str, optional
        Its space loops; by default all.
    permutation : str, optional
        The tensor whose reuse loops are innermost; by default all.
    include_unbuildable : bool, optional
        Whether those that HLS cannot build are among them.
    target : Target, optional
        What builds them.
    sums : Sums, optional
        Where partial sums stand in the order of loops.
    dram : DramAccess, optional
        How data lie in DRAM.
    double_buffer : str, optional
        The tensors whose buffers are doubled: all, none, free, or names.

    Returns
    -------
    tuple of SystolicArray
        The designs.

    Raises
    ------
    InputError
        If there is no such dataflow, permutation or tensor, or none can be built.
    """
    chosen = dataflows(nest) if dataflow is None else (find_dataflow(nest, dataflow),)
    orders = permutations(nest) if permutation is None else (permutation,)
    pairs = [(loops, order) for loops in chosen for order in orders]
    if dram.two_level:
        from ithaca.formulations.systolic.two_level import with_two_levels

        pairs = with_two_levels(nest, pairs)
    alike = any_extents(nest)
    arrays = tuple(derive(alike, loops, order, edition, dram) for loops, order in pairs)
    if target is not None:
        from ithaca.formulations.systolic.target import design_obstacles

        refused = {a.name: "; ".join(design_obstacles(nest, a)) for a in arrays}
        if all(refused.values()):
            reason = f"{arrays[0].name}: {refused[arrays[0].name]}"
            raise InputError(
                f"--for {target.value}: {target.title} builds no design of these ({reason})"
            )
        arrays = tuple(a for a in arrays if not refused[a.name])
    if edition is Edition.CYCLE and include_unbuildable:
        raise InputError(
            "--include-unbuildable: no design is left of those that cannot be built: the cycle "
            "edition says nothing of them; allowed: --edition exact or odyssey"
        )
    kept = tuple(a for a in arrays if a.buildable or include_unbuildable)
    if not kept:
        names = "; ".join(f"{a.name}: {a.obstacle}" for a in arrays[:1])
        raise InputError(f"no buildable design is left ({names}); allowed: --include-unbuildable")
    running = tuple(
        a for a in kept if edition is not Edition.CYCLE or sums is Sums.LAST or a.hanging is None
    )
    if not running:
        raise InputError(f"--edition cycle: no design is left ({hanging_text(kept)})")
    return buffered_arrays(running, double_buffer)


def hanging_text(arrays: Sequence[SystolicArray]) -> str:
    """The reason why designs may hang, and what helps."""
    names = ", ".join(array.name for array in arrays)
    tensor = next(a.hanging.tensor for a in arrays if a.hanging is not None)
    return (
        f"{names}: may hang: {tensor} is handed on along the reduction; "
        "allowed: --sums last, or --edition exact"
    )
