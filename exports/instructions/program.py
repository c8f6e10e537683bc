"""The instructions of a layer in calls of an intrinsic, in the order in which they run.

A sub-problem loads the tile of every tensor, results too, which may be partial; computes call by
call; and stores the results. Loops count trips that are alike; a last one that is shorter stands
behind its loop, so that all sizes are true. An address is a number of words, and what every trip of
a loop around adds to it: ``512+16*t0+8*t2``, t0 the trip of the outermost loop, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ithaca.exports.instructions.called import CalledNest, Placed

#: The columns of the program.
COLUMNS = ("opcode", "what", "off_chip", "scratchpad", "sizes", "off_chip_strides", "strides")

Row = tuple[str, ...]

#: A loop over sub-problems or calls: the loop of the intrinsic whose iterations its trips have, if
#: any; its iterations, 0 for those of the sub-problem; those of a trip; and what each adds to every
#: address, off chip and then in the scratchpad.
Axis = tuple[str, int, int, tuple[int, ...]]


def moved(addresses: Sequence[str], steps: Sequence[int], trip: str) -> tuple[str, ...]:
    """Addresses after a number of trips, or in the trip of a loop: ``t0``."""
    found = []
    for address, step in zip(addresses, steps, strict=True):
        begin, *rest = address.split("+")
        if trip.isdigit():
            begin = str(int(begin) + step * int(trip))
        elif step:
            rest = [*rest, f"{step}*{trip}"]
        found.append("+".join((begin, *rest)))
    return tuple(found)


def rows(called: CalledNest) -> Iterator[Row]:
    """The instructions, as rows of `COLUMNS`."""
    operands, sizes = called.operands, called.nest.sizes
    runs = {q: p for p, q in called.binding.items()}
    (tile_order,), (call_order,), _ = called.design.orders.values()
    still = (0,) * len(operands)
    tiles: list[Axis] = [
        (p, sizes[q], called.tile.get(p, 1), (*(each.steps[q] for each in operands), *still))
        for q in tile_order
        for p in [runs.get(q, "")]
    ]
    calls: list[Axis] = [
        (p, 0, called.computes.sizes[p], (*still, *(each.step(p) for each in operands)))
        for q in call_order
        if (p := runs.get(q))
    ]

    def run(
        axes: Sequence[Axis], at: Sequence[str], left: Mapping[str, int], depth: int
    ) -> Iterator[Row]:
        if not axes:
            extents = "x".join(str(left.get(p, 1)) for p in called.computes.loops)
            parts = " ".join(at[len(operands) :])
            yield ("compute", called.computes.name, "", parts, extents, "", "")
            return
        moves: list[Row] = []
        if len(axes) == len(calls):
            moves = [_transfer(*each, left) for each in zip(operands, at, strict=False)]
            yield from (("load", *each) for each in moves)
        (p, total, each, steps), *inside = axes
        whole, rest = divmod(total or left[p], each)
        trips = [("0" if whole == 1 else f"t{depth}", each)] * (whole > 0)
        for trip, iterations in (*trips, *[(str(whole), rest)] * (rest > 0)):
            looped = not trip.isdigit()
            if looped:
                yield ("loop", str(whole), *[""] * 5)
            there = moved(at, [step * each for step in steps], trip)
            yield from run(inside, there, {**left, p: iterations}, depth + looped)
            if looped:
                yield ("end", *[""] * 6)
        yield from (("store", *each) for each in moves[-1:])

    begins = (*(n.off_chip + n.first for n in operands), *(n.base for n in operands))
    yield from run([*tiles, *calls], [*map(str, begins)], {}, 0)


def _transfer(operand: Placed, off_chip: str, extents: Mapping[str, int]) -> Row:
    """The tile of a tensor: its dimensions of more than one word."""
    parts = [
        (str(words), str(each.off_chip), str(row))
        for each, row in zip(operand.dimensions, operand.rows, strict=True)
        if (words := each.covered(extents)) > 1
    ]
    columns = ("x".join(column) for column in zip(*parts or [("1", "1", "1")], strict=True))
    return (operand.access.tensor, off_chip, str(operand.base), *columns)
