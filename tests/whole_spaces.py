"""All that the axes of a space offer: as rows, as columns, and at random."""

import random
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from ithaca.formulations.algebra.number_systems import FRACTION


def tables_of(space):
    """The rows of every axis."""
    return [axis.table() for axis in space.axes]


def lengths(tables):
    """The numbers of rows."""
    return [len(next(iter(table.values()))) for table in tables]


def size_of(space):
    """The number of combinations of rows."""
    return prod(lengths(tables_of(space)))


def row_of(tables, places):
    """The values of a row of each table."""
    pairs = zip(tables, places, strict=True)
    return {name: int(column[at]) for table, at in pairs for name, column in table.items()}


def some_row(tables, below):
    """The values of a row of each table, which is drawn below their number."""
    return row_of(tables, [below(count) for count in lengths(tables)])


def every_row(space):
    """All combinations of rows, whatever links say of them."""
    tables = tables_of(space)
    return (row_of(tables, places) for places in product(*map(range, lengths(tables))))


def crossed(tables):
    """All combinations of rows, as columns."""
    sizes = lengths(tables)
    places = np.indices(sizes).reshape(len(sizes), -1)
    pairs = zip(tables, places, strict=True)
    return {name: column[at] for table, at in pairs for name, column in table.items()}


def linked(space, columns):
    """The columns of points that the links of a space allow."""
    keep = np.ones(lengths([columns])[0], bool)
    for link in space.links:
        keep &= link.holds(columns)
    return {name: column[keep] for name, column in columns.items()}


def small_arrays(design, count, seed):
    """Random legal configurations of small arrays."""
    draw = random.Random(seed)
    tables = tables_of(design.space)
    while count:
        configuration = design.space.completed(some_row(tables, draw.randrange))
        pes = design.array.pe.count.evaluate(
            {name: Fraction(n) for name, n in {**design.extents, **configuration}.items()}, FRACTION
        )
        if design.space.contains(configuration) and pes <= 64:
            count -= 1
            yield configuration
