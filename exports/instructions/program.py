"""The instructions of a layer in calls of an intrinsic, in the order in which they run.

A sub-problem loads the tile of every tensor, results too, which may be partial; computes call by
call; and stores the results. Loops count trips that are alike; a last one that is shorter stands
behind its loop, so that all sizes are true. An address is a number of words, and what every trip of
a loop around adds to it: ``512+16*t0+8*t2``, t0 the trip of the outermost loop, from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ithaca.exports.instructions.called import CalledNest, Placed

#: The columns of the program.
COLUMNS = ("opcode", "what", "off_chip", "scratchpad", "sizes", "off_chip_strides", "strides")

Row = tuple[str, ...]


@dataclass(frozen=True)
class Axis:
    """A loop over sub-problems or calls."""

    name: str
    """Of the layer's loop, or the intrinsic's if it is over calls."""
    steps: tuple[int, ...]
    """What an iteration adds to the address of each operand."""
    each: int
    """Iterations of a whole trip."""
    inside: str = ""
    """The loop of the intrinsic whose iterations a trip has."""


@dataclass(frozen=True)
class Place:
    """Where in the program an instruction stands."""

    off_chip: tuple[str, ...]
    """The address of the tile of each operand, which grows as loops are entered."""
    scratchpad: tuple[str, ...]
    """The address of the call's part of each operand."""
    extents: Mapping[str, int] = field(default_factory=dict)
    """Iterations that remain to be run of each loop of the intrinsic."""
    depth: int = 0
    """Loops around."""


def moved(addresses: Sequence[str], steps: Sequence[int], times: int | str) -> tuple[str, ...]:
    """Addresses a number of steps on, or as many as the trip of a loop."""
    found = []
    for address, step in zip(addresses, steps, strict=True):
        first, *rest = address.split("+")
        if isinstance(times, int):
            found.append("+".join((str(int(first) + step * times), *rest)))
        else:
            found.append(address + (f"+{step}*{times}" if step else ""))
    return tuple(found)


def rows(called: CalledNest) -> Iterator[Row]:
    """The instructions, as rows of `COLUMNS`."""
    image, sizes = called.binding, called.computes.sizes
    runs = {q: p for p, q in image.items()}
    (outer_order,), (call_order,), _ = called.design.orders.values()
    tiles = [
        Axis(
            q,
            tuple(operand.steps[q] for operand in called.operands),
            called.tile[runs[q]] if q in runs else 1,
            runs.get(q, ""),
        )
        for q in outer_order
    ]
    calls = [
        Axis(
            "", tuple(operand.step(runs[q]) for operand in called.operands), sizes[runs[q]], runs[q]
        )
        for q in call_order
        if q in runs
    ]

    def subproblem(place: Place) -> Iterator[Row]:
        for number, operand in enumerate(called.operands):
            yield _transfer("load", operand, place.off_chip[number], place.extents)
        yield from nested(calls, place, call)
        yield _transfer("store", called.operands[-1], place.off_chip[-1], place.extents)

    def call(place: Place) -> Iterator[Row]:
        extents = "x".join(str(place.extents.get(p, 1)) for p in called.computes.loops)
        yield ("compute", called.computes.name, "", " ".join(place.scratchpad), extents, "", "")

    def nested(
        axes: Sequence[Axis], place: Place, body: Callable[[Place], Iterator[Row]]
    ) -> Iterator[Row]:
        if not axes:
            yield from body(place)
            return
        axis, *inner = axes
        over = "off_chip" if axis.name else "scratchpad"
        total = called.nest.sizes[axis.name] if axis.name else place.extents[axis.inside]
        whole, left = divmod(total, axis.each)
        steps = [step * axis.each for step in axis.steps]

        def trip(number: int | str, iterations: int, depth: int = place.depth) -> Iterator[Row]:
            at = {over: moved(getattr(place, over), steps, number)}
            extents = {**place.extents, axis.inside: iterations}
            yield from nested(inner, replace(place, **at, extents=extents, depth=depth), body)

        if whole > 1:
            yield ("loop", str(whole), *[""] * 5)
            yield from trip(f"t{place.depth}", axis.each, place.depth + 1)
            yield ("end", *[""] * 6)
        elif whole:
            yield from trip(0, axis.each)
        if left:
            yield from trip(whole, left)

    start = Place(
        tuple(str(operand.begin) for operand in called.operands),
        tuple(str(operand.base) for operand in called.operands),
    )
    yield from nested(tiles, start, subproblem)


def _transfer(opcode: str, operand: Placed, off_chip: str, extents: Mapping[str, int]) -> Row:
    """A load or store of the tile of a tensor: its dimensions of more than one word."""
    parts = [
        (str(words), str(each.off_chip), str(row))
        for each, row in zip(operand.dimensions, operand.rows, strict=True)
        if (words := each.covered(extents)) > 1
    ]
    columns = ("x".join(column) for column in zip(*parts or [("1", "1", "1")], strict=True))
    return (opcode, operand.access.tensor, off_chip, str(operand.base), *columns)
