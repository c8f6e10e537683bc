"""Two engines on the same problem: their bounds and values must not contradict each other."""

from __future__ import annotations

from dataclasses import replace

from ithaca.results.certificate import Status
from ithaca.results.solution import Solution
from ithaca.solver.engines import Method, engine
from ithaca.solver.options import SolveOptions
from ithaca.workloads.errors import DisagreementError


def check_agreement(one: Solution, other: Solution) -> bool:
    """Whether two solutions of one problem prove the same: the same optimum, or infeasibility.

    Raises `DisagreementError` if one's lower bound exceeds the other's value, or one has a configuration of a problem that
    the other claims to be infeasible.
    """
    for first, second in ((one, other), (other, one)):
        bound, value = first.certificate.lower_bound, second.value
        if first.certificate.status is Status.INFEASIBLE and value is not None:
            raise DisagreementError(
                _line(one, other, f"{first.certificate.method} says infeasible, yet there is {float(value):,.10g}")
            )
        if bound is not None and value is not None and bound > value:
            text = f"{first.certificate.method} proves {float(bound):,.10g} as lower bound, yet there is {float(value):,.10g}"
            raise DisagreementError(_line(one, other, text))
    return one.settled and other.settled


def prove_again(solution: Solution, method: Method, options: SolveOptions) -> Solution:
    """Ask a second engine for the proof of a solution: if both prove it, both are in its certificate.

    Raises `DisagreementError` if they contradict each other.
    """
    again = engine(method)(solution.problem, options, start=solution.configuration)
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


def _line(one: Solution, other: Solution, what: str) -> str:
    methods = f"{one.certificate.method} and {other.certificate.method}"
    return f"{methods} disagree on design {one.problem.design.name}: {what}; please report this with the command"
