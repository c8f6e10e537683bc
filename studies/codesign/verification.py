"""Check what a co-design claims: every layer's proof by another engine, and the search over the space repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ithaca.formulations.algebra.rounding import below
from ithaca.formulations.shown_numbers import counted, number
from ithaca.results.certificate import Status
from ithaca.results.files import EDITED
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.verification import BOUND_WITHIN, verify
from ithaca.studies.codesign.codesign import CodesignOptions, codesign
from ithaca.studies.codesign.layers import shown_name
from ithaca.studies.codesign.result import CodesignResult
from ithaca.studies.network.verification import Check
from ithaca.workloads.errors import InputError


def verify_codesign(result: CodesignResult, options: SolveOptions) -> Iterator[Check]:
    """Prove again what a co-design claims: layers on its accelerators, then the space; the time limit is for each of them.

    Raises `InputError` if a claim is false, and no engine repeats it; `DisagreementError` if engines contradict each other.
    """
    for place, found in enumerate(result.front):
        for work, answer in zip(result.question.works, found.layers, strict=True):
            name = shown_name(result.question, work)
            if answer.certificate.lower_bound is None:
                yield Check(name, f"value {number(answer.value)} re-evaluated; no proof is claimed", True)
            else:
                yield Check(name, *verify(answer, Budget(options).share(), f"front[{place}] {name}"))
    claim, value = result.certificate, None if result.best is None else result.best.values[0]
    nothing = "no accelerator" if claim.status is Status.INFEASIBLE else "no accelerator was found"
    said = f"{claim.status.value}: " + (nothing if value is None else f"value {number(value)}")
    if not claim.status.proven and claim.lower_bound is not None:
        said += f", lower bound {number(claim.lower_bound)}"
    if claim.lower_bound is None and claim.status is not Status.INFEASIBLE:
        yield Check("space", f"{said}; no proof is claimed", True)
        return
    limit = BOUND_WITHIN if options.time_limit is None and not claim.status.proven else options.time_limit
    search, budget = replace(options, gap=below(claim.gap or 0.0), time_limit=limit), Budget(options)
    again = codesign(result.question, CodesignOptions(search))
    proven, other = again.certificate.lower_bound, None if again.best is None else again.best.values[0]
    if other is not None and (claim.lower_bound is None or float(other) < float(claim.lower_bound)):
        raise InputError(f"certificate: {said}, yet there is an accelerator with {number(other)}: {EDITED}")
    totals, known = ({found.values for found in each.front} for each in (result, again))
    if claim.status is Status.OPTIMAL and again.complete and totals != known:
        raise InputError(f"front: {counted(len(result.front), 'point')} of {len(again.front)} that are proven: {EDITED}")
    reached = claim.lower_bound is not None and proven is not None and float(proven) >= float(claim.lower_bound)
    if again.certificate.status is Status.INFEASIBLE or (reached and (again.complete or not claim.status.proven)):
        yield Check("space", f"{said}; proven again in {budget.spent:.1f} s", True)
    else:
        yield Check("space", f"{said}; bound not checked: proven in time is {number(proven)}", False)
