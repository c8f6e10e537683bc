"""Exact grids: the one cost model evaluated on labelled coordinates.

Every number is an evaluation of `ithaca.formulations.systolic.cost_model.evaluate` in doubles, which hold latency, resources
and words exactly below 2^53 (their denominators are powers of two); quotients such as throughput are rounded once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from math import inf, prod
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca import __version__
from ithaca.formulations.algebra.number_systems import XARRAY
from ithaca.formulations.algebra.rounding import largest_double
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.cost_model import Costs, evaluate
from ithaca.formulations.systolic.design_space import tiling_of
from ithaca.formulations.systolic.metrics import METRICS, array_words, metric_values
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.refine.tables import window_tables
from ithaca.refine.window import Window
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import check

if TYPE_CHECKING:
    import xarray as xr

#: Most points held in memory at once; larger grids are evaluated in Dask chunks.
IN_MEMORY = 5_000_000

#: Most points of a grid at all: a file of some ten gigabytes.
LARGEST = 100_000_000

#: Points of a Dask chunk.
CHUNK_POINTS = 1 << 20

TITLE = "Ithaca exact grid"

_MEANINGS = {
    "lanes": ("", "t1/t2: PEs along a space loop, trips of the PE along any other"),
    "t1": ("iterations", "array partitioning factor"),
    "t2": ("iterations", "latency hiding factor; of the SIMD loop the SIMD factor"),
    "tiles": ("", "tiles, ceil(extent/t1)"),
    "pack": ("words", "data packing factor"),
}


@dataclass(frozen=True)
class Best:
    """The feasible point of a grid with the least objective.

    Attributes
    ----------
    tiling : Tiling
        Its configuration.
    value : float
        The grid's objective there.
    factors : mapping of str to int
        Its value of every free factor.
    """

    tiling: Tiling
    value: float
    factors: Mapping[str, int]


@contextmanager
def asked_between_chunks(grid: xr.Dataset) -> Iterator[None]:
    """While Dask computes the arrays of a grid, let a signal that waits (`deferred`) end that after a chunk."""
    if not grid.chunks:
        yield
        return
    from dask.callbacks import Callback

    with Callback(pretask=lambda *_: check()):  # type: ignore[no-untyped-call]
        yield


def exact_grid(window: Window, provenance: Mapping[str, str] | None = None) -> xr.Dataset:
    """Evaluate every metric at every point of a window.

    Parameters
    ----------
    window : Window
        The window.
    provenance : mapping of str to str, optional
        Recorded among the attributes.

    Returns
    -------
    xarray.Dataset
        One dimension per free factor, with its values as coordinate; fixed factors are scalar coordinates. Variables:
        every metric that the platform knows, ``words.<array>`` (off-chip words), ``objective``, ``t1.x`` and ``tiles.x``,
        inferred packs, ``meets_bounds``, ``legal`` (a point of the design space: DESIGN.md §4 and §5.5) and ``feasible``
        (legal, within every limit, meeting the bounds). Each has the dimensions it depends on, and is NaN where
        those factors belong to no legal design. With more than `IN_MEMORY` points its arrays are Dask's, not computed.

    Raises
    ------
    InputError
        If the grid has more than `LARGEST` points, or more than `IN_MEMORY` and Dask is not installed.
    """
    import xarray as xr

    problem, chunks = window.problem, _chunks(window)
    tables = window_tables(window, chunks)
    values = {name: table.astype(float) for name, table in tables.values.items()}
    with np.errstate(divide="ignore", invalid="ignore"):  # an objective may divide by zero; no such point is feasible
        costs = evaluate(problem.array, values, problem.data, XARRAY, problem.technology, dict(problem.physical.buffers))
        metrics = metric_values(costs)
        objective = problem.objective.expression.evaluate(metrics, XARRAY)
        meets_bounds = xr.DataArray(costs.meets_bounds)
        legal = reduce(and_, tables.legal)
        feasible = legal & meets_bounds & np.isfinite(objective)
        for limit in problem.limits:
            feasible = feasible & (limit.expression.evaluate(metrics, XARRAY) <= largest_double(limit.bound))
    dims = tuple(window.free)
    flags = {
        "meets_bounds": (meets_bounds, "whether PEs that accumulate in place hide the accumulator's latency"),
        "legal": (legal.transpose(*dims), "whether the point belongs to the design space"),
        "feasible": (feasible.transpose(*dims), "legal, within every limit, meeting the bounds"),
    }
    variables = {name: flag.assign_attrs(long_name=meaning) for name, (flag, meaning) in flags.items()}
    for name, (value, attributes) in _numbers(window, tables.values, costs, metrics, objective).items():
        number = xr.DataArray(value)
        ordered = number.transpose(*(dim for dim in dims if dim in number.dims))
        masks = [mask for mask in tables.legal if mask.dims and set(mask.dims) <= set(ordered.dims)]
        variables[name] = reduce(lambda shown, mask: shown.where(mask), masks, ordered).assign_attrs(attributes)
    coordinates = {name: xr.DataArray(n, dims=name, attrs=_attributes(name)) for name, n in window.free.items()}
    coordinates |= {name: xr.DataArray(n, attrs=_attributes(name)) for name, n in window.fixed.items()}
    return xr.Dataset(variables, coordinates, _provenance(window) | dict(provenance or {}))


def best_point(grid: xr.Dataset, window: Window) -> Best | None:
    """The feasible point with the least objective, the first of equals; None if no point is feasible."""
    masked = grid["objective"].where(grid["feasible"], np.inf).transpose(*window.free)
    place = masked.argmin(dim=list(masked.dims))
    index = {str(name): int(number) for name, number in place.items()}
    value = float(masked.isel(index))
    if value == inf:
        return None
    at = grid.isel(index)
    factors = {name: int(window.free[name][number]) for name, number in index.items()}
    values = {**window.fixed, **factors}
    for loop in window.problem.array.band:
        name = quantities.t1(loop).name
        values[name] = int(at[name])
    for group in window.problem.array.packed_groups:
        name = quantities.pack(group.name).name
        values.setdefault(name, int(at[name]))
    return Best(tiling_of(window.problem.array, values), value, factors)


def _chunks(window: Window) -> dict[str, int] | None:
    """Values per factor and chunk; None for a grid that is held in memory."""
    points = window.points
    if points <= IN_MEMORY:
        return None
    fewer = "a smaller neighbourhood or fewer loops"
    if points > LARGEST:
        raise InputError(f"the grid has {points:,} points; allowed: at most {LARGEST:,}: {fewer}")
    try:
        import dask.array  # noqa: F401
    except ImportError:
        raise InputError(
            f"the grid has {points:,} points; allowed without the package dask: at most {IN_MEMORY:,}: "
            f"{fewer}, or pip install 'dask[array]'"
        ) from None
    chunks = window.shape
    while prod(chunks.values()) > CHUNK_POINTS:
        longest = max(chunks, key=chunks.__getitem__)
        chunks[longest] = -(-chunks[longest] // 2)
    return chunks


def _numbers(
    window: Window, tables: Mapping[str, Any], costs: Costs, metrics: Mapping[str, Any], objective: Any
) -> dict[str, tuple[Any, dict[str, str]]]:
    """Numeric variables with their attributes."""
    problem = window.problem
    unit = METRICS[problem.objective.text].unit if problem.objective.text in METRICS else ""
    found: dict[str, tuple[Any, dict[str, str]]] = {
        name: (value, {"units": METRICS[name].unit, "long_name": METRICS[name].meaning}) for name, value in metrics.items()
    }
    found["objective"] = (objective, {"units": unit, "long_name": problem.objective.text})
    for name, words in array_words(problem.array, costs).items():
        found[f"words.{name}"] = (words, {"units": "words", "long_name": f"off-chip words of {name}"})
    for name, table in tables.items():
        if not (name in window.free or name in window.fixed or name.startswith("extent.")):
            found[name] = (table.astype(float), _attributes(name))
    return found


def _attributes(name: str) -> dict[str, str]:
    kind, _, owner = name.partition(".")
    unit, meaning = _MEANINGS[kind]
    return {"units": unit, "long_name": f"{meaning} ({owner})"}


def _provenance(window: Window) -> dict[str, Any]:
    problem, center = window.problem, window.center
    technology = problem.technology
    return {
        "title": TITLE,
        "source": f"ithaca {__version__}",
        "workload": problem.nest.name,
        "statement": str(problem.nest),
        "sizes": json.dumps(dict(problem.nest.sizes)),
        "dtype": problem.data.name,
        "design": problem.array.name,
        "edition": problem.array.edition.value,
        "objective": problem.objective.text,
        "limits": json.dumps({limit.metric: str(limit.bound) for limit in problem.limits}),
        "clock_mhz": float(technology.clock_mhz),
        "center": json.dumps(
            {
                "array_part": dict(center.array_part),
                "latency_hiding": dict(center.latency_hiding),
                "simd": center.simd,
                "pack": dict(center.pack),
            }
        ),
        "window": "full ranges" if window.around is None else f"factors at most {window.around} from the center's",
        "points": window.points,
    }
