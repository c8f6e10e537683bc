"""Boxes of a tensor in memory: what a master reads by long bursts, and hands on in another order.

A box is what the inner loops of an array's stream visit. Elements that follow each other in memory
are a row of it, gaps of less than a beat among them. Elements of a pack that lie in different rows
are read side by side: each has a lane, with memories of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ithaca.plugins.rtl.formulations.addresses import AddressNest

#: Bytes of a box, at most; a pack may need more.
MOST_BYTES = 4096


@dataclass(frozen=True)
class RowBox:
    """The elements that inner loops visit, laid out in rows."""

    row: int
    """Elements of a row."""
    rows: AddressNest
    """Where rows begin, against the first element that is visited."""
    places: tuple[tuple[int, int], ...]
    """For each loop, from one turn to the next, elements along a row, and rows."""
    first: tuple[int, int]
    """Element and row that are visited first."""

    def beats(self, elements: int) -> int:
        """Beats of so many elements that a row has at most."""
        return (self.row + elements - 2) // elements + 1


def box(strides: Sequence[tuple[int, int]], run: int, elements: int) -> RowBox:
    """The box of loops over runs.

    Parameters
    ----------
    strides : sequence of (int, int)
        Turns of each loop, and from one turn to the next in memory (elements).
    run : int
        Elements of a run.
    elements : int
        Elements of a beat.

    Returns
    -------
    Box
        Its rows.
    """
    row, rows = run, list[tuple[int, int]]()
    places, first, begin = [(0, 0)] * len(strides), [0, 0], 0
    for loop in sorted(range(len(strides)), key=lambda loop: abs(strides[loop][1])):
        turns, stride = strides[loop]
        size, along = abs(stride), 0
        if size < row + elements and not rows:
            row += size * (turns - 1)
            step = size
        else:
            along = 1
            if rows and size % rows[-1][1] == 0 and size // rows[-1][1] <= rows[-1][0]:
                count, known = rows.pop()
            else:
                count, known = 1, size
            step = size // known
            rows.append((count + step * (turns - 1), known))
            step *= prod(n for n, _ in rows[:-1])
        if stride < 0:
            begin += stride * (turns - 1)
            first[along] += step * (turns - 1)
            step = -step
        places[loop] = (0, step) if along else (step, 0)
    return RowBox(
        row, AddressNest(tuple(reversed(rows)), begin), tuple(places), (first[0], first[1])
    )


def split(
    axes: Sequence[tuple[int, int]], run: int, lanes: int, bits: int, elements: int
) -> tuple[int, int]:
    """The loop and turn at which a box begins, so that the fewest beats are waited for.

    Parameters
    ----------
    axes : sequence of (int, int)
        Turns and stride in memory of each loop of a stream, outermost first.
    run : int
        Elements of a run.
    lanes : int
        Runs of a pack.
    bits : int
        Bits of an element.
    elements : int
        Elements of a beat.

    Returns
    -------
    loop, turns : int
        The outermost loop of a box, and how many of its turns are in one.
    """
    chosen, fewest = (len(axes) - 1, 1), 0
    for loop in reversed(range(len(axes))):
        count, stride = axes[loop]
        outside = prod(turns for turns, _ in axes[:loop])
        for turns in filter(lambda turns: count % turns == 0, range(1, count + 1)):
            inner = box([(turns, stride), *axes[loop + 1 :]], run, elements)
            beats, rows = inner.beats(elements), inner.rows.count * lanes
            held = rows << (beats - 1).bit_length()
            # the first box is waited for
            waited = (outside * (count // turns) + 1) * rows * beats
            if not fewest or (waited < fewest and held * elements * bits <= 8 * MOST_BYTES):
                chosen, fewest = (loop, turns), waited
    return chosen
