"""Exact grids: the one cost model evaluated on labelled coordinates.

Every number is an evaluation of `ithaca.formulations.systolic.cost_model.evaluate` in doubles,
which hold latency, resources and words exactly below 2^53 (their denominators are powers of two);
quotients such as throughput are rounded once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import reduce
from math import inf, prod
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ithaca import __version__
from ithaca.files.clock import poll
from ithaca.files.errors import InputError
from ithaca.files.extras import installed
from ithaca.files.netcdf import check_contents, save_netcdf
from ithaca.files.signals import check, deferred
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.algebra.rounding import largest_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Known
from ithaca.formulations.families import profile_of
from ithaca.refine.window import Window

if TYPE_CHECKING:
    import xarray as xr

#: Most points held in memory at once; larger grids are evaluated in Dask chunks.
IN_MEMORY = 5_000_000

#: Most points of a grid at all: a file of some ten gigabytes.
LARGEST = 100_000_000

#: Points of a Dask chunk.
CHUNK_POINTS = 1 << 20

#: Ways to fewer points.
FEWER = "a smaller neighbourhood or fewer loops"

TITLE = "Ithaca exact grid"


@dataclass(frozen=True)
class Best:
    """The feasible point of a grid with the least objective."""

    configuration: Configuration
    """The point."""
    value: float
    """The grid's objective there."""
    factors: Mapping[str, int]
    """Its value of every free factor."""


@contextmanager
def asked_between_chunks(grid: xr.Dataset, report: Callable[[int, int], None]) -> Iterator[None]:
    """Let a deferred signal end Dask's computation of a grid after a chunk.

    ``report`` is before_task of each step: how many are done, of how many.
    """
    if not grid.chunks:
        yield
        return
    from dask.callbacks import Callback

    def before_task(key: object, steps: Mapping[str, object], state: Mapping[str, Any]) -> None:
        check()
        poll()
        report(len(state["finished"]), len(steps))

    with Callback(pretask=before_task):  # type: ignore[no-untyped-call]
        yield


def exact_grid(
    window: Window, provenance: Mapping[str, str] | None = None, held: int | None = None
) -> xr.Dataset:
    """Evaluate every metric at every point of a window.

    There is one dimension per free factor, with its values as coordinate; fixed factors are scalar
    coordinates. Variables: every metric that the platform knows, ``words.<array>`` (off-chip
    words), ``objective``, ``t1.x`` and ``tiles.x``, inferred packs, ``meets_bounds``, ``legal`` (a
    point of the design space) and ``feasible`` (legal, within every limit, meeting the bounds).
    Each has the dimensions it depends on, and is NaN where those factors belong to no legal design;
    ``provenance`` is recorded among the attributes. With more points than are
    held its arrays are Dask's, not computed.

    Parameters
    ----------
    window : Window
        The points.
    provenance : mapping of str to str, optional
        What is recorded.
    held : int, optional
        The most points that are computed at once; by default `IN_MEMORY`.

    Raises
    ------
    InputError
        If the grid has more than `LARGEST` points, or more than are held and Dask is not installed.
    """
    import xarray as xr

    space, chunks, dims = (
        window.problem.space,
        _chunks(window, IN_MEMORY if held is None else held),
        tuple(window.free),
    )

    def labelled(values: Any, name: str | None = None) -> xr.DataArray:
        table = xr.DataArray(values, dims=name)
        if name is None or chunks is None:
            return table
        return table.chunk({name: chunks[name]})

    points = evaluate(window, labelled)
    integers, values, metrics, rules = points.integers, points.values, points.metrics, points.rules
    flags = {
        "meets_bounds": (
            points.meets_bounds,
            "whether the design's own conditions hold, such as hidden accumulator latency",
        ),
        "legal": (points.legal.transpose(*dims), "whether the point belongs to the design space"),
        "feasible": (
            points.feasible.transpose(*dims),
            "legal, within every limit, meeting the bounds",
        ),
    }
    variables = {
        name: flag.assign_attrs(long_name=meaning) for name, (flag, meaning) in flags.items()
    }
    derived = {
        name: integers[name]
        for name in space.quantities
        if name not in window.free and name not in window.fixed
    }
    for name, (value, attributes) in _numbers(
        window, derived, values, metrics, points.objective
    ).items():
        number = xr.DataArray(value)
        ordered = number.transpose(*(dim for dim in dims if dim in number.dims))
        masks = [mask for mask in rules if mask.dims and set(mask.dims) <= set(ordered.dims)]
        variables[name] = reduce(
            lambda array, mask: array.where(mask), masks, ordered
        ).assign_attrs(attributes)
    coordinates = {
        name: xr.DataArray(n, dims=name, attrs=_attributes(window, name))
        for name, n in window.free.items()
    }
    coordinates |= {
        name: xr.DataArray(n, attrs=_attributes(window, name)) for name, n in window.fixed.items()
    }
    return xr.Dataset(variables, coordinates, _provenance(window) | dict(provenance or {}))


