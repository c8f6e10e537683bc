"""What-if studies of networks: their documents, tables and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ithaca.files.answer import Check
from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import among, errors_at, quoted
from ithaca.files.numbers import counted, number, percent, rounded
from ithaca.files.writing import SCHEMA
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import as_asked, bound_as_asked
from ithaca.formulations.documents import Document, Positive, Text
from ithaca.formulations.problem import Limit
from ithaca.results.consistency import check_once
from ithaca.results.files import check_same
from ithaca.results.network import network_document, read_network_result
from ithaca.results.network_explanation import bound_text
from ithaca.results.run_view import rate
from ithaca.results.schema import FirstPart
from ithaca.results.studies import AxisDocument, question_fields
from ithaca.results.study_explanation import (
    also,
    coordinates,
    grid_statements,
    remark,
    sought,
    value_cell,
    worth_lines,
)
from ithaca.results.study_files import check_count, labels_follow
from ithaca.results.view import View, tabled
from ithaca.results.wording import microjoules
from ithaca.solver.certificate import as_stated
from ithaca.studies.grid import Index, StudyAxis, indices
from ithaca.studies.marginal import Marginal, distinct_limits
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.network.study import PLATFORM, NetworkPoint, NetworkStudy

#: The axes that are a network's own, beside its parameters.
PHASE, MODE = "phase", "mode"


class RaisedDocument(Document):
    """The network's answer with one limit raised."""

    limit: Text
    network: dict[str, Any]


class NetworkPointDocument(Document):
    """The network's answer at one point, and with each limit raised."""

    at: dict[str, str | int | float]
    network: dict[str, Any]
    marginal: list[RaisedDocument] = Field(default_factory=list)


class NetworkStudyDocument(FirstPart):
    """A what-if study of a network."""

    study: Literal["network-whatif"]
    axes: list[AxisDocument]
    prices: dict[str, Positive] = Field(default_factory=dict)
    points: Annotated[list[NetworkPointDocument], Field(min_length=1)]


def network_study_document(study: NetworkStudy) -> dict[str, Any]:
    """The document of ``ithaca whatif`` about a network."""
    points = [
        {
            "at": study.labels(index),
            "network": network_document(point.answer),
            "marginal": [
                {"limit": each.limit.metric, "network": network_document(each.after)}
                for each in point.marginals
            ],
        }
        for index, point in study.points.items()
    ]
    fields = {
        "schema": SCHEMA,
        "study": "network-whatif",
        "axes": [axis.document for axis in study.axes],
        "prices": dict(study.prices),
        "points": points,
    }
    return NetworkStudyDocument.model_validate(fields, from_attributes=True).as_json()


# -- reading ---------------------------------------------------------------------------


def read_network_study(document: Any, path: Path) -> NetworkStudy:
    """The study that a document states; every answer is read as a network's, and is to be of the
    question that the point's labels say."""
    read = validated(NetworkStudyDocument, document, path)
    with errors_at(path):
        check_count(read.axes, read.points)
        points = []
        for place, point in enumerate(read.points):
            with errors_at(path, f"points[{place}]."):
                points.append(_point(point, path))
        first = points[0].answer
        axes = tuple(_axis(axis.name, axis.values, first) for axis in read.axes)
        places = list(indices(axes))
        study = NetworkStudy(axes, dict(zip(places, points, strict=True)), read.prices)
        check_prices(study.prices, axes)
        _check_alike(study)
        check_same(document, network_study_document(study), "")
    return study


def _point(read: NetworkPointDocument, path: Path) -> NetworkPoint:
    result, marginals = _network(read.network, path), []
    _labels_follow(read.at, result)
    for place, raised in enumerate(read.marginal):
        with errors_at(path, f"marginal[{place}]."):
            after = _network(raised.network, path)
            marginals.append(_marginal(raised.limit, result, after))
    check_once("limit", [raised.limit for raised in read.marginal])
    return NetworkPoint(result, tuple(marginals))


def _network(document: Any, path: Path) -> NetworkResult:
    with errors_at(path, "network."):
        return replace(read_network_result(document, path), source=str(path))


