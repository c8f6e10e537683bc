"""The design space: candidate rows per axis (DESIGN.md §4).

An *axis* is what a search chooses independently of the rest: a row (tiles, t1, t2, lanes) of
one band loop, together with the packs whose legality depends on that loop alone. A pack that
depends on several loops gets an axis of its own, and its legality is checked per point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.data_types import DataType
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.packing import inferred_pack, pack_is_legal, pack_options
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling

Rows = NDArray[np.int64]

#: Rows generated at once; bounds the memory of large extents.
CHUNK_ROWS = 1 << 20


@dataclass(frozen=True)
class Axis:
    """One independent choice.

    Attributes
    ----------
    name : str
        The band loop, or ``pack.<group>`` for a pack of its own.
    symbols : frozenset of str
        Names of the quantities its rows fix.
    packs : tuple of IOGroup
        The I/O groups whose pack its rows fix.
    loop : str or None
        The band loop; None for a pack of its own.
    """

    name: str
    symbols: frozenset[str]
    packs: tuple[IOGroup, ...]
    loop: str | None


def axes(array: SystolicArray) -> tuple[Axis, ...]:
    """The axes of a design: one per band loop, and one per pack that spans several."""
    own = {loop: frozenset(q(loop).name for q in _LOOP_QUANTITIES) for loop in array.band}
    packs: dict[str, list[IOGroup]] = {loop: [] for loop in array.band}
    separate = []
    for group in array.packed_groups:
        needed = {s for s in group.packing.last.symbols | group.packing.multiple_of.symbols if not s.startswith("extent.")}
        home = next((loop for loop in array.band if needed <= own[loop]), None)
        if home is None:
            separate.append(group)
        else:
            packs[home].append(group)
    found = [
        Axis(loop, own[loop] | {quantities.pack(g.name).name for g in packs[loop]}, tuple(packs[loop]), loop)
        for loop in array.band
    ]
    found += [Axis(quantities.pack(g.name).name, frozenset({quantities.pack(g.name).name}), (g,), None) for g in separate]
    return tuple(found)


def candidate_rows(problem: Problem, axis: Axis) -> Iterator[dict[str, Rows]]:
    """All candidate rows of an axis, in chunks, as one integer array per quantity.

    Every row is legal by itself: t2 divides t1, SIMD and packs are legal.
    """
    given = problem.physical.given(problem.array)
    if axis.loop is None:
        group = axis.packs[0]
        yield _matching({quantities.pack(group.name).name: pack_options(group.packing, problem.data)}, given)
        return
    constants = {f"extent.{loop}": n for loop, n in problem.nest.sizes.items()}
    for base in _loop_rows(problem, axis.loop):
        rows = _matching(base, given)
        for group in axis.packs:
            rows = _matching(_with_pack(problem, group, rows, constants), given)
        yield rows


def _matching(rows: dict[str, Rows], given: Mapping[str, int]) -> dict[str, Rows]:
    """The rows whose quantities are as given."""
    keep = [rows[name] == value for name, value in given.items() if name in rows]
    return {name: values[np.logical_and.reduce(keep)] for name, values in rows.items()} if keep else rows


def tiling_of(array: SystolicArray, values: Mapping[str, int]) -> Tiling:
    """The tiling whose quantities are ``values``."""
    return Tiling(
        array_part={loop: values[quantities.t1(loop).name] for loop in array.band},
        latency_hiding={loop: values[quantities.t2(loop).name] for loop in array.latency_hiding_loops},
        simd=values[quantities.t2(array.simd_loop).name],
        pack={group.name: values[quantities.pack(group.name).name] for group in array.packed_groups},
    )


def largest_t1(extent: int) -> int:
    """Largest array partitioning factor considered for a loop (padding allowed)."""
    return max(2 * extent, 16)


def simd_options(data: DataType) -> Rows:
    """The SIMD factors: powers of two up to the widest vector."""
    return 2 ** np.arange(data.max_simd.bit_length(), dtype=np.int64)


_LOOP_QUANTITIES = (quantities.tiles, quantities.t1, quantities.t2, quantities.lanes)


def _loop_rows(problem: Problem, loop: str) -> Iterator[dict[str, Rows]]:
    extent, space = problem.nest.sizes[loop], problem.space
    top = largest_t1(extent)
    if loop == problem.array.simd_loop:
        inner = simd_options(problem.data)
    else:
        inner = np.arange(1, 2 if loop in problem.array.sequential else top + 1, dtype=np.int64)
    inner = inner[inner <= top]
    lane_counts = top // inner
    if loop in problem.array.dataflow and problem.physical.idle_lanes:
        idle = inner == 1 if loop != problem.array.simd_loop else np.ones(inner.size, bool)
        lane_counts[idle] = np.maximum(lane_counts[idle], problem.physical.idle_lanes)
    # chunk boundaries by cumulated row count, so that a chunk holds whole runs of one t2
    chunk_of = np.cumsum(lane_counts) // CHUNK_ROWS
    for chunk in range(int(chunk_of[-1]) + 1):
        mine = chunk_of == chunk
        counts = lane_counts[mine]
        if not counts.size:
            continue
        t2 = np.repeat(inner[mine], counts)
        lanes = np.arange(1, t2.size + 1) - np.repeat(np.cumsum(counts) - counts, counts)
        t1 = t2 * lanes
        keep = np.ones(t1.size, bool)
        if loop in problem.array.dataflow:
            keep &= lanes >= space.min_lanes
        if space.divisors_only:
            keep &= extent % t1 == 0
        t1, t2, lanes = t1[keep], t2[keep], lanes[keep]
        values = (-(-extent // t1), t1, t2, lanes)
        yield {q(loop).name: v for q, v in zip(_LOOP_QUANTITIES, values, strict=True)}


def _with_pack(problem: Problem, group: IOGroup, rows: dict[str, Rows], constants: Mapping[str, int]) -> dict[str, Rows]:
    """Cross rows with the legal packs of a group."""
    count = next(iter(rows.values())).size
    last, multiple = (
        np.broadcast_to(np.asarray(e.evaluate({**constants, **rows}, NUMPY), dtype=np.int64), (count,))
        for e in (group.packing.last, group.packing.multiple_of)
    )
    name = quantities.pack(group.name).name
    if problem.array.edition is Edition.ODYSSEY:
        pack, legal = inferred_pack(last, multiple, group.packing)
        if problem.space.dividing_packs:
            legal &= last % np.maximum(pack, 1) == 0
        return {**{q: v[legal] for q, v in rows.items()}, name: pack[legal]}
    found = []
    for option in pack_options(group.packing, problem.data):
        legal = pack_is_legal(np.full(count, option), last, multiple, group.packing, problem.data)
        found.append({**{q: v[legal] for q, v in rows.items()}, name: np.full(int(legal.sum()), option)})
    return {q: np.concatenate([f[q] for f in found]) for q in (*rows, name)}


def pack_legality(problem: Problem, group: IOGroup, pack: Rows, last: Rows, multiple: Rows) -> NDArray[np.bool_]:
    """Whether powers of two are legal packs of a group where its tile is such (DESIGN.md §5.5)."""
    if problem.array.edition is Edition.ODYSSEY:
        expected, legal = inferred_pack(last, multiple, group.packing)
        legal &= expected == pack
        return legal & (last % pack == 0) if problem.space.dividing_packs else legal
    return pack_is_legal(pack, last, multiple, group.packing, problem.data)
