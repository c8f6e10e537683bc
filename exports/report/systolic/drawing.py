"""The array drawn: the grid of PEs, the I/O modules around it with their buffers, DRAM around
all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from ithaca.exports.charts.drawing import LINE, Box, Drawing
from ithaca.exports.report.blocks import ChartFigure, Section
from ithaca.exports.report.systolic.layout import (
    Layout,
    PlacedModule,
    Side,
    Spread,
    Stream,
    elided,
    layout,
)
from ithaca.files.numbers import number
from ithaca.formulations.systolic.cost_model import Costs
from ithaca.formulations.systolic.systolic_array import Direction
from ithaca.results.view import Table


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of what is drawn (pixels)."""

    kind: str
    """The kind of page: ``broad`` or ``narrow``."""
    width: int
    """The width of the drawing."""
    least_width: int
    most_rows: int
    """Most rows of PEs."""
    pe: int
    """Width of a PE."""
    between: int
    """The room between PEs."""
    gap: int
    """The room in place of PEs left out."""
    beside: int
    """Width of the modules beside the PEs."""
    one: int
    """Width of single ones; their names are upright where it is small."""
    apart: int
    """The room between modules."""
    dram: int
    """The frame of DRAM."""


#: The drawing for broad pages, and the one for phones.
SIZES = (
    Sizes("broad", 1040, 560, 5, 92, 20, 44, 104, 104, 24, 28),
    Sizes("narrow", 400, 300, 3, 86, 14, 26, 82, 28, 14, 22),
)

#: The room for rows of PEs left out; the height of modules above and below the PEs, and of single
#: ones (pixels).
ROW_GAP, STRIP, BAR = 34, 50, 28

#: Least width of a box with the full name of a module (pixels).
NAMED = 190

#: Index and position of the rows or columns drawn; no index for those left out.
Places = Sequence[tuple[int | None, float]]


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class _Grid:
    """The places of the PEs, and the size of the drawing."""

    sizes: Sizes
    columns: Places
    rows: Places
    right: float
    bottom: float
    pe_height: float
    width: float
    height: float

    def places(self, side: Side) -> tuple[Places, float, float]:
        """Rows or columns that modules on a side stand beside, the extent of each, and that of what
        is left out."""
        return (
            (self.rows, self.pe_height, ROW_GAP)
            if side.horizontal
            else (self.columns, self.sizes.pe, self.sizes.gap)
        )

    def edge(self, side: Side) -> tuple[float, float]:
        """The ends of the PEs on a side, and of DRAM."""
        return {
            Side.LEFT: (self.columns[0][1], float(self.sizes.dram)),
            Side.TOP: (self.rows[0][1], float(self.sizes.dram)),
            Side.RIGHT: (self.right, self.width - self.sizes.dram),
            Side.BOTTOM: (self.bottom, self.height - self.sizes.dram),
        }[side]


def array_drawing(costs: Costs, name: str = "array") -> Section:
    """The drawing and its figures; of a name that is unique on the page."""
    plan = layout(costs)
    shape = f"{number(plan.columns)} PEs along {plan.column_loop}"
    if plan.row_loop:
        shape = (
            f"{number(plan.rows)} × {number(plan.columns)} PEs ({plan.row_loop} "
            f"down, {plan.column_loop} to the right)"
        )
    text = f"{shape}, each with {number(plan.simd)} MAC units"
    text += (
        "."
        if plan.accumulators is None
        else f" and a buffer of {number(plan.accumulators)} accumulators."
    )
    text += (
        " Reads enter from the left and from above, outputs leave to the right and "
        "below; arrows of a colour are one tensor's."
    )
    if max(plan.rows, plan.columns) > 2:
        text += " Rows and columns that are not drawn are counted where they would be."
    drawings = Markup("").join(_draw(plan, shape, sizes, name) for sizes in SIZES)
    caption = f"The array of design {costs.point.array.name}, schematically"
    return Section(name, "The array", (text, ChartFigure(drawings, caption), _table(plan)))


