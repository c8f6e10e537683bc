"""The layout of a drawing of the array: its modules, their number, and their side of the PEs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ithaca.files.numbers import number
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.systolic_array import Direction, IOGroup, Module


class Side(Enum):
    """The side of the array at which the modules of a group stand."""

    LEFT = "left"
    RIGHT = "right"
    TOP = "top"
    BOTTOM = "bottom"

    @property
    def horizontal(self) -> bool:
        """Whether its data run along the rows."""
        return self in (Side.LEFT, Side.RIGHT)

    def point(self, depth: float, place: float) -> tuple[float, float]:
        """x and y of a distance from the edge, and of a place along it."""
        return (depth, place) if self.horizontal else (place, depth)


class Spread(Enum):
    """The kind of copies that an array has of a module."""

    PE = "one per PE"
    ROW = "one per row"
    COLUMN = "one per column"
    ONE = "one"


@dataclass(frozen=True, slots=True)
class PlacedModule:
    """An I/O module in the drawing."""

    module: Module
    spread: Spread
    """How many there are, by place."""
    instances: int
    """How many there are."""
    buffer: int | None
    """Words of its buffer; None where it has none."""
    copies: int
    """2 where the buffer is doubled."""

    @property
    def size(self) -> str:
        """The buffer's size in short; empty where the module has none."""
        return "" if self.buffer is None else f"{self.copies} × {number(self.buffer)}"

    @property
    def words(self) -> str:
        """The buffer in words; empty where the module has none."""
        return f": buffer of {self.size} words" if self.size else ""


@dataclass(frozen=True, slots=True)
class Stream:
    """The modules of an I/O group in one direction, from the PEs towards DRAM."""

    group: IOGroup
    number: int
    """The number of the group; its colour."""
    direction: Direction
    """Copy-in or copy-out."""
    side: Side
    """Where they stand."""
    pack: int
    """Data packing factor (words)."""
    modules: tuple[PlacedModule, ...]
    """From the PEs outward."""

    @property
    def flow(self) -> str:
        """Style classes of its arrows."""
        return f"flow g{self.number % 6}"

    @property
    def module(self) -> str:
        """Style classes of its modules."""
        return f"module g{self.number % 6}"

    @property
    def between_pes(self) -> bool:
        """Whether its data go from PE to PE, or from module to module inside them."""
        return self.group.exterior or any(placed.spread is Spread.PE for placed in self.modules)


@dataclass(frozen=True, slots=True)
class Layout:
    """The array as drawn."""

    rows: int
    """Lanes along the first and the second space loop; a 1-D array has one row."""
    columns: int
    row_loop: str
    """The loops; ``row_loop`` is empty for a 1-D array."""
    column_loop: str
    simd: int
    """MAC units of a PE."""
    accumulators: int | None
    """Words of a PE's accumulator buffer; None where it has none."""
    streams: tuple[Stream, ...]
    """The I/O network."""


def layout(costs: Costs) -> Layout:
    """Place the modules of a configuration whose exact costs are given.

    A module that there is one of per index of a space loop stands beside that index' row or column
    of PEs; reads come from the left and from above, outputs leave to the right and below.
    """
    design, values = costs.point.array, costs.point.values

    def whole(expression: Expression) -> int:
        return int(expression.evaluate(values, FRACTION))

    *first, column_loop = design.dataflow
    row_loop = first[0] if first else ""
    streams = []
    for at, group in enumerate(design.packed_groups):
        for direction in Direction:
            modules = tuple(
                PlacedModule(
                    module,
                    _spread(module.instances, row_loop, column_loop),
                    whole(module.instances),
                    whole(group.size) if module.buffer else None,
                    2 if group.double_buffered else 1,
                )
                for module in sorted(group.modules, key=lambda module: module.level)
                if module.direction is direction
            )
            if modules:
                pack = int(values[quantities.pack(group.name).name])
                side = _side(modules, direction)
                streams.append(Stream(group, at, direction, side, pack, modules))
    pe = design.pe
    rows = int(values[quantities.lanes(row_loop).name]) if row_loop else 1
    columns = int(values[quantities.lanes(column_loop).name])
    accumulators = None if pe.accumulators is None else whole(pe.accumulators)
    return Layout(
        rows, columns, row_loop, column_loop, whole(pe.simd), accumulators, tuple(streams)
    )


def _spread(instances: Expression, row_loop: str, column_loop: str) -> Spread:
    row = bool(row_loop) and quantities.lanes(row_loop).name in instances.symbols
    column = quantities.lanes(column_loop).name in instances.symbols
    if row and column:
        return Spread.PE
    return Spread.ROW if row else Spread.COLUMN if column else Spread.ONE


def _side(modules: tuple[PlacedModule, ...], direction: Direction) -> Side:
    inward = direction is Direction.IN
    for placed in modules:
        if placed.spread is Spread.ROW:
            return Side.LEFT if inward else Side.RIGHT
        if placed.spread is Spread.COLUMN:
            return Side.TOP if inward else Side.BOTTOM
    # data of a single module enter, or leave, at an end of the chain of PEs
    return Side.LEFT if inward else Side.RIGHT


def elided(count: int, most: int) -> list[int | None]:
    """The indices to draw of so many; None stands for those left out."""
    if count <= most:
        return list(range(count))
    return [*range(most - 1), None, count - 1]
