"""Result files read back: as inputs of evaluate, export and ``solve --start``.

A file may have been edited, cut off or written by another version, so nothing in it is taken
on trust: designs are derived again from their dataflow and permutation, and every recorded
metric must be what the Fraction reference computes from the recorded tiling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from ithaca.formulations.cost_model import Costs, evaluate
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.dataflows import find_dataflow
from ithaca.formulations.derivation import derive
from ithaca.formulations.evaluation import json_metrics
from ithaca.formulations.expression import ONE, Expression
from ithaca.formulations.json_numbers import MAX_DIGITS, fraction, json_number, parse_json, read_text, refuse, refuse_invalid
from ithaca.formulations.metrics import METRICS, array_words, metric_values
from ithaca.formulations.number_systems import FRACTION
from ithaca.formulations.parsing import parse_expression, quoted
from ithaca.formulations.points import Point, load_points
from ithaca.formulations.problem import Limit, Objective, Problem, SpaceOptions
from ithaca.formulations.systolic_array import Edition, SystolicArray
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.formulations.tiling import Tiling, group_packs
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.solution import Shortfall
from ithaca.workloads.errors import InputError
from ithaca.workloads.library import documented_workload, is_variant
from ithaca.workloads.nest import LoopNest

#: Largest result file (bytes); one with 30 designs has about 50 kB.
MAX_BYTES = 16 * 2**20

EDITED = "the file was edited or comes from another version"


@dataclass(frozen=True)
class LoadedSolution:
    """The best configuration of one design, as a file recorded it.

    Attributes
    ----------
    array : SystolicArray
        The design, derived afresh.
    tiling : Tiling or None
        The configuration; None where none was found.
    value : Fraction or None
        Its objective.
    metrics, words : mapping of str to Fraction
        All metrics, and off-chip words by array, by the Fraction reference.
    certificate : Certificate
        What the file says is proven.
    shortfalls : tuple of Shortfall
        Limits that cannot be met, of an infeasible problem.
    """

    array: SystolicArray
    tiling: Tiling | None
    value: Fraction | None
    metrics: Mapping[str, Fraction]
    words: Mapping[str, Fraction]
    certificate: Certificate
    shortfalls: tuple[Shortfall, ...]


@dataclass(frozen=True)
class LoadedResult:
    """A result file.

    Attributes
    ----------
    nest : LoopNest
        The loop nest, with extents.
    data : DataType
        The type of all arrays.
    platform_name : str
        The platform the limits come from.
    limits : tuple of Limit
        Upper limits on metrics.
    edition : Edition
        The statement of the cost model.
    objective : Objective
        What was minimised.
    space : SpaceOptions
        Restrictions of the design space.
    technology : Technology
        Clock and energies of the platform.
    best : LoadedSolution or None
        The best configuration of all designs; None where none was found.
    designs : tuple of LoadedSolution
        One solution per design solved.
    """

    nest: LoopNest
    data: DataType
    platform_name: str
    limits: tuple[Limit, ...]
    edition: Edition
    objective: Objective
    space: SpaceOptions
    technology: Technology
    best: LoadedSolution | None
    designs: tuple[LoadedSolution, ...]

    @property
    def solutions(self) -> tuple[LoadedSolution, ...]:
        """The best solution first, then those of the other designs."""
        others = tuple(solution for solution in self.designs if solution != self.best)
        return others if self.best is None else (self.best, *others)

    @property
    def points(self) -> tuple[Point, ...]:
        """The configurations of all solutions that have one, the best first."""
        return tuple(Point(s.array, self.nest, s.tiling) for s in self.solutions if s.tiling is not None)

    def problem(self, array: SystolicArray) -> Problem:
        """What was asked of one design."""
        return Problem(self.nest, array, self.data, self.limits, self.objective, self.space, self.technology)


def load_result(path: Path) -> LoadedResult:
    """Read a result file and check it against the model.

    Raises
    ------
    InputError
        If it is no result file, or its metrics are not what the model computes.
    """
    document = parse_json(read_text(path, MAX_BYTES), path)
    try:
        read = _Result.model_validate(document)
    except ValidationError as error:
        raise refuse_invalid(path, error, _Result) from None
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


def _number(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number")
    return fraction(value)


def _positive(value: object) -> Fraction:
    number = _number(value)
    if number < 0:
        raise ValueError("a number that is not negative")
    return number


Number = Annotated[Fraction, PlainValidator(_number)]
Positive = Annotated[Fraction, PlainValidator(_positive)]
Text = Annotated[str, Field(min_length=1, max_length=10_000)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class _Kernel(_Document):
    statement: Text
    untiled: list[str]
    simd: Text


class _Workload(_Document):
    name: Text
    sizes: dict[str, int]
    parameters: dict[str, int] = {}
    kernel: _Kernel | None = None
    dtype: Text


class _Platform(_Document):
    name: Text
    limits: dict[str, Number]


class _Objective(_Document):
    expression: Text
    value: Number | None


class _Space(_Document):
    min_lanes: Annotated[int, Field(ge=1, le=2**31)] = 1
    divisors_only: bool = False
    dividing_packs: bool = False


class _Technology(_Document):
    """Fields that are not the default's; an absent one is None."""

    clock_mhz: Positive | None = None
    dram: Positive | None = None
    buffer: Positive | None = None
    hop: Positive | None = None
    register_: Annotated[Positive | None, Field(alias="register")] = None
    mac: Positive | None = None
    mac_pj: Positive | None = None
    cost_tables: Literal["maestro-28nm"] | None = None

    def technology(self) -> Technology:
        """The technology these fields change."""
        # read field by field: model_dump makes text of Fractions in some versions of pydantic
        given = {name.rstrip("_"): value for name, value in self if value is not None}
        return replace(DEFAULT_TECHNOLOGY, **given)


