"""Result files: written, and read back as inputs of other commands.

A file may have been edited, cut off or written by another version, so nothing in it is taken
on trust: designs are derived again, configurations must be in their design's space and within the
limits, and what the document of all this says must be what the file says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ithaca.files.documents import validated
from ithaca.files.errors import EDITED, InputError
from ithaca.files.messages import errors_at, refuse
from ithaca.files.numbers import counted, json_number, json_ready, spelled
from ithaca.files.reading import MAX_DIGITS
from ithaca.files.writing import SCHEMA
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import UNNAMED, family_of
from ithaca.formulations.family import Family
from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.formulations.space import Space
from ithaca.results.schema import (
    agree,
    head_fields,
    result_model,
    solution_fields,
    stated_family,
)
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.documents import check_certificate, read_further, read_runs
from ithaca.solver.result import Result, Unrestricted
from ithaca.solver.runs import as_it_runs
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution, best_solution

#: Largest number in a trace: differences of two of them are doubles as well.
LARGEST = 1e300


def result_document(result: Result) -> dict[str, Any]:
    """The document of a result; `ithaca.files.writing.document_text` makes it text."""
    best = result.best
    problems = [solution.problem for solution in result.designs]
    fields = {
        "schema": SCHEMA,
        "family": result.problem.design.family,
        **head_fields(problems, result.platform_name, None if best is None else best.value),
        "best": None if best is None else solution_fields(best),
        "designs": [solution_fields(_founded(solution)) for solution in result.designs],
        "unrestricted": result.unrestricted,
        "runs": list(result.runs),
    }
    if result.near is not None:
        from ithaca.refine.kept import neighbourhood

        fields["neighbourhood"] = neighbourhood(result).fields
    model = result_model(family_of(result.problem.design))
    return model.model_validate(fields, from_attributes=True).as_json()


def _founded(solution: Solution) -> Solution:
    """A solution as a file can state it: of a design whose value a network's file states without
    its tiling, the bound."""
    if solution.configuration is not None or solution.value is None:
        return solution
    bound = replace(
        solution.certificate, status=Status.UNKNOWN, gap=None, termination=None, trace=()
    )
    return replace(solution, value=None, certificate=bound)


def read_result(document: Any, path: Path) -> Result:
    """The result that a document states; what the model says of its question and configurations
    must be that document."""
    read, result = _read(document, path)
    with errors_at(path):
        check_same(read.as_json(), result_document(result), "")
        if read.neighbourhood:
            from ithaca.refine.kept import check_order

            check_order(read.neighbourhood.factors, result)
    return result


def read_problems(question: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """The problems that a question poses: the head of a result, and its designs."""
    proof = {"lower_bound": None, "gap": None, "method": "none", "nodes": 0, "seconds": 0}
    nothing = {"tiling": None, "metrics": None, "certificate": {"status": "unknown", **proof}}
    designs = [d | nothing if isinstance(d, dict) else d for d in question["designs"]]
    read = _read({"schema": SCHEMA, **question, "best": None, "designs": designs}, path)[1]
    return tuple(solution.problem for solution in read.designs)


def _read(document: Any, path: Path) -> tuple[Any, Result]:
    name: Any = UNNAMED
    if isinstance(document, dict):
        if "study" in document:
            raise refuse(
                path,
                f"study is {quoted(str(document['study']))}; allowed: a "
                "result as written by ithaca solve -o",
            )
        name = document.get("family", name)
    family = stated_family(name, path)
    read: Any = validated(result_model(family), document, path)
    with errors_at(path):
        return read, _ResultReader(family, read).result()


class _ResultReader:
    """Reads the solutions of one document."""

    def __init__(self, family: Family[Any], read: Any) -> None:
        self.read, self.family = read, family
        self.setting = family.setting(read)
        known = family.names(self.setting)
        self.objective = read_objective(read.objective.expression, "objective.expression", known)
        self.limits: tuple[Limit, ...] = read.platform.upper_limits(known)

    def result(self) -> Result:
        best = self.read.best
        stated = None if best is None else self._solution(best, "best")
        designs = tuple(
            stated
            if stated is not None and design == best
            else self._solution(design, f"designs[{index}]")
            for index, design in enumerate(self.read.designs)
        )
        places: dict[str, int] = {}
        for index, solution in enumerate(designs):
            first = places.setdefault(solution.design, index)
            if first != index:
                raise InputError(
                    f"designs[{index}] is {solution.design}, like "
                    f"designs[{first}]; allowed: every design once"
                )
        runs = read_runs(self.read.runs, designs)
        best = as_it_runs(designs, runs)
        if best and stated and not runs and not stated.certificate.ties_broken:  # any of equals
            best = next(
                (s for s in designs if s.design == stated.design and s.value == best.value), best
            )
        least = best_solution(designs)
        free = read_unrestricted(self.read, None if least is None else least.value)
        if free is not None:
            every = self.family.unrestricted([solution.problem.design for solution in designs])
            problem = designs[0].problem
            free = replace(free, problems=tuple(replace(problem, design=each) for each in every))
        near = self.read.neighbourhood and self.read.neighbourhood.around
        return Result(self.read.platform.name, best, designs, free, runs, near)

    def _solution(self, read: Any, at: str) -> Solution:
        with errors_at(at):
            problem = Problem(self.family.design(self.setting, read), self.limits, self.objective)
        certificate = read.certificate.certificate()
        if read.shortfalls and certificate.status is not Status.INFEASIBLE:
            raise InputError(
                f"{at}.shortfalls is not empty; allowed with status "
                f"'{certificate.status.value}': an empty list"
            )
        falls = read_shortfalls(
            read.shortfalls, self.limits, f"{at}.shortfalls", problem.design.name
        )
        solution = read_solution(problem, read.tiling, certificate, at, falls)
        check_proof(certificate, solution.value, f"{at}.certificate")
        return solution


def read_solution(
    problem: Problem,
    tiling: Any,
    certificate: Certificate,
    at: str,
    falls: tuple[Shortfall, ...] = (),
) -> Solution:
    """Evaluate by Fractions what a document states of a problem.

    Parameters
    ----------
    problem : Problem
        The problem.
    tiling : object
        The configuration as its family writes it; None: none was found.
    certificate : Certificate
        What is stated to be proven.
    at : str
        Its place in the document, for errors.
    falls : tuple of Shortfall, optional
        Limits that are stated not to be met.

    Returns
    -------
    Solution
        The configuration with its value.

    Raises
    ------
    InputError
        If the configuration is not within the problem's space and limits.
    """
    _ = problem.guarded  # divisors are refused there
    if tiling is None:
        return Solution(problem, None, None, certificate, falls)
    try:
        configuration = family_of(problem.design).configuration(problem.design, tiling)
    except InputError as error:
        raise InputError(f"{at}.tiling.{error}") from None
    check_legal(problem.space, configuration, f"{at}.tiling")
    if not problem.meets_conditions(configuration):
        raise InputError(f"{at}.tiling: {family_of(problem.design).unmet(problem.design)}")
    metrics = problem.metrics(configuration)
    for limit in problem.limits:
        value = _value(limit.expression, metrics, f"platform.limits: {quoted(limit.metric)}", at)
        # compared as in files: a bound that no decimal states was rounded there
        if json_number(value) > json_number(limit.bound):
            if limit.required:
                raise InputError(f"{at}.tiling breaks {limit.metric}, which the file requires")
            allowed = f"allowed: at most {spelled(limit.bound)}, the limit the file states"
            text = f"{at}.metrics: {quoted(limit.metric)} is {spelled(value)}; {allowed}"
            raise InputError(text)
    value = _value(problem.objective.expression, metrics, "objective.expression", at)
    if (
        certificate.status is Status.OPTIMAL
    ):  # a file states bounds as doubles; the optimum is the exact value
        certificate = replace(certificate, lower_bound=value)
    certificate = read_further(problem, configuration, certificate, f"{at}.certificate")
    return Solution(problem, configuration, value, certificate, falls)


# -- checks ----------------------------------------------------------------------------


def read_unrestricted(read: Any, restricted: Fraction | None) -> Unrestricted | None:
    """The answer that a document states without the restriction to what a compiler builds."""
    if read.unrestricted is None:
        return None
    value, certificate = read.unrestricted.value, read.unrestricted.certificate.certificate()
    if restricted is None or value > restricted:
        raise InputError(
            f"unrestricted.value is {spelled(value)}; allowed: at most the restricted objective"
        )
    check_certificate(certificate, value, "unrestricted.certificate")
    return Unrestricted(value, certificate)


def read_shortfalls(
    read: Sequence[Any], limits: Sequence[Limit], at: str, design: str = ""
) -> tuple[Shortfall, ...]:
    """The shortfalls that a document states, with the bounds of the limits of its question.

    Parameters
    ----------
    read : Sequence of ShortfallDocument
        What it states.
    limits : Sequence of Limit
        The limits.
    at : str
        Place in the document.
    design : str, optional
        The design that they are of, where they do not state it.

    Raises
    ------
    InputError
        Naming the shortfall that is of no limit.
    """
    shortfalls = [Shortfall(**{"design": design, **dict(each)}) for each in read]
    bounds = {limit.metric: limit.bound for limit in limits}
    for index, fall in enumerate(shortfalls):
        place = f"{at}[{index}]"
        if fall.metric not in bounds:
            raise InputError(
                f"{place}.metric is {quoted(fall.metric)}; allowed: one of "
                f"the limits, {', '.join(bounds)}"
            )
        bound = bounds[fall.metric]
        if fall.proven and (fall.smallest is None or fall.smallest <= bound):
            raise InputError(
                f"{place}.smallest is {spelled(fall.smallest)}; allowed: more "
                f"than the limit, {spelled(bound)}"
            )
    return tuple(replace(fall, bound=bounds[fall.metric]) for fall in shortfalls)


def check_legal(space: Space, configuration: Configuration, at: str) -> None:
    """Refuse a configuration that is not of a design's space.

    Parameters
    ----------
    space : Space
        The space.
    configuration : Configuration
        The configuration.
    at : str
        Place in the document.

    Raises
    ------
    InputError
        Naming the first rule that it breaks.
    """
    names = [quantity.name for axis in space.axes for quantity in axis.quantities]
    if missing := [name for name in names if name not in configuration]:
        raise InputError(f"{at} misses {quoted(missing[0])}; allowed: {', '.join(names)}")
    for axis in space.axes:
        for quantity in axis.quantities:
            if not quantity.allows(configuration):
                most, kind = int(quantity.most(configuration)), quantity.kind.value
                what = (
                    f"{quantity.name} is {configuration[quantity.name]}; allowed: "
                    f"{kind} from {quantity.low} to {most}"
                )
                raise InputError(f"{at} is not in the design space: {what}")
    for link in (*(link for axis in space.axes for link in axis.links), *space.links):
        if not link.holds(configuration):
            left, right = (
                int(side.evaluate(configuration, NUMPY)) for side in (link.left, link.right)
            )
            rule = f"{left} {link.relation.value} {right}"
            raise InputError(
                f"{at} is not in the design space: {rule}; allowed: {link.left} "
                f"{link.relation.value} {link.right}"
            )
    assert space.contains(configuration)


def check_same(recorded: Any, model: Any, at: str) -> None:
    """Refuse the first part of a document that is not what the model computes.

    Parameters
    ----------
    recorded : object
        The document.
    model : object
        The document of what was read and evaluated.
    at : str
        Place in the document; empty: the whole.

    Raises
    ------
    InputError
        Naming the place, and both values.
    """
    if isinstance(recorded, Mapping) and isinstance(model, Mapping):
        for name in (*recorded, *(name for name in model if name not in recorded)):
            place = f"{at}.{quoted(name)[1:-1]}" if at else name
            if name not in recorded or name not in model:
                state = "unknown here" if name in recorded else "missing"
                raise InputError(f"{place} is {state}; allowed: {', '.join(model)}")
            check_same(recorded[name], model[name], place)
    elif isinstance(recorded, list) and isinstance(model, list):
        if len(recorded) != len(model):
            raise InputError(
                f"{at}: recorded {counted(len(recorded), 'item')}, "
                f"of the model {len(model)}: {EDITED}"
            )
        for index, (one, other) in enumerate(zip(recorded, model, strict=True)):
            check_same(one, other, f"{at}[{index}]")
    elif not agree(recorded, model):
        raise InputError(
            f"{at}: recorded {quoted(recorded)} is not the model's {quoted(model)}: {EDITED}"
        )


def check_proof(certificate: Certificate, value: Fraction | None, at: str) -> None:
    """Refuse a certificate that contradicts its value.

    Parameters
    ----------
    certificate : Certificate
        The certificate.
    value : Fraction or None
        The value that it is about.
    at : str
        Place in the document.

    Raises
    ------
    InputError
        If it does, or if its trace is not in order or ends with another outcome.
    """
    check_certificate(certificate, value, at)
    points, at = certificate.trace, f"{at}.trace"
    for name in ("seconds", "nodes", "value", "lower_bound"):
        column = [getattr(point, name) for point in points]
        known = [entry for entry in column if entry is not None]
        field = "incumbent" if name == "value" else name
        if any(abs(entry) > LARGEST for entry in known):
            raise InputError(
                f"{at}.{field} has a number beyond ±{LARGEST:.0e}; allowed: smaller ones"
            )
        if (
            known != sorted(known, reverse=name == "value")
            or None in column[len(column) - len(known) :]
        ):
            way = "fall" if name == "value" else "rise"
            raise InputError(
                f"{at}.{field} is not in order; allowed: entries that only {way}, "
                "null before the first that is known"
            )
    last = points[-1:]
    for name, end, own in (
        ("lower_bound", [point.lower_bound for point in last], certificate.lower_bound),
        ("incumbent", [point.value for point in last], value),
    ):
        if last and json_ready(end) != json_ready([own]):
            raise InputError(f"{at}.{name} ends with {spelled(end[0])}; allowed: {spelled(own)}")


def _value(expression: Expression, metrics: Mapping[str, Fraction], what: str, at: str) -> Fraction:
    """An expression over metrics, in exact arithmetic."""
    try:
        value: Fraction = expression.evaluate(metrics, FRACTION)
    except ZeroDivisionError:
        raise InputError(
            f"{what} divides by zero at {at}; allowed: an expression with a value"
        ) from None
    except KeyError as error:
        raise InputError(
            f"{what} needs the metric {error}, which is not known at "
            f"{at}; allowed: {', '.join(metrics)}"
        ) from None
    if abs(value) >= 10**MAX_DIGITS:  # like every number of a document, it has a double
        raise InputError(f"{what} is too large at {at}; allowed: values below 10^{MAX_DIGITS}")
    return value
