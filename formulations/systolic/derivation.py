"""Derive the array of a dataflow and permutation (`docs/concepts.md`, `docs/cost-model.md`).

Nothing here knows the names of a nest's loops or tensors, and no design is tabulated. Where those
rules speak of the one tiled reduction loop of their two nests, others may have none or several:

- Partial sums leave the array only between tiles of a reduction loop that lies outside of a
  parallel one (*carried*). Tiles of the innermost reductions follow each other and are summed up
  where the first one was.
- A reduction in time, tiled or not, is summed up in the PE before a chain of PEs takes it on.
- A reduction loop that is not vectorised hides no latency: its t2 is 1.
- A parallel SIMD loop (a depthwise layer's channels) gives each lane an accumulator of its own.
  Their buffer is SIMD words wide, moves as many per cycle, and each sums up one product per cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import ONE, ZERO, Expression, add, multiply
from ithaca.formulations.systolic.buffering import single_buffered
from ithaca.formulations.systolic.dataflows import any_extents, dataflows, loop_order, permutations
from ithaca.formulations.systolic.ports import rows_apart, serialized, split
from ithaca.formulations.systolic.quantities import extent, lanes, t1, t2, tiles
from ithaca.formulations.systolic.systolic_array import (
    SERIALIZED,
    Direction,
    DramAccess,
    Edition,
    Epilogue,
    GroupRole,
    IOGroup,
    Module,
    Packing,
    ProcessingElement,
    SystolicArray,
)
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest

#: Widest data pack of a buffer next to the PEs, and of any other (bytes).
L1_PACK_BYTES, OUTER_PACK_BYTES = 16, 64


def designs(nest: LoopNest, edition: Edition = Edition.EXACT) -> tuple[SystolicArray, ...]:
    """Derive every design of a nest: all dataflows, each in all permutations."""
    return tuple(
        derive(nest, dataflow, tensor, edition)
        for dataflow in dataflows(nest)
        for tensor in permutations(nest)
    )


def derive(
    nest: LoopNest,
    dataflow: tuple[str, ...],
    permutation: str,
    edition: Edition = Edition.EXACT,
    dram: DramAccess = SERIALIZED,
) -> SystolicArray:
    """Derive the array of one dataflow and permutation; the nest's extents stay symbols.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    dataflow : tuple of str
        One or two of its space loops.
    permutation : str
        The tensor whose reuse loops are innermost.
    edition : Edition, optional
        The edition of the cost model.
    dram : DramAccess, optional
        How its data lie in DRAM.

    Returns
    -------
    SystolicArray
        The array.

    Raises
    ------
    InputError
        If there is no such permutation, both space loops are reductions, the edition has no data
        but those that the host lays out, or no two levels of tiles fit.
    """
    if edition is Edition.ODYSSEY and not dram.serialized:
        raise InputError(
            "--no-host-serialize does not go with --edition odyssey, which publishes data that the "
            "host lays out; allowed: --edition cycle or exact"
        )
    return _derive(any_extents(nest), dataflow, permutation, edition, dram)


def in_edition(nest: LoopNest, array: SystolicArray, edition: Edition) -> SystolicArray:
    """A derived array of a nest in another edition.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    array : SystolicArray
        An array of it.
    edition : Edition
        The edition of the cost model.
    """
    derived = derive(nest, array.dataflow, array.permutation, edition, array.dram)
    return single_buffered(derived, array.single)


@lru_cache(maxsize=1024)
def _derive(
    nest: LoopNest, dataflow: tuple[str, ...], permutation: str, edition: Edition, dram: DramAccess
) -> SystolicArray:
    if not nest.simd:
        raise InputError(
            "simd is missing and no tiled loop is an obvious choice; "
            f"allowed: one of {', '.join(nest.band)}"
        )
    if nest.sparse is not None and edition is Edition.ODYSSEY:
        raise InputError(
            f"block sparsity {nest.sparse}: --edition odyssey publishes dense arrays alone; "
            "allowed: --edition cycle or exact"
        )
    if len(dataflow) > 1 and set(dataflow) <= set(nest.reduction_loops):
        raise InputError(
            f"dataflow {','.join(dataflow)}: two reduction loops in space are not supported"
        )
    context = _Context(nest, dataflow, loop_order(nest, permutation), edition)
    groups = [context.read_group(access) for access in nest.inputs]
    groups += context.output_groups()
    if context.odyssey:
        groups = _merge_drain(groups)
    beside_dram = [g.tensor for g in groups for m in g.modules if m.dram]
    if dram.two_level:
        from ithaca.formulations.systolic.two_level import with_outer_buffers

        groups = with_outer_buffers(groups, nest, dataflow, context.order)
    elif len(beside_dram) == len({*beside_dram}):
        groups = [serialized(group) for group in groups]
    if dram.ports:
        groups = [split(group, dataflow) for group in groups]
    return SystolicArray(
        workload=nest.name,
        dataflow=dataflow,
        permutation=permutation,
        edition=edition,
        band=nest.band,
        untiled=tuple(loop for loop in nest.loops if loop in nest.untiled),
        order=context.order,
        simd_loop=nest.simd,
        groups=tuple(groups),
        pe=context.processing_element(groups),
        sequential=nest.sequential_loops,
        dram=dram,
    )


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of all rules: the nest, the dataflow, the loop order, the edition."""

    nest: LoopNest
    dataflow: tuple[str, ...]
    order: tuple[str, ...]
    edition: Edition

    @property
    def odyssey(self) -> bool:
        return self.edition is Edition.ODYSSEY

    @property
    def dram_level(self) -> int:
        return len(self.dataflow) + 1

    @property
    def innermost_reductions(self) -> tuple[str, ...]:
        """Reduction loops inside of all others: their tiles follow each other on one output
        tile."""
        kept = len(self.order)
        while kept and self.order[kept - 1] in self.nest.reduction_loops:
            kept -= 1
        return self.order[kept:]

    @property
    def carried_reductions(self) -> tuple[str, ...]:
        """Reduction loops outside of a parallel one: between their tiles, partial sums leave the
        array."""
        return tuple(
            x
            for x in self.order
            if x in self.nest.reduction_loops and x not in self.innermost_reductions
        )

    @property
    def visits(self) -> Expression:
        """The number of times that partial sums of an output tile are left and come back to, the
        last time included."""
        return _product(tiles(loop) for loop in self.carried_reductions)

    @property
    def output_tiles(self) -> Expression:
        return _product(tiles(loop) for loop in self.order if loop not in self.nest.reduction_loops)

    @property
    def outputs(self) -> Expression:
        """Words of the output that a PE computes at a time."""
        return t2(self.nest.simd) if self.nest.output.indexed_by(self.nest.simd) else ONE

    @property
    def spatial_reduction(self) -> str | None:
        return next((loop for loop in self.dataflow if loop in self.nest.reduction_loops), None)

    def pe_trips(self) -> Expression:
        """Cycles of a PE per tile (T in `docs/cost-model.md`)."""
        nest = self.nest
        return _product(
            [*(lanes(loop) for loop in nest.band if loop not in self.dataflow)]
            + [extent(loop) for loop in nest.loops if loop in nest.untiled]
            + [t2(loop) for loop in nest.band if loop != nest.simd]
        )

    # -- step 4: buffers ---------------------------------------------------------------

    def tile_dimensions(self, access: Access) -> tuple[Expression, ...]:
        return tuple(self._dimension(subscript) for subscript in access)

    def _dimension(self, subscript: Affine) -> Expression:
        # Σ |coefficient|·(ext − 1) + 1, with the constants gathered; elements that are stepped over
        # are not stored
        reach = {loop: abs(c) for loop, c in subscript.without_gaps(self.nest.once).terms}
        return add(
            *(c * self._inner_extent(loop) for loop, c in reach.items()), 1 - sum(reach.values())
        )

    def _inner_extent(self, loop: str) -> Expression:
        if loop in self.dataflow:
            return t2(loop)
        return extent(loop) if loop in self.nest.untiled else t1(loop)

    # -- step 3: levels ----------------------------------------------------------------

    def lanes_of(self, loop: str, role: GroupRole) -> Expression:
        """Lanes of a space loop; only the last PE of a reduction chain drains."""
        return ONE if role is GroupRole.DRAIN and loop in self.nest.reduction_loops else lanes(loop)

    def chained_loop(self, level: int, direction: str) -> str | None:
        """The loop along which the modules of a level are chained; None at DRAM."""
        if level == 1:
            return direction
        others = [loop for loop in self.dataflow if loop != direction]
        return others[0] if level == 2 and others else None

    def module_count(self, level: int, direction: str, role: GroupRole) -> Expression:
        if level == 1:
            return _product(self.lanes_of(loop, role) for loop in self.dataflow)
        chained = self.chained_loop(level, direction)
        return ONE if chained is None else self.lanes_of(chained, role)

    # -- steps 1, 2 and 7: groups, modules, their loops --------------------------------

    def read_group(self, access: Access) -> IOGroup:
        direction = next((loop for loop in self.dataflow if not access.indexed_by(loop)), None)
        buffer_level = 1 if direction is None else 2
        kept = len(self.order)
        if buffer_level == self.dram_level - 1:
            while kept > 1 and not access.indexed_by(self.order[kept - 1]):
                kept -= 1
        skipped = _product(tiles(loop) for loop in self.order[kept:])
        modules = self._modules(
            access.tensor,
            GroupRole.READ,
            Direction.IN,
            direction,
            count=_product(tiles(loop) for loop in self.order[:kept]),
            intra=self.pe_trips() * skipped,
            prologue=True,
            epilogue=Epilogue.NONE,
        )
        return self._group(access.tensor, access, GroupRole.READ, direction, modules)

    def output_groups(self) -> list[IOGroup]:
        output, spatial = self.nest.output, self.spatial_reduction
        groups = []
        if spatial is None:
            groups.append(self._flow_group(output.tensor, None))
        else:
            # reductions that run in time are summed up before a PE hands its sums on
            interior_too = any(loop not in self.dataflow for loop in self.nest.reduction_loops)
            if interior_too:
                groups.append(self._group(output.tensor, output, GroupRole.FLOW, None, ()))
            groups.append(
                self._flow_group(f"{output.tensor}_1" if interior_too else output.tensor, spatial)
            )
        if not groups[-1].locally_reducing:
            groups.append(self._drain_group(f"{output.tensor}_drain"))
        return groups

    def _flow_group(self, name: str, direction: str | None) -> IOGroup:
        output = self.nest.output
        local = direction is not None and bool(self.innermost_reductions)
        visits = ONE if self.odyssey else self.visits
        cycles = _product(self.tile_dimensions(output)) / self.outputs
        modules: tuple[Module, ...] = ()
        if self.carried_reductions:
            passes = ONE if self.odyssey else visits - 1
            ways = (Direction.IN,) if local else tuple(Direction)
            for way in ways:
                modules += self._modules(
                    name,
                    GroupRole.FLOW,
                    way,
                    direction,
                    count=self.output_tiles * passes,
                    intra=cycles,
                    prologue=self.odyssey and way is Direction.IN,
                    epilogue=Epilogue.TRANSFER
                    if self.odyssey and way is Direction.OUT
                    else Epilogue.NONE,
                )
        if local:
            modules += self._modules(
                name,
                GroupRole.FLOW,
                Direction.OUT,
                direction,
                count=self.output_tiles * visits,
                intra=cycles * _product(tiles(loop) for loop in self.innermost_reductions),
                prologue=False,
                epilogue=Epilogue.TRANSFER,
                locally_reducing=True,
            )
        return self._group(name, output, GroupRole.FLOW, direction, modules, local)

    def _drain_group(self, name: str) -> IOGroup:
        output = self.nest.output
        modules = self._modules(
            name,
            GroupRole.DRAIN,
            Direction.OUT,
            None,
            count=self.output_tiles,
            intra=_product(self.tile_dimensions(output)) / self.outputs,
            prologue=False,
            epilogue=Epilogue.TRANSFER,
        )
        return self._group(name, output, GroupRole.DRAIN, None, modules)

    def _modules(
        self,
        group: str,
        role: GroupRole,
        way: Direction,
        direction: str | None,
        *,
        count: Expression,
        intra: Expression,
        prologue: bool,
        epilogue: Epilogue,
        locally_reducing: bool = False,
    ) -> tuple[Module, ...]:
        along = direction or self.dataflow[0]
        buffer_level = 1 if direction is None else 2
        modules = []
        for level in range(buffer_level, self.dram_level + 1):
            chained = self.chained_loop(level, along)
            buffer, dram = level == buffer_level, level == self.dram_level
            module = Module(
                name=f"{group}_IO_L{level}_{way.value}",
                level=level,
                direction=way,
                instances=self.module_count(level, along, role),
                tiles=count,
                buffer=buffer,
                dram=dram,
                chain=ONE if chained is None or not buffer else self.lanes_of(chained, role),
                intra=intra if buffer else ZERO,
                prologue=prologue,
                epilogue=epilogue,
            )
            if self.odyssey and buffer:
                if locally_reducing:
                    module = replace(module, epilogue=Epilogue.ONE_CYCLE)
                if dram:
                    module = replace(module, extra_words=intra + 1)
            modules.append(module)
        return tuple(modules)

    def _group(
        self,
        name: str,
        access: Access,
        role: GroupRole,
        direction: str | None,
        modules: tuple[Module, ...],
        locally_reducing: bool = False,
    ) -> IOGroup:
        dimensions, sparse = self.tile_dimensions(access), self.nest.sparse
        buffer_level = 1 if direction is None else 2
        chained = self.chained_loop(buffer_level, direction or self.dataflow[0])
        return IOGroup(
            name=name,
            tensor=access.tensor,
            role=role,
            direction=direction,
            size=_product(dimensions),
            last=dimensions[-1],
            count=self.module_count(buffer_level, direction or self.dataflow[0], role),
            double_buffered=role is not GroupRole.DRAIN,
            locally_reducing=locally_reducing,
            packing=Packing(
                multiple_of=t2(self.nest.simd) if access.indexed_by(self.nest.simd) else ONE,
                last=dimensions[-1],
                max_bytes=L1_PACK_BYTES if buffer_level == 1 else OUTER_PACK_BYTES,
            ),
            modules=modules,
            sparse=sparse if sparse is not None and sparse.tensor == access.tensor else None,
            apart=rows_apart(access, self.nest, self.dataflow, dimensions),
            abreast=access.subscripts[-2:][0].terms == ((chained, 1),),
        )

    # -- step 6: the PE ----------------------------------------------------------------

    def processing_element(self, groups: list[IOGroup]) -> ProcessingElement:
        interior = next((g for g in groups if g.role is GroupRole.FLOW and not g.exterior), None)
        all_tiles = _product(tiles(loop) for loop in self.order)
        moves: Expression = ZERO
        if interior is not None and interior.modules:
            again = 2 * interior.size / self.outputs * self.output_tiles * (self.visits - 1)
            moves = 2 * all_tiles if self.odyssey else again
        return ProcessingElement(
            count=_product(lanes(loop) for loop in self.dataflow),
            simd=t2(self.nest.simd) * self.nest.share,
            trips=self.pe_trips(),
            tiles=all_tiles,
            moves=moves,
            accumulators=None if interior is None else interior.size,
            outputs=self.outputs,
        )


def _product(factors: object) -> Expression:
    return multiply(*factors)  # type: ignore[misc]


def _merge_drain(groups: list[IOGroup]) -> list[IOGroup]:
    """Drop the drain where a copy-out of the same size and count exists (odyssey model edition)."""
    flows = {(g.size, g.count) for g in groups if g.role is GroupRole.FLOW and g.modules}
    return [g for g in groups if g.role is not GroupRole.DRAIN or (g.size, g.count) not in flows]