class Evaluated(NamedTuple):
    """The model at every point of a window, each quantity over the factors that it depends on."""

    integers: dict[str, Any]
    """The quantities, and the same as doubles."""
    values: dict[str, Any]
    metrics: Mapping[str, Any]
    objective: Any
    meets_bounds: Any
    """Whether the design's own conditions hold."""
    rules: list[Any]
    """The rules of the space; whether all hold; whether limits and conditions do, too."""
    legal: Any
    feasible: Any


def evaluate(window: Window, array: Callable[..., Any]) -> Evaluated:
    """Evaluate the model at every point of a window.

    Parameters
    ----------
    window : Window
        The points.
    array : callable
        Makes arrays: of values along the factor that is named second, if one is, which broadcast
        against those along other factors.
    """
    problem, space = window.problem, window.problem.space
    fixed = {name: array(n) for name, n in window.fixed.items()}
    completed = space.completed(fixed | {name: array(n, name) for name, n in window.free.items()})
    rules = [array(axis.legal(completed)) for axis in space.axes]
    rules += [array(link.holds(completed)) for link in space.links]
    integers = {name: array(value) for name, value in completed.items()}
    values = {name: table.astype(float) for name, table in integers.items()}
    # an objective may divide by zero; no such point is feasible
    with np.errstate(divide="ignore", invalid="ignore"):
        metrics = Known(problem.design.metrics(values, NUMPY), problem.design, values, NUMPY)
        objective, meets_bounds = problem.objective.expression.evaluate(metrics, NUMPY), array(True)
        for used, bound in problem.design.conditions(values, NUMPY):
            meets_bounds = meets_bounds & (used <= largest_double(bound))
        legal = reduce(and_, rules)
        feasible = legal & meets_bounds & np.isfinite(objective)
        for limit in problem.limits:
            used = limit.expression.evaluate(metrics, NUMPY)
            feasible = feasible & (used <= largest_double(limit.bound))
    return Evaluated(integers, values, metrics, objective, meets_bounds, rules, legal, feasible)


def least_objective(window: Window, x: str, y: str) -> Floats:
    """The least objective with each pair of two factors' values.

    Parameters
    ----------
    window : Window
        The points.
    x, y : str
        The factors.

    Returns
    -------
    ndarray
        Values of shape (y, x); NaN where no point with them is feasible.
    """
    names = list(window.free)
    points = evaluate(window, placed(window))
    masked = np.where(points.feasible, points.objective, np.inf)
    masked = np.broadcast_to(masked, tuple(len(n) for n in window.free.values()))
    kept = names.index(x), names.index(y)
    least = masked.min(axis=tuple({*range(len(names))} - {*kept}))
    least = least if kept[0] > kept[1] else least.T
    return np.where(np.isfinite(least), least, np.nan)


def placed(window: Window) -> Callable[..., Any]:
    """A maker of plain arrays for `evaluate`: values along a factor broadcast against those along
    others, in the order of the window's."""
    names = list(window.free)

    def array(values: Any, name: str | None = None) -> Any:
        shape = [-1 if each == name else 1 for each in names]
        return np.asarray(values) if name is None else np.asarray(values).reshape(shape)

    return array


def best_point(grid: xr.Dataset, window: Window) -> Best | None:
    """The feasible point with the least objective, the first of equals, or None."""
    masked = grid["objective"].where(grid["feasible"], np.inf).transpose(*window.free)
    place = masked.argmin(dim=list(masked.dims))
    index = {str(name): int(number) for name, number in place.items()}
    value = float(masked.isel(index))
    return None if value == inf else best_at(window, [index[name] for name in window.free], value)


def best_at(window: Window, place: Sequence[int], value: float) -> Best:
    """The point of a window with the least objective.

    Parameters
    ----------
    window : Window
        The window.
    place : sequence of int
        The number of the point's value of each free factor.
    value : float
        Its objective.
    """
    pairs = zip(window.free.items(), place, strict=True)
    factors = {name: int(values[number]) for (name, values), number in pairs}
    return Best(window.problem.space.configuration({**window.fixed, **factors}), value, factors)


