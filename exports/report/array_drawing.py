"""The array drawn: the grid of PEs, the I/O modules around it with their buffers, DRAM around all."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree as ET

from markupsafe import Markup

from ithaca.exports.report.array_layout import Layout, Placed, Side, Spread, Stream, elided, layout
from ithaca.exports.report.blocks import Figure, Paragraph, Section, Table
from ithaca.exports.report.configuration import BestConfiguration
from ithaca.formulations.shown_numbers import number
from ithaca.formulations.systolic.systolic_array import Direction

#: Size of the drawing (pixels), and most rows of PEs in it.
WIDTH, MOST_ROWS = 1040, 5

#: PEs, the room between them, and what takes the place of those left out (pixels).
PE_WIDTH, BETWEEN, GAP, ROW_GAP = 92, 20, 44, 34

#: Modules beside, and above or below, the PEs; single ones above or below; the frame of DRAM (pixels).
BESIDE, STRIP, BAR, APART, DRAM = 104, 50, 28, 24, 28

LINE = 15

#: Least width of a box with the full name of a module (pixels).
NAMED = 190


class Drawing:
    """An SVG drawing under construction.

    Parameters
    ----------
    name : str
        Unique on the page; title and description are named after it.
    width, height : float
        Size (pixels).
    title, description : str
        What it is, and what it shows, for those who do not see it.
    """

    def __init__(self, name: str, width: float, height: float, title: str, description: str) -> None:
        self.name, self.width, self.height = name, width, height
        self._root = ET.Element("svg")
        for key, value in {
            "viewBox": f"0 0 {_plain(width)} {_plain(height)}",
            "width": _plain(width),
            "height": _plain(height),
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
        }.items():
            self._root.set(key, value)
        self._at = self._root
        self.add("title", title, id=f"{name}-title")
        self.add("desc", description, id=f"{name}-desc")

    def add(self, tag: str, text: str = "", inside: ET.Element | None = None, /, **attributes: object) -> ET.Element:
        """Add an element; ``_`` in names of attributes stands for ``-``, and ``classes`` for ``class``."""
        element = ET.SubElement(self._root if inside is None else inside, tag)
        for name, value in attributes.items():
            element.set("class" if name == "classes" else name.rstrip("_").replace("_", "-"), _plain(value))
        element.text = text or None
        return element

    def rect(self, x: float, y: float, width: float, height: float, classes: str, title: str = "", **more: object) -> None:
        """Add a rectangle, with a tooltip."""
        made = self.add("rect", x=x, y=y, width=max(width, 0), height=max(height, 0), classes=classes, **more)
        if title:
            self.add("title", title, made)

    def text(self, x: float, y: float, text: str, classes: str = "", anchor: str = "start", **more: object) -> None:
        """Add a line of text."""
        self.add("text", text, x=x, y=y, text_anchor=anchor, classes=classes or "t", **more)

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str, **more: object) -> None:
        """Add a line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, classes=classes, **more)

    def markup(self) -> Markup:
        """The drawing; ElementTree escapes every text in it."""
        return Markup(ET.tostring(self._root, encoding="unicode"))


