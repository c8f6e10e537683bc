"""Studies and fronts as labelled data (`xarray.Dataset`).

Numbers become doubles here; exact values stay in the objects and in JSON. What does not exist
(the value of an infeasible point) is NaN, 0 boxes, or an empty text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ithaca import __version__
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.studies.front import Front
from ithaca.studies.marginal import Marginal
from ithaca.studies.whatif import Study, StudyPoint
from ithaca.workloads.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

#: Dimensions a study may have beside its axes.
LOOP, LIMIT, POINT = "loop", "limit", "point"

#: What describes the best design, and is the same as the axis where it is one.
REPEATED = ("dataflow", "permutation", "edition")


def study_dataset(study: Study) -> xr.Dataset:
    """A study as a Dataset: one dimension per axis.

    Parameters
    ----------
    study : Study
        The study.

    Returns
    -------
    xarray.Dataset
        Per point: ``value``, ``lower_bound``, ``gap``, ``status`` of the best over all designs,
        ``boxes`` and ``seconds`` of its proof; its ``dataflow``, ``permutation``, factors ``t1`` and ``t2`` by
        loop (the SIMD factor is the SIMD loop's ``t2``) and ``pack``; every metric; ``shortfall`` where nothing is
        feasible. With marginal values also ``marginal_value``, ``marginal_change``, ``marginal_bound`` and
        ``marginal_status`` by limit.
    """
    import xarray as xr

    points = list(study.points.values())
    shape = tuple(len(axis.values) for axis in study.axes)
    dims = tuple(variable_name(axis.name) for axis in study.axes)
    objective = points[0].problems[0].objective.text
    unit = _unit(objective) if len({p.problems[0].objective.text for p in points}) == 1 else ""

    def filled(values: Iterable[Any], *more: int) -> Any:
        return np.array(list(values)).reshape((*shape, *more))

    answers = [p.answer for p in points]
    certificates = [a.certificate for a in answers]
    best = [_configuration(p) for p in points]
    variables: dict[str, tuple[Any, ...]] = {
        "value": (dims, filled(_float(a.value) for a in answers), {"units": unit, "long_name": "objective of the best design"}),
        "lower_bound": (
            dims,
            filled(_float(c.lower_bound) for c in certificates),
            {"units": unit, "long_name": "no configuration of any design is below"},
        ),
        "gap": (dims, filled(_float(c.gap) for c in certificates), {"long_name": "(value - lower_bound) / |value|"}),
        "status": (dims, filled(c.status.value for c in certificates), {"long_name": "what is proven over all designs"}),
        "method": (dims, filled(c.method for c in certificates)),
        "boxes": (dims, filled(c.nodes for c in certificates), {"long_name": "boxes examined for the proof"}),
        "seconds": (dims, filled(c.seconds for c in certificates), {"units": "s", "long_name": "time of the search"}),
        "shortfall": (dims, filled(a.explain() for a in answers), {"long_name": "limits that cannot be met"}),
        **_designs(dims, best, filled),
        **_metrics(dims, [{} if p.answer.found is None else p.answer.found.metrics for p in points], filled),
    }
    loops = list(dict.fromkeys(loop for p in points for q in p.problems for loop in systolic(q).array.band))
    variables |= _factors(dims, loops, best, filled)
    coordinates: dict[str, Any] = {
        name: (name, list(axis.labels), {"units": axis.unit, "long_name": axis.meaning or axis.name})
        for name, axis in zip(dims, study.axes, strict=True)
    }
    coordinates[LOOP] = loops
    if study.percent is not None:
        limits = list(dict.fromkeys(limit.metric for p in points for limit in p.problems[0].limits))
        coordinates[LIMIT] = limits
        variables |= _marginals(dims, limits, points, study.percent, filled)
    attributes = {
        "title": "Ithaca what-if study",
        "source": f"ithaca {__version__}",
        "complete": int(study.complete),
        "objective": " | ".join(dict.fromkeys(p.problems[0].objective.text for p in points)),
        "designs": ", ".join(dict.fromkeys(q.design.name for p in points for q in p.problems)),
        **study.provenance,
    }
    if study.percent is not None:
        attributes["marginal_percent"] = float(study.percent)
    return xr.Dataset(_without_clashes(variables, coordinates), coordinates, attributes)


def front_dataset(front: Front, provenance: Mapping[str, str] | None = None) -> xr.Dataset:
    """A front as a Dataset with dimension ``point``, by ascending first objective.

    Parameters
    ----------
    front : Front
        The front.
    provenance : mapping of str to str, optional
        Recorded among the attributes.

    Returns
    -------
    xarray.Dataset
        Per point: ``objectives`` (by ``objective``), its design, factors and packs as in `study_dataset`,
        every metric, and the effort of its proof; attribute ``complete`` is 1 if the front is proven complete.
    """
    import xarray as xr

    def filled(values: Iterable[Any], *more: int) -> Any:
        return np.array(list(values)).reshape((len(front.points), *more))

    points, dims = front.points, (POINT,)
    best: list[tuple[SystolicDesign, Tiling] | None] = [
        (systolic(p.problem), systolic(p.problem).tiling(p.configuration)) for p in points
    ]
    loops = list(dict.fromkeys(loop for p in front.problems for loop in systolic(p).array.band))
    names = [o.text for o in front.objectives]
    variables: dict[str, tuple[Any, ...]] = {
        "objectives": ((POINT, "objective"), filled(([_float(v) for v in p.values] for p in points), len(names))),
        "proof_boxes": (dims, filled(sum(s.nodes for s in p.proof) for p in points).astype(int)),
        "proof_seconds": (dims, filled(sum(s.seconds for s in p.proof) for p in points).astype(float), {"units": "s"}),
        **_designs(dims, best, filled),
        **_metrics(dims, [p.metrics for p in points], filled),
        **_factors(dims, loops, best, filled),
    }
    coordinates = {
        POINT: np.arange(len(points)),
        "objective": names,
        "unit": ("objective", [_unit(n) for n in names]),
        LOOP: loops,
    }
    attributes = {
        "title": "Ithaca Pareto front",
        "source": f"ithaca {__version__}",
        "complete": int(front.complete),
        "unfinished": front.unfinished or "",
        "designs": ", ".join(dict.fromkeys(p.design.name for p in front.problems)),
        "boxes": front.nodes,
        "seconds": front.seconds,
        **(provenance or {}),
    }
    return xr.Dataset(variables, coordinates, attributes)


def variable_name(text: str) -> str:
    """A name that NetCDF allows, and attribute access too."""
    return re.sub(r"\W+", "_", text).strip("_")


def _without_clashes(variables: dict[str, tuple[Any, ...]], coordinates: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Leave out variables that only repeat an axis; refuse axes that hide another variable."""
    for name in coordinates:
        if name in variables and name not in REPEATED:
            raise InputError(f"axis {name} has the name of a result; allowed: another name, such as {name}_limit")
    return {name: variable for name, variable in variables.items() if name not in coordinates}


Filled = Callable[..., Any]
Dims = tuple[str, ...]
Best = Sequence[tuple[SystolicDesign, Tiling] | None]


def _designs(dims: Dims, best: Best, filled: Filled) -> dict[str, tuple[Any, ...]]:
    packs = ({} if b is None else b[1].module_packs(b[0].array) for b in best)
    return {
        "dataflow": (dims, filled("" if b is None else ",".join(b[0].array.dataflow) for b in best).astype(str)),
        "permutation": (dims, filled("" if b is None else b[0].array.permutation for b in best).astype(str)),
        "edition": (dims, filled("" if b is None else b[0].array.edition.value for b in best).astype(str)),
        "pack": (
            dims,
            filled(json.dumps(p) if p else "" for p in packs).astype(str),
            {"units": "words", "long_name": "data packing factor by buffer module (JSON)"},
        ),
    }


def _factors(dims: Dims, loops: Sequence[str], best: Best, filled: Filled) -> dict[str, tuple[Any, ...]]:
    def factor(b: tuple[SystolicDesign, Tiling] | None, loop: str, inner: bool) -> float:
        if b is None or loop not in b[0].array.band:
            return np.nan
        design, tiling = b
        return float(tiling.t2(design.array, loop) if inner else tiling.array_part[loop])

    names = {"t1": "array partitioning factor", "t2": "latency hiding factor; of the SIMD loop the SIMD factor"}
    return {
        name: (
            (*dims, LOOP),
            filled(([factor(b, loop, name == "t2") for loop in loops] for b in best), len(loops)).astype(float),
            {"units": "iterations", "long_name": meaning},
        )
        for name, meaning in names.items()
    }


def _metrics(dims: Dims, found: Sequence[Mapping[str, Fraction]], filled: Filled) -> dict[str, tuple[Any, ...]]:
    return {
        name: (
            dims,
            filled(_float(metrics.get(name)) for metrics in found).astype(float),
            {"units": metric.unit, "long_name": metric.meaning},
        )
        for name, metric in METRICS.items()
    }


def _marginals(
    dims: Dims, limits: Sequence[str], points: Sequence[StudyPoint], percent: Fraction, filled: Filled
) -> dict[str, tuple[Any, ...]]:
    by_limit = [{m.limit.metric: m for m in point.marginals} for point in points]

    def each(pick: Callable[[Marginal], Any], missing: Any) -> Any:
        rows = ([missing if m is None else pick(m) for m in map(found.get, limits)] for found in by_limit)
        return filled(rows, len(limits))

    wide = (*dims, LIMIT)
    said = {
        "marginal_value": f"optimum with the limit raised by {float(percent):g} %",
        "marginal_change": "(marginal_value - value) / |value|",
        "marginal_bound": "lower bound of marginal_value",
        "marginal_status": "what is proven of marginal_value",
    }
    values = {
        "marginal_value": each(lambda m: _float(m.after.value), np.nan),
        "marginal_change": each(lambda m: _float(m.change), np.nan),
        "marginal_bound": each(lambda m: _float(m.after.certificate.lower_bound), np.nan),
        "marginal_status": each(lambda m: m.after.certificate.status.value, "").astype(str),
    }
    return {name: (wide, values[name], {"long_name": meaning}) for name, meaning in said.items()}


def _configuration(point: StudyPoint) -> tuple[SystolicDesign, Tiling] | None:
    solution = point.answer.found
    return None if solution is None or solution.tiling is None else (systolic(solution.problem), solution.tiling)


def _float(value: Fraction | float | None) -> float:
    return np.nan if value is None else float(value)


def _unit(objective: str) -> str:
    metric = METRICS.get(objective.strip())
    return "" if metric is None else metric.unit
