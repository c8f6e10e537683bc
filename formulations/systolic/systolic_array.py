"""The derived array: PEs, I/O groups and I/O modules, in symbols. Data are tensors,
never arrays.

This is the model object of a design. `ithaca.formulations.systolic.derivation` builds it from a
loop nest, plug-ins from a published description; the cost model and every solver read only what
stands here. Tile sizes, counts and trips are expressions over the quantities of
`ithaca.formulations.systolic.quantities`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import prod

from ithaca.formulations.algebra.expression import (
    ONE,
    ZERO,
    Expression,
    add,
    minimum,
)
from ithaca.formulations.data_types import DRAM_PORT_BYTES, DataType
from ithaca.formulations.design import design_name
from ithaca.formulations.systolic.packages import Package, held_bytes, package_bytes, whole_bytes
from ithaca.formulations.systolic.quantities import pack, ports, tiles
from ithaca.workloads.sparsity import BlockSparsity


class Edition(Enum):
    """The edition of the cost model that a design follows."""

    EXACT = "exact"
    """The model as derived."""
    ODYSSEY = "odyssey"
    """The published estimator to the digit, with its omissions."""
    CYCLE = "cycle"
    """Latency by the closed form of what modules and FIFOs do, word by word; all else as
    derived."""


class GroupRole(Enum):
    """The role of an I/O group."""

    READ = "read"
    """A read-only tensor, into the PEs."""
    FLOW = "flow"
    """Partial sums of the output, in and out of the PEs."""
    DRAIN = "drain"
    """Finished elements of the output, out of the PEs."""


class Direction(Enum):
    """The direction in which an I/O module moves data."""

    IN = "in"
    """Copy-in: from DRAM to the PEs."""
    OUT = "out"
    """Copy-out: from the PEs to DRAM."""


class Epilogue(Enum):
    """A module's part of the epilogue."""

    NONE = "none"
    """Nothing: it is not active after the last tile."""
    TRANSFER = "transfer"
    """The transfer of one tile."""
    ONE_CYCLE = "one cycle"
    """One cycle, as the published estimator counts a locally reducing buffer."""


@dataclass(frozen=True, slots=True)
class DramAccess:
    """The access of the modules next to DRAM to their data there."""

    ports: bool = False
    """Whether a tensor may be spread over several memory ports."""
    serialized: bool = True
    """Whether the host lays tensors out as they are moved, where each has one DRAM module; else
    every row of a tile opens a burst."""
    two_level: bool = False
    """Whether tiles are tiled again, and these modules have buffers of their own."""


#: One memory port of each tensor, whose data the host lays out.
SERIALIZED = DramAccess()


@dataclass(frozen=True, slots=True)
class Packing:
    """The legal data packing factors of an I/O group (words)."""

    multiple_of: Expression
    """The factor is a power of two and a multiple of this (the SIMD factor, or 1)."""
    last: Expression
    """The last dimension of the data tile (words), which the factor divides."""
    max_bytes: int
    """The most bytes that a pack spans; never fewer than ``multiple_of`` words."""


@dataclass(frozen=True, slots=True)
class Module:
    """One level of an I/O group, in one direction."""

    name: str
    """``<group>_IO_L<level>_<in|out>``."""
    level: int
    """1 is next to the PEs."""
    direction: Direction
    """Copy-in or copy-out."""
    instances: Expression
    """How many such modules there are."""
    tiles: Expression
    """How many data tiles each of its buffers handles in a run."""
    buffer: bool
    """Whether it holds the group's buffer; whether it accesses DRAM. Both, one or none."""
    dram: bool
    chain: Expression = ONE
    """Lanes of the loop along which the buffer modules are chained."""
    intra: Expression = ZERO
    """Cycles per tile between buffer and PEs (buffer modules only)."""
    serialized: bool = False
    """Whether its data may lie contiguously in DRAM, as its tensor has no other such module (DRAM
    modules only)."""
    prologue: bool = False
    """Whether it works before the first tile is complete."""
    epilogue: Epilogue = Epilogue.NONE
    """The work after the last tile."""
    extra_words: Expression = ZERO
    """Words per tile that the edition adds to its off-chip words."""


@dataclass(frozen=True, slots=True)
class OuterBuffer:
    """The buffer of a module beside DRAM, where tiles are tiled again. It is filled and emptied in
    turns: it is not doubled."""

    size: Expression
    """Words that it holds."""
    last: Expression
    """Words of its last dimension: of a row, which lies in one piece in DRAM."""
    fills: Expression
    """How often it is filled in a run."""


