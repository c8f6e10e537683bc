"""Result files: written, and read back as inputs of other commands.

A file may have been edited, cut off or written by another version, so nothing in it is taken
on trust: designs are derived again, configurations must be in their design's space and within the
limits, and what the document of all this says must be what the file says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import FAMILIES, UNNAMED, Families
from ithaca.formulations.family import Family
from ithaca.formulations.json_numbers import (
    MAX_DIGITS,
    SCHEMA,
    fraction,
    json_number,
    parse_json,
    read_text,
    refuse,
)
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.schema import read_objective
from ithaca.formulations.space import Space
from ithaca.results.certificate import Certificate, Status, Termination, relative_gap
from ithaca.results.result import Result, Unrestricted
from ithaca.results.schema import configuration_fields, head_fields, result_model, solution_fields
from ithaca.results.shortfall import Shortfall
from ithaca.results.solution import Solution, best_solution
from ithaca.workloads.documents import validated
from ithaca.workloads.errors import InputError

#: Largest result file (bytes); one with 30 designs has about 50 kB.
MAX_BYTES = 16 * 2**20

#: Largest number in a trace: differences of two of them are doubles as well.
LARGEST = 1e300

EDITED = "the file was edited or comes from another version"


def result_document(result: Result, families: Families = FAMILIES) -> dict[str, Any]:
    """The document of a result; `json_numbers.document_text` makes it text."""
    name = result.problem.design.family
    family, best = families[name], result.best
    fields = {
        "schema": SCHEMA,
        "family": name,
        **head_fields(family, result.problem, result.platform_name, None if best is None else best.value),
        "best": None if best is None else solution_fields(family, best),
        "designs": [solution_fields(family, _founded(solution)) for solution in result.designs],
        "unrestricted": result.unrestricted,
    }
    return result_model(family).model_validate(fields, from_attributes=True).written()


def _founded(solution: Solution) -> Solution:
    """A solution as a file can state it: of a design whose value a network's file states without its tiling, the bound."""
    if solution.configuration is not None or solution.value is None:
        return solution
    bound = replace(solution.certificate, status=Status.UNKNOWN, gap=None, termination=None, trace=())
    return replace(solution, value=None, certificate=bound)


def load_result(path: Path, families: Families = FAMILIES) -> Result:
    """Read a result file and check it against the model.

    Raises `InputError` if it is no result file, or not what the model computes.
    """
    return read_result(parse_json(read_text(path, MAX_BYTES), path), path, families)


def read_result(document: Any, path: Path, families: Families = FAMILIES) -> Result:
    """The result that a document states, checked against the model."""
    name: Any = UNNAMED
    if isinstance(document, dict):
        if "study" in document:
            raise refuse(path, f"study is {quoted(str(document['study']))}; allowed: a result as written by ithaca solve -o")
        name = document.get("family", name)
    if not isinstance(name, str) or name not in families:
        raise refuse(path, f"family is {quoted(name)}; allowed: {', '.join(families)}")
    model = result_model(families[name])
    read = validated(model, document, path)
    try:
        return _Reader(families[name], read).result()
    except InputError as error:
        raise refuse(path, error) from None