class _Tiling(_Document):
    array_part: dict[str, int]
    latency_hiding: dict[str, int]
    simd: int
    pack: dict[str, int]


class _Certificate(_Document):
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    lower_bound: Number | None
    gap: Annotated[float, Field(ge=0)] | None
    method: Text
    nodes: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]


class _Shortfall(_Document):
    metric: Text
    bound: Number
    smallest: Number
    others_kept: bool
    proven: bool


class _Solution(_Document):
    dataflow: list[str]
    permutation: str
    buildable: bool
    tiling: _Tiling | None
    metrics: dict[str, Any] | None
    certificate: _Certificate
    shortfalls: list[_Shortfall] = []


class _Result(_Document):
    schema_: Annotated[Literal["ithaca/1"], Field(alias="schema")]
    workload: _Workload
    platform: _Platform
    edition: Literal["exact", "odyssey"]
    objective: _Objective
    space: _Space = _Space()
    technology: _Technology = _Technology()
    best: _Solution | None
    designs: list[_Solution]


def _result(read: _Result) -> LoadedResult:
    nest = _nest(read.workload)
    text = read.objective.expression
    objective = Objective(text, parse_expression(text, where="objective.expression", allowed=METRICS))
    try:
        limits = tuple(Limit(metric, bound) for metric, bound in read.platform.limits.items())
    except InputError as error:
        raise InputError(f"platform.limits: {error}") from None
    technology = read.technology.technology()
    context = _Context(nest, data_type(read.workload.dtype), limits, Edition(read.edition), objective, technology)
    best = None if read.best is None else context.solution(read.best, "best")
    designs = tuple(context.solution(design, f"designs[{index}]") for index, design in enumerate(read.designs))
    if best is not None and best.tiling is None:
        raise InputError("best.tiling is null; allowed: a tiling, or null for best as a whole")
    _agree("objective.value", read.objective.value, None if best is None else best.value)
    space = SpaceOptions(**read.space.model_dump())
    edition, name = context.edition, read.platform.name
    return LoadedResult(nest, context.data, name, limits, edition, objective, space, technology, best, designs)


def _nest(read: _Workload) -> LoopNest:
    kernel = None if read.kernel is None else read.kernel.model_dump()
    try:
        return documented_workload(read.name, read.sizes, read.parameters, kernel)
    except InputError as error:
        raise InputError(f"workload: {error}") from None


@dataclass(frozen=True, slots=True)
class _Context:
    """What all solutions of a result share."""

    nest: LoopNest
    data: DataType
    limits: tuple[Limit, ...]
    edition: Edition
    objective: Objective
    technology: Technology

    def solution(self, read: _Solution, at: str) -> LoadedSolution:
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
        certificate = _certificate(read.certificate)
        if read.tiling is None or read.metrics is None:
            return LoadedSolution(array, None, None, {}, {}, certificate, shortfalls)
        tiling, costs = self._tiling(read.tiling, array, at)
        _check_metrics(read.metrics, json_metrics(array, costs), f"{at}.metrics")
        self._check_feasible(costs, at)
        value = _value(self.objective.expression, costs, "objective.expression", at)
        _check_bound(certificate, value, f"{at}.certificate.lower_bound")
        words = array_words(array, costs)
        return LoadedSolution(array, tiling, value, metric_values(costs), words, certificate, shortfalls)

    def _tiling(self, read: _Tiling, array: SystolicArray, at: str) -> tuple[Tiling, Costs]:
        try:
            tiling = Tiling(read.array_part, read.latency_hiding, read.simd, group_packs(array, read.pack))
            quantities = tiling.quantities(array, self.nest.sizes)
        except InputError as error:
            raise InputError(f"{at}.tiling.{error}") from None
        return tiling, evaluate(array, quantities, self.data, FRACTION, self.technology)

    def _shortfall(self, read: _Shortfall, at: str) -> Shortfall:
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


def _certificate(read: _Certificate) -> Certificate:
    return Certificate(Status(read.status), read.lower_bound, read.gap, read.method, read.nodes, read.seconds)


def _as_number(at: str, value: object) -> Fraction:
    try:
        return _number(value)
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
