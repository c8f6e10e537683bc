"""Studies of a device that is split among systolic arrays: the best arrays under other limits, on
other platforms or for other objectives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from ithaca.commands.api.vary import LIMITS
from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at
from ithaca.formulations.design import Metric
from ithaca.plugins.codesign.commands.study import (
    CodesignStudy,
    counted_columns,
    read_codesign_study,
)
from ithaca.plugins.codesign.results.study_document import CodesignStudyDocument
from ithaca.results.files import check_same
from ithaca.results.network import read_network_result
from ithaca.studies.grid import Index, StudyAxis, indices
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.share import Share


@dataclass(frozen=True, repr=False, eq=False)
class SplitStudy(CodesignStudy):
    """The answer of `ithaca.codesign` for arrays that share a device, with ``vary`` or
    ``objectives``: the best arrays at every point of a grid."""

    points: Mapping[Index, NetworkResult]  # type: ignore[assignment]
    """Every point of the grid, in its order."""

    @property
    def title(self) -> str:
        return f"arrays for {self._whole.network.name}"

    @property
    def provenance(self) -> Mapping[str, str]:
        return {"network": self._whole.network.name, "arrays": str(self._whole.request.arrays)}

    @property
    def _whole(self) -> NetworkResult:
        return next(iter(self.points.values()))

    @property
    def texts(self) -> set[str]:
        return {"status", *(f"shares of {metric}" for metric in self._whole.request.shares)}

    @property
    def share(self) -> Share:
        return self._whole.share

    def objective_of(self, point: NetworkResult) -> str:  # type: ignore[override]
        return point.request.objective.text

    def columns(  # type: ignore[override]
        self, point: NetworkResult, taken: Collection[str]
    ) -> list[tuple[str, str]]:
        return [
            (f"shares of {metric}", " + ".join(map(str, shares(point, metric))) or "–")
            for metric in point.request.shares
        ]

    def choice_of(self, point: NetworkResult) -> str:  # type: ignore[override]
        return ", ".join(f"{name} {text}" for name, text in self.columns(point, ()) if point.arrays)

    def metric(self, text: str) -> Metric:
        known = self._whole.layers[0].answer.problem.design.vocabulary
        return known.get(text, Metric(text, "", ""))

    def numbers(self, point: NetworkResult) -> dict[str, Any]:  # type: ignore[override]
        known = {"value": point.value, "lower_bound": point.lower_bound}
        if point.arrays:
            known |= {f"shares.{m}": Fraction(sum(shares(point, m))) for m in point.request.shares}
        numbers = {name: float(value) for name, value in known.items() if value is not None}
        return {"status": point.status, **numbers, **counted_columns(point.share)}


def shares(result: NetworkResult, metric: str) -> list[int]:
    """The shares of what is divided that each array takes."""
    size = result.request.shares[metric]
    return [ceil(array.resources[metric] / size) for array in result.arrays]


def read_study(document: Any, path: Path) -> CodesignStudy:
    """The study of accelerators, or of arrays that share a device, that a document states."""
    read = validated(CodesignStudyDocument, document, path)
    if read.points[0].get("study") != "network":
        return read_codesign_study(document, path)
    axes = tuple(StudyAxis(axis.name, tuple(axis.values), unit=axis.unit) for axis in read.axes)
    results = [{n: x for n, x in point.items() if n != "at"} for point in read.points]
    points = [replace(read_network_result(r, path), source=str(path)) for r in results]
    with errors_at(path):
        places = list(indices(axes))
        if len(places) != len(points):
            raise InputError(f"points are not those of axes: {EDITED}")
        study = SplitStudy(axes, dict(zip(places, points, strict=True)), str(path))
        check_same(document, study.document, "")
        questions = [_varied_parts(result, axes) for result in results]
        for count, (index, (own, rest)) in enumerate(zip(places, questions, strict=True)):
            if own != study.labels(index) or rest != questions[0][1]:
                raise InputError(f"points[{count}].at is not what it asks: {EDITED}")
    return study


def _varied_parts(
    document: Mapping[str, Any], axes: Sequence[StudyAxis]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The varied parts of a point's question, and the rest of it."""
    names = ("dtype", "edition", "objective", "partition", "technology", "network")
    rest = {name: document.get(name) for name in names}
    platform, own = document["platform"], {}
    limits = dict(platform["limits"])
    for axis in axes:
        if axis.name.endswith(LIMITS):
            own[axis.name] = limits.pop(axis.name.removesuffix(LIMITS), None)
        elif axis.name == "platform":
            own[axis.name] = platform["name"]
        else:
            own[axis.name] = rest.pop(axis.name, None)
    if "platform" in own:  # what is divided, and its costs, are the platform's
        return own, {name: rest[name] for name in rest if name not in ("partition", "technology")}
    return own, {**rest, "platform": platform["name"], "limits": limits}
