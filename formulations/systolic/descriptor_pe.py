"""The PEs of a published design description: dataflow, tile loops, work per tile."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.formulations.algebra.expression import Expression, Symbol, add
from ithaca.formulations.documents import Field
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.descriptor_quantities import Vocabulary, product, with_lanes
from ithaca.formulations.systolic.descriptor_trees import Block, above_array, has_loops, read_tree, steps
from ithaca.formulations.systolic.permutations import loop_order, permutations
from ithaca.formulations.systolic.quantities import lanes, t2, tiles
from ithaca.formulations.systolic.systolic_array import ProcessingElement
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest

#: What descriptions call the processing element.
PE = "PE"


@dataclass(frozen=True, slots=True)
class DescribedPE:
    """What a description says of the PEs.

    Attributes
    ----------
    dataflow : tuple of str
        The loops mapped to space.
    order : tuple of str
        The array-partitioning loops, outermost first.
    permutation : str
        The permutation that order belongs to.
    element : ProcessingElement
        The PEs themselves.
    """

    dataflow: tuple[str, ...]
    order: tuple[str, ...]
    permutation: str
    element: ProcessingElement


def read_pe(root: Field, nest: LoopNest, names: Vocabulary) -> DescribedPE:
    """Read ``compute.PE``, ``memory.PE`` and ``latency.PE``.

    Raises
    ------
    InputError
        If they are malformed, contradict each other or do not fit the nest.
    """
    compute = root["compute"][PE]
    compute["ele_type"].text()
    number = names.expression(compute["num"])
    if number != product(*(names.expression(dimension) for dimension in compute["dims"])):
        compute["num"].refuse("the product of dims")
    simd = names.expression(compute["unroll_factor"])
    if simd != t2(nest.simd):
        compute["unroll_factor"].refuse(f"the SIMD factor of loop {nest.simd}")
    field = root["latency"][PE]
    loops, body = above_array(read_tree(field, names), field)
    order = _order(loops, field, nest)
    # Blocks beside the compute loops load and store partial sums, a cycle each (published estimator).
    parts = body.children if isinstance(body, Block) and has_loops(body) else (body,)
    work = [part for part in parts if has_loops(part)] or [body]
    every_tile = product(*loops)
    element = ProcessingElement(
        count=with_lanes(number),
        simd=simd,
        trips=with_lanes(add(*map(steps, work))),
        tiles=every_tile,
        moves=(len(parts) - len(work)) * every_tile,
        accumulators=_accumulators(root, nest, names, number),
    )
    return DescribedPE(_dataflow(compute["dims"], nest, names), order, _permutation(order, field, nest), element)


def _dataflow(dimensions: Field, nest: LoopNest, names: Vocabulary) -> tuple[str, ...]:
    loop_of: dict[Expression, str] = {lanes(loop): loop for loop in nest.band}
    loops = []
    for field in dimensions:
        lane = with_lanes(names.expression(field))
        if lane not in loop_of:
            field.refuse(f"t1/t2 of a loop {', '.join(nest.band)}")
        loops.append(loop_of[lane])
    try:
        return find_dataflow(nest, tuple(loops))
    except InputError as error:
        raise InputError(f"{dimensions.path}: {error}") from None


def _order(loops: tuple[Expression, ...], field: Field, nest: LoopNest) -> tuple[str, ...]:
    loop_of = {tiles(loop): loop for loop in nest.band}
    order = tuple(loop_of[trips] for trips in loops if isinstance(trips, Symbol) and trips in loop_of)
    if len(order) != len(loops) or sorted(order) != sorted(nest.band):
        field.refuse(f"one loop over the tiles of each of {', '.join(nest.band)} above the mark 'array'")
    return order


def _permutation(order: tuple[str, ...], field: Field, nest: LoopNest) -> str:
    """The permutation with this order, up to the order within its two parts: that is free (Theorem 3.1)."""
    for access in nest.accesses:
        indexing = [access.indexed_by(loop) for loop in order]
        if indexing == sorted(indexing, reverse=True):
            return access.array
    orders = "; ".join(f"{array}: {', '.join(loop_order(nest, array))}" for array in permutations(nest))
    return field.refuse(f"the order of tile loops of a permutation ({orders}), not {', '.join(order)}")


def _accumulators(root: Field, nest: LoopNest, names: Vocabulary, number: Expression) -> Expression | None:
    memory = root["memory"].find(PE)
    if memory is None:
        return None
    memory["ele_type"].text()
    memory["ele_size"].positive()
    if names.expression(memory["num"]) != number:
        memory["num"].refuse("the number of PEs")
    if memory["array"].text() != nest.output.array:
        memory["array"].refuse(nest.output.array)
    return with_lanes(names.expression(memory["buf_size"]))
