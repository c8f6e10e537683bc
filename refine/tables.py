"""The rows of a window as labelled tables: the quantities of every point, and where a legal design is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ithaca.formulations.algebra.number_systems import XARRAY
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design_space import Axis, axes, pack_legality
from ithaca.formulations.systolic.packing import inferred_pack
from ithaca.formulations.systolic.systolic_array import Edition, IOGroup
from ithaca.refine.window import Window

if TYPE_CHECKING:
    import xarray as xr

    Labelled = xr.DataArray


@dataclass(frozen=True)
class Tables:
    """A window in labelled arrays.

    Attributes
    ----------
    values : mapping of str to DataArray of int
        Every quantity over the free factors it depends on; 1 where no legal design has them.
    legal : tuple of DataArray of bool
        Parts of the design space's rules; a point is legal where all hold.
    """

    values: Mapping[str, Labelled]
    legal: tuple[Labelled, ...]


def window_tables(window: Window, chunks: Mapping[str, int] | None = None) -> Tables:
    """Tabulate a window.

    Parameters
    ----------
    window : Window
        The window.
    chunks : mapping of str to int, optional
        Values of each free factor per chunk, for tables of Dask arrays; by default they are NumPy's.
    """
    import xarray as xr

    problem = window.problem

    def chunked(table: Labelled) -> Labelled:
        return table if chunks is None else table.chunk({name: chunks[name] for name in table.dims})  # type: ignore[index]

    values = {quantities.extent(loop).name: xr.DataArray(n) for loop, n in problem.nest.sizes.items()}
    values |= {name: xr.DataArray(n) for name, n in window.fixed.items()}
    values |= {name: chunked(xr.DataArray(n, dims=name)) for name, n in window.free.items()}
    legal: list[Labelled] = []
    own: list[IOGroup] = []
    for axis in axes(problem.array):
        if axis.loop is None:
            own += axis.packs
            continue
        tables, allowed = _axis_tables(window, axis)
        values |= {name: chunked(table) for name, table in tables.items()}
        legal.append(chunked(allowed))
    for group in own:
        name = quantities.pack(group.name).name
        values[name], allowed = _pack_of_its_own(window, group, values)
        legal.append(allowed)
    return Tables(values, tuple(legal))


def _axis_tables(window: Window, axis: Axis) -> tuple[dict[str, Labelled], Labelled]:
    """What the rows of an axis say: each quantity that depends on its factors, and which factors are legal."""
    import xarray as xr

    rows = window.rows(axis)
    packs = {quantities.pack(group.name).name for group in axis.packs}
    names = [name for name in window.free if name in axis.symbols]
    place = {name: np.searchsorted(window.free[name], rows[name]) for name in names}
    allowed = np.zeros([window.free[name].size for name in names], bool)
    allowed[tuple(place[name] for name in names)] = True
    factors = [name for name in names if name not in packs]  # what tiles, t1 and inferred packs depend on
    tables = {}
    for name, column in rows.items():
        if name in window.free or name in window.fixed:
            continue
        table = np.ones([window.free[factor].size for factor in factors], np.int64)
        table[tuple(place[factor] for factor in factors)] = column if factors else column[0]
        tables[name] = xr.DataArray(table, dims=factors)
    return tables, xr.DataArray(allowed, dims=names)


def _pack_of_its_own(window: Window, group: IOGroup, values: Mapping[str, Labelled]) -> tuple[Labelled, Labelled]:
    """A pack whose legality depends on several loops, and where it is legal."""
    import xarray as xr

    problem = window.problem
    last, multiple = (
        xr.DataArray(expression.evaluate(values, XARRAY)).astype(np.int64)
        for expression in (group.packing.last, group.packing.multiple_of)
    )
    # the rules of packs are plain arithmetic, and hold for labelled arrays as well
    if problem.array.edition is Edition.ODYSSEY:
        pack = inferred_pack(last, multiple, group.packing)[0]  # type: ignore[arg-type]
    else:
        pack = values[quantities.pack(group.name).name]  # type: ignore[assignment]
    legal = pack_legality(problem, group, pack, last, multiple)  # type: ignore[arg-type]
    return pack, legal  # type: ignore[return-value]
