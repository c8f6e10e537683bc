"""Conclusions of searches: the one place where status, termination and gap are decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ithaca.solver.certificate import (
    Certificate,
    Further,
    Status,
    Termination,
    among_all,
    relative_gap,
)
from ithaca.solver.options import Budget, SolveOptions


def conclude(
    value: Fraction | None,
    lower_bound: Fraction | None,
    options: SolveOptions | None = None,
    *,
    method: str,
    complete: bool = False,
    exhausted: bool = False,
    nodes: int = 0,
    seconds: float = 0.0,
) -> Certificate:
    """Make the certificate of a search that has ended.

    Parameters
    ----------
    value : Fraction or None
        Its best objective, exactly; None: nothing was found.
    lower_bound : Fraction or None
        What no configuration is proven to be below; None: nothing is proven.
    options : SolveOptions, optional
        What the search was told; without them nothing is said of why it ended unproven.
    method : str
        The engine.
    complete : bool, optional
        Whether nothing better, or nothing at all, is proven to be left.
    exhausted : bool, optional
        Whether the method had nothing more to try.
    nodes : int, optional
        Boxes examined.
    seconds : float, optional
        Its time (s).

    Returns
    -------
    Certificate
        ``optimal`` only where bound and value are equal, exactly.
    """
    if complete:
        lower_bound = value
    if value is None:
        status = Status.INFEASIBLE if complete else Status.UNKNOWN
    else:
        status = Status.OPTIMAL if value == lower_bound else Status.FEASIBLE
    return Certificate(
        status,
        lower_bound,
        relative_gap(value, lower_bound),
        method,
        nodes,
        seconds,
        termination=_termination(status, value, lower_bound, options, exhausted),
    )


def _termination(
    status: Status,
    value: Fraction | None,
    lower_bound: Fraction | None,
    options: SolveOptions | None,
    exhausted: bool,
) -> Termination | None:
    if status.proven:
        return Termination.PROVEN
    if options is None:
        return None
    if options.beaten(lower_bound):
        return Termination.BEATEN
    if options.gap_is_met(value, lower_bound):
        return Termination.GAP
    if options.stopped:
        return Termination.INTERRUPTED
    return (
        Termination.EXHAUSTED if exhausted or options.time_limit is None else Termination.TIME_LIMIT
    )


def conclude_least(
    parts: Sequence[tuple[Fraction | None, Certificate]],
    missing: int = 0,
    budget: Budget | None = None,
) -> Certificate:
    """The certificate of the least of several values.

    Whatever may be below it is at or above the lower bound of a part that is not infeasible.

    Parameters
    ----------
    parts : Sequence of tuple of Fraction or None and Certificate
        The values, each with what is proven of it.
    missing : int, optional
        Number of further parts of which nothing is known.
    budget : Budget, optional
        What the search was told, and the time it took; without it that is the time of its parts.

    Returns
    -------
    Certificate
        What is proven over all.
    """
    certificates = [certificate for _, certificate in parts]
    infeasible = not missing and all(c.empty for c in certificates)
    value = min((value for value, _ in parts if value is not None), default=None)
    bounds = [c.lower_bound for c in certificates if not c.empty] + [None] * missing
    known = [b for b in (*bounds, value) if b is not None]
    proof = conclude(
        value,
        min(known) if known and None not in bounds else None,
        None if budget is None else budget.options,
        complete=infeasible,
        method="+".join(dict.fromkeys(part for c in certificates for part in c.method.split("+")))
        or "none",
        nodes=sum(c.nodes for c in certificates),
        seconds=sum(c.seconds for c in certificates) if budget is None else budget.spent,
    ).within(among := among_all(certificates), among)
    # what is worse does not matter
    tied = [(v, c) for v, c in parts if not c.empty and c.lower_bound == value]
    ties = [c.ties_broken for _, c in tied]
    if not set(ties) <= {None}:
        proof = replace(proof, ties_broken=all(ties))
    further = [c.then for v, c in tied if v == value and c.then is not None]
    if not further or not proof.status.proven:
        return proof
    then = conclude_least(
        [(each.value, each.certificate) for each in further], len(tied) - len(further)
    )
    least = min(each.value for each in further)
    return replace(proof, then=Further(further[0].objective, least, then))