class _Reader:
    """Reads the solutions of one document."""

    def __init__(self, family: Family, read: Any) -> None:
        self.read, self.family = read, family
        self.setting = family.setting(read)
        known = family.vocabulary(self.setting)
        self.objective = read_objective(read.objective.expression, "objective.expression", known)
        self.limits: tuple[Limit, ...] = read.platform.upper_limits(known)

    def result(self) -> Result:
        read = self.read
        best = None if read.best is None else self._solution(read.best, "best")
        designs = tuple(self._solution(design, f"designs[{index}]") for index, design in enumerate(read.designs))
        if best is not None and best.configuration is None:
            raise InputError("best.tiling is null; allowed: a tiling, or null for best as a whole")
        _agree("objective.value", read.objective.value, None if best is None else best.value)
        _check_best(best, designs)
        return Result(read.platform.name, best, designs, read_unrestricted(read, None if best is None else best.value))

    def _solution(self, read: Any, at: str) -> Solution:
        try:
            design = self.family.design(self.setting, read)
        except InputError as error:
            raise InputError(f"{at}: {error}") from None
        for name, value in self.family.choice_fields(design).items():
            if getattr(read, name) != value:
                raise InputError(f"{at}.{name} is {quoted(getattr(read, name))}; allowed: {quoted(value)}")
        status = read.certificate.status
        if status.found != (read.tiling is not None) or (read.tiling is None) != (read.metrics is None):
            what = "a tiling and its metrics" if status.found else "null for tiling and metrics"
            raise InputError(f"{at}.certificate.status is '{status.value}'; allowed with it: {what}")
        problem = Problem(design, self.limits, self.objective)
        certificate = read.certificate.certificate()
        found = Solution(problem, None, None, certificate, self._shortfalls(read, design.name, f"{at}.shortfalls"))
        if read.tiling is not None:
            found = self._found(problem, read, at)
        if certificate.told != found.certificate.told:
            what = f"{at}.certificate is '{certificate.told}'"
            raise InputError(f"{what}; allowed: '{found.certificate.told}', as the space leaves out what may pay")
        check_certificate(certificate, found.value, f"{at}.certificate")
        _check_trace(certificate, found.value, f"{at}.certificate.trace")
        if status is Status.OPTIMAL:  # a file states bounds as doubles; the optimum is the exact value
            found = replace(found, certificate=replace(certificate, lower_bound=found.value))
        return found

    def _found(self, problem: Problem, read: Any, at: str) -> Solution:
        """The configuration of a solution."""
        try:
            configuration = self.family.configuration(problem.design, read.tiling)
        except InputError as error:
            raise InputError(f"{at}.tiling.{error}") from None
        metrics = problem.metrics(configuration)
        known = configuration_fields(self.family, problem, configuration)["metrics"]
        check_same(read.metrics, known, f"{at}.metrics")
        if (first := next(iter(known))) not in read.metrics:
            raise InputError(f"{at}.metrics.{first} is missing; allowed: {', '.join(known)}")
        check_legal(problem.space, configuration, f"{at}.tiling")
        if not problem.meets_conditions(configuration):
            raise InputError(f"{at}.tiling: {self.family.unmet(problem.design)}")
        for limit in self.limits:
            value = _value(limit.expression, metrics, f"platform.limits: {quoted(limit.metric)}", at)
            # compared as doubles: a bound that no decimal states was rounded in the file
            if float(value) > float(limit.bound):
                what = f"at most {_shown(limit.bound)}, the limit the file states"
                raise InputError(f"{at}.metrics: {quoted(limit.metric)} is {_shown(value)}; allowed: {what}")
        value = _value(self.objective.expression, metrics, "objective.expression", at)
        return Solution(problem, configuration, value, read.certificate.certificate())

    def _shortfalls(self, read: Any, design: str, at: str) -> tuple[Shortfall, ...]:
        if read.shortfalls and read.certificate.status is not Status.INFEASIBLE:
            raise InputError(f"{at} is not empty; allowed with status '{read.certificate.status.value}': an empty list")
        return check_shortfalls([entry.shortfall(design) for entry in read.shortfalls], self.limits, at)


# -- checks ----------------------------------------------------------------------------


def read_unrestricted(read: Any, restricted: Fraction | None) -> Unrestricted | None:
    """What a document states without the restriction to what a compiler builds."""
    if read.unrestricted is None:
        return None
    value, certificate = read.unrestricted.value, read.unrestricted.certificate.certificate()
    if restricted is None or value > restricted:
        raise InputError(f"unrestricted.value is {_shown(value)}; allowed: at most the restricted objective")
    check_certificate(certificate, value, "unrestricted.certificate")
    return Unrestricted(value, certificate)


