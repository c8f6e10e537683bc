"""Result files read back: as inputs of evaluate, export and ``solve --start``.

A file may have been edited, cut off or written by another version, so nothing in it is taken
on trust: designs are derived again from their dataflow and permutation, and every recorded
metric must be what the Fraction reference computes from the recorded tiling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ithaca.formulations.algebra.expression import ONE, Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression, quoted
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.json_numbers import MAX_DIGITS, fraction, json_number, parse_json, read_text, refuse, refuse_invalid
from ithaca.formulations.problem import Limit, Objective, SpaceOptions
from ithaca.formulations.systolic.cost_model import Costs, evaluate
from ithaca.formulations.systolic.dataflows import find_dataflow
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.evaluation import json_metrics
from ithaca.formulations.systolic.metrics import METRICS, array_words, metric_values
from ithaca.formulations.systolic.points import Point, load_points
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.formulations.technology import Technology
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.loaded_result import LoadedResult, LoadedSolution
from ithaca.solver.schema import (
    CertificateDocument,
    ResultDocument,
    ShortfallDocument,
    SolutionDocument,
    TilingDocument,
    TraceDocument,
    number,
)
from ithaca.solver.solution import Shortfall
from ithaca.solver.trace import TracePoint
from ithaca.workloads.errors import InputError
from ithaca.workloads.library import is_variant
from ithaca.workloads.nest import LoopNest

#: Largest result file (bytes); one with 30 designs has about 50 kB.
MAX_BYTES = 16 * 2**20

#: Largest number in a trace: differences of two of them are doubles as well.
LARGEST = 1e300

EDITED = "the file was edited or comes from another version"


def load_result(path: Path) -> LoadedResult:
    """Read a result file and check it against the model.

    Raises
    ------
    InputError
        If it is no result file, or its metrics are not what the model computes.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    if isinstance(document, dict) and "study" in document:
        raise refuse(path, f"study is {quoted(str(document['study']))}; allowed: a result as written by ithaca solve -o")
    try:
        read = ResultDocument.model_validate(document)
    except ValidationError as error:
        raise refuse_invalid(path, error, ResultDocument) from None
    try:
        return _result(read)
    except InputError as error:
        raise refuse(path, error) from None


def load_any_points(path: Path, nest: LoopNest, data: DataType) -> tuple[Point, ...]:
    """Read the points of a CSV file, or of a result file (one that ends in .json).

    Parameters
    ----------
    path : Path
        The file.
    nest : LoopNest
        The workload the points must belong to; the file gives the extents.
    data : DataType
        The data type a result file must have been solved for.

    Raises
    ------
    InputError
        If the file is malformed, belongs to another workload or data type, or has no points.
    """
    if path.suffix.lower() != ".json":
        return load_points(path, nest)
    result = load_result(path)
    if result.nest.name != nest.name:
        raise refuse(path, f"workload.name is {quoted(result.nest.name)}; allowed: {nest.name}, the workload asked for")
    if not is_variant(result.nest, nest):
        raise refuse(path, f"workload.kernel is {quoted(str(result.nest))}; allowed: {nest}, the workload asked for")
    if result.data != data:
        raise refuse(path, f"workload.dtype is {quoted(result.data.name)}; allowed: {data.name}, the data type asked for")
    if not result.points:
        raise refuse(path, "best and designs have no tiling; allowed: at least one point")
    return result.points


def _result(read: ResultDocument) -> LoadedResult:
    try:
        nest = read.workload.nest()
    except InputError as error:
        raise InputError(f"workload: {error}") from None
    text = read.objective.expression
    objective = Objective(text, parse_expression(text, where="objective.expression", allowed=METRICS))
    limits, technology = read.platform.upper_limits(), read.technology.technology()
    context = _Context(nest, data_type(read.workload.dtype), limits, Edition(read.edition), objective, technology)
    best = None if read.best is None else context.solution(read.best, "best")
    designs = tuple(context.solution(design, f"designs[{index}]") for index, design in enumerate(read.designs))
    if best is not None and best.tiling is None:
        raise InputError("best.tiling is null; allowed: a tiling, or null for best as a whole")
    _agree("objective.value", read.objective.value, None if best is None else best.value)
    _check_best(best, designs)
    space = SpaceOptions(**read.space.model_dump())
    edition, name = context.edition, read.platform.name
    return LoadedResult(nest, context.data, name, limits, edition, objective, space, technology, best, designs)