def _marginal(metric: str, before: NetworkResult, after: NetworkResult) -> Marginal[NetworkResult]:
    """The marginal value of a limit: the same question, but for that."""
    limits, raised = _limits(before), _limits(after)
    if metric not in limits or metric not in raised or limits[metric] >= raised[metric]:
        raise InputError(f"limit is {quoted(metric)}, which is not raised: {EDITED}")
    same = replace(after.request, bounds=before.request.bounds, layers=()) == replace(
        before.request, layers=()
    )
    if not same or limits | {metric: raised[metric]} != raised or not _alike(before, after):
        raise InputError(f"network is of another question: {EDITED}")
    return Marginal(Limit(metric, limits[metric]), Limit(metric, raised[metric]), before, after)


def _alike(one: NetworkResult, other: NetworkResult) -> bool:
    """Whether two results are of the same network, in the same mode."""
    a, b = one.network, other.network
    if (one.fusing is None) != (other.fusing is None) or one.mode != other.mode:
        return False
    if one.fusing is None and one.mode in ("per-layer", "shared-dataflow"):
        return a == b
    return (a.name, a.parameters, a.run) == (b.name, b.parameters, b.run)


def _limits(result: NetworkResult) -> dict[str, Fraction]:
    return {limit.metric: limit.bound for limit in distinct_limits(result.request.limits)}


def _labels_follow(labels: Mapping[str, Any], result: NetworkResult) -> bool:
    """Refuse labels that are not what a network's question says; False where that cannot be
    seen."""
    run, known = result.network.run, dict[str, Any](result.network.parameters)
    known |= {PHASE: "none" if run is None else run.phase, MODE: result.mode}
    known["objective"] = result.request.objective.text
    for name in labels.keys() & known.keys():
        check_same(labels[name], known[name], f"at.{name}")
    first = result.layers[0]
    problems = [each.problem for each in first.designs] or [first.answer.problem]
    rest = {name: label for name, label in labels.items() if name not in known}
    question = question_fields(problems, result.request.place)
    return labels_follow(rest, question, first.answer.problem)


def label_checks(study: NetworkStudy, options: Any) -> Iterator[Check]:
    """Checks of labels that could not be compared with the questions."""
    for index, point in study.points.items():
        if not _labels_follow(study.labels(index), point.answer):
            line = "shares are of a device that is not known here, so labels are not checked"
            yield Check(_place(study, index), line, False)


def _check_alike(study: NetworkStudy) -> None:
    """Refuse points that differ in what is not varied."""
    axes = {axis.name for axis in study.axes}
    first = _fixed(study.first, axes)
    for place, point in enumerate(study.points.values()):
        for name, text in _fixed(point.answer, axes).items():
            if first.get(name, text) != text:
                raise InputError(f"points[{place}] differs in {name}, no axis: {EDITED}")


def _fixed(result: NetworkResult, axes: set[str]) -> dict[str, Any]:
    """Terms that all points of a study share, but for those that an axis varies."""
    known: dict[str, Any] = {"network": result.network.name, **result.request.facts}
    known |= {MODE: result.mode, "objective": result.request.objective.text}
    parameters = dict(result.network.parameters)
    if PHASE not in axes:
        known |= parameters | {PHASE: result.network.run and result.network.run.phase}
    if not axes & {PHASE, *parameters}:
        known["layers"] = result.runs
    if PLATFORM not in axes:
        known |= {f"{metric}_limit": bound for metric, bound in _limits(result).items()}
        known["partition.shares"] = result.request.shares
    known["partition"] = (result.request.arrays, result.request.minimise)
    return {name: value for name, value in known.items() if name not in axes}


def check_prices(prices: Mapping[str, Fraction], axes: tuple[StudyAxis, ...]) -> None:
    """Refuse prices of what is no device of a study."""
    devices = next((axis.labels for axis in axes if axis.name == PLATFORM), ())
    for name, price in prices.items():
        if not price:
            raise InputError(f"--price of {quoted(name)} is 0; allowed: more, or no price")
        if name not in devices:
            known = among(name, map(str, devices)) if devices else "; allowed: with --vary platform"
            raise InputError(f"--price names {quoted(name)}{known}")


def _axis(name: str, labels: list[Any], first: NetworkResult) -> StudyAxis:
    known = {f"{m}_limit": each for m, each in first.vocabulary.items()}
    known |= first.layers[0].answer.profile.figures
    return StudyAxis(name, tuple(labels), unit=known[name].unit if name in known else "")


# -- words -----------------------------------------------------------------------------