def check_shortfalls(found: Sequence[Shortfall], limits: Sequence[Limit], at: str) -> tuple[Shortfall, ...]:
    """Shortfalls, refused where they are not of the limits of a question."""
    bounds = {limit.metric: limit.bound for limit in limits}
    for index, fall in enumerate(found):
        place = f"{at}[{index}]"
        if fall.metric not in bounds:
            raise InputError(f"{place}.metric is {quoted(fall.metric)}; allowed: one of the limits, {', '.join(bounds)}")
        _agree(f"{place}.bound", fall.bound, bounds[fall.metric])
        if fall.proven and (fall.smallest is None or fall.smallest <= fall.bound):
            raise InputError(f"{place}.smallest is {_shown(fall.smallest)}; allowed: more than the limit, {_shown(fall.bound)}")
    return tuple(found)


def check_certificate(certificate: Certificate, value: Fraction | None, at: str) -> None:
    """Refuse a certificate that contradicts the value it is about, or itself."""
    status, bound = certificate.status, certificate.lower_bound
    if status.found != (value is not None):
        raise InputError(f"{at}.status is '{status.value}', which contradicts the value")
    if value is not None and bound is not None and float(bound) > float(value):
        raise InputError(f"{at}.lower_bound is {_shown(bound)}; allowed: at most the objective's {_shown(value)}")
    if status is Status.OPTIMAL and value is not None and bound != _as_written(value):
        raise InputError(f"{at}.lower_bound is {_shown(bound)}; allowed with 'optimal': the objective's {_shown(value)}")
    gap = 0.0 if status is Status.OPTIMAL else relative_gap(value, bound)
    told = certificate.gap
    if bound is not None and status is Status.INFEASIBLE:
        raise InputError(f"{at}.lower_bound is {_shown(bound)}; allowed with 'infeasible': null")
    if gap == told == 0 and status is Status.FEASIBLE:
        raise InputError(f"{at}.status is 'feasible'; allowed where lower_bound is the objective: 'optimal'")
    if told != gap and (told is None or gap is None or not isclose(told, gap, rel_tol=1e-6, abs_tol=1e-12)):
        raise InputError(f"{at}.gap is {quoted(told)}; allowed: {quoted(gap)}, as value and lower_bound say")
    ended = certificate.termination
    if ended is not None and status.proven != (ended is Termination.PROVEN):
        allowed = "'proven'" if status.proven else ", ".join(f"'{t.value}'" for t in Termination if t is not Termination.PROVEN)
        raise InputError(f"{at}.termination is '{ended.value}'; allowed with '{status.value}': {allowed}")


def check_legal(space: Space, configuration: Configuration, at: str) -> None:
    """Refuse a configuration that is not of a design's space, with the first rule that it breaks."""
    for axis in space.axes:
        for quantity in axis.quantities:
            if not quantity.allows(configuration):
                most, kind = int(quantity.most(configuration)), quantity.kind.value
                what = f"{quantity.name} is {configuration[quantity.name]}; allowed: {kind} from {quantity.low} to {most}"
                raise InputError(f"{at} is not in the design space: {what}")
    for link in (*(link for axis in space.axes for link in axis.links), *space.links):
        if not link.holds(configuration):
            left, right = (int(side.evaluate(configuration, NUMPY)) for side in (link.left, link.right))
            rule = f"{left} {link.relation.value} {right}"
            raise InputError(
                f"{at} is not in the design space: {rule}; allowed: {link.left} {link.relation.value} {link.right}"
            )
    assert space.contains(configuration)


def check_same(found: Any, model: Any, at: str) -> None:
    """Refuse the first part of a document that is not what the model computes; metrics it lacks are no contradiction."""
    if isinstance(found, Mapping) and isinstance(model, Mapping):
        missing = () if ".metrics" in at else (name for name in model if name not in found)
        for name in (*found, *missing):
            place = f"{at}.{quoted(name)[1:-1]}" if at else name
            if name not in found or name not in model:
                raise InputError(f"{place} is {'unknown here' if name in found else 'missing'}; allowed: {', '.join(model)}")
            check_same(found[name], model[name], place)
    elif isinstance(found, list) and isinstance(model, list) and len(found) == len(model):
        for index, (one, other) in enumerate(zip(found, model, strict=True)):
            check_same(one, other, f"{at}[{index}]")
    elif found != model or isinstance(found, bool) != isinstance(model, bool):
        raise InputError(f"{at}: recorded {quoted(found)} is not the model's {quoted(model)}: {EDITED}")


