"""The cost model, stated once (`docs/cost-model.md`; after Wang & Cong, Odyssey, §3.3).

`evaluate` is plain arithmetic over the quantities of a design and works in every number system of
`ithaca.formulations.algebra.number_systems`: on Fractions it is the reference, on NumPy or xarray
arrays it scores many candidates, on intervals it bounds regions, on symbols it writes every metric
down as an expression. The editions differ only in what the derived array states. Units: cycles and
words, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.data_types import DRAM_PORT_BYTES, DataType
from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.cycle_arithmetic import BURST_LATENCY
from ithaca.formulations.systolic.cycle_terms import Cycles
from ithaca.formulations.systolic.cycles import cycles as one_level_cycles
from ithaca.formulations.systolic.point import Point
from ithaca.formulations.systolic.ports import busiest, crowded
from ithaca.formulations.systolic.quantities import ACCUMULATORS, t2
from ithaca.formulations.systolic.systolic_array import (
    Edition,
    Epilogue,
    IOGroup,
    Module,
    SystolicArray,
)
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology

#: One BRAM18K block: 512 words of 36 bits; of URAM: 4,096 of 72.
BRAM_WIDTH, BRAM_DEPTH = 36, 512
URAM_WIDTH, URAM_DEPTH = 72, 4096


def _closed_form(array: SystolicArray) -> Callable[[Point, Machine], Cycles]:
    """The closed form of cycles of an array."""
    if array.single:
        from ithaca.formulations.systolic.single_buffer_cycles import single_buffer_cycles

        return single_buffer_cycles
    if not array.dram.two_level:
        return one_level_cycles
    from ithaca.formulations.systolic.two_level_cycles import two_level_cycles

    return two_level_cycles


@dataclass(frozen=True, slots=True)
class ModuleCost:
    """Cost of one I/O module."""

    transfer: Any
    """Cycles per tile on the DRAM side (`inter` for a buffer)."""
    per_tile: Any
    """Cycles per tile in steady state."""
    total: Any
    """``per_tile`` times the tiles of a run."""


@dataclass(frozen=True, slots=True)
class Costs:
    """All metrics of a design at one point (or at an array of points)."""

    prologue: Any
    """The three parts of the latency (cycles)."""
    main: Any
    epilogue: Any
    latency: Any
    """All three."""
    pe: Any
    """Cycles a PE works."""
    modules: Mapping[str, ModuleCost]
    """Detail per I/O module."""
    comp: Any
    """Multiply-accumulate units of all PEs."""
    dsp: Any
    """DSP blocks and 18-kbit block RAMs."""
    bram18k: Any
    blocks: NumbersByName
    """The block RAMs by what holds words: an I/O group, the PEs (`ACCUMULATORS`), or a tensor that
    stays on chip."""
    uram_blocks: NumbersByName
    """The URAM blocks by I/O group, of those whose buffers are of URAM."""
    words: NumbersByName
    """Off-chip words per tensor."""
    off_chip_bytes: Any
    """Bytes moved between the array and DRAM."""
    kept_words: tuple[Any, ...]
    """Words moved to and from tensors that stay on chip."""
    accumulation: Any
    """Slack of the accumulator condition, Π t2 − factor · products summed per accumulator and
    cycle; a design that accumulates in place needs it ≥ 0. For others it is informative only."""
    point: Point
    """Where they were evaluated."""

    @property
    def meets_bounds(self) -> Any:
        """Whether PEs that accumulate in place hide the accumulator's latency."""
        return self.point.array.pe.accumulators is None or self.accumulation >= 0

    @property
    def uram(self) -> Any:
        """The number of URAM blocks of all modules."""
        return sum(self.uram_blocks.values(), start=self.point.constant(0))

    @property
    def off_chip_words(self) -> Any:
        """Words moved between the array and DRAM."""
        return sum(list(self.words.values())[1:], start=next(iter(self.words.values())))


