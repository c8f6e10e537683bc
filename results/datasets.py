"""Studies and fronts as labelled data (`xarray.Dataset`).

Numbers become doubles here; exact values stay in the objects and in JSON. What does not exist
(the value of an infeasible point, the time of a search that a file does not state) is NaN, or an
empty text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca import __version__
from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution
from ithaca.studies.front import Front
from ithaca.studies.grid import StudyAxis
from ithaca.studies.network.front import NetworkFront
from ithaca.studies.network.networks import NetworksAnswer
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.whatif import Study, StudyPoint

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

#: Dimensions that variables may have beside a study's axes.
LOOP, LIMIT, POINT, OBJECTIVE, OF_LAYER = "loop", "limit", "point", "objective", "layer"

#: What describes the best design, and is the same as the axis where it is one.
REPEATED = ("dataflow", "permutation", "edition")

#: Type, unit and meaning of variables, and the dimension that they have beside the points'.
Columns = Mapping[str, tuple[Any, ...]]

#: What makes the rows and columns of a design that are a family's own: modules.
TABLES: Registry[ModuleType] = Registry("tables")

ANSWER: Columns = {
    "value": (float, "", "objective of the best design"),
    "lower_bound": (float, "", "no configuration of any design is below"),
    "gap": (float, "", "(value - lower_bound) / |value|"),
    "status": (str, "", "what is proven over all designs"),
    "method": (str, "", ""),
    "boxes": (float, "", "boxes examined for the proof"),
    "seconds": (float, "s", "time of the search"),
    "shortfall": (str, "", "limits that cannot be met"),
}
LAYER: Columns = {
    "count": (int, "", "runs of the layer"),
    "kernel": (str, "", ""),
    "sizes": (str, "", ""),
    "array": (float, "", "number of the array that runs it"),
    "design": (str, "", ""),
    "dsp_efficiency": (float, "", "operations over those its MAC units had cycles for"),
}
COUNTED: Columns = {
    "share": (float, "", "counted share of the network's multiply-accumulates"),
    "uncounted": (str, "", "operators whose multiply-accumulates are not known"),
}
PROOF: Columns = {
    "objectives": (float, "", "", OBJECTIVE),
    "proof_boxes": (int, "", ""),
    "proof_seconds": (float, "s", ""),
}


def study_dataset(study: Study) -> xr.Dataset:
    points = list(study.points.values())
    problems = [problem for point in points for problem in point.problems]
    objectives = list(dict.fromkeys(problem.objective.text for problem in problems))
    loops = _loops(problems)
    limits = list(dict.fromkeys(limit.metric for problem in problems for limit in problem.limits))
    unit = _unit(objectives[0], problems[0]) if len(objectives) == 1 else ""
    own = _design_columns(problems)
    columns = {**ANSWER, **own}
    columns |= {name: (float, unit, ANSWER[name][2]) for name in ("value", "lower_bound")}
    sizes, coordinates = _grid(study.axes)
    coordinates[LOOP] = loops
    attributes = {
        "complete": int(study.complete),
        "objective": " | ".join(objectives),
        "designs": ", ".join(dict.fromkeys(problem.design.name for problem in problems)),
        **study.provenance,
    }
    if study.percent is not None:
        attributes["marginal_percent"] = float(study.percent)
        coordinates[LIMIT] = limits
        columns |= {
            "marginal_value": (
                float,
                "",
                f"optimum with the limit raised by {float(study.percent):g} %",
                LIMIT,
            ),
            "marginal_change": (float, "", "(marginal_value - value) / |value|", LIMIT),
            "marginal_bound": (float, "", "lower bound of marginal_value", LIMIT),
            "marginal_status": (str, "", "what is proven of marginal_value", LIMIT),
        }
    rows = [
        _solution_row(point.answer, loops, own) | _marginal_row(point, limits) for point in points
    ]
    return _dataset("Ithaca what-if study", attributes, columns, rows, sizes, coordinates)


def grid_dataset(
    title: str,
    attributes: Mapping[str, Any],
    axes: Sequence[StudyAxis],
    columns: Columns,
    rows: Sequence[Mapping[str, Any]],
) -> xr.Dataset:
    """A Dataset over axes from a row per point; what does not exist is NaN.

    Parameters
    ----------
    title : str
        What it is.
    attributes : mapping
        What is the same at all points.
    axes : sequence of StudyAxis
        Its dimensions; none: a single point.
    columns : mapping
        Type, unit and meaning of the variables.
    rows : sequence of mapping
        Their values by point, in the order of the grid.
    """
    sizes, coordinates = _grid(axes)
    filled = [
        {n: _float(own) if columns[n][0] is float else own for n, own in row.items()}
        for row in rows
    ]
    return _dataset(title, attributes, columns, filled, sizes, coordinates)


def _grid(axes: Sequence[StudyAxis]) -> tuple[dict[str, int], dict[str, Any]]:
    """Sizes and coordinates of the dimensions that axes are."""
    sizes = {variable_name(axis.name): len(axis.values) for axis in axes}
    coordinates = {
        name: (
            name,
            list(axis.labels),
            {"units": axis.unit, "long_name": axis.meaning or axis.name},
        )
        for name, axis in zip(sizes, axes, strict=True)
    }
    return sizes, coordinates


def result_dataset(result: Result) -> xr.Dataset:
    """A result as a Dataset with dimension ``design``: what came of each, as in `study_dataset`."""
    loops, names = _loops(s.problem for s in result.designs), [s.design for s in result.designs]
    columns = _design_columns([s.problem for s in result.designs])
    coordinates = {"design": names, LOOP: loops}
    attributes = _question_attributes(result.problem, result.platform_name)
    rows = [_solution_row(solution, loops, columns) for solution in result.designs]
    return _dataset(
        "Ithaca result",
        attributes,
        {**ANSWER, **columns},
        rows,
        {"design": len(names)},
        coordinates,
    )


def network_dataset(result: NetworkResult) -> xr.Dataset:
    """A network's result as a Dataset with dimension ``layer``: figures are those of one run of the
    layer."""
    loops, layers = _loops(layer.answer.problem for layer in result.layers), result.layers
    coordinates = {"layer": [layer.layer.name for layer in layers], LOOP: loops}
    columns = _design_columns([layer.answer.problem for layer in layers])
    share = result.share
    counted = {"share": _float(share.known), "uncounted": ", ".join(share.uncounted)}
    rows = [
        {
            "count": r.layer.count,
            "kernel": r.layer.nest.name,
            "sizes": r.layer.nest.shown_sizes,
            "array": np.nan if r.array is None else r.array,
            "design": r.answer.design,
            "dsp_efficiency": _float(r.efficiency),
            **_solution_row(r.answer, loops, columns),
            **counted,
        }
        for r in layers
    ]
    title = f"Ithaca network {result.network.name}"
    question = _question_attributes(layers[0].answer.problem, result.request.place)
    attributes = {"mode": result.mode, **shared_attributes(result), **question}
    columns = {**LAYER, **ANSWER, **columns, **COUNTED}
    return _dataset(title, attributes, columns, rows, {"layer": len(layers)}, coordinates)


def shared_attributes(result: NetworkResult | NetworksAnswer) -> dict[str, Any]:
    """Whether a result is complete, and how much of the arithmetic it is about, as attributes."""
    share = {name: own for name, own in result.share.document.items() if own is not None}
    uncounted = ", ".join(share.pop("uncounted"))
    return {"complete": int(result.complete), **share, "uncounted": uncounted}


def _question_attributes(problem: Problem, platform: str) -> dict[str, Any]:
    attributes, design = {"objective": problem.objective.text, "platform": platform}, problem.design
    dtype = profile_of(design).attributes.get("dtype")
    return attributes if dtype is None else attributes | {"dtype": str(dtype)}


def _design_columns(problems: Sequence[Problem]) -> Columns:
    """The columns of the best design: those of its family, else all metrics of any, and the
    mapping."""
    if (own := _own(problems[0])) is not None:
        columns: Columns = own.COLUMNS
        return columns
    known = {
        name: metric for problem in problems for name, metric in problem.design.vocabulary.items()
    }
    metrics = {name: (float, metric.unit, metric.meaning) for name, metric in known.items()}
    return {"mapping": (str, "", "the configuration as a loop nest"), **metrics}


def as_table(dataset: xr.Dataset) -> pd.DataFrame:
    """A Dataset as a table with a row per point; of variables with a further dimension a column per
    label, as ``t1.i``."""
    import xarray as xr

    columns: dict[str, xr.DataArray] = {}
    for name, variable in dataset.data_vars.items():
        inner = [name for name in (LOOP, LIMIT, OBJECTIVE) if name in variable.dims]
        inner += [OF_LAYER] * (OF_LAYER in variable.dims[1:])  # else each layer has a row
        if not inner:
            columns[str(name)] = variable
        for dimension in inner:
            for label in dataset[dimension].values:
                columns[f"{name}.{label}"] = variable.sel({dimension: label}).reset_coords(
                    drop=True
                )
    flat = xr.Dataset(columns)
    return (flat if flat.dims else flat.expand_dims(POINT)).to_dataframe()


def front_dataset(front: Front) -> xr.Dataset:
    """A front as a Dataset with dimension ``point``, by ascending first objective.

    Per point: ``objectives`` (by ``objective``), its design, factors and packs as in
    `study_dataset`, every metric, and the effort of its proof; attribute ``complete`` is 1 if the
    front is proven complete.
    """
    points, loops, names = front.points, _loops(front.problems), [o.text for o in front.objectives]
    columns = _design_columns(front.problems)
    rows = [
        {
            "objectives": [_float(value) for value in point.values],
            "proof_boxes": sum(step.nodes for step in point.proof),
            "proof_seconds": sum(step.seconds for step in point.proof),
            **_design_row(point.problem, point.configuration, loops, columns),
        }
        for point in points
    ]
    coordinates = {
        POINT: np.arange(1, len(points) + 1),
        OBJECTIVE: names,
        "unit": (OBJECTIVE, [_unit(n, front.problems[0]) for n in names]),
        LOOP: loops,
    }
    attributes = {
        "complete": int(front.complete),
        "unfinished": front.unfinished or "",
        "designs": ", ".join(dict.fromkeys(p.design.name for p in front.problems)),
        "boxes": front.nodes,
        "seconds": front.seconds,
        **front.provenance,
    }
    return _dataset(
        "Ithaca Pareto front",
        attributes,
        {**PROOF, **columns},
        rows,
        {POINT: len(points)},
        coordinates,
    )


def network_front_dataset(front: NetworkFront) -> xr.Dataset:
    """The front of a network as a Dataset with dimension ``point``: its totals by ``objective``,
    and by ``layer`` the point of its own front (from 1)."""
    rows = [
        {"objectives": [*map(float, point.values)], "choice": [n + 1 for n in point.choice]}
        for point in front.points
    ]
    coordinates = {
        POINT: np.arange(1, len(rows) + 1),
        OBJECTIVE: [o.text for o in front.objectives],
        OF_LAYER: [each.layer.name for each in front.layers],
    }
    return _dataset(
        front.headline,
        {"complete": int(front.complete and front.share.whole), **front.provenance},
        {"objectives": PROOF["objectives"], "choice": (int, "", "", OF_LAYER)},
        rows,
        {POINT: len(rows)},
        coordinates,
    )


def variable_name(text: str) -> str:
    """A name that NetCDF allows, and attribute access too."""
    return re.sub(r"\W+", "_", text).strip("_")


def _without_clashes(
    variables: dict[str, tuple[Any, ...]], coordinates: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    """Leave out variables that only repeat an axis; refuse axes that hide another variable."""
    for name in coordinates:
        if name in variables and name not in REPEATED:
            raise InputError(
                f"axis {name} has the name of a result; allowed: another name, such as {name}_limit"
            )
    return {name: variable for name, variable in variables.items() if name not in coordinates}


def _dataset(
    title: str,
    attributes: Mapping[str, Any],
    columns: Columns,
    rows: Sequence[Mapping[str, Any]],
    sizes: Mapping[str, int],
    coordinates: Mapping[str, Any],
) -> xr.Dataset:
    """A Dataset from a row per point, given the sizes of the points' dimensions; the others are
    those of their labels."""
    import xarray as xr

    variables: dict[str, tuple[Any, ...]] = {}
    for name, (kind, unit, meaning, *inner) in columns.items():
        more = (len(coordinates[dimension]) for dimension in inner)
        values = np.array([row[name] for row in rows], kind).reshape((*sizes.values(), *more))
        described = {key: text for key, text in (("units", unit), ("long_name", meaning)) if text}
        variables[name] = ((*sizes, *inner), values, described)
    about = {"title": title, "source": f"ithaca {__version__}", **attributes}
    return xr.Dataset(_without_clashes(variables, coordinates), coordinates, about)


def _solution_row(answer: Solution, loops: Sequence[str], columns: Columns) -> dict[str, Any]:
    certificate = answer.certificate
    return {
        "value": _float(answer.value),
        "lower_bound": _float(certificate.lower_bound),
        "gap": _float(certificate.gap),
        "status": certificate.status.value,
        "method": certificate.method,
        "boxes": float(certificate.nodes) if certificate.measured else np.nan,
        "seconds": certificate.seconds if certificate.measured else np.nan,
        "shortfall": answer.explain(),
        **_design_row(answer.problem, answer.configuration, loops, columns),
    }


def _design_row(
    problem: Problem, configuration: Configuration | None, loops: Sequence[str], columns: Columns
) -> dict[str, Any]:
    if configuration is None:
        return {
            name: [np.nan] * len(loops) if LOOP in column else "" if column[0] is str else np.nan
            for name, column in columns.items()
        }
    if (own := _own(problem)) is not None:
        row: dict[str, Any] = own.row(problem, configuration, loops)
        return row
    metrics = problem.metrics(configuration)
    known = {name: _float(metrics.get(name)) for name in columns}
    return known | {"mapping": "\n".join(profile_of(problem.design).loops(configuration))}


def _marginal_row(point: StudyPoint, limits: Sequence[str]) -> dict[str, Any]:
    by_limit = {marginal.limit.metric: marginal for marginal in point.marginals}
    known = [by_limit.get(limit) for limit in limits]
    return {
        "marginal_value": [np.nan if m is None else _float(m.after.value) for m in known],
        "marginal_change": [np.nan if m is None else _float(m.change) for m in known],
        "marginal_bound": [
            np.nan if m is None else _float(m.after.certificate.lower_bound) for m in known
        ],
        "marginal_status": ["" if m is None else m.after.certificate.status.value for m in known],
    }


def _float(value: Fraction | float | None) -> float:
    return np.nan if value is None else float(value)


def _unit(objective: str, problem: Problem) -> str:
    metric = problem.design.vocabulary.get(objective.strip())
    return "" if metric is None else metric.unit


def _own(problem: Problem) -> Any:
    """The module of a design's family for tables; None where it has none."""
    return TABLES.get(problem.design.family)


def _loops(problems: Iterable[Problem]) -> list[str]:
    """The loops that a variable per loop is of."""
    names = (own.loops(problem) for problem in problems if (own := _own(problem)) is not None)
    return list(dict.fromkeys(loop for each in names for loop in each))