def network_study_view(study: NetworkStudy) -> View:
    """A table of the points, then what each limit is worth, and why points have no answer."""
    rows = network_study_rows(study)
    names = {axis.name for axis in study.axes if not axis.numeric}
    early = () if study.complete else ("the run ended early, by the time limit or an interrupt",)
    shares = (f"shares of {metric}" for metric in study.first.request.shares)
    texts = {"status", "bound by", *names, *shares}
    return (study.title, *early, tabled(rows, texts), *_remarks(study, apart=True))


def network_study_rows(study: NetworkStudy) -> list[list[tuple[str, str]]]:
    """Heading and cell of every column of the table of points; columns of which nothing is known
    are left out."""
    rows, objective = [], study.objective
    first = study.first.value
    answers = [point.answer for point in study.points.values()]
    unproven = any(a.value is not None and not a.certificate.settled for a in answers)
    for index, point in study.points.items():
        result, value = point.answer, point.answer.value
        own, varied = result.request.objective.text, objective == "objective"
        row = coordinates(study, index)
        heading, cell = value_cell(own, value, _design(study.first))
        row.append(("value" if varied else heading, cell))
        if len(study.points) > 1 and not varied:
            row.append(("change", _change(*(as_asked(own, each)[1] for each in (first, value)))))
        if unproven:
            side, bound = bound_as_asked(own, result.lower_bound)
            row.append(("bound" if varied else side, number(bound)))
        row.append(("status", result.certificate.stated(result.basis)))
        row.append(("ms", rounded(_time(result))))
        speed = rate(result)
        row.append(("–/s", "–") if speed is None else (f"{speed[0]}s/s", rounded(speed[1])))
        row.append(("µJ", microjoules(result.sum_of("energy"))))
        row.append(("bound by", bound_text(result)))
        for metric in result.request.shares:
            taken = " + ".join(map(str, result.shares_taken(metric)))
            row.append((f"shares of {metric}", taken or "–"))
        if study.prices:
            row += _price_cells(study, index, speed)
        rows.append(row)
    return _squared(rows)


def _time(result: NetworkResult) -> Fraction | None:
    """The time of all layers; None where several arrays run them side by side."""
    return None if len(result.arrays) > 1 else result.sum_of("time")


def _design(result: NetworkResult) -> Any:
    return result.layers[0].answer.problem.design


def _change(first: Fraction | None, value: Fraction | None) -> str:
    """The change from the first point's value, in per cent."""
    if not first or value is None:
        return "–"
    change = (value - first) / abs(first)
    return f"{'+' if change > 0 else '−'}{percent(abs(change))}" if change else "0 %"


def price_of(study: NetworkStudy, index: Index) -> Fraction | None:
    """The price of the device of a point; None where none was stated."""
    return study.prices.get(str(study.labels(index).get(PLATFORM)))


def _price_cells(
    study: NetworkStudy, index: Index, speed: tuple[str, Fraction] | None
) -> list[tuple[str, str]]:
    price = price_of(study, index)
    what = "–" if speed is None else speed[0]
    each = None if price is None or speed is None else price / speed[1]
    return [("price", number(price)), (f"price of 1 {what}/s", rounded(each))]


def _squared(rows: list[list[tuple[str, str]]]) -> list[list[tuple[str, str]]]:
    """Rows of the same headings, without columns of which nothing is known."""
    headings = [
        next((row[n][0] for row in rows if "–" not in row[n][0]), rows[0][n][0])
        for n in range(len(rows[0]))
    ]
    kept = [n for n in range(len(headings)) if any(row[n][1] != number(None) for row in rows)]
    return [[(headings[n], row[n][1]) for n in kept] for row in rows]


def network_study_statements(study: NetworkStudy) -> tuple[str, ...]:
    """Statements, one a line: the best points along the axes, speed, price, and the worth of
    limits."""
    known = Counter(cell.certificate.status.value for cell in study.cells.values())
    proofs = ", ".join(f"{count} {status}" for status, count in known.items())
    many = f"{counted(len(study.points), 'point')} ({proofs}{study.basis}{as_stated(study)})"
    lines = [f"Study: {study.title}{sought(study.objective)}; {many}."]
    lines.append(f"Counted: {study.first.share.statement}.")
    if study.objective != "objective":
        times = {i: _time(point.answer) for i, point in study.points.items()}
        lines += grid_statements(study.objective, study.axes, study.cells, times)
    lines += _bounds(study)
    lines += _speeds(study)
    return (*lines, *map(remark, _remarks(study)))


