"""Boxes of tensors in memory: every element is where a master looks for it."""

import random
from itertools import product

import pytest

from ithaca.plugins.rtl.exports.boxes import MOST_BYTES, box, split


@pytest.mark.parametrize("seed", range(40))
def test_rows_hold_what_loops_visit(seed):
    draw = random.Random(seed)
    run, elements = draw.choice([1, 2, 4]), draw.choice([1, 4, 16])
    strides = [
        (draw.randrange(1, 5), draw.choice([-1, 1]) * draw.choice([0, 1, 2, 4, 7, 20, 40, 60]))
        for _ in range(draw.randrange(1, 5))
    ]
    made = box(strides, run, elements)
    rows, (first, first_row) = made.rows.addresses, made.first
    for turns in product(*(range(count) for count, _ in strides)):
        address = sum(turn * stride for turn, (_, stride) in zip(turns, strides, strict=True))
        along = first + sum(turn * step for turn, (step, _) in zip(turns, made.places, strict=True))
        row = first_row + sum(turn * n for turn, (_, n) in zip(turns, made.places, strict=True))
        assert 0 <= along <= made.row - run
        assert rows[row] + along == address


@pytest.mark.parametrize(
    ("axes", "run", "lanes", "chosen"),
    [
        # rows that follow each other, again and again, are read once
        ([(8, 0), (4, 8), (16, 32)], 8, 1, (0, 8)),
        # what is too much for a box is cut: few beats at first, few of rows that are not full
        ([(1000, 64)], 64, 1, (0, 10)),
        # eight lanes across the rows of a tensor
        ([(3, 0), (7, 320), (40, 1)], 1, 8, (0, 3)),
        # where they are too long, a part of them
        ([(3, 0), (7, 3200), (400, 1)], 1, 8, (2, 200)),
    ],
)
def test_a_box_is_what_is_read_soonest(axes, run, lanes, chosen):
    at, turns = split(axes, run, lanes, 8, 8)
    made = box([(turns, axes[at][1]), *axes[at + 1 :]], run, 8)
    assert lanes * made.rows.count * made.row <= MOST_BYTES
    assert (at, turns) == chosen