def arrow(drawing: Drawing, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
    """Add a horizontal or vertical line with a head at its second end."""
    drawing.line(x1, y1, x2, y2, classes)
    length, half = 6, 3.5
    if y1 == y2:
        back = x2 - length if x2 > x1 else x2 + length
        points = f"{_plain(x2)},{_plain(y2)} {_plain(back)},{_plain(y2 - half)} {_plain(back)},{_plain(y2 + half)}"
    else:
        back = y2 - length if y2 > y1 else y2 + length
        points = f"{_plain(x2)},{_plain(y2)} {_plain(x2 - half)},{_plain(back)} {_plain(x2 + half)},{_plain(back)}"
    drawing.add("polygon", points=points, classes=f"{classes} head")


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where the PEs are: index and position of the rows and columns drawn; None for those left out."""

    columns: tuple[tuple[int | None, float], ...]
    rows: tuple[tuple[int | None, float], ...]
    right: float
    bottom: float
    height: float

    @property
    def left(self) -> float:
        return self.columns[0][1]

    @property
    def top(self) -> float:
        return self.rows[0][1]


def array_drawing(best: BestConfiguration) -> Section:
    """The drawing and its figures."""
    plan = layout(best)
    shape = _shape(plan)
    text = f"{shape}, each with {number(plan.simd)} MAC units"
    text += "." if plan.accumulators is None else f" and a buffer of {number(plan.accumulators)} accumulators."
    text += (
        " Reads enter from the left and from above, outputs leave to the right and below; arrows of a colour are one array's."
    )
    svg, left_out = draw(plan, shape)
    if left_out:
        text += f" Not drawn: {left_out}."
    caption = f"The array of design {best.solution.array.name}, schematically"
    return Section("array", "The array", (Paragraph(text), Figure(svg, caption, wide=True), _table(plan)))


def _shape(plan: Layout) -> str:
    if not plan.row_loop:
        return f"{number(plan.columns)} PEs along {plan.column_loop}"
    return f"{number(plan.rows)} × {number(plan.columns)} PEs ({plan.row_loop} down, {plan.column_loop} to the right)"


def _table(plan: Layout) -> Table:
    count = plan.rows * plan.columns
    held = "–" if plan.accumulators is None else f"{number(plan.accumulators)} accumulators"
    rows = [("PE", "", number(count), held, "–", "–")]
    for stream in plan.streams:
        for placed in stream.modules:
            size = "–" if placed.buffer is None else f"{placed.copies} × {number(placed.buffer)}"
            memory = "reads and writes DRAM" if placed.module.dram else ""
            if placed.module.dram:
                memory = "reads DRAM" if stream.direction is Direction.IN else "writes DRAM"
            spread = placed.spread.value if plan.row_loop or placed.spread is not Spread.COLUMN else Spread.PE.value
            rows.append((placed.module.name, memory, number(placed.instances), size, str(stream.pack), spread))
    columns = ("module", "memory", "how many", "buffer of each (words)", "pack (words)", "where")
    return Table("PEs, I/O modules and buffers", columns, tuple(rows), frozenset({0, 1, 5}))


def draw(plan: Layout, shape: str) -> tuple[Markup, str]:
    """The drawing, and what it leaves out."""
    depth = {side: sum(_thickness(side, placed) + APART for _, placed in _bands(plan, side)) for side in Side}
    tabs = [(stream, placed) for stream in plan.streams for placed in stream.modules if placed.spread is Spread.PE]
    edge = DRAM + APART
    left = edge + depth[Side.LEFT]
    room = WIDTH - left - depth[Side.RIGHT] - edge
    fitting = max(int((room - GAP + BETWEEN) // (PE_WIDTH + BETWEEN)), 2)
    lines = 2 + (plan.accumulators is not None)
    cell = max(12 + LINE * lines + 22 * len(tabs), 3 * LINE + 14 if plan.row_loop else 4 * LINE + 14)
    columns = elided(plan.columns, fitting + 1 if plan.columns <= fitting else fitting)
    rows = elided(plan.rows, MOST_ROWS)
    grid = _grid(columns, rows, left, edge + depth[Side.TOP], cell)
    width = max(grid.right + depth[Side.RIGHT] + edge, grid.left + NAMED + edge, 560)
    height = grid.bottom + depth[Side.BOTTOM] + edge
    drawing = Drawing("array-drawing", width, height, f"The array: {shape}", _description(plan))
    drawing.rect(1, 1, width - 2, height - 2, "dram", rx=10)
    drawing.rect(DRAM, DRAM, width - 2 * DRAM, height - 2 * DRAM, "chip", rx=6)
    drawing.text(16, 19, "DRAM", "t strong")
    for side in Side:
        _draw_side(drawing, grid, plan, side, (width, height))
    _draw_chains(drawing, grid, plan)
    _draw_pes(drawing, grid, plan, tabs)
    missing = [
        f"{number(total - sum(i is not None for i in shown))} of {number(total)} {what}"
        for what, total, shown in (("rows", plan.rows, rows), ("columns" if plan.row_loop else "PEs", plan.columns, columns))
        if None in shown
    ]
    return drawing.markup(), " and ".join(missing)


def _description(plan: Layout) -> str:
    said = []
    for stream in plan.streams:
        for placed in stream.modules:
            buffer = "" if placed.buffer is None else f" with a buffer of {placed.copies} × {number(placed.buffer)} words"
            said.append(f"{number(placed.instances)} {placed.module.name}{buffer}, {stream.side.value}")
    return "; ".join(said)


def _bands(plan: Layout, side: Side) -> list[tuple[Stream, Placed]]:
    """The modules on a side, from the PEs outward: those of every row or column, then the single ones."""
    found = [(s, p) for s in plan.streams if s.side is side for p in s.modules if p.spread is not Spread.PE]
    return sorted(found, key=lambda band: (band[1].spread is Spread.ONE, band[1].module.level))


def _thickness(side: Side, placed: Placed) -> float:
    if side.horizontal:
        return BESIDE
    return BAR if placed.spread is Spread.ONE else STRIP


def _grid(columns: list[int | None], rows: list[int | None], left: float, top: float, height: float) -> _Grid:
    def places(
        indices: list[int | None], start: float, size: float, gap: float
    ) -> tuple[list[tuple[int | None, float]], float]:
        found, at = [], start
        for index in indices:
            found.append((index, at))
            at += (gap if index is None else size) + BETWEEN
        return found, at - BETWEEN

    across, right = places(columns, left, PE_WIDTH, GAP)
    down, bottom = places(rows, top, height, ROW_GAP)
    return _Grid(tuple(across), tuple(down), right, bottom, height)


def _draw_side(drawing: Drawing, grid: _Grid, plan: Layout, side: Side, size: tuple[float, float]) -> None:
    """The modules on one side, with arrows from DRAM to the PEs beneath them."""
    bands = _bands(plan, side)
    start = {Side.LEFT: grid.left, Side.RIGHT: grid.right, Side.TOP: grid.top, Side.BOTTOM: grid.bottom}[side]
    sign = -1 if side in (Side.LEFT, Side.TOP) else 1
    offset, parts, boxes = 0.0, _parts(plan), []
    reached: dict[tuple[str, Direction], float] = {}
    for stream, placed in bands:
        thick = _thickness(side, placed)
        near, far = start + sign * (offset + APART), start + sign * (offset + APART + thick)
        offset += APART + thick
        key = (stream.group.name, stream.direction)
        inner = reached.get(key, start)
        places = grid.rows if side.horizontal else grid.columns
        extent = grid.height if side.horizontal else PE_WIDTH
        part = parts[stream.group.name, stream.direction]
        spots = [at + extent * part for index, at in places if index is not None]
        for spot in spots[:1] if placed.spread is Spread.ONE else spots:
            _connect(drawing, side, stream, (near, inner), spot)
        reached[key] = far
        if placed.module.dram:
            edge = {Side.LEFT: DRAM, Side.TOP: DRAM, Side.RIGHT: size[0] - DRAM, Side.BOTTOM: size[1] - DRAM}[side]
            _connect(drawing, side, stream, (float(edge), far), spots[0])
        boxes.append((stream, placed, min(near, far), thick))
    for stream, placed, at, thick in boxes:
        _draw_band(drawing, grid, side, stream, placed, at, thick)


def _connect(drawing: Drawing, side: Side, stream: Stream, ends: tuple[float, float], across: float) -> None:
    """An arrow between something outside and something inside of it."""
    outside, inside = ends if stream.direction is Direction.IN else (ends[1], ends[0])
    if side.horizontal:
        arrow(drawing, outside, across, inside, across, f"flow g{stream.number % 6}")
    else:
        arrow(drawing, across, outside, across, inside, f"flow g{stream.number % 6}")


def _draw_band(drawing: Drawing, grid: _Grid, side: Side, stream: Stream, placed: Placed, at: float, thick: float) -> None:
    classes = f"module g{stream.number % 6}"
    lines = [stream.group.name, f"L{placed.module.level} {placed.module.direction.value}"]
    tip = placed.module.name
    if placed.buffer is not None:
        lines.append(f"{placed.copies} × {number(placed.buffer)} w")
        tip += f": buffer of {placed.copies} × {number(placed.buffer)} words"
    if placed.spread is Spread.ONE:
        if side.horizontal:
            box = (at, grid.top, thick, grid.bottom - grid.top)
        else:
            box, lines = (grid.left, at, max(grid.right - grid.left, NAMED), thick), [placed.module.name]
        _box(drawing, box, classes, lines, tip)
        return
    places = grid.rows if side.horizontal else grid.columns
    before: float | None = None
    for index, place in places:
        if side.horizontal:
            extent = ROW_GAP if index is None else grid.height
            box = (at, place, thick, extent)
        else:
            extent = GAP if index is None else PE_WIDTH
            box = (place, at, extent, thick)
        if before is not None:
            ends = (before, place) if stream.direction is Direction.IN else (place, before)
            middle = at + thick / 2
            if side.horizontal:
                arrow(drawing, middle, ends[0], middle, ends[1], f"flow g{stream.number % 6}")
            else:
                arrow(drawing, ends[0], middle, ends[1], middle, f"flow g{stream.number % 6}")
        if index is None:
            drawing.text(box[0] + box[2] / 2, box[1] + box[3] / 2 + 5, "⋮" if side.horizontal else "⋯", "t strong", "middle")
        else:
            _box(drawing, box, classes, lines, f"{tip} ({index})")
        before = place + extent


def _box(drawing: Drawing, box: tuple[float, float, float, float], classes: str, lines: list[str], tip: str) -> None:
    x, y, width, height = box
    drawing.rect(x, y, width, height, classes, tip, rx=4)
    top = y + height / 2 - LINE * (len(lines) - 1) / 2 + 4
    for place, line in enumerate(lines):
        most = int((width - 6) / 6.2)
        drawing.text(x + width / 2, top + LINE * place, shortened(line, most), "t box" if place else "t box strong", "middle")


def _draw_chains(drawing: Drawing, grid: _Grid, plan: Layout) -> None:
    """Data handed from PE to PE."""
    parts = _parts(plan)
    for stream in (s for s in plan.streams if s.between_pes):
        part, classes = parts[stream.group.name, stream.direction], f"flow g{stream.number % 6}"
        if stream.side.horizontal:
            for y in (y + grid.height * part for index, y in grid.rows if index is not None):
                for (index, x), (_, after) in pairwise(grid.columns):
                    arrow(drawing, x + (GAP if index is None else PE_WIDTH), y, after, y, classes)
        else:
            for x in (x + PE_WIDTH * part for index, x in grid.columns if index is not None):
                for (index, y), (_, after) in pairwise(grid.rows):
                    arrow(drawing, x, y + (ROW_GAP if index is None else grid.height), x, after, classes)


def _parts(plan: Layout) -> dict[tuple[str, Direction], float]:
    """Where the arrows of every stream cross the side of a PE, so that they do not cover each other."""
    found: dict[tuple[str, Direction], float] = {}
    for horizontal in (True, False):
        streams = [s for s in plan.streams if s.side.horizontal is horizontal]
        found |= {(s.group.name, s.direction): (n + 1) / (len(streams) + 1) for n, s in enumerate(streams)}
    return found


def _draw_pes(drawing: Drawing, grid: _Grid, plan: Layout, tabs: list[tuple[Stream, Placed]]) -> None:
    for row, y in grid.rows:
        for column, x in grid.columns:
            if row is None or column is None:
                _draw_left_out(drawing, grid, plan, (row, y), (column, x))
                continue
            drawing.rect(x, y, PE_WIDTH, grid.height, "pe", rx=4)
            name = f"PE {row},{column}" if plan.row_loop else f"PE {column}"
            lines = [name, f"{number(plan.simd)} MAC"]
            if plan.accumulators is not None:
                lines.append(f"{number(plan.accumulators)} w acc.")
            top = y + (grid.height - 22 * len(tabs) - LINE * len(lines)) / 2 + 12
            for place, line in enumerate(lines):
                drawing.text(x + PE_WIDTH / 2, top + LINE * place, line, "t box" if place else "t box strong", "middle")
            for place, (stream, placed) in enumerate(tabs):
                at = y + grid.height - 22 * (len(tabs) - place)
                size, tip = "", placed.module.name
                if placed.buffer is not None:
                    size = f" {number(placed.buffer)} w"
                    tip += f": buffer of {placed.copies} × {number(placed.buffer)} words"
                drawing.rect(x + 3, at, PE_WIDTH - 6, 19, f"module g{stream.number % 6}", tip, rx=3)
                text = shortened(f"L1 {stream.direction.value}{size}", 14)
                drawing.text(x + PE_WIDTH / 2, at + 13.5, text, "t box", "middle")


def _draw_left_out(
    drawing: Drawing, grid: _Grid, plan: Layout, row: tuple[int | None, float], column: tuple[int | None, float]
) -> None:
    """Dots where PEs are left out, with how many rows or columns once."""
    wide, high = (GAP if column[0] is None else PE_WIDTH), (ROW_GAP if row[0] is None else grid.height)
    x, y = column[1] + wide / 2, row[1] + high / 2 + 5
    sign = "⋱" if row[0] is None and column[0] is None else "⋮" if row[0] is None else "⋯"
    first_row, first_column = row[1] == grid.top, column[1] == grid.left
    drawing.text(x, y, sign, "t strong", "middle")
    if column[0] is None and first_row:
        drawing.text(x, y + 16, f"+{number(plan.columns - sum(i is not None for i, _ in grid.columns))}", "t small", "middle")
    if row[0] is None and first_column:
        drawing.text(x + 10, y, f"+{number(plan.rows - sum(i is not None for i, _ in grid.rows))} rows", "t small")
