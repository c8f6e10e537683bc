"""The description of hardware: a configuration with its machine and the widths of its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.machine import Machine, Sums
from ithaca.formulations.systolic.buffering import single_buffered
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.quantities import t2
from ithaca.formulations.systolic.systolic_array import DramAccess, Edition, GroupRole, IOGroup
from ithaca.plugins.rtl.formulations.addresses import AddressNest, ArrayAddresses

#: Bits of the exponent of floating-point numbers.
EXPONENTS = {"fp32": 8, "fp16": 5, "bf16": 8}


@dataclass(frozen=True)
class Hardware:
    """A configuration to be built."""

    configuration: ArrayConfiguration
    """The configuration, as `in_exact_edition` states it."""
    layers: tuple[Hardware, ...] = ()
    """The layers that it runs by sizes in registers: the configuration is that of one of them; none
    where it runs the configuration alone."""

    @property
    def runs(self) -> tuple[Hardware, ...]:
        """The hardware of each layer that it runs."""
        return self.layers or (self,)

    @property
    def sum_bits(self) -> int:
        """Bits of a sum: of floating point 32 are fp32, fewer are the type of words."""
        return self.configuration.data.accumulator_bits

    @property
    def exponent(self) -> int:
        """Bits of the exponent of a word; 0: words are integers."""
        return EXPONENTS.get(self.configuration.data.words, 0)

    @property
    def sum_type(self) -> str:
        """Type of a sum; integers wrap."""
        if not self.exponent:
            return f"int{self.sum_bits}"
        return "fp32" if self.sum_bits == 32 else self.configuration.data.words

    @property
    def later(self) -> bool:
        """Whether the sum of a neighbour is added to a finished one."""
        return self.out.direction is not None and self.machine.sums is Sums.LAST

    @property
    def machine(self) -> Machine:
        """The machine of the configuration."""
        return self.configuration.technology.machine

    @cached_property
    def places(self) -> ArrayAddresses:
        """The addresses of the words of each tensor."""
        chosen = self.configuration
        return ArrayAddresses(chosen.nest, chosen.design, chosen.quantities)

    def value(self, expression: Expression) -> int:
        """A whole number of the configuration."""
        return self.places.value(expression)

    @property
    def reads(self) -> tuple[IOGroup, ...]:
        """The groups of the tensors that are read."""
        groups = self.configuration.design.packed_groups
        return tuple(group for group in groups if group.role is GroupRole.READ)

    @property
    def out(self) -> IOGroup:
        """The group that writes the output: a drain, or a flow that buffers collect."""
        groups = self.configuration.design.packed_groups
        (out,) = (group for group in groups if group.role is not GroupRole.READ)
        return out

    @property
    def outputs(self) -> int:
        """Sums that a PE gives at a time."""
        return self.value(self.configuration.design.pe.outputs)

    @property
    def simd(self) -> int:
        """MAC units of a PE."""
        return self.value(self.configuration.design.pe.simd)

    @property
    def vector(self) -> int:
        """Iterations of the SIMD loop in a turn: more than MAC units where a tensor is stored in
        blocks, each of which is one of its elements here, a package."""
        return self.value(t2(self.configuration.nest.simd))

    def bits(self, group: IOGroup) -> int:
        """Bits of an element."""
        return 8 * int(group.package(self.configuration.data).held)

    def moved_bits(self, group: IOGroup) -> int:
        """Bits of an element in memory, where packages are padded."""
        return int(8 * group.package(self.configuration.data).moved)

    def pack(self, group: IOGroup) -> int:
        """Elements of a pack."""
        return self.value(group.pack) // group.stored

    def width(self, group: IOGroup) -> int:
        """Bits of a pack in memory."""
        return self.pack(group) * self.moved_bits(group)

    def shape(self, group: IOGroup) -> list[int]:
        """The dimensions of the padded tensor."""
        *outer, last = self.places.tensor_shape(self.places.access(group.tensor))
        return [*outer, last // group.stored]

    def place(self, group: IOGroup) -> list[slice]:
        """The place of a tensor in its padded one."""
        *outer, last = self.places.tensor_place(self.places.access(group.tensor))
        return [*outer, slice(last.start // group.stored, last.stop // group.stored)]

    def stream(self, group: IOGroup) -> AddressNest:
        """The first elements of all packs that a port moves from or to the padded tensor."""
        if group.outer is not None:
            return self.places.outer_tile(group)[0]
        return self.places.stream(group).over(group.stored)

    def in_pack(self, group: IOGroup) -> AddressNest:
        """The elements of a pack in the padded tensor, from its first on."""
        return _of_blocks(self.places.in_pack(group), group.stored)

    def elements(self, group: IOGroup, weights: Sequence[int]) -> AddressNest:
        """All elements that a group moves, in order, where dimensions of the padded tensor have
        these weights in an address."""
        if group.outer is not None:  # packs are parts of rows
            rows, pack = self.places.outer_tile(group, weights)[0], self.pack(group)
            return AddressNest((*rows.axes, (pack, rows.axes[-1][1] // pack)), rows.base)
        *outer, last = weights
        moved = self.places.elements(group, [*(each * group.stored for each in outer), last])
        return _of_blocks(moved, group.stored)

    def again(self, group: IOGroup) -> int:
        """The number of times that a buffer feeds a tile, or of tiles that it adds up."""
        pe, reads = self.configuration.design.pe, group.role is GroupRole.READ
        return self.value(group.modules[0].intra / (pe.trips if reads else group.size / pe.outputs))

    def word(self, group: IOGroup) -> int:
        """Elements that a PE takes or gives at a time."""
        if group.role is not GroupRole.READ:
            return self.outputs
        strides = self.places.lane_stride(self.places.access(group.tensor))
        return self.vector // group.stored if strides else 1

    def in_tile(self, group: IOGroup) -> AddressNest:
        """The elements of a tile in the order in which a PE takes or gives them."""
        if group.role is GroupRole.READ:
            return self.places.feed(self.places.access(group.tensor)).over(group.stored)
        return self.places.sums()

    @property
    def trips(self) -> AddressNest:
        """The accumulator of every turn of a PE: tiles that add to a sum, blocks of sums, visits,
        and what hides latency.

        Where sums are handed on they leave with every tile, and blocks share their accumulators.
        """
        blocks, *inner = self.places.accumulators().axes
        if self.out.role is not GroupRole.DRAIN:
            return AddressNest(((1, 0), (blocks[0], 0), *inner))
        tiles = self.configuration.design.pe.tiles / self.out.modules[0].tiles
        return AddressNest(((self.value(tiles), 0), blocks, *inner))

    @property
    def held(self) -> int:
        """Accumulators of each sum that a PE gives at a time."""
        return max(map(_held, self.runs))

    @property
    def apart(self) -> int:
        """Turns of a PE from one that needs an accumulator to the next."""
        return min(each.trips.axes[-1][0] for each in self.runs)


def _of_blocks(nest: AddressNest, elements: int) -> AddressNest:
    """Blocks of so many elements, over which the innermost loop runs."""
    *outer, (count, step) = nest.axes or ((1, 1),)
    blocks = AddressNest((*outer, (count // elements, step * elements)), nest.base)
    return blocks.over(elements)


def _held(hardware: Hardware) -> int:
    (tiles, _), (blocks, stride), (visits, _), (hidden, _) = hardware.trips.axes
    return 1 if tiles * visits == 1 else blocks * hidden if stride else hidden


def obstacles(configuration: ArrayConfiguration) -> Iterator[str]:
    """Every reason why a configuration cannot be built."""
    design, machine = configuration.design, configuration.technology.machine
    if design.obstacle is not None:
        yield design.obstacle
    for name, allowed, fits in (
        ("swap", "1", machine.swap == 1),
        ("entry", "0", machine.entry == 0),
        ("hop", "at least 2", machine.hop >= 2),
        ("mac", "at least 2", machine.mac >= 2),
    ):
        if not fits:
            yield (
                f"the machine's {name} is {getattr(machine, name)}; allowed: {allowed} "
                "(as of --platform rtl-open)"
            )
    if design.obstacle is None:
        stated = in_exact_edition(configuration)
        if stated is None:
            yield f"edition {design.edition.value} states no packs for all modules"
        else:
            yield from _of_words(Hardware(stated))


def _of_words(hardware: Hardware) -> Iterator[str]:
    for group in (*hardware.reads, hardware.out):
        word, places = hardware.word(group), hardware.places
        stride = places.lane_stride(places.access(group.tensor))
        if len(hardware.in_pack(group).axes) > 2:
            yield f"packs of {group.tensor} go over more than two of its dimensions"
        elif group.outer is not None and not _in_rows(hardware, group):
            yield (
                f"packs of {group.tensor} of {hardware.value(group.pack)} are no parts of the rows "
                "of its outer tiles; allowed: packs that divide them"
            )
        elif word > 1 and (
            stride != 1
            or not hardware.in_tile(group).multiple_of(word)
            or hardware.pack(group) % word
        ):
            yield (
                f"SIMD words of {group.tensor} straddle its packs of "
                f"{hardware.value(group.pack)}; allowed: packs that hold them whole"
            )


def _in_rows(hardware: Hardware, group: IOGroup) -> bool:
    """Whether the packs of a group divide the rows of its buffer beside DRAM."""
    assert group.outer is not None
    pack, places = hardware.value(group.pack), hardware.places
    if pack == 1:
        return True
    return (
        places.in_pack(group).axes == ((pack, 1),)
        and hardware.value(group.outer.last) % pack == 0
        and places.outer_tile(group)[1].multiple_of(pack)
    )


def in_exact_edition(configuration: ArrayConfiguration) -> ArrayConfiguration | None:
    """A configuration in the edition that says what modules there are, with words as they are
    built; None where it states no packs for all of them."""
    design, tiling = configuration.design, configuration.tiling
    dram = DramAccess(two_level=design.dram.two_level)
    exact = single_buffered(
        derive(configuration.nest, design.dataflow, design.permutation, Edition.EXACT, dram),
        design.single,
    )
    names = [group.name for group in exact.packed_groups]
    if not set(names) <= set(tiling.pack):
        return None
    packs = {name: tiling.pack[name] for name in names}
    return replace(
        configuration,
        design=exact,
        data=configuration.data.built,
        tiling=replace(tiling, pack=packs, ports={}),
    )
