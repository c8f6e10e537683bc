"""The instructions of a layer in calls of an intrinsic, in the order in which they run.

A sub-problem loads the tile of every tensor, results too, which may be partial; computes call by
call; and stores the results. Loops count trips that are alike; a last one that is shorter stands
behind its loop, so that all sizes are true. An address is a number of words, and what every trip of
a loop around adds to it: ``512+16*t0+8*t2``, t0 the trip of the outermost loop, from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest

#: The columns of the program.
COLUMNS = ("opcode", "what", "off_chip", "scratchpad", "sizes", "off_chip_strides", "strides")

#: Words from the beginning, and what trips of loops add.
Address = tuple[int, str]

#: A loop over sub-problems or calls: the loop of the intrinsic whose iterations its trips have, if
#: any; its iterations, 0 for those of the sub-problem; those of a trip; and what each adds to every
#: address, off chip and then in the scratchpad.
Axis = tuple[str, int, int, Sequence[int]]


def rows(called: CalledNest) -> Iterator[Sequence[str]]:
    """The instructions, as rows of `COLUMNS`."""
    operands, sizes = called.operands, called.nest.sizes
    runs = {q: p for p, q in called.binding.items()}
    (tile_order,), (call_order,), _ = called.design.orders.values()
    still = [0] * len(operands)
    axes: list[Axis] = [
        (p, sizes[q], called.tile.get(p, 1), [*(each.steps[q] for each in operands), *still])
        for q in tile_order
        for p in [runs.get(q, "")]
    ]
    axes += [
        (p, 0, called.computes.sizes[p], [*still, *(each.step(p) for each in operands)])
        for q in call_order
        if (p := runs.get(q))
    ]

    def run(
        number: int, at: Sequence[Address], left: Mapping[str, int], depth: int
    ) -> Iterator[Sequence[str]]:
        places = [f"{begin}{more}" for begin, more in at]
        if number == len(axes):
            extents = "x".join(str(left.get(p, 1)) for p in called.computes.loops)
            parts = " ".join(places[len(operands) :])
            yield "compute", called.computes.name, "", parts, extents, "", ""
            return
        moves = []
        if number == len(tile_order):
            for operand, off_chip in zip(operands, places, strict=False):
                lengths = [each.covered(left) for each in operand.dimensions]
                strides = [each.off_chip for each in operand.dimensions]
                box = ("x".join(map(str, each)) or "1" for each in (lengths, strides, operand.rows))
                moves.append((operand.access.tensor, off_chip, str(operand.base), *box))
        yield from (("load", *each) for each in moves)
        p, total, each, steps = axes[number]
        whole, rest = divmod(total or left[p], each)
        for trips, first, iterations in ((whole, 0, each), (min(rest, 1), whole, rest)):
            there = [
                (
                    begin + step * each * first,
                    more + f"+{step * each}*t{depth}" * (trips > 1 and step != 0),
                )
                for (begin, more), step in zip(at, steps, strict=True)
            ]
            if trips > 1:
                yield "loop", str(trips), *[""] * 5
            if trips:
                yield from run(number + 1, there, {**left, p: iterations}, depth + (trips > 1))
            if trips > 1:
                yield "end", *[""] * 6
        yield from (("store", *each) for each in moves[-1:])

    begins = [*(n.off_chip + n.first for n in operands), *(n.base for n in operands)]
    yield from run(0, [(begin, "") for begin in begins], {}, 0)