def _check_trace(certificate: Certificate, value: Fraction | None, at: str) -> None:
    """A trace is in order, and ends with the outcome."""
    points = certificate.trace
    for name in ("seconds", "nodes", "value", "lower_bound"):
        column = [getattr(point, name) for point in points]
        known = [entry for entry in column if entry is not None]
        field = "incumbent" if name == "value" else name
        if any(abs(entry) > LARGEST for entry in known):
            raise InputError(f"{at}.{field} has a number beyond ±{LARGEST:.0e}; allowed: smaller ones")
        if known != sorted(known, reverse=name == "value") or None in column[len(column) - len(known) :]:
            way = "fall" if name == "value" else "rise"
            raise InputError(
                f"{at}.{field} is not in order; allowed: entries that only {way}, null before the first that is known"
            )
    if points and points[-1].lower_bound != certificate.lower_bound:
        ends, proven = _shown(points[-1].lower_bound), _shown(certificate.lower_bound)
        raise InputError(f"{at}.lower_bound ends with {ends}; allowed: {proven}")
    if points:
        _agree(f"{at}.incumbent", points[-1].value, value)


def _check_best(best: Solution | None, designs: Sequence[Solution]) -> None:
    """The best is one of the designs, and no other is better: what holds for all designs holds for it."""
    if not designs:
        raise InputError("designs is empty; allowed: at least one design")
    places: dict[str, int] = {}
    for index, design in enumerate(designs):
        first = places.setdefault(design.design, index)
        if first != index:
            raise InputError(f"designs[{index}] is {design.design}, like designs[{first}]; allowed: every design once")
    values = [(design.value, index) for index, design in enumerate(designs) if design.value is not None]
    if best is None:
        if values:
            raise InputError(f"best is null, yet designs[{values[0][1]}] has a tiling; allowed: null where no design has one")
        return
    place = places.get(best.design)
    if place is None:
        raise InputError(f"best is {best.design}; allowed: one of designs, {', '.join(places)}")
    for name in ("configuration", "certificate", "shortfalls"):  # value and metrics follow from the configuration
        if getattr(best, name) != getattr(designs[place], name):
            what = "tiling" if name == "configuration" else name
            raise InputError(f"best.{what} differs from that of designs[{place}]; allowed: the same, as both are {best.design}")
    least, index = min(values)
    if best.value is not None and least < best.value:
        what = f"best has the objective {_shown(best.value)}, yet designs[{index}] has {_shown(least)}"
        raise InputError(f"{what}; allowed: the least of designs")
    if best.certificate.ties_broken and best != (chosen := best_solution(designs)):
        assert chosen is not None
        raise InputError(f"best is {best.design}; allowed: {chosen.design}, which is preferred to it")


def _value(expression: Expression, metrics: Mapping[str, Fraction], what: str, at: str) -> Fraction:
    """An expression over metrics, in exact arithmetic."""
    try:
        value: Fraction = expression.evaluate(metrics, FRACTION)
    except ZeroDivisionError:
        raise InputError(f"{what} divides by zero at {at}; allowed: an expression with a value") from None
    except KeyError as error:
        raise InputError(
            f"{what} needs the metric {error}, which is not known at {at}; allowed: {', '.join(metrics)}"
        ) from None
    if abs(value) >= 10**MAX_DIGITS:  # like every number of a document, it has a double
        raise InputError(f"{what} is too large at {at}; allowed: values below 10^{MAX_DIGITS}")
    return value


def _agree(at: str, recorded: Fraction | None, model: Fraction | None) -> None:
    if recorded != (None if model is None else _as_written(model)):
        raise InputError(f"{at}: recorded {_shown(recorded)} is not the model's {_shown(model)}: {EDITED}")


def _as_written(value: Fraction) -> Fraction:
    """What reading ``value`` back from a file gives: itself, unless no decimal states it."""
    return fraction(json_number(value))


def _shown(value: Fraction | None) -> str:
    return "null" if value is None else str(json_number(value))
