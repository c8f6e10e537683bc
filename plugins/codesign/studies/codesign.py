"""Choose an accelerator and its mappings together: how to run it, and the one function for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.floors import least_product
from ithaca.plugins.codesign.studies.infeasible import at_fault, shortfalls
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.points import certified
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.plugins.codesign.studies.search import METHOD, BoxSearch
from ithaca.solver.certificate import Certificate, Further, Status
from ithaca.solver.conclusion import conclude
from ithaca.solver.engines import Method
from ithaca.solver.executors import open_executor
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Report
from ithaca.studies.network.envelope import Weights
from ithaca.studies.network.products import Factors, Point, ProductSearch
from ithaca.studies.store import Store


@dataclass(frozen=True)
class CodesignOptions:
    """Options of a co-design."""

    search: SolveOptions = field(default_factory=SolveOptions)
    """How far: time limit and gap of the whole search."""
    method: str = Method.AUTO
    """The engine that layers are solved by."""
    threads: int = 1
    """How many layers to solve at a time; beyond 1 in processes of their own."""
    scheduler: str | None = None
    """Address of the scheduler of a Dask cluster to solve on; ``local`` for one on this machine."""
    store: Store | None = None
    """Keeps layers' optima, and supplies those found before."""
    report: Report | None = None
    """Told how far the search is; its boxes are those of hardware."""
    starts: tuple[Configuration, ...] = ()
    """Accelerators that are evaluated first, such as those that other methods found."""


def make_bank(question: CodesignQuestion, options: CodesignOptions) -> LayerCache:
    """The cache of layers' optima, as options ask for it."""
    return LayerCache(question.space.accelerator, options.method, options.store)


def codesign(
    question: CodesignQuestion,
    options: CodesignOptions | None = None,
    bank: LayerCache | None = None,
) -> CodesignResult:
    """The best accelerator for some layers, or the front of several objectives, with a proof over
    the whole space.

    A bank may be shared by several questions about one kind of accelerator.

    Parameters
    ----------
    question : Question
        The space, the layers, what is minimised and what is limited.
    options : CodesignOptions, optional
        How far to search, on how many workers, from which accelerators, and who is told.
    bank : LayerCache, optional
        Answers of layers known already; it takes the new ones, too.
    """
    options = options or CodesignOptions()
    bank = bank or make_bank(question, options)
    budget, factors = Budget(options.search), question.minimised[0].factors
    if factors is not None:
        return _least_product(question, factors, options, bank)
    with open_executor(options.threads, options.scheduler) as executor:
        search = BoxSearch(question, bank, budget.options, options.report, executor)
        for point in options.starts:
            search.take(point)
        result = search.run()
        if result.certificate.status is Status.INFEASIBLE:
            falls = shortfalls(question, bank, budget.share(), executor)
            proof = replace(result.certificate, seconds=budget.spent)
            fault = None if falls or options.search.time_limit else at_fault(question)
            result = replace(result, certificate=proof, shortfalls=falls, contradictory=fault)
    further = None
    if len(question.objectives) == 1 and result.certificate.status is Status.OPTIMAL:
        assert result.value is not None
        further = question.among_optima(result.value)
    if further is None or result.best is None:
        return result
    start = replace(options, search=budget.share(), starts=(result.best.point,))
    chosen = codesign(further, start, bank)
    best, value, proof = chosen.best or result.best, chosen.value, chosen.certificate
    if value is None:  # there was no time for what is known already
        value = best.total(further.minimised[0])
        proof = conclude(value, proof.lower_bound, start.search, method=METHOD)
    then = Further(further.minimised[0].text, value, proof)
    best = certified(question, bank, replace(best, values=result.best.values), proven=True)
    proof = replace(result.certificate, then=then, seconds=budget.spent)
    return replace(result, best=best, front=(best,), certificate=proof)


def _least_product(
    question: CodesignQuestion, factors: Factors, options: CodesignOptions, bank: LayerCache
) -> CodesignResult:
    """The best accelerator by a product of two sums over layers
    (`ithaca.studies.network.products`)."""

    def at(
        weights: Weights, neighbours: tuple[Weights, Weights], share: SolveOptions
    ) -> tuple[CodesignResult, Certificate, Point | None]:
        weighted = replace(question, objectives=(factors.weighted(weights),))
        answer = codesign(weighted, replace(options, search=share), bank)
        if answer.best is None:
            return answer, answer.certificate, None
        runs = zip((work.factor for work in question.works), answer.best.layers, strict=True)
        return answer, answer.certificate, factors.over([(n, own.metrics) for n, own in runs])

    budget = Budget(options.search)
    half = Budget(budget.part(0.5))
    floor = least_product(question, factors, bank, lambda: half.over)
    search = ProductSearch[CodesignResult](factors, budget, floor)
    answer, total = search.run(at, METHOD)
    proof = replace(total.certificate, seconds=budget.spent)
    result = replace(answer, question=question, certificate=proof, open=())
    if answer.best is None or total.value is None:
        return result
    best = certified(question, bank, replace(answer.best, values=(total.value,)), proven=False)
    return replace(result, best=best, front=(best,))
