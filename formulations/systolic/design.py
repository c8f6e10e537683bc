"""A systolic array for one nest on one platform: the family's `Design`, and its space."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    ceiling_division,
    maximum,
    minimum,
)
from ithaca.formulations.algebra.number_systems import (
    FRACTION,
    NumbersByName,
    NumberSystem,
    exactly,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.cut import Cut
from ithaca.formulations.data_types import DataType
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.machine import Sums
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.remembered import latest, remembered
from ithaca.formulations.space import (
    Axis,
    Link,
    Quantity,
    QuantityKind,
    Relation,
    Role,
    Space,
    make_space,
)
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.buffering import ALL, has_cycles
from ithaca.formulations.systolic.cost_model import Costs, accumulation, evaluate
from ithaca.formulations.systolic.cycles import holds_transfers
from ithaca.formulations.systolic.derivation import in_edition
from ithaca.formulations.systolic.insight.roofs import least_hardware, least_metrics
from ithaca.formulations.systolic.metrics import (
    METRICS,
    metric_values,
    most_bandwidth,
    named_parts,
    tensor_words,
)
from ithaca.formulations.systolic.point import Known
from ithaca.formulations.systolic.ports import MemoryPorts, most_ports, port_links, port_quantity
from ithaca.formulations.systolic.systolic_array import (
    SERIALIZED,
    DramAccess,
    Edition,
    SystolicArray,
)
from ithaca.formulations.systolic.tiling import Tiling, inner_tiles, pack_links, pack_quantity
from ithaca.formulations.systolic.typed import counted_type
from ithaca.formulations.target import Target
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.workloads.nest import LoopNest, Sizes

#: First and last value of hardware quantities by name (None: it is open). One value only is the
#: array's, whatever a layer would have; lanes may be as many even if most have no work; buffers
#: hold tiles of as many words.
Spans = tuple[tuple[str, tuple[int, int | None]], ...]


def fixed(values: Mapping[str, int]) -> Spans:
    """Single values of hardware quantities."""
    return tuple((name, (value, value)) for name, value in values.items())


@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """Restrictions of the design space."""

    min_lanes: int = 1
    """Fewest PEs along each space loop."""
    divisors_only: bool = False
    """Whether every t1 must divide its loop's extent (no padding)."""
    dividing_packs: bool = False
    """Whether inferred packs must divide the last dimension too (what AutoSA requires)."""
    target: Target | None = None
    """The compiler that must be able to build every configuration."""
    ports: MemoryPorts | None = None
    """The memory ports that tensors may be spread over; None where each has one."""
    host_serialize: bool = True
    """Whether the host lays data out in DRAM as they are moved (see `DramAccess`)."""
    two_level: bool = False
    """Whether tiles are tiled again, with buffers beside DRAM."""
    double_buffer: str = ALL
    """The tensors whose buffers are doubled (see `ithaca.formulations.systolic.buffering`)."""

    @property
    def dram(self) -> DramAccess:
        """The layout of data in DRAM."""
        return DramAccess(self.ports is not None, self.host_serialize, self.two_level)


