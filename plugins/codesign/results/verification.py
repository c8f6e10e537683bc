"""Check what a co-design claims: every layer's proof by another engine, and the search over the
space repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from ithaca.files.answer import Check
from ithaca.files.errors import EDITED, InputError
from ithaca.files.numbers import counted, json_number, number
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.plugins.codesign.studies.search import BoxSearch
from ithaca.results.network_verification import as_stated
from ithaca.results.verification import same_shortfalls
from ithaca.solver.certificate import Status
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.verification import Claim, agree, claimed, repeat, time_for, verify


def verify_codesign(result: CodesignResult, options: SolveOptions) -> Iterator[Check]:
    """Prove again what a co-design claims: layers on its accelerators, half of the time, then the
    space.

    Raises `InputError` if a claim is false, and no engine repeats it; `DisagreementError` if
    engines contradict each other.
    """
    whole = Budget(options)
    for place, accelerator in enumerate(result.front):
        for work, answer in zip(result.question.works, accelerator.layers, strict=True):
            name = result.question.shown_name(work)
            if answer.certificate.lower_bound is None:
                yield Check(
                    name, f"value {number(answer.value)} re-evaluated; no proof is claimed", True
                )
            else:
                yield Check(
                    name,
                    *verify(
                        answer,
                        whole.part(0.5 / len(result.question.works)),
                        f"front[{place}] {name}",
                    ),
                )
    space = result.question.space
    units = {q.name: q.unit for q in space.quantities}
    units |= {name: metric.unit for name, metric in space.units.items()}
    if words := ", ".join(f"{name} in {unit}" for name, unit in units.items() if unit):
        yield as_stated(words)
    if not result.share.whole:
        yield as_stated(f"totals are of {result.share.statement}")
    claim, checked = result.certificate, True
    options = whole.share()
    for place, box in enumerate(result.open):
        for objective, bound in zip(result.question.objectives, box.lower_bounds, strict=True):
            bounded = replace(
                result.question, space=box.within(result.question.space), objectives=(objective,)
            )
            at = f"open[{place}].lower_bounds"
            checked &= bound is None or _check_bound(bounded, bound, time_for(claim, options), at)

    def solve(search: SolveOptions) -> CodesignResult:
        nonlocal checked
        again = codesign(result.question, CodesignOptions(search))
        totals, known = (
            {accelerator.values for accelerator in each.front} for each in (result, again)
        )
        if claim.status is Status.OPTIMAL and again.certificate.settled and totals != known:
            raise InputError(
                f"front: {counted(len(result.front), 'point')} of "
                f"{len(again.front)} that are proven: {EDITED}"
            )
        settled = again.certificate.settled or not claim.status.proven
        checked &= same_shortfalls(result.shortfalls, again.shortfalls) and settled
        return again

    nothing = "no accelerator" if claim.status is Status.INFEASIBLE else "no accelerator was found"
    words = claimed(result, result.question.objectives[0].text, nothing)
    words, reached = repeat(result, solve, options, "certificate", words=words)
    yield Check(
        "space",
        words
        if checked or not reached
        else f"{words}; other bounds and shortfalls not all in time",
        checked and reached,
    )


def _check_bound(
    question: CodesignQuestion, bound: Fraction, options: SolveOptions, at: str
) -> bool:
    """Whether nothing of a space is below a bound; False where time was too short."""
    stop = options.stop or (lambda: False)

    def reached() -> bool:
        proven = search.lower_bound
        return proven is not None and json_number(proven) >= json_number(bound)

    bank = LayerCache(question.space.accelerator)
    search = BoxSearch(question, bank, replace(options, gap=0.0, stop=lambda: stop() or reached()))
    answer = search.run()
    return agree(Claim(None, bound), Claim.of(answer)._replace(bound=search.lower_bound), at)
