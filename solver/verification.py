"""Check what a recorded solution claims: prove it again, and tell a false record from engines that
disagree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from ithaca.files.errors import EDITED, DisagreementError, InputError
from ithaca.files.numbers import json_number, number
from ithaca.formulations.algebra.rounding import below
from ithaca.formulations.directions import as_asked, bound_as_asked
from ithaca.formulations.problem import Objective, Problem
from ithaca.solver.again import WITHIN, by_whichever, provers
from ithaca.solver.certificate import Certificate, Status
from ithaca.solver.engines import ENGINES, Method, engine
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.solver.ties import preferred

#: How is confirmed what there is no other argument for.
SAME = "found again by the same search"


class Claim(NamedTuple):
    """A claim about the least of something; numbers of files are doubles."""

    value: Fraction | None
    """Which is possible."""
    bound: Fraction | None
    """Below which nothing is."""
    infeasible: bool = False
    """Nothing is possible."""

    @classmethod
    def of(cls, answer: Any) -> Claim:
        """The claim that a value and its certificate make."""
        proof = answer.certificate
        return cls(answer.value, proof.lower_bound, proof.status is Status.INFEASIBLE)

    @classmethod
    def smallest(cls, shortfall: Shortfall) -> Claim:
        """The claim of a shortfall about the least bound that could be met; where that is not
        proven, it is a lower bound."""
        return cls(shortfall.smallest if shortfall.proven else None, shortfall.smallest)


def time_for(proof: Certificate, options: SolveOptions) -> SolveOptions:
    """The time for work at what a certificate claims: at a bound that is no proof, not without
    end."""
    endless = options.time_limit is None and not proof.status.proven
    return replace(options, time_limit=WITHIN) if endless else options


def agree(claim: Claim, again: Claim, at: str) -> bool:
    """Whether all that is claimed is proven again.

    Parameters
    ----------
    claim : Claim
        What a file claims.
    again : Claim
        What another search came to.
    at : str
        Place in the file.

    Returns
    -------
    bool
        False where time was too short for that.

    Raises
    ------
    InputError
        If what is claimed is false.
    """
    (value, bound, none), (other, proven, nothing) = claim, again
    if other is not None and (
        none or (bound is not None and json_number(other) < json_number(bound))
    ):
        what = (
            "nothing is said to be possible"
            if none
            else f"nothing below {number(bound)} is said to be possible"
        )
        raise _edited(at, f"{what}, yet there is a configuration with {number(other)}")
    if value is not None and (
        nothing or (proven is not None and json_number(proven) > json_number(value))
    ):
        least = "is" if nothing else f"below {number(proven)} is"
        raise _edited(at, f"value {number(value)} is said to be possible, yet nothing {least}")
    reached = bound is None or (proven is not None and json_number(proven) >= json_number(bound))
    return nothing or (
        reached
        and not none
        and (value is None or (other is not None and json_number(other) <= json_number(value)))
    )


def check_agreement(one: Solution, other: Solution) -> bool:
    """Whether two solutions of one problem prove the same: the same optimum, or infeasibility.

    Raises `DisagreementError` if one's lower bound exceeds the other's value, or one has a
    configuration of a problem that the other claims to be infeasible.
    """
    for first, second in ((one, other), (other, one)):
        bound, value = first.certificate.lower_bound, second.value
        if first.certificate.status is Status.INFEASIBLE and value is not None:
            raise DisagreementError(
                _disagreement(
                    one,
                    other,
                    f"{first.certificate.method} says infeasible, yet "
                    f"there is {float(value):,.10g}",
                )
            )
        if bound is not None and value is not None and bound > value:
            text = (
                f"{first.certificate.method} proves {float(bound):,.10g} as lower "
                f"bound, yet there is {float(value):,.10g}"
            )
            raise DisagreementError(_disagreement(one, other, text))
    return one.settled and other.settled


def prove_again(solution: Solution, method: str, options: SolveOptions) -> Solution:
    """Ask a second engine for the proof of a solution.

    Parameters
    ----------
    solution : Solution
        The solution.
    method : str
        The second engine.
    options : SolveOptions
        Time limit and interruption.

    Returns
    -------
    Solution
        The same; if both prove it, both are in its certificate.

    Raises
    ------
    DisagreementError
        If they contradict each other.
    """
    again = engine(method)(
        solution.problem, replace(options, any_tie=True), start=solution.configuration
    )
    if not check_agreement(solution, again):
        return solution
    one, other = solution.certificate, again.certificate
    both = replace(
        one,
        method=f"{one.method}+{other.method}",
        nodes=one.nodes + other.nodes,
        seconds=one.seconds + other.seconds,
    )
    return replace(solution, certificate=both)


def _disagreement(one: Solution, other: Solution, what: str) -> str:
    methods = f"{one.certificate.method} and {other.certificate.method}"
    return (
        f"{methods} disagree on design {one.problem.design.name}: {what}; "
        "please report this with the command"
    )


def verify(
    recorded: Solution, options: SolveOptions, at: str, *, says_limits: bool = True
) -> tuple[str, bool]:
    """Prove again what a solution of a file claims; its value was evaluated again when it was read.

    Parameters
    ----------
    recorded : Solution
        The solution.
    options : SolveOptions
        Time limit and interruption.
    at : str
        Place in the file.
    says_limits : bool, optional
        Whether the record names the limits that would help where nothing meets all.

    Returns
    -------
    tuple of str and bool
        What was found, in one line, and whether all that is claimed was confirmed.

    Raises
    ------
    InputError
        If a claim is false and its own engine does not repeat it: the record was changed.
    DisagreementError
        If engines contradict each other.
    """
    status, proof = recorded.certificate.status, recorded.certificate
    words = claimed(recorded, recorded.problem.objective.text, "no value", " re-evaluated")
    if not status.proven:
        at = f"{at}.certificate"
        beaten = proof.lower_bound if proof.beaten else None

        def solve(search: SolveOptions) -> Solution:
            if beaten is not None:  # a better configuration would make more of the same gap
                search = replace(search, gap=0.0, rival=beaten)
            return _again(recorded, Method.AUTO, search, at)

        return repeat(recorded, solve, options, at, "proven again", words)
    again = by_whichever(
        lambda method, search: _again(recorded, method, search, f"{at}.certificate"),
        lambda answer: answer.certificate.status.proven,
        provers(recorded.problem, proof.method, known=True),
        options,
    )
    engines = again.certificate.method
    if again.certificate.status.proven:
        same = ", the same search," if engines == proof.method else ""
        words += f", confirmed by {engines}{same} in {again.certificate.seconds:.1f} s"
    elif status is Status.INFEASIBLE and recorded.problem.hopeless:
        words += ", refuted again without a search"
    else:
        bound = number(again.certificate.lower_bound)
        return f"{words}, not confirmed by {engines} in time (its bound: {bound})", False
    if proof.ties_broken and recorded.value is not None and proof.then is None:
        chosen = preferred(recorded.problem, recorded.value, recorded.configuration, options)
        if chosen.configuration != recorded.configuration:
            raise _edited(
                f"{at}.certificate.ties_broken",
                "it is true, yet another configuration of that value is preferred",
            )
        if not chosen.complete:
            return f"{words}; ties not checked in time", False
        words += f"; preferred of equals: {SAME}"
    then = proof.then
    further = None if recorded.value is None else recorded.problem.among_optima(recorded.value)
    if then is not None and further is not None:
        last = replace(then.certificate, ties_broken=proof.ties_broken)
        own = Solution(further, recorded.configuration, then.value, last)
        line, confirmed = verify(own, options, f"{at}.certificate.then")
        words += f"; then {then.objective} {line}"
        if not confirmed:
            return words, False
    falls, limits = (
        recorded.shortfalls,
        recorded.problem.open_limits if says_limits and status is Status.INFEASIBLE else (),
    )
    open_ = [
        s.metric
        for i, s in enumerate(falls)
        if not _met(recorded, s, options, f"{at}.shortfalls[{i}]")
    ]
    silent = {limit.metric for limit in limits} - {s.metric for s in falls if s.others_kept}
    open_ += [
        metric
        for metric in sorted(silent)
        if not _useless(recorded, metric, options, f"{at}.shortfalls")
    ]
    return (
        (f"{words}; shortfall not checked in time: {', '.join(open_)}", False)
        if open_
        else (words, True)
    )


def claimed(
    answer: Any, text: str = "", nothing: str = "no configuration", evaluated: str = ""
) -> str:
    """The claim of an answer in words: its status, its value, and its lower bound.

    Parameters
    ----------
    answer : object
        Whatever has a value and a certificate.
    text : str, optional
        Its objective: what is maximised is told with its own sign.
    nothing : str, optional
        What is said where there is no value.
    evaluated : str, optional
        What is said behind a value.

    Returns
    -------
    str
        The words; the bound is left out where it is the value.
    """
    value, proof = as_asked(text, answer.value)[1], answer.certificate
    words = (
        f"{proof.status.value}: {nothing if value is None else f'value {number(value)}{evaluated}'}"
    )
    side, bound = bound_as_asked(text, proof.lower_bound)
    return words if proof.status.proven or bound is None else f"{words}, {side} {number(bound)}"


def repeat(
    answer: Any,
    solve: Callable[[SolveOptions], Any],
    options: SolveOptions,
    at: str,
    how: str = SAME,
    words: str = "",
    *,
    evaluated: bool = True,
) -> tuple[str, bool]:
    """Solve again what an answer is about, until all that it claims is proven.

    Parameters
    ----------
    answer : Solution or Total or Unrestricted or CodesignResult
        What a file states: a value and a certificate.
    solve : callable
        What answers the same question.
    options : SolveOptions
        Time limit and interruption.
    at : str
        Place in the file.
    how : str
        How it was confirmed, in words; by default that the search was the same.
    words : str
        What is claimed, in words; by default as `claimed` says it.
    evaluated : bool
        Whether the value was evaluated again, so that only the proof is left.

    Returns
    -------
    tuple of str and bool
        What was found, in one line, and whether all that is claimed was confirmed.

    Raises
    ------
    InputError
        If a claim is false.
    """
    proof, words = answer.certificate, words or claimed(answer)
    if (
        proof.lower_bound is None
        and proof.status is not Status.INFEASIBLE
        and (evaluated or answer.value is None)
    ):
        return f"{words}; no proof is claimed", True
    budget = Budget(options)
    # as soon as the gap is as small as the claimed one, the bound has been reached
    again = solve(replace(time_for(proof, options), gap=below(proof.gap or 0.0)))
    claim = Claim.of(answer)
    confirmed = agree(claim._replace(value=None) if evaluated else claim, Claim.of(again), at)
    own, others = proof.further, again.certificate.further
    confirmed = confirmed and len(own) == len(others)
    for one, other in zip(own, others, strict=False):
        confirmed &= agree(Claim.of(one), Claim.of(other), f"{at}.certificate.then")
    if confirmed:
        return f"{words}; {how} in {budget.spent:.1f} s", True
    return (
        f"{words}; bound not checked: proven in time is {number(again.certificate.lower_bound)}",
        False,
    )


def _again(recorded: Solution, method: str, options: SolveOptions, at: str) -> Solution:
    """Solve a recorded problem by a method, and refuse the record if that contradicts it.

    The engine that proved it does not learn what it found."""
    options, proof = replace(options, any_tie=True), recorded.certificate
    known = None if proof.status.proven and method in proof.method else recorded.configuration
    again = engine(method)(recorded.problem, options, start=known)
    # a value without its configuration is a claim, too; others were evaluated
    value = None if recorded.configuration is None else recorded.value
    claim = Claim.of(recorded) if value is None else Claim.of(recorded)._replace(value=None)
    try:
        agree(claim, Claim.of(again), at)
    except (
        InputError
    ):  # either the claim is false, or its own engine repeats it and the two disagree
        own = proof.method if proof.method in ENGINES else Method.AUTO
        check_agreement(engine(own)(recorded.problem, replace(options, gap=0.0)), again)
        raise
    check_agreement(
        replace(
            recorded,
            value=value,
            certificate=replace(recorded.certificate, lower_bound=None, gap=None),
        ),
        again,
    )
    return again


def _met(recorded: Solution, shortfall: Shortfall, options: SolveOptions, at: str) -> bool:
    """Whether the smallest value of a limit that could be met is what the record says; False where
    time was too short."""
    if shortfall.smallest is None:
        return True  # nothing is claimed
    least = _least(recorded.problem, shortfall.metric, options, others_kept=shortfall.others_kept)
    if least.certificate.status is Status.INFEASIBLE:
        raise _edited(
            at,
            f"raising {shortfall.metric} is said to help, yet nothing "
            "is feasible without that limit",
        )
    return agree(Claim.smallest(shortfall), Claim.of(least), f"{at}.smallest")


def _useless(recorded: Solution, metric: str, options: SolveOptions, at: str) -> bool:
    """Whether raising a limit by itself does not help, as the record says by not naming it; False
    where time was too short."""
    least = _least(recorded.problem, metric, options, others_kept=True)
    return agree(
        Claim(None, None, infeasible=True), Claim.of(least), f"{at}, {metric} raised alone"
    )


def _least(problem: Problem, metric: str, options: SolveOptions, *, others_kept: bool) -> Solution:
    """The least value of a limited metric, without its limit, and without the others unless they
    are kept."""
    others = tuple(limit for limit in problem.limits if others_kept and limit.metric != metric)
    expression = next(limit.expression for limit in problem.limits if limit.metric == metric)
    relaxed = replace(problem, limits=others, objective=Objective(metric, expression))
    return engine(Method.EXACT)(relaxed, replace(options, any_tie=True))


def _edited(at: str, what: str) -> InputError:
    return InputError(f"{at}: {what}: {EDITED}")