@dataclass(frozen=True, slots=True)
class _Context:
    """What all solutions of a result share."""

    nest: LoopNest
    data: DataType
    limits: tuple[Limit, ...]
    edition: Edition
    objective: Objective
    technology: Technology

    def solution(self, read: SolutionDocument, at: str) -> LoadedSolution:
        try:
            array = derive(self.nest, find_dataflow(self.nest, tuple(read.dataflow)), read.permutation, self.edition)
        except InputError as error:
            raise InputError(f"{at}: {error}") from None
        if read.buildable != array.buildable:
            raise InputError(f"{at}.buildable is {quoted(read.buildable)}; allowed: {quoted(array.buildable)}")
        found = read.certificate.status in ("optimal", "feasible")
        if found != (read.tiling is not None) or (read.tiling is None) != (read.metrics is None):
            what = "a tiling and its metrics" if found else "null for tiling and metrics"
            raise InputError(f"{at}.certificate.status is '{read.certificate.status}'; allowed with it: {what}")
        shortfalls = tuple(self._shortfall(s, f"{at}.shortfalls[{i}]") for i, s in enumerate(read.shortfalls))
        certificate = _certificate(read.certificate, f"{at}.certificate")
        if read.tiling is None or read.metrics is None:
            _check_trace(certificate, None, f"{at}.certificate.trace")
            return LoadedSolution(array, None, None, {}, {}, certificate, shortfalls)
        tiling, costs = self._tiling(read.tiling, array, at)
        _check_metrics(read.metrics, json_metrics(array, costs), f"{at}.metrics")
        self._check_feasible(costs, at)
        value = _value(self.objective.expression, costs, "objective.expression", at)
        _check_bound(certificate, value, f"{at}.certificate.lower_bound")
        _check_trace(certificate, value, f"{at}.certificate.trace")
        words = array_words(array, costs)
        return LoadedSolution(array, tiling, value, metric_values(costs), words, certificate, shortfalls)

    def _tiling(self, read: TilingDocument, array: SystolicArray, at: str) -> tuple[Tiling, Costs]:
        try:
            tiling = Tiling(read.array_part, read.latency_hiding, read.simd, group_packs(array, read.pack))
            quantities = tiling.quantities(array, self.nest.sizes)
        except InputError as error:
            raise InputError(f"{at}.tiling.{error}") from None
        return tiling, evaluate(array, quantities, self.data, FRACTION, self.technology)

    def _shortfall(self, read: ShortfallDocument, at: str) -> Shortfall:
        limited = [limit.metric for limit in self.limits]
        if read.metric not in limited:
            raise InputError(f"{at}.metric is {quoted(read.metric)}; allowed: one of the limits, {', '.join(limited)}")
        return Shortfall(**dict(read))

    def _check_feasible(self, costs: Costs, at: str) -> None:
        if not costs.meets_bounds:
            parallel = costs.point.array.pe.outputs != ONE
            needed = f"{self.data.accumulator_factor}" + ("" if parallel else " · simd")
            raise InputError(f"{at}.tiling: Π latency_hiding is too small; allowed: at least {needed}")
        for limit in self.limits:
            value = _value(limit.expression, costs, f"platform.limits: {quoted(limit.metric)}", at)
            # compared as doubles: a bound that no decimal states was rounded in the file
            if float(value) > float(limit.bound):
                what = f"at most {_shown(limit.bound)}, the limit the file states"
                raise InputError(f"{at}.metrics: {quoted(limit.metric)} is {_shown(value)}; allowed: {what}")


def _check_best(best: LoadedSolution | None, designs: Sequence[LoadedSolution]) -> None:
    """The best is one of the designs, and no other is better: what holds for all designs holds for it."""
    if not designs:
        raise InputError("designs is empty; allowed: at least one design")
    places: dict[SystolicArray, int] = {}
    for index, design in enumerate(designs):
        first = places.setdefault(design.array, index)
        if first != index:
            raise InputError(f"designs[{index}] is {design.array.name}, like designs[{first}]; allowed: every design once")
    values = [(design.value, index) for index, design in enumerate(designs) if design.value is not None]
    if best is None:
        if values:
            raise InputError(f"best is null, yet designs[{values[0][1]}] has a tiling; allowed: null where no design has one")
        return
    place = places.get(best.array)
    if place is None:
        held = ", ".join(design.array.name for design in designs)
        raise InputError(f"best is {best.array.name}; allowed: one of designs, {held}")
    for name in ("tiling", "certificate", "shortfalls"):  # the metrics follow from the tiling
        if getattr(best, name) != getattr(designs[place], name):
            raise InputError(
                f"best.{name} differs from that of designs[{place}]; allowed: the same, as both are {best.array.name}"
            )
    least, index = min(values)
    if best.value is not None and least < best.value:
        what = f"best has the objective {_shown(best.value)}, yet designs[{index}] has {_shown(least)}"
        raise InputError(f"{what}; allowed: the least of designs")