@dataclass(frozen=True)
class SystolicDesign(Design):
    """A derived array with everything that its costs and its space depend on."""

    family: ClassVar[str] = "systolic"

    nest: LoopNest
    """The loop nest, with extents."""
    array: SystolicArray
    """The derived array."""
    data: DataType
    """The data type, with the formats that the nest states."""
    options: SpaceOptions = field(default_factory=SpaceOptions)
    """Restrictions of the space."""
    technology: Technology = DEFAULT_TECHNOLOGY
    """Clock and energies, for the metrics that need them."""
    hardware: Spans = ()
    """The fixed hardware of the array, which layers may share."""
    kept: Sizes = ()
    """Tensors that stay on chip, with the words of all of each (see `evaluate`)."""

    def __repr__(self) -> str:
        return f"<SystolicDesign {self.nest.name} {self.name}>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", counted_type(self.data, self.nest, self.array.edition))

    @property
    def name(self) -> str:
        return self.array.name

    @remembered
    def keeping(self, kept: Sizes) -> SystolicDesign | None:
        sparse = self.nest.sparse
        packaged = sparse is not None and sparse.tensor in dict(kept)
        plain = self.options.dram == SERIALIZED and not packaged
        return replace(self, kept=kept) if plain else None

    @property
    def obstacle(self) -> str | None:
        """The reason why the design cannot be built; None where it can."""
        return self.array.obstacle

    @cached_property
    def space(self) -> Space:
        return systolic_space(self)

    @property
    def narrower(self) -> tuple[SystolicDesign, ...]:
        wider = self.options.ports is not None and not self.options.divisors_only
        return (replace(self, options=replace(self.options, divisors_only=True)),) if wider else ()

    @cached_property
    def vocabulary(self) -> Mapping[str, Metric]:
        return {
            name: metric
            for name, metric in METRICS.items()
            if metric.where(self.technology, self.data)
        }

    @cached_property
    def buffers(self) -> Mapping[str, Expression]:
        """Words that each buffer needs for a tile, by I/O group; `ACCUMULATORS` names those of a
        PE."""
        sizes = {group.name: group.size for group in self.array.packed_groups if group.buffers}
        accumulators = self.array.pe.accumulators
        return sizes if accumulators is None else {**sizes, quantities.ACCUMULATORS: accumulators}

    @cached_property
    def extents(self) -> Mapping[str, int]:
        """The extents of all loops, by the names that expressions give them."""
        return {quantities.extent(loop).name: n for loop, n in self.nest.sizes.items()}

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        return metric_values(self.costs(values, numbers), names)

    def most(self, metric: str) -> Fraction | None:
        if metric != "bandwidth" or (
            self.array.edition is Edition.CYCLE and not holds_transfers(self.array)
        ):
            return None
        return most_bandwidth(
            self.array, self.data, self.technology, most_ports(self.options.ports)
        )

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        return least_metrics(
            self.nest,
            self.array,
            self.data,
            self.technology,
            dict(self.kept),
            lambda: self.space,
            limits,
            most_ports(self.options.ports),
        )

    def needed(self, metric: str, value: Fraction) -> Mapping[str, int]:
        pace = {"latency": Fraction(1), "time": self.technology.cycles_per_ms}.get(metric)
        if pace is None or self.kept:
            return {}
        known = self.nest, self.array, self.data, self.technology.memory.port, self.space
        return least_hardware(*known, value * pace)

    @property
    def fixed_hardware(self) -> dict[str, int]:
        """The hardware quantities of which one value is given, as results state them: PEs first,
        buffers last."""
        simd = quantities.t2(self.array.simd_loop).name
        values = {
            "simd" if name == simd else name: low
            for name, (low, high) in self.hardware
            if low == high
        }
        kinds = ("lanes", "simd", "pack", "ports", "buffer")
        names = sorted(values, key=lambda name: kinds.index(name.partition(".")[0]))
        return {name: values[name] for name in names}

    @property
    def rank(self) -> int:
        """A key that puts first what can be built, and of that arrays of more dimensions: they
        reach more PEs."""
        return -len(self.array.dataflow) if self.array.buildable else 1

    @property
    def smoother(self) -> Design:
        if self.array.edition is not Edition.CYCLE:
            return self
        return replace(self, array=in_edition(self.nest, self.array, Edition.EXACT))

    def conditions(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[tuple[Any, Fraction], ...]:
        if self.array.pe.accumulators is None or not self.data.accumulator_factor:
            return ()
        return ((-accumulation(self.array, values, self.data, numbers), Fraction(0)),)

    def costs(self, values: NumbersByName, numbers: NumberSystem = FRACTION) -> Costs:
        """Everything the cost model says at values of the quantities; by the exact reference unless
        told otherwise."""
        if numbers is not FRACTION:
            return self._at(values, numbers)
        return latest(self, frozenset(values.items()), lambda: self._at(exactly(values), numbers))

    def _at(self, values: NumbersByName, numbers: NumberSystem) -> Costs:
        buffers = {name: least for name, (least, _) in self.hardware if name.startswith("buffer.")}
        more = (*self.extents.items(), *buffers.items())
        known = Known(values, {name: numbers.number(Fraction(n)) for name, n in more})
        return evaluate(self.array, known, self.data, numbers, self.technology, dict(self.kept))

    def slowed_by_sums(self, configuration: Mapping[str, int]) -> Fraction:
        """The factor by which a run takes longer than if PEs added their neighbours' sums last, in
        the cycle edition; else 1."""
        machine = self.technology.machine
        if self.array.edition is not Edition.CYCLE or machine.sums is Sums.LAST:
            return Fraction(1)
        last = replace(
            self, technology=replace(self.technology, machine=replace(machine, sums=Sums.LAST))
        )
        return Fraction(self.costs(configuration).latency / last.costs(configuration).latency)

    def details(self, values: NumbersByName, numbers: NumberSystem) -> Mapping[str, NumbersByName]:
        return {"words": tensor_words(self.array, self.costs(values, numbers))}

    def inner(self, values: NumbersByName, numbers: NumberSystem) -> NumbersByName:
        return named_parts(self.costs(values, numbers))

    def preferences(self, values: NumbersByName, numbers: NumberSystem) -> tuple[Any, ...]:
        """Cycles as they fall, whatever the edition; then off-chip words, DSP, BRAM."""
        costs, timed = self.costs(values, numbers), self._timed
        ran = costs if timed is self else None if timed is None else timed.costs(values, numbers)
        latency = None if ran is None else ran.latency
        return latency, costs.off_chip_words, costs.dsp, costs.bram18k

    @cached_property
    def _timed(self) -> SystolicDesign | None:
        """The design in the cycle edition; None where that says nothing of it."""
        if self.array.edition is Edition.CYCLE:
            return self
        array = in_edition(self.nest, self.array, Edition.CYCLE)
        same, own = ({group.name for group in a.packed_groups} for a in (array, self.array))
        hangs = array.hanging is not None and self.technology.machine.sums is Sums.FIRST
        runs = array.buildable and has_cycles(array) and not hangs
        return replace(self, array=array) if same == own and runs else None

    def configuration(self, tiling: Tiling) -> Configuration:
        """The configuration that a tiling states. Raises `InputError` if the tiling does not belong
        to this design."""
        return tiling.configuration(self.array, self.nest.sizes)

    def tiling(self, configuration: Mapping[str, int]) -> Tiling:
        """A configuration as the family's documents write it."""
        array = self.array
        return Tiling(
            array_part={loop: configuration[quantities.t1(loop).name] for loop in array.band},
            latency_hiding={
                loop: configuration[quantities.t2(loop).name] for loop in array.latency_hiding_loops
            },
            simd=configuration[quantities.t2(array.simd_loop).name],
            pack={
                group.name: configuration[quantities.pack(group.name).name]
                for group in array.packed_groups
            },
            ports={
                g.name: configuration[quantities.ports(g.name).name] for g in array.split_groups
            },
            array_part_l2=inner_tiles(array, configuration),
        )


def systolic(problem: Problem) -> SystolicDesign:
    """The systolic design of a problem, for what only this family has; an `InputError` if it is of
    another family."""
    if not isinstance(problem.design, SystolicDesign):
        raise InputError(
            f"the result is of family {problem.design.family}; allowed here: one of systolic arrays"
        )
    return problem.design


# -- the space -------------------------------------------------------------------------


def largest_t1(extent: int) -> int:
    """Largest array partitioning factor considered for a loop (padding allowed)."""
    return max(2 * extent, 16)


def systolic_space(design: SystolicDesign) -> Space:
    """The space of a design: an axis per band loop with the packs that depend on it alone, and one
    per other pack.

    Where a compiler must be able to build every configuration, its rules are rules of the space.
    """
    array = design.array
    own = {
        quantities.buffer(name).name: size.substitute(design.extents)
        for name, size in design.buffers.items()
    }
    spans = {name: span for name, span in design.hardware if name not in own}
    divides = design.options.dividing_packs or design.options.target is not None
    links = [
        link
        for group in array.packed_groups
        for link in pack_links(group, design.data, design.extents, array.edition, divides=divides)
    ]
    if design.options.target is not None:
        from ithaca.formulations.systolic.target import requirements

        links += dict.fromkeys(link for link, _ in requirements(design.nest, array))
    loops = {loop: [*_loop_quantities(design, loop)] for loop in array.band}
    if array.dram.two_level:
        from ithaca.formulations.systolic.two_level import add_outer_tiles

        links += add_outer_tiles(array, loops, design.nest)
    separate = []
    if design.options.ports is not None:
        links += port_links(array)
        for group in array.split_groups:
            loops[str(group.split)].append(port_quantity(group, design.options.ports))
    for group in array.packed_groups:
        needed = {
            s
            for s in group.packing.last.symbols | group.packing.multiple_of.symbols
            if s not in design.extents
        }
        home = next((loop for loop in array.band if needed <= {q.name for q in loops[loop]}), None)
        quantity = pack_quantity(group, design.data)
        if home is None:
            separate.append(Axis(quantity.name, (quantity,)))
        else:
            loops[home].append(quantity)
    axes = [_loop_axis(design, loop, tuple(space)) for loop, space in loops.items()]
    most = [
        (own[name], high) for name, (_, high) in design.hardware if name in own and high is not None
    ]
    links += [Link(size, Relation.AT_MOST, Constant(Fraction(high))) for size, high in most]
    space = make_space([*axes, *separate], links)
    fixed = {name: Constant(Fraction(low)) for name, (low, high) in spans.items() if low == high}
    symbols = {name: space.quantities[name].symbol for name in fixed}
    equal = (Link(symbols[name], Relation.EQUAL, value) for name, value in fixed.items())
    return make_space(space.axes, [*space.links, *equal]) if fixed else space


def _loop_quantities(design: SystolicDesign, loop: str) -> tuple[Quantity, ...]:
    """t2, lanes, t1 and tiles of a band loop (`docs/concepts.md`)."""
    array, top = design.array, largest_t1(design.nest.sizes[loop])
    simd, spatial = loop == array.simd_loop, loop in array.dataflow
    t2 = quantities.t2(loop)
    most_t2 = min(design.data.max_simd, top) if simd else 1 if loop in array.sequential else top
    most_lanes: Expression = _floor(Constant(Fraction(top)), t2)
    lanes = quantities.lanes(loop).name
    idle = dict(design.hardware).get(lanes, (1, None))[1] or 0 if spatial else 0
    if idle:
        # a layer smaller than the array leaves lanes idle: without latency hiding, or along the
        # SIMD loop
        most_lanes = maximum(
            most_lanes,
            Constant(Fraction(idle)) if simd else idle * _floor(Constant(Fraction(1)), t2),
        )
        most_lanes = minimum(most_lanes, Constant(Fraction(idle)))
    return (
        Quantity(
            t2.name,
            max((group.stored for group in array.groups), default=1) if simd else 1,
            most_t2,
            QuantityKind.POWER_OF_TWO if simd else QuantityKind.INTEGER,
            Role.HARDWARE if simd else Role.MAPPING,
        ),
        Quantity(
            lanes,
            design.options.min_lanes if spatial else 1,
            most_lanes,
            role=Role.HARDWARE if spatial else Role.MAPPING,
        ),
        Quantity(quantities.t1(loop).name, 1, max(top, idle * most_t2)),
        Quantity(quantities.tiles(loop).name, 1, design.nest.sizes[loop]),
    )


def _loop_axis(design: SystolicDesign, loop: str, quantities_of_axis: tuple[Quantity, ...]) -> Axis:
    tiles, t1, t2, lanes = (
        q(loop) for q in (quantities.tiles, quantities.t1, quantities.t2, quantities.lanes)
    )
    extent = Constant(Fraction(design.nest.sizes[loop]))
    links = [
        Link(t1, Relation.EQUAL, t2 * lanes),
        Link(tiles, Relation.EQUAL, ceiling_division(extent, t1)),
    ]
    if design.options.divisors_only:
        links.append(Link(t1, Relation.DIVIDES, extent))
    packs = tuple(quantity.name for quantity in quantities_of_axis[4:])
    # lanes ascend for each t2: the first of equal tiles is usually the best; of equal t1 one t2 may
    # serve for all
    runs = ((t2.name, tiles.name, *packs), (t1.name, *packs))
    cut = Cut(design.nest.sizes[loop], t2.name, lanes.name, t1.name, tiles.name)
    return Axis(loop, quantities_of_axis, tuple(links), runs, cut)


def _floor(over: Expression, under: Expression) -> Expression:
    return -ceiling_division(-over, under)
