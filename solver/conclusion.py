"""How a search is concluded: the one place where status, termination and gap are decided."""

from __future__ import annotations

from fractions import Fraction

from ithaca.solver.certificate import Certificate, Status, Termination, relative_gap
from ithaca.solver.options import SolveOptions


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