def _bounds(study: NetworkStudy) -> Iterator[str]:
    """A line on the things that take the cycles at every point."""
    known = {_place(study, i): bound_text(p.answer) for i, p in study.points.items()}
    if texts := [f"{at}: {text}" if at else text for at, text in known.items() if text != "–"]:
        yield f"Bound by: {'; '.join(texts)} of the cycles."


def _speeds(study: NetworkStudy) -> Iterator[str]:
    """The fastest point, and the cheapest for its speed."""
    known = {i: own for i, p in study.points.items() if (own := rate(p.answer)) is not None}
    if len(known) < 2:
        return
    best = max(known, key=lambda index: known[index][1])
    what, most = known[best]
    speeds = {index: speed for index, (_, speed) in known.items()}
    equal = also(speeds, best, partial(_place, study))
    yield f"Fastest: {_place(study, best)}{equal}, {rounded(most)} {what}s a second."
    each = {i: price / own[1] for i, own in known.items() if (price := price_of(study, i))}
    if each:
        least = min(each, key=lambda index: each[index])
        others = "; ".join(
            f"{_place(study, i)} {rounded(cost)}" for i, cost in each.items() if i != least
        )
        beside = f"; {others}" if others else ""
        cost = f"{rounded(each[least])} for 1 {what} a second"
        yield f"Cheapest for its speed: {_place(study, least)}, {cost}{beside}, by stated prices."


def _place(study: NetworkStudy, index: Index) -> str:
    return ", ".join(f"{name} {label}" for name, label in coordinates(study, index))


def _remarks(study: NetworkStudy, *, apart: bool = False) -> Iterator[str]:
    """The worth of each limit at every point, and the reason why one has no answer."""
    for index, point in study.points.items():
        start = f"{place}: " if (place := _place(study, index)) else ""
        if point.marginals:
            known = point.answer.request.objective.text, study.first.vocabulary
            yield from worth_lines(start, point.marginals, known, apart=apart)
        elif point.answer.failure:
            yield f"{start}{point.answer.failure}"


# -- tables ----------------------------------------------------------------------------


def network_study_dataset(study: NetworkStudy) -> Any:
    """The points over the axes: value, bound, what is proven, speed, energy and prices; numbers are
    doubles."""
    from ithaca.results.datasets import grid_dataset

    unit = study.first.vocabulary.get(study.objective, Metric("", "", "")).unit
    columns: dict[str, tuple[Any, ...]] = {
        "value": (float, unit, "objective over the network"),
        "lower_bound": (float, unit, "no network that the mode allows is below"),
        "status": (str, "", "what is proven of it"),
        "share": (float, "", "share of the multiply-accumulates that is counted"),
        "time": (float, "ms", "of all layers, one after the other"),
        "latency": (float, "cycles", "of all layers, one after the other"),
        "energy": (float, "pJ", "of all layers"),
        "rate": (float, "1/s", "inputs, images or tokens a second"),
        "bound_by": (str, "", "what takes the cycles"),
        "price": (float, "", "of the device, as stated"),
    }
    metrics = dict.fromkeys(m.limit.metric for p in study.points.values() for m in p.marginals)
    columns |= {f"with_{name}_raised": (float, unit, f"{name} raised") for name in metrics}
    columns |= {f"with_{name}_raised_status": (str, "", "what is proven of it") for name in metrics}
    columns |= {
        f"shares.{m}": (float, "", "taken by all arrays") for m in study.first.request.shares
    }
    rows = [_row(study, index, point, columns) for index, point in study.points.items()]
    title = "Ithaca what-if study of a network"
    return grid_dataset(title, dict(study.provenance), study.axes, columns, rows)


def _row(
    study: NetworkStudy, index: Index, point: NetworkPoint, columns: Mapping[str, Any]
) -> dict[str, Any]:
    result, speed = point.answer, rate(point.answer)
    known: dict[str, Any] = {
        "value": result.value,
        "lower_bound": result.lower_bound,
        "status": result.status,
        "share": result.share.known,
        **{name: result.sum_of(name) for name in ("time", "latency", "energy")},
        "rate": None if speed is None else speed[1],
        "bound_by": bound_text(result),
        "price": price_of(study, index),
    }
    for name in result.request.shares if result.arrays else ():
        known[f"shares.{name}"] = sum(result.shares_taken(name))
    for each in point.marginals:
        known[f"with_{each.limit.metric}_raised"] = each.after.value
        known[f"with_{each.limit.metric}_raised_status"] = each.after.status
    return {name: known.get(name, "" if own[0] is str else None) for name, own in columns.items()}