def _value(expression: Expression, costs: Costs, what: str, at: str) -> Fraction:
    """An expression over metrics for exact costs."""
    try:
        value: Fraction = expression.evaluate(metric_values(costs, expression.symbols), FRACTION)
    except ZeroDivisionError:
        raise InputError(f"{what} divides by zero at {at}; allowed: an expression with a value") from None
    if abs(value) >= 10**MAX_DIGITS:  # like every number of a document, it has a double
        raise InputError(f"{what} is too large at {at}; allowed: values below 10^{MAX_DIGITS}")
    return value


def _check_metrics(recorded: Mapping[str, Any], model: Mapping[str, Any], at: str) -> None:
    """Compare the recorded metrics with the model's; those a file lacks are no contradiction."""
    for name, value in recorded.items():
        if name not in model:
            raise InputError(f"{at}.{quoted(name)[1:-1]} is unknown; allowed: {', '.join(model)}")
        if isinstance(model[name], dict):
            if not isinstance(value, dict):
                raise InputError(f"{at}.{name} is {quoted(value)}; allowed: a mapping of names to values")
            _check_metrics(value, model[name], f"{at}.{name}")
        else:
            _agree(f"{at}.{name}", _as_number(f"{at}.{name}", value), fraction(model[name]))
    if "latency" in model and "latency" not in recorded:
        raise InputError(f"{at}.latency is missing; allowed: {', '.join(model)}")


def _check_bound(certificate: Certificate, value: Fraction, at: str) -> None:
    bound = certificate.lower_bound
    if bound is not None and float(bound) > float(value):
        raise InputError(f"{at} is {_shown(bound)}; allowed: at most the objective's {_shown(value)}")
    if certificate.status is Status.OPTIMAL and bound != _as_written(value):
        raise InputError(f"{at} is {_shown(bound)}; allowed with 'optimal': the objective's {_shown(value)}")


def _certificate(read: CertificateDocument, at: str) -> Certificate:
    trace = () if read.trace is None else _trace(read.trace, read, f"{at}.trace")
    return Certificate(Status(read.status), read.lower_bound, read.gap, read.method, read.nodes, read.seconds, trace)


def _trace(read: TraceDocument, proof: CertificateDocument, at: str) -> tuple[TracePoint, ...]:
    columns: dict[str, Sequence[Any]] = {
        "seconds": read.seconds,
        "nodes": read.nodes,
        "incumbent": read.incumbent,
        "lower_bound": read.lower_bound,
    }
    for name, column in columns.items():
        if len(column) != len(read.seconds):
            raise InputError(f"{at}.{name} has {len(column)} entries; allowed: {len(read.seconds)}, as in seconds")
        known = [value for value in column if value is not None]
        if any(abs(value) > LARGEST for value in known):
            raise InputError(f"{at}.{name} has a number beyond ±{LARGEST:.0e}; allowed: smaller ones")
        ordered = sorted(known, reverse=name == "incumbent")
        if known != ordered or None in column[len(column) - len(known) :]:
            way = "fall" if name == "incumbent" else "rise"
            raise InputError(
                f"{at}.{name} is not in order; allowed: entries that only {way}, null before the first that is known"
            )
    if read.lower_bound and read.lower_bound[-1] != proof.lower_bound:
        raise InputError(f"{at}.lower_bound ends with {_shown(read.lower_bound[-1])}; allowed: {_shown(proof.lower_bound)}")
    return tuple(TracePoint(*row) for row in zip(*columns.values(), strict=True))


def _check_trace(certificate: Certificate, value: Fraction | None, at: str) -> None:
    """A trace ends with the outcome."""
    if certificate.trace:
        _agree(f"{at}.incumbent", certificate.trace[-1].value, value)


def _as_number(at: str, value: object) -> Fraction:
    try:
        return number(value)
    except ValueError:
        raise InputError(f"{at} is {quoted(value)}; allowed: a number") from None


def _agree(at: str, recorded: Fraction | None, model: Fraction | None) -> None:
    if recorded != (None if model is None else _as_written(model)):
        raise InputError(f"{at}: recorded {_shown(recorded)} is not the model's {_shown(model)}: {EDITED}")


def _as_written(value: Fraction) -> Fraction:
    """What reading ``value`` back from a file gives: itself, unless no decimal states it."""
    return fraction(json_number(value))


def _shown(value: Fraction | None) -> str:
    return "null" if value is None else str(json_number(value))
