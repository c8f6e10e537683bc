"""`ithaca.explain`: explanations of results, in plain words, one statement a line, every figure
computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

from typer import Option

from ithaca.commands.api.keywords import StatedOptions, public
from ithaca.commands.api.live_line import searching
from ithaca.commands.api.opening import answer_of
from ithaca.commands.api.options import LayerName, Quick, ResultFile, TimeLimit
from ithaca.commands.api.parsing import parse_search
from ithaca.files.answer import Words
from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.files.numbers import number, percent
from ithaca.files.writing import SCHEMA
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import as_asked
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.problem import Problem
from ithaca.results.explanation import (
    RAISES,
    Change,
    ChangeKind,
    Explanation,
    LimitUse,
    chosen_solutions,
    explanation_document,
    first_change,
    unbound,
    worthless,
)
from ithaca.results.explanation import explain as explain_solutions
from ithaca.results.result_view import run_facts
from ithaca.solver.certificate import Status, as_stated
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.solver.result import Result
from ithaca.solver.runs import not_run
from ithaca.solver.solution import Solution
from ithaca.studies.best import solve_best
from ithaca.studies.marginal import raisable_limits
from ithaca.studies.network.networks import NetworksAnswer
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.points import PointAnswer


def statements(result: Result, explanation: Explanation) -> list[str]:
    """An explanation, one statement a line."""
    return list(_statements(result, explanation))


def _statements(result: Result, explanation: Explanation) -> Iterator[str]:
    objective, solution = result.objective.text, explanation.solution
    yield f"Result: {result.profile.title}, on {result.platform_name}, {result.objective.goal}."
    if solution is None or solution.value is None or explanation.certificate is None:
        yield f"No configuration: {explanation.failure}{as_stated(result)}."
        return
    certificate, runs = explanation.certificate, solution == result.best
    basis = result.basis if runs else ""
    proof = (
        f"proven {certificate.statement}{basis}"
        if certificate.status is Status.OPTIMAL
        else "not proven optimal"
    )
    what, value = as_asked(objective, solution.value)
    if certificate.status is not Status.OPTIMAL and certificate.lower_bound is not None:
        bound = as_asked(objective, certificate.lower_bound)[1]
        side = "less" if what == objective else "more"
        proof += f"; no {side} than {number(bound)} is possible{basis}"
    yield f"Design: {solution.design}; {what} is {number(value)} ({proof}{as_stated(result)})."
    for fact in run_facts(result) if runs else ():
        yield f"{fact.term.capitalize() or 'Beside it'}: {fact.text}."
    yield from explanation.remarks.statements
    for use in explanation.limits:
        yield _limit(use, solution.problem.design.vocabulary)
    if explanation.next_best is not None:
        name, other = explanation.next_best
        yield _rival(what, value, name, as_asked(objective, other)[1])
    if lost := [s for s in result.designs if s.certificate.beaten]:
        yield (
            f"Other designs: {len(lost)} are proven to be no better, and no more: "
            f"{', '.join(s.design for s in lost)}."
        )
    proof = proof_of_changes(result, settled=certificate.settled)
    innate = result.profile.innate
    yield from change_statements(objective, explanation.changes, innate, proof)


def _limit(use: LimitUse, vocabulary: Mapping[str, Metric]) -> str:
    if is_requirement(use.metric):
        return f"Requirement {use.metric}: it holds, with {number(use.slack)} to spare."
    unit = f" {vocabulary[use.metric].unit}" if use.metric in vocabulary else ""
    left = "none is left" if not use.slack else f"{number(use.slack)} left"
    if use.slack and use.slack_share is not None:
        left += f" ({percent(use.slack_share)})"
    return f"Limit {use.metric}: {number(use.used)} of {number(use.bound)}{unit} used, {left}."


def _rival(objective: str, value: Fraction, name: str, other: Fraction) -> str:
    if not value:
        return (
            "Other designs: the best of them in this result is "
            f"{name}, {objective} {number(other)}."
        )
    difference = (other - value) / abs(value)
    how = (
        f"{percent(abs(difference))} {'more' if difference > 0 else 'less'}"
        if difference
        else "the same"
    )
    return (
        f"Other designs: the best of them in this result is {name}, "
        f"{objective} {number(other)}, {how}."
    )


def proof_of_changes(result: Result | NetworksAnswer, *, settled: bool) -> str:
    """The note on changes that are proven: against the optimum of the file, for a result of a file
    whose optimum was not searched for again."""
    by = not_run(solution.problem.design for solution in result.mapped.values())
    return (
        f"proven against the file's optimum{by}" if settled and as_stated(result) else f"proven{by}"
    )


def change_statements(
    objective: str, changes: Sequence[Change] | None, innate: str, proof: str
) -> Iterator[str]:
    """Statements on the changes tried, and on the one to make first.

    Parameters
    ----------
    objective : str
        What is minimised, as it was asked for.
    changes : sequence of Change, optional
        What was tried; None: nothing was.
    innate : str
        What allows nothing better where no limit binds.
    proof : str
        What is said of changes whose effect is proven.
    """
    if changes is None:
        yield "To change first: not computed (--quick)."
        return
    idle = worthless(changes)
    for change in changes:
        if change.what not in idle or change.kind is not ChangeKind.LIMIT:
            yield f"Tried: {_tried(change)}: {_effect(objective, change, proof)}."
    for metric in idle:
        yield (
            f"Tried: {metric} raised by {' % or '.join(map(str, RAISES))} %: "
            f"no change of {as_asked(objective, Fraction())[0]} ({proof})."
        )
    first = first_change(changes)
    if first is not None:
        yield (
            f"To change first: {_tried(first)}; {_effect(objective, first, proof)}, "
            "the largest gain of those tried."
        )
    elif unbound(changes):
        yield (
            f"To change first: nothing that was tried helps ({proof}). No "
            f"limit binds: {innate} nothing better."
        )
    elif all(change.proven for change in changes) and changes:
        yield f"To change first: nothing that was tried helps ({proof})."
    else:
        yield "To change first: no gain was proven" + (
            " in time." if changes else "; there is no limit to raise."
        )


def _tried(change: Change) -> str:
    if change.kind is ChangeKind.LIMIT:
        return (
            f"raise {change.what} by {change.percent} %, from "
            f"{number(change.limit)} to {number(change.raised)}"
        )
    if change.kind is ChangeKind.NO_LIMITS:
        return "drop all limits"
    if change.kind is ChangeKind.HARDWARE:
        return change.what
    return (
        f"take design {change.what} instead"
        if change.kind is ChangeKind.DESIGN
        else f"search on (design {change.what})"
    )


def _effect(objective: str, change: Change, proof: str) -> str:
    gain = change.gain
    (name, before), (_, after) = (as_asked(objective, end) for end in (change.before, change.after))
    if change.kind is ChangeKind.DESIGN:  # it is at hand
        proof = "proven"
    if change.before == change.after:
        end = proof if change.proven else "not decided in time"
        return f"{name} stays {number(before)} ({end})"
    proof = proof if change.proven else "not proven"
    if gain is None:
        return f"{name} {number(before)} becomes {number(after)} ({proof})"
    sign = "−" if after < before else "+"
    return f"{name} {number(before)} becomes {number(after)} ({sign}{percent(abs(gain))}, {proof})"


@public
def explain(
    result: ResultFile,
    *,
    layer: LayerName = None,
    design: Annotated[
        str | None,
        Option(
            "--design",
            metavar="'LOOPS TENSOR'",
            help="Design of the result, e.g. 'i,j C'. Default: the best.",
        ),
    ] = None,
    quick: Quick = False,
    time_limit: TimeLimit = None,
    stated: StatedOptions,
) -> Words:
    """Explain a result: what limits it, what it could reach, and what to change first.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.explain(r, quick=True).statements[0]
    'Result: mm (i=4, j=4, k=4) fp32, cycle model edition, on u250, minimising latency.'
    """
    search, answer, solution = (
        parse_changes(time_limit, stated, quick=quick),
        answer_of(result, layer),
        None,
    )
    if isinstance(answer, NetworksAnswer):
        if design is not None:
            raise InputError(
                f"--design does not go with the result of {answer.what}; allowed: with --layer NAME"
            )
        lines, document = answer.made("explanation", search)
    elif isinstance(answer, PointAnswer):
        refuse_changes(stated, "a front or a what-if study", "without it")
        lines, document = [*answer.statements], {"schema": SCHEMA, "study": "explain"}
    elif isinstance(answer, NetworkResult):
        from ithaca.results.network_explanation import (
            explain_network,
            network_explanation_document,
            network_statements,
        )

        refuse_changes(stated, "the result of a whole network", "with --layer NAME")
        explained = explain_network(answer)
        lines, document = (
            [*network_statements(answer, explained)],
            network_explanation_document(answer, explained),
        )
    else:
        with errors_at(answer.source):
            explanation = explain_result(answer, design, search)
        lines, document = statements(answer, explanation), explanation_document(answer, explanation)
        solution = explanation.solution
    return Words(tuple(lines), document | {"statements": lines}, answer, solution)


def refuse_changes(stated: StatedOptions, what: str, allowed: str) -> None:
    """Refuse options on what to change first, where nothing is changed.

    Parameters
    ----------
    stated : StatedOptions
        The options that were given.
    what : str
        What they do not go with.
    allowed : str
        What is allowed instead.

    Raises
    ------
    InputError
        If one of them is on what to change first.
    """
    if other := min(stated & {"--design", "--around", "--time-limit", "--quick"}, default=None):
        raise InputError(f"{other} does not go with {what}; allowed: {allowed}")


def parse_changes(
    time_limit: float | None, stated: StatedOptions, *, quick: bool
) -> SolveOptions | None:
    """The limits of a search for what to change first; None if that is to be left out.

    Parameters
    ----------
    time_limit : float, optional
        Seconds in all; None: the usual.
    stated : StatedOptions
        The options that were given.
    quick : bool
        Whether nothing is to be searched.

    Raises
    ------
    InputError
        If a time limit is given beside ``quick``, or is no positive number.
    """
    if quick and "--time-limit" in stated:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    search = parse_search(time_limit)
    return None if quick else search


def explain_result(result: Result, design: str | None, options: SolveOptions | None) -> Explanation:
    """Explain a configuration of a result, the best unless a design is named; without options, not
    what to change first.

    Raises `InputError` if the result does not have the design.

    Parameters
    ----------
    result : Result
        The result.
    design : str, optional
        The name of one of its designs; None: that of the best configuration.
    options : SolveOptions, optional
        How far to search for what to change first; None: that is left out.
    """
    solutions = chosen_solutions(result, design)
    if options is None:
        return explain_solutions(result, solutions, None)
    with searching("building problems", replace(options, any_tie=True)) as (stoppable, line):
        budget = Budget(stoppable)
        # raised limits, no limits, and once more should the result not be proven
        count, solved = (
            len(RAISES) * len(raisable_limits([s.problem for s in result.designs])) + 2,
            0,
        )
        count += len(result.profile.enlarged)

        def solve(problems: Sequence[Problem], starts: Sequence[Configuration | None]) -> Solution:
            nonlocal solved
            solved += 1

            def report(name: str, progress: Progress) -> None:
                line.show(f"solve {solved} of at most {count} · {name}", progress)

            return solve_best(
                problems, budget.share(max(count - solved + 1, 1)), starts=starts, report=report
            )

        return explain_solutions(result, solutions, solve)