def check_size(window: Window) -> None:
    """Refuse a grid of more than `LARGEST` points."""
    if window.points > LARGEST:
        raise InputError(
            f"the grid has {window.points:,} points; allowed: at most {LARGEST:,}: {FEWER}"
        )


def _chunks(window: Window, held: int) -> dict[str, int] | None:
    """Values per factor and chunk; None for a grid that is held in memory."""
    points = window.points
    if points <= held:
        return None
    check_size(window)
    if not installed("dask"):
        raise InputError(
            f"the grid has {points:,} points; allowed without the "
            f"package dask: at most {held:,}: "
            f"{FEWER}, or pip install 'ithaca[grid]'"
        )
    chunks = window.shape
    while prod(chunks.values()) > CHUNK_POINTS:
        longest = max(chunks, key=chunks.__getitem__)
        chunks[longest] = -(-chunks[longest] // 2)
    return chunks


def _numbers(
    window: Window,
    derived: Mapping[str, Any],
    values: Mapping[str, Any],
    metrics: Mapping[str, Any],
    objective: Any,
) -> dict[str, tuple[Any, dict[str, str]]]:
    """Numeric variables with their attributes."""
    problem = window.problem
    known = problem.design.vocabulary
    unit = known[problem.objective.text].unit if problem.objective.text in known else ""
    variables: dict[str, tuple[Any, dict[str, str]]] = {
        name: (
            value,
            {"units": known[name].unit, "long_name": known[name].meaning}
            | ({"best": "most"} if known[name].most else {}),
        )
        for name, value in metrics.items()
    }
    variables["objective"] = (objective, {"units": unit, "long_name": problem.objective.text})
    for kind, details in problem.design.details(values, NUMPY).items():
        for name, number in details.items():
            variables[f"{kind}.{name}"] = (
                number,
                {"units": kind, "long_name": f"off-chip {kind} of {name}"},
            )
    return variables | {
        name: (table.astype(float), _attributes(window, name)) for name, table in derived.items()
    }


def _attributes(window: Window, name: str) -> dict[str, str]:
    unit, meaning = profile_of(window.problem.design).meaning(name)
    return {"units": unit, "long_name": meaning}


def _plain(value: Any) -> dict[str, Any]:
    """A value as JSON takes it, whatever a family makes of it."""
    return dict(value) if isinstance(value, Mapping) else asdict(value)


def _provenance(window: Window) -> dict[str, Any]:
    problem = window.problem
    return {
        "title": TITLE,
        "source": f"ithaca {__version__}",
        "subject": profile_of(problem.design).title,
        **profile_of(problem.design).attributes,
        "objective": problem.objective.text,
        "limits": json.dumps({limit.metric: str(limit.bound) for limit in problem.limits}),
        "center": json.dumps(profile_of(problem.design).native(window.center), default=_plain),
        "center_factors": json.dumps({name: window.center[name] for name in window.free}),
        "window": window.extent,
        "points": window.points,
    }


def save_grid(grid: xr.Dataset, path: Path) -> None:
    """Write a grid, whole or not at all; Dask arrays are stored chunk by chunk."""
    stored = grid.copy()
    for variable in stored.variables.values():
        if variable.chunks is not None:
            variable.encoding["chunksizes"] = tuple(sizes[0] for sizes in variable.chunks)
    save_netcdf(stored, path)


def load_grid(path: Path, *, lazily: bool = False) -> xr.Dataset:
    """Read a grid back as it was saved; ``lazily`` leaves its data in the file, as Dask arrays in
    the chunks of the file.

    Raises `InputError` if it is no file of a grid.
    """
    import xarray as xr

    try:
        with deferred():
            check_contents(path)
            grid = xr.open_dataset(path, engine="netcdf4", chunks={} if lazily else None)
            if not lazily:
                with grid:
                    grid = grid.load()
    except InputError:
        raise
    except Exception as error:  # libraries raise anything where numbers have another meaning
        reason = getattr(error, "strerror", None) or "not a NetCDF file, or not of numbers"
        raise InputError(
            f"cannot read {path}: {reason}; allowed: a file written by ithaca grid -o"
        ) from None
    if grid.attrs.get("title") != TITLE:
        grid.close()
        raise InputError(
            f"{path}: title is {grid.attrs.get('title')!r}; allowed: "
            f"'{TITLE}', a file written by ithaca grid -o"
        )
    return grid
