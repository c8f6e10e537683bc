"""The line on a solve that found no configuration."""

from __future__ import annotations

from ithaca.files.numbers import is_or_are, number
from ithaca.formulations.directions import bound_as_asked
from ithaca.solver.certificate import Status
from ithaca.solver.result import Result


def nothing_found(result: Result) -> str:
    """The reason why there is no configuration, and what is proven all the same."""
    infeasible = [s for s in result.designs if s.certificate.status is Status.INFEASIBLE]
    open_ = [s.certificate for s in result.designs if s not in infeasible]
    if not open_:
        return f"infeasible{result.basis}: no configuration of any design meets the limits"
    if narrowed := next((proof.failure for proof in open_ if proof.empty), ""):
        return narrowed
    some = (
        f"; {len(infeasible)} of {len(result.designs)} designs "
        f"{is_or_are(len(infeasible))} infeasible"
    )
    bounds = [proof.lower_bound for proof in open_]
    least = None if None in bounds else min(bound for bound in bounds if bound is not None)
    side, bound = bound_as_asked(result.objective.words, least)
    return f"nothing found in time; {side} {number(bound)}{some if infeasible else ''}"