@dataclass(frozen=True, slots=True)
class IOGroup:
    """The modules that move one tensor in one role."""

    name: str
    """Tensor name, with ``_1`` or ``_drain`` where needed; names the pack."""
    tensor: str
    """The tensor moved."""
    role: GroupRole
    """Read-only, flow or drain."""
    direction: str | None
    """The space loop along which PEs hand the data on (exterior); None where they do not
    (interior)."""
    size: Expression
    """Words of one data tile (one buffer)."""
    last: Expression
    """Words of its last dimension."""
    count: Expression
    """How many buffers there are."""
    double_buffered: bool
    """Whether each buffer is doubled."""
    locally_reducing: bool
    """Whether its buffers accumulate themselves."""
    packing: Packing
    """Legal data packing factors."""
    modules: tuple[Module, ...]
    """From the PEs towards DRAM; empty where data never leave the PEs."""
    split: str | None = None
    """The space loop whose lanes memory ports share, each with a DRAM module of its own; None where
    there is one port."""
    sparse: BlockSparsity | None = None
    """The block sparsity of the tensor, whose words are those of all places of its blocks; None
    where it is dense."""
    outer: OuterBuffer | None = None
    """The buffer of its module beside DRAM, where that has one beside the group's."""
    apart: Expression = ONE
    """0 where all rows of a buffer's tile lie one after the other in DRAM, else 1."""
    abreast: bool = False
    """Whether the tiles of a chain's buffers lie one after the other, too, where rows do."""

    @property
    def may_double(self) -> bool:
        """Whether its buffers may be doubled: it has some, and is no drain."""
        return self.role is not GroupRole.DRAIN and bool(self.buffers)

    @property
    def exterior(self) -> bool:
        """Whether PEs hand the data to their neighbours."""
        return self.direction is not None

    def package(self, data: DataType) -> Package:
        """The words that are stored as one; one of the output is a sum."""
        if self.role is not GroupRole.READ:
            return whole_bytes(data.sum_bytes, Fraction(1))
        own, sparse = data.format_of(self.tensor).word_bytes, self.sparse
        share = data.share(self.tensor)
        if sparse is None:
            return whole_bytes(own, share)
        held, moved = held_bytes(sparse, own), package_bytes(sparse, own)
        return Package(sparse.block, held, moved, own, share)

    @property
    def stored(self) -> int:
        """Words that PEs take as one: those of a block."""
        return 1 if self.sparse is None else self.sparse.block

    def port_words(self, data: DataType) -> int:
        """The words that the group's DRAM port moves at once at most: as many as are as wide as a
        port, or a sum for each SIMD lane."""
        lanes = 1 if self.packing.multiple_of == ONE else data.max_simd
        return max(int(DRAM_PORT_BYTES // self.package(data).word_bytes), lanes)

    @property
    def pack(self) -> Expression:
        """The group's data packing factor (words)."""
        return pack(self.name)

    @property
    def ports(self) -> Expression:
        """Memory ports that its tensor is spread over."""
        return ONE if self.split is None else ports(self.name)

    def opened(self, chain: Expression) -> Expression:
        """Bursts in which a memory port moves a tile of each buffer of a chain, where rows open
        them: rows that adjoin in DRAM are one."""
        rows, joined = chain * self.size / self.last, ONE if self.abreast else chain
        return self.apart * rows + (1 - self.apart) * joined

    def off_chip(self, module: Module) -> Expression:
        """Words that a DRAM module moves in a run."""
        if self.outer is not None:
            return self.outer.fills * self.outer.size
        return module.tiles * (self.count * self.size + module.extra_words)

    @property
    def buffers(self) -> tuple[Module, ...]:
        """The modules that hold a buffer."""
        return tuple(m for m in self.modules if m.buffer)

    @property
    def beside_dram(self) -> bool:
        """Whether its buffers are inside DRAM modules."""
        return any(m.dram for m in self.buffers)


@dataclass(frozen=True, slots=True)
class ProcessingElement:
    """The PEs of the array."""

    count: Expression
    """Number of PEs."""
    simd: Expression
    """MAC units per PE: the SIMD factor, of a block-sparse tensor for stored values alone."""
    trips: Expression
    """Cycles of work per tile."""
    tiles: Expression
    """Tiles in a run."""
    moves: Expression
    """Cycles of a run spent on loading and storing partial sums."""
    accumulators: Expression | None
    """Words of the PE's accumulator buffer; None where it has none. With it, the product of the
    latency hiding factors must cover the accumulator latency."""
    outputs: Expression = ONE
    """Accumulators that work at a time, and the width of their buffer (words): the SIMD factor
    where the SIMD loop is parallel, 1 where it reduces and its products are summed up first."""


@dataclass(frozen=True, slots=True)
class SystolicArray:
    """The array of one dataflow and permutation of one loop nest, in symbols; with data type and
    device it is a design."""

    workload: str
    """Name of the loop nest."""
    dataflow: tuple[str, ...]
    """The loops mapped to space."""
    permutation: str
    """The tensor whose reuse loops are innermost."""
    edition: Edition
    """The statement of the cost model it follows."""
    band: tuple[str, ...]
    """Tiled loops, and loops that run inside the PE."""
    untiled: tuple[str, ...]
    order: tuple[str, ...]
    """The array-partitioning loops, outermost first."""
    simd_loop: str
    """The loop vectorised inside a PE."""
    groups: tuple[IOGroup, ...]
    """In the order read-only tensors, flow, drain."""
    pe: ProcessingElement
    """The processing elements."""
    sequential: tuple[str, ...] = ()
    """Band loops that reduce and are not vectorised. Their iterations wait for each other's sums,
    so they hide no latency: their t2 is 1."""
    dram: DramAccess = SERIALIZED
    """How its data lie in DRAM."""

    @property
    def name(self) -> str:
        """The name of its design."""
        return design_name(self.dataflow, self.permutation, self.single)

    @property
    def single(self) -> tuple[str, ...]:
        """The tensors that have single buffers, of those whose buffers may be doubled."""
        groups = self.packed_groups
        return tuple(g.tensor for g in groups if g.may_double and not g.double_buffered)

    @property
    def modules(self) -> tuple[tuple[IOGroup, Module], ...]:
        """All I/O modules with their groups."""
        return tuple((group, module) for group in self.groups for module in group.modules)

    @property
    def helpers(self) -> Mapping[str, Expression]:
        """The modules that AutoSA adds at the ends of chains, and how many of each: they cost
        nothing here.

        A serialized DRAM module has a ``_serialize`` module between itself and DRAM, but where
        rows open bursts. *Dummy*
        modules take what the last PE of a chain hands on, or give zeros to the first where sums are
        handed on that nothing copies in.
        """
        return {
            **{f"{m.name}_serialize": 1 - self.bursts for _, m in self.modules if m.serialized},
            **self.dummies,
        }

    @property
    def dummies(self) -> Mapping[str, Expression]:
        """The dummy modules of `helpers`."""
        modules = {}
        for group in (group for group in self.groups if group.exterior):
            copied = any(module.direction is Direction.IN for module in group.modules)
            if group.role is GroupRole.READ or not copied:
                modules[
                    f"{group.name}_PE_dummy_{'in' if group.role is GroupRole.READ else 'out'}"
                ] = group.count
        return modules

    @property
    def split_groups(self) -> tuple[IOGroup, ...]:
        """The groups that may have several memory ports."""
        return tuple(group for group in self.groups if group.split is not None)

    @property
    def spread(self) -> Expression:
        """1 if any tensor has several memory ports, else 0."""
        ports = [group.ports for group in self.split_groups]
        return minimum(add(*ports, -len(ports)), ONE) if ports else ZERO

    @property
    def bursts(self) -> Expression:
        """1 if every row of a tile opens a burst, else 0: data of several memory ports are not laid
        out contiguously, nor are those of outer tiles."""
        return self.spread if self.dram.serialized and not self.dram.two_level else ONE

    @property
    def packed_groups(self) -> tuple[IOGroup, ...]:
        """The groups that move data, and so have a packing factor."""
        return tuple(group for group in self.groups if group.modules)

    @property
    def latency_hiding_loops(self) -> tuple[str, ...]:
        """The band loops whose t2 hides latency: the parallel ones but the SIMD loop."""
        return tuple(
            loop for loop in self.band if loop != self.simd_loop and loop not in self.sequential
        )

    @property
    def factors(self) -> int:
        """Tensors that are multiplied in every iteration."""
        return sum(group.role is GroupRole.READ for group in self.groups)

    @property
    def share(self) -> Fraction:
        """Iterations that multiply values that are stored, over all."""
        shares = [group.sparse.share for group in self.groups if group.sparse is not None]
        return prod(shares, start=Fraction(1))

    def staying(self, tensor: str) -> tuple[str, ...]:
        """The loops over tiles, innermost ones, in which a tensor's tile stays in its buffers."""
        moved = {
            name
            for group, module in self.modules
            if group.tensor == tensor
            for name in module.tiles.symbols
        }
        return tuple(loop for loop in self.order if tiles(loop).name not in moved)

    @property
    def obstacle(self) -> str | None:
        """The reason why HLS cannot build the design, or None where it can."""
        for group, module in self.modules:
            if group.role is GroupRole.FLOW and module.direction is Direction.IN:
                feedback = "a feedback loop that HLS does not synthesize"
                return f"partial sums of {group.tensor} are copied in ({module.name}): {feedback}"
        return None

    @property
    def hanging(self) -> IOGroup | None:
        """A read group that may make the array hang where sums come first; None where there is
        none.

        PEs hand it on beside their sums, and visit each output more than once: the neighbour's sum
        is wanted before the words are passed that the neighbour needs for it.
        """
        once = any(
            g.direction and g.role is GroupRole.FLOW and self.pe.trips == g.size / self.pe.outputs
            for g in self.groups
        )
        return None if once else next(filter(self.beside_sums, self.groups), None)

    def beside_sums(self, group: IOGroup) -> bool:
        """Whether PEs hand a tensor that is read on along the loop that is reduced in space, as
        they do their sums."""
        sums = {g.direction for g in self.groups if g.role is GroupRole.FLOW and g.exterior}
        return group.role is GroupRole.READ and group.direction in sums

    @property
    def buildable(self) -> bool:
        """Whether HLS can build the design."""
        return self.obstacle is None

    @property
    def reservation(self) -> str:
        """A reservation about a design that HLS cannot build; nothing of others."""
        return "" if self.obstacle is None else f"not buildable: {self.obstacle}"