def _table(plan: Layout) -> Table:
    held = "–" if plan.accumulators is None else f"{number(plan.accumulators)} accumulators"
    rows = [("PE", "", number(plan.rows * plan.columns), held, "–", "–")]
    for stream in plan.streams:
        for placed in stream.modules:
            memory = (
                f"{'reads' if stream.direction is Direction.IN else 'writes'} DRAM"
                if placed.module.dram
                else ""
            )
            spread = (
                placed.spread.value
                if plan.row_loop or placed.spread is not Spread.COLUMN
                else Spread.PE.value
            )
            rows.append(
                (
                    placed.module.name,
                    memory,
                    number(placed.instances),
                    placed.size or "–",
                    str(stream.pack),
                    spread,
                )
            )
    columns = ("module", "memory", "how many", "buffer of each (words)", "pack (words)", "where")
    return Table("PEs, I/O modules and buffers", columns, tuple(rows), frozenset({0, 1, 5}))


def _draw(plan: Layout, shape: str, sizes: Sizes, name: str) -> Markup:
    """The drawing for pages of a kind."""
    depth = {
        side: sum(_thickness(sizes, side, placed) + sizes.apart for _, placed in _bands(plan, side))
        for side in Side
    }
    tabs = [
        (stream, placed)
        for stream in plan.streams
        for placed in stream.modules
        if placed.spread is Spread.PE
    ]
    edge = sizes.dram + sizes.apart
    left = edge + depth[Side.LEFT]
    room = sizes.width - left - depth[Side.RIGHT] - edge
    fitting = max(int((room - sizes.gap + sizes.between) // (sizes.pe + sizes.between)), 2)
    lines = 2 + (plan.accumulators is not None)
    pe_height = max(
        12 + LINE * lines + 22 * len(tabs), 3 * LINE + 14 if plan.row_loop else 4 * LINE + 14
    )
    columns = elided(plan.columns, fitting + 1 if plan.columns <= fitting else fitting)
    rows = elided(plan.rows, sizes.most_rows)
    across, right = _placed(columns, left, sizes.pe, sizes.gap, sizes.between)
    down, bottom = _placed(rows, edge + depth[Side.TOP], pe_height, ROW_GAP, sizes.between)
    width = max(right + depth[Side.RIGHT] + edge, left + NAMED + edge, sizes.least_width)
    grid = _Grid(
        sizes, across, down, right, bottom, pe_height, width, bottom + depth[Side.BOTTOM] + edge
    )
    modules = (
        f"{number(p.instances)} {p.module.name}{p.words}, {s.side.value}"
        for s in plan.streams
        for p in s.modules
    )
    drawing = Drawing(
        f"{name}-{sizes.kind}",
        sizes.kind,
        width,
        grid.height,
        f"The array: {shape}",
        "; ".join(modules),
    )
    drawing.rect((1, 1, width - 2, grid.height - 2), "dram", rx=10)
    frame = sizes.dram
    drawing.rect((frame, frame, width - 2 * frame, grid.height - 2 * frame), "chip", rx=6)
    drawing.text(16, sizes.dram - 9, "DRAM", "t strong", "start")
    parts = _parts(plan)
    for side in Side:
        _draw_side(drawing, grid, plan, side, parts)
    _draw_chains(drawing, grid, plan, parts)
    _draw_pes(drawing, grid, plan, tabs)
    return drawing.markup()


def _left_out(total: int, places: Places) -> str:
    """The number of rows or columns that are not drawn."""
    return f"+{number(total - sum(index is not None for index, _ in places))}"


def _placed(
    indices: Sequence[int | None], start: float, size: float, gap: float, between: float
) -> tuple[Places, float]:
    """The place at which each index is drawn, and where the last one ends."""
    places, at = [], start
    for index in indices:
        places.append((index, at))
        at += (gap if index is None else size) + between
    return places, at - between


def _bands(plan: Layout, side: Side) -> list[tuple[Stream, PlacedModule]]:
    """The modules on a side, from the PEs outward: those of every row or column, then the single
    ones."""
    bands = [
        (s, p)
        for s in plan.streams
        if s.side is side
        for p in s.modules
        if p.spread is not Spread.PE
    ]
    return sorted(bands, key=lambda band: (band[1].spread is Spread.ONE, band[1].module.level))


def _thickness(sizes: Sizes, side: Side, placed: PlacedModule) -> float:
    if side.horizontal:
        return sizes.one if placed.spread is Spread.ONE else sizes.beside
    return BAR if placed.spread is Spread.ONE else STRIP


#: Where the arrows of a stream, by group and direction, cross the side of a PE.
Parts = dict[tuple[str, Direction], float]


def _parts(plan: Layout) -> Parts:
    """A division of the streams' room, in which no two streams' arrows cover each other."""
    parts: Parts = {}
    for horizontal in (True, False):
        streams = [s for s in plan.streams if s.side.horizontal is horizontal]
        parts |= {
            (s.group.name, s.direction): (n + 1) / (len(streams) + 1) for n, s in enumerate(streams)
        }
    return parts


def _draw_side(drawing: Drawing, grid: _Grid, plan: Layout, side: Side, parts: Parts) -> None:
    """The modules on one side, with arrows from DRAM to the PEs beneath them."""
    bands = _bands(plan, side)
    (start, dram), (places, extent, _) = grid.edge(side), grid.places(side)
    sign = -1 if side in (Side.LEFT, Side.TOP) else 1
    offset, boxes = 0.0, []
    reached: dict[tuple[str, Direction], float] = {}
    for stream, placed in bands:
        thick, apart = _thickness(grid.sizes, side, placed), grid.sizes.apart
        near, far = start + sign * (offset + apart), start + sign * (offset + apart + thick)
        offset += apart + thick
        key = (stream.group.name, stream.direction)
        spots = [at + extent * parts[key] for index, at in places if index is not None]
        for spot in spots[:1] if placed.spread is Spread.ONE else spots:
            _connect(drawing, stream, (near, reached.get(key, start)), spot)
        reached[key] = far
        if placed.module.dram:
            _connect(drawing, stream, (dram, far), spots[0])
        boxes.append((stream, placed, min(near, far), thick))
    for stream, placed, at, thick in boxes:
        _draw_band(drawing, grid, stream, placed, (at, thick))


def _connect(drawing: Drawing, stream: Stream, ends: tuple[float, float], place: float) -> None:
    """An arrow between something outside and something inside of it."""
    outside, inside = (stream.side.point(depth, place) for depth in ends)
    start, end = (outside, inside) if stream.direction is Direction.IN else (inside, outside)
    drawing.arrow(start, end, stream.flow)


def _draw_band(
    drawing: Drawing, grid: _Grid, stream: Stream, placed: PlacedModule, band: tuple[float, float]
) -> None:
    """The modules of one kind: one for every row or column, chained, or a single one."""
    side, (at, thick) = stream.side, band
    lines = [stream.group.name, f"L{placed.module.level} {placed.module.direction.value}"]
    lines += [f"{placed.size} w"] if placed.size else []
    tip = placed.module.name + placed.words
    if placed.spread is Spread.ONE:
        if side.horizontal:
            box = (at, grid.rows[0][1], thick, grid.bottom - grid.rows[0][1])
            if thick < grid.sizes.beside:
                drawing.rect(box, stream.module, tip, rx=4)
                drawing.upright(
                    at + thick / 2, (grid.rows[0][1] + grid.bottom) / 2, placed.module.name
                )
                return
        else:
            left = grid.columns[0][1]
            box, lines = (left, at, max(grid.right - left, NAMED), thick), [placed.module.name]
        _draw_module(drawing, box, stream, lines, tip)
        return
    places, extent, gap = grid.places(side)
    before: float | None = None
    for index, place in places:
        long = gap if index is None else extent
        (x, y), (width, height) = side.point(at, place), side.point(thick, long)
        if before is not None:
            ends = (before, place) if stream.direction is Direction.IN else (place, before)
            start, end = (side.point(at + thick / 2, one) for one in ends)
            drawing.arrow(start, end, stream.flow)
        if index is None:
            drawing.text(
                x + width / 2, y + height / 2 + 5, "⋮" if side.horizontal else "⋯", "t strong"
            )
        else:
            _draw_module(drawing, (x, y, width, height), stream, lines, f"{tip} ({index})")
        before = place + long


def _draw_module(
    drawing: Drawing, box: Box, stream: Stream, lines: Sequence[str], tip: str
) -> None:
    x, y, width, height = box
    drawing.rect(box, stream.module, tip, rx=4)
    top = y + height / 2 - LINE * (len(lines) - 1) / 2 + 4
    drawing.lines(x + width / 2, top, [_shortened(line, int((width - 6) / 6.2)) for line in lines])


def _draw_chains(drawing: Drawing, grid: _Grid, plan: Layout, parts: Parts) -> None:
    """Data handed from PE to PE."""
    for stream in (s for s in plan.streams if s.between_pes):
        lanes, extent, _ = grid.places(stream.side)
        steps, size, gap = grid.places(Side.TOP if stream.side.horizontal else Side.LEFT)
        part = parts[stream.group.name, stream.direction]
        for place in (at + extent * part for index, at in lanes if index is not None):
            for (index, at), (_, after) in pairwise(steps):
                start = stream.side.point(at + (gap if index is None else size), place)
                drawing.arrow(start, stream.side.point(after, place), stream.flow)


def _draw_pes(
    drawing: Drawing, grid: _Grid, plan: Layout, tabs: list[tuple[Stream, PlacedModule]]
) -> None:
    width = grid.sizes.pe
    for row, y in grid.rows:
        for column, x in grid.columns:
            if row is None or column is None:
                _draw_left_out(drawing, grid, plan, (row, y), (column, x))
                continue
            drawing.rect((x, y, width, grid.pe_height), "pe", rx=4)
            lines = [
                f"PE {row},{column}" if plan.row_loop else f"PE {column}",
                f"{number(plan.simd)} MAC",
            ]
            if plan.accumulators is not None:
                lines.append(f"{number(plan.accumulators)} w acc.")
            drawing.lines(
                x + width / 2,
                y + (grid.pe_height - 22 * len(tabs) - LINE * len(lines)) / 2 + 12,
                lines,
            )
            for place, (stream, placed) in enumerate(tabs):
                at = y + grid.pe_height - 22 * (len(tabs) - place)
                size = "" if placed.buffer is None else f" {number(placed.buffer)} w"
                drawing.rect(
                    (x + 3, at, width - 6, 19),
                    stream.module,
                    placed.module.name + placed.words,
                    rx=3,
                )
                drawing.text(
                    x + width / 2,
                    at + 13.5,
                    _shortened(f"L1 {stream.direction.value}{size}", width // 6),
                    "t box",
                )


def _draw_left_out(
    drawing: Drawing,
    grid: _Grid,
    plan: Layout,
    row: tuple[int | None, float],
    column: tuple[int | None, float],
) -> None:
    """Dots where PEs are left out, with how many rows or columns once."""
    wide = grid.sizes.gap if column[0] is None else grid.sizes.pe
    high = ROW_GAP if row[0] is None else grid.pe_height
    x, y = column[1] + wide / 2, row[1] + high / 2 + 5
    drawing.text(
        x,
        y,
        "⋱" if row[0] is None and column[0] is None else "⋮" if row[0] is None else "⋯",
        "t strong",
    )
    if column[0] is None and row == grid.rows[0]:
        drawing.text(
            x,
            y + 16,
            _left_out(plan.columns, grid.columns),
            "t small",
        )
    if row[0] is None and column == grid.columns[0]:
        drawing.text(
            x + 10,
            y,
            f"{_left_out(plan.rows, grid.rows)} rows",
            "t small",
            "start",
        )