def evaluate(
    array: SystolicArray,
    values: NumbersByName,
    data: DataType,
    numbers: NumberSystem,
    technology: Technology = DEFAULT_TECHNOLOGY,
    kept: Mapping[str, int] | None = None,
) -> Costs:
    """Evaluate every metric of a design.

    Parameters
    ----------
    array : SystolicArray
        The design.
    values : mapping of str to number
        A number per quantity (`ithaca.formulations.systolic.quantities`), all of one system.
    data : DataType
        Formats and DSP cost.
    numbers : NumberSystem
        The system the values belong to.
    technology : Technology
        Clock and energies, for the metrics that need them.
    kept : mapping of str to int, optional
        Tensors that stay on chip instead of in DRAM, with the words of all of each, not all of them
        the nest's: they take block RAM, a port wide, and no off-chip words. Their modules take the
        cycles that they would from and to DRAM.
    """
    point = Point(array, values, data, numbers, technology, kept or {})
    value, constant, held = point.value, point.constant, point.held
    one = constant(1)

    def dram_cycles(group: IOGroup, module: Module) -> Any:
        port = constant(group.port_words(data))
        if group.outer is not None:
            row = numbers.minimum(value(group.pack), port)
            rows = value(group.outer.size / group.outer.last)
            return rows * (BURST_LATENCY + value(group.outer.last) / row)
        if module.serialized:
            moved = value(group.count / group.ports * group.size)
            cycles = moved / numbers.minimum(value(group.pack), port)
            if channel := technology.memory.port:
                sent = moved * constant(group.package(data).word_bytes)
                sent = numbers.ceil_div(sent, constant(channel))
                cycles = numbers.maximum(cycles, sent)
            chain = group.buffers[0].chain
            chains = group.count / group.ports / chain
            opened = value(array.bursts * chains * group.opened(chain))
            return cycles + BURST_LATENCY * opened
        return (
            value(group.count)
            * value(group.size / group.last)
            * (BURST_LATENCY + value(group.last) / port)
        )

    def module_cost(group: IOGroup, module: Module) -> ModuleCost:
        if module.dram:
            transfer = dram_cycles(group, module)
            if group.outer is not None:  # filled, and sent tile by tile; or the other way round
                tile = value(group.count) * value(group.size) / value(group.pack)
                fills, sent = value(group.outer.fills), value(module.tiles)
                return ModuleCost(transfer + tile, transfer + tile, fills * transfer + sent * tile)
        else:
            streams = module.chain if module.buffer else group.count / group.ports
            transfer = value(streams) * value(group.size) / value(group.pack)
        if not module.buffer:
            per_tile = transfer
        elif group.double_buffered:
            per_tile = numbers.maximum(transfer, value(module.intra)) + one
        else:
            per_tile = transfer + value(module.intra)
        return ModuleCost(transfer, per_tile, per_tile * value(module.tiles))

    def edge(group: IOGroup, module: Module) -> Any:
        """Cycles of the first tile in, or the last tile out."""
        transfer = modules[module.name].transfer
        return transfer + one if module.buffer and group.double_buffered else transfer

    def brams(words: Any, pack: Any, size: int | Fraction, stored: int = 1) -> Any:
        """b(n, p) of `docs/cost-model.md`: blocks of a buffer of ``words`` words, of which
        ``stored`` take ``size`` bytes, ``pack`` wide.

        As built, a block is deeper where packs are narrower: it holds as many words.
        """
        across = int(BRAM_WIDTH // (8 * size)).bit_length() - 1  # words abreast: twice as many
        if data.as_built and across > 0:  # as often as the depth of a block may be doubled
            pack = numbers.maximum(pack, constant((1 << across) * stored))
        bits, part = (8 * Fraction(size)).as_integer_ratio()
        blocks_wide = numbers.ceil_div(bits * pack, constant(BRAM_WIDTH * stored * part))
        return blocks_wide * numbers.ceil_div(words, BRAM_DEPTH * pack)

    def urams(words: Any, pack: Any, size: int | Fraction, stored: int = 1) -> Any:
        """Blocks of URAM of a buffer of ``words`` words, as AutoSA estimates them."""
        bits, part = (8 * Fraction(size)).as_integer_ratio()
        blocks_wide = numbers.ceil_div(bits * pack, constant(URAM_WIDTH * stored * part))
        return blocks_wide * numbers.ceil_div(words, URAM_DEPTH * pack)

    modules = {module.name: module_cost(group, module) for group, module in array.modules}
    pe = value(array.pe.trips) * value(array.pe.tiles) + value(array.pe.moves)
    prologue = [edge(group, module) for group, module in array.modules if module.prologue]
    epilogue = [
        edge(group, module) if module.epilogue is Epilogue.TRANSFER else one
        for group, module in array.modules
        if module.epilogue is not Epilogue.NONE
    ]

    blocks: dict[str, Any] = {}
    uram_blocks: dict[str, Any] = {}
    for group in array.packed_groups:
        copies = len(group.buffers) * (2 if group.double_buffered else 1)
        in_uram, package = technology.uram and group.beside_dram, group.package(data)
        each = (urams if in_uram else brams)(
            held(group.name, group.size),
            value(group.pack),
            package.held,
            package.words,
        )
        kind = uram_blocks if in_uram else blocks
        kind[group.name] = copies * value(group.count) * each
        if group.outer is not None:
            kind = uram_blocks if technology.uram else blocks
            kind[group.modules[-1].name] = (urams if technology.uram else brams)(
                value(group.outer.size), value(group.pack), group.package(data).word_bytes
            )
    if array.pe.accumulators is not None:
        blocks[ACCUMULATORS] = value(array.pe.count) * brams(
            held(ACCUMULATORS, array.pe.accumulators), value(array.pe.outputs), data.sum_bytes
        )
    for tensor, held_words in point.kept.items():
        package = point.kept_package
        wide = constant(int(DRAM_PORT_BYTES // package.word_bytes))
        blocks[f"{tensor} on chip"] = brams(constant(held_words), wide, package.held, package.words)

    words: dict[str, Any] = {}
    kept_words, off_chip_bytes = [], constant(0)
    for group, module in array.modules:
        if module.dram:
            moved = value(group.off_chip(module))
            if group.tensor in point.kept:
                kept_words.append(moved)
            else:
                off_chip_bytes = off_chip_bytes + moved * constant(group.package(data).word_bytes)
                if group.sparse is not None:
                    moved = moved * constant(group.package(data).moved_words)
                words[group.tensor] = (
                    words[group.tensor] + moved if group.tensor in words else moved
                )

    macs = value(array.pe.count) * value(array.pe.simd)
    least = []  # cycles that memory takes, whatever else is the case
    if technology.memory.channels:
        crowd = value(crowded(array, technology.memory.channels) * busiest(array, data))
        least.append(numbers.ceil_div(crowd, constant(technology.memory.port)))
    if array.edition is Edition.CYCLE:
        parts = _closed_form(array)(point, technology.machine)
        if technology.memory.bandwidth:  # all DRAM modules share it
            shared = constant(technology.memory.bandwidth)
            least.append(numbers.ceil_div(off_chip_bytes, shared))
        if least:
            parts = parts.at_least(numbers.maximum(*least), numbers)
    else:
        main = numbers.maximum(pe, *(cost.total for cost in modules.values()), *least)
        fill, rest = numbers.maximum(*prologue), numbers.maximum(*epilogue)
        parts = Cycles(fill, main, rest, fill + main + rest)
    return Costs(
        prologue=parts.fill,
        main=parts.run,
        epilogue=parts.rest,
        latency=parts.latency,
        pe=pe,
        modules=modules,
        comp=macs,
        dsp=macs * constant(data.dsp(array.factors)),
        bram18k=sum(blocks.values(), start=constant(0)),
        blocks=blocks,
        uram_blocks=uram_blocks,
        words=words,
        off_chip_bytes=off_chip_bytes,
        kept_words=tuple(kept_words),
        accumulation=accumulation(array, values, data, numbers),
        point=point,
    )


def accumulation(
    array: SystolicArray, values: NumbersByName, data: DataType, numbers: NumberSystem
) -> Any:
    """Slack of the accumulator condition (see `Costs`), by itself.

    Parameters
    ----------
    array : SystolicArray
        The derived array.
    values : NumbersByName
        Values of quantities and extents.
    data : DataType
        The data type, with the cycles that a sum takes.
    numbers : NumberSystem
        The number system.

    Returns
    -------
    number
        Not negative where the condition holds.
    """
    hidden = numbers.number(Fraction(1))
    for loop in array.latency_hiding_loops:
        hidden = hidden * values[t2(loop).name]
    return hidden - data.accumulator_factor * (array.pe.simd / array.pe.outputs).evaluate(
        values, numbers
    )
