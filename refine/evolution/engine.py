"""Solve one design by evolution, seeded and bounded by geometric programs: generations of
configurations, the best of them confirmed by the Fraction reference."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ithaca.formulations.algebra.array_types import Mask
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.refine.evolution.genome import Genes, Genome
from ithaca.refine.evolution.population import Population, Scorer
from ithaca.refine.evolution.shares import PUBLISHED, Shares
from ithaca.refine.evolution.variation import cross, mutate, step
from ithaca.solver.combination import Start, solver_start
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import SolveOptions, deadline, never
from ithaca.solver.progress import Incumbent, Progress, Report
from ithaca.solver.solution import Solution, make_solution
from ithaca.solver.ties import breaking_ties

#: Configurations of a generation (as published).
POPULATION = 200

#: Share of a generation that survives unchanged, and configurations of a tournament.
ELITE, TOURNAMENT = 0.2, 4

#: Share of the first generation that is random, and the spread of those next to a fractional
#: optimum (logarithms).
RANDOM, SPREAD = 0.2, 0.15

#: How often a child that was seen before is mutated again.
RETRIES = 3

#: Generations without improvement after which evolution ends.
STAGNATION = 60


class Evolution(Incumbent):
    """Evolution of the configurations of one problem, for any objective; seeded.

    At most so many ``samples`` are evaluated, the first generation included. The incumbent is the
    best feasible configuration so far, with its value by the Fraction reference.
    """

    def __init__(
        self, problem: Problem, seed: int, samples: int, shares: Shares = PUBLISHED
    ) -> None:
        super().__init__(problem)
        self._shares = shares
        self.samples = 0
        self._budget = samples
        self._generator = np.random.default_rng(seed)
        self._genome = Genome(problem)
        self._scorer = Scorer(problem)
        self._seen: set[bytes] = set()

    def run(
        self,
        seeds: Sequence[Configuration] = (),
        points: Sequence[Mapping[str, float]] = (),
        done: Callable[[], bool] = lambda: False,
        tell: Callable[[], None] = never,
    ) -> None:
        """Evolve until the samples are used, nothing improves, or ``done`` says so.

        Parameters
        ----------
        seeds : sequence of Configuration, optional
            Configurations to begin with.
        points : sequence of mapping, optional
            Fractional optima, a value per quantity: the first generation has roundings of them.
        done : callable, optional
            Asked after every generation whether to end.
        tell : callable, optional
            Called after every generation.
        """
        population = self._evaluate(self._first(seeds, points))
        idle = 0
        while True:
            population = population.take(population.order()[:POPULATION])
            tell()
            if not population.count or done() or self.samples >= self._budget or idle >= STAGNATION:
                return
            before = self.value
            elite = population.take(np.arange(min(int(ELITE * POPULATION), population.count)))
            population = elite.join(
                self._evaluate(self._children(population, POPULATION - elite.count))
            )
            idle = idle + 1 if self.value == before else 0

    def _first(
        self, seeds: Sequence[Configuration], points: Sequence[Mapping[str, float]]
    ) -> Genes:
        """The first generation: seeds, mutants of them, rounded points, and random ones."""
        genome, generator = self._genome, self._generator
        known = genome.encode(seeds[:POPULATION])
        left = POPULATION - known.shape[1]
        random = genome.random(
            left if not (seeds or points) else min(int(RANDOM * POPULATION), left), generator
        )
        left -= random.shape[1]
        rounded = left // 2 if seeds and points else left if points else 0
        parts = [known]
        for index, point in enumerate(points):
            share = rounded * (index + 1) // len(points) - rounded * index // len(points)
            parts.append(genome.near(point, generator.normal(0.0, SPREAD, (genome.count, share))))
        if seeds:
            parents = known[:, generator.integers(0, known.shape[1], left - rounded)]
            parts.append(self._mutated(parents))
        return np.concatenate([*parts, random], axis=1)

    def _children(self, ordered: Population, count: int) -> Genes:
        genome, generator = self._genome, self._generator
        # the best of those drawn win a tournament
        winners = (
            generator.integers(0, ordered.count, (TOURNAMENT, count)).min(axis=0) for _ in range(2)
        )
        one, other = (ordered.genes[:, winner] for winner in winners)
        crossed = generator.random(count) < self._shares.crossed
        children = np.where(crossed, cross(genome, one, other, generator), one)
        mutated = ~crossed | (generator.random(count) < self._shares.mutated)
        return np.where(mutated, self._mutated(children), children)

    def _mutated(self, genes: Genes) -> Genes:
        """Mutants of configurations: by steps, or as published."""
        shares = self._shares
        steps = self._generator.random(genes.shape[1]) < shares.steps
        stepped = step(self._genome, genes, self._generator, shares)
        return np.where(steps, stepped, mutate(self._genome, genes, self._generator, shares))

    def _evaluate(self, genes: Genes) -> Population:
        """Repair configurations, score those not seen before, and offer the best of them."""
        fresh, legal = self._fresh(genes)
        room = max(self._budget - self.samples, 0)
        fresh, legal = fresh[:, :room], legal[:room]
        scored = Population(fresh, *self._scorer.score(self._genome.quantities(fresh), legal))
        self.samples += scored.count
        for position in scored.order():
            better = self.value is None or scored.objective[position] < float(self.value)
            if scored.excess[position] > 0 or not better:
                break
            if self.offer(self._genome.decode(scored.genes[:, position])):
                break
            scored.excess[position] = (
                np.inf
            )  # floats say it meets the limits, the reference does not
        return scored

    def _fresh(self, genes: Genes) -> tuple[Genes, Mask]:
        """Repaired configurations, without any seen before; those are first mutated again."""
        fresh: list[Genes] = []
        fits: list[np.bool_] = []
        for attempt in range(1 + RETRIES):
            repaired, legal = self._genome.repair(genes)
            again = []
            for column in range(repaired.shape[1]):
                key = repaired[:, column].tobytes()
                if key in self._seen:
                    again.append(column)
                else:
                    self._seen.add(key)
                    fresh.append(repaired[:, column])
                    fits.append(legal[column])
            if not again or attempt == RETRIES:
                break
            genes = self._mutated(repaired[:, again])
        shape = (len(fresh), self._genome.count)
        return np.array(fresh, dtype=np.int64).reshape(shape).T, np.array(fits, dtype=bool)


METHOD = "evolve"

#: Configurations evaluated at most, unless told otherwise.
SAMPLES = 30_000

#: Share of a time limit that bound and seeds may take.
SEEDING_SHARE = 0.5


@breaking_ties
def solve_evolve(
    problem: Problem,
    options: SolveOptions,
    report: Report | None = None,
    start: Configuration | None = None,
    *,
    samples: int = SAMPLES,
    shares: Shares = PUBLISHED,
    more_starts: Sequence[Configuration] = (),
    known: Start | None = None,
) -> Solution:
    """Evolve configurations from what solvers know.

    Evolution proves nothing. The lower bound is that of a few geometric programs, unless bound and
    seeds are ``known``; where the value equals it exactly, evolution ends, and these have proven it
    optimal. The answer is never worse than any seed or start. The same ``options.seed`` gives the
    same answer unless the time limit ends the search; the boxes reported are configurations
    evaluated.

    Parameters
    ----------
    problem : Problem
        Design, limits, objective.
    options : SolveOptions
        Time limit, gap, seed, interruption.
    report : callable, optional
        Receives the state of the search now and then.
    start : Configuration, optional
        A known configuration to improve on; ignored if it is not legal or breaks a limit.
    samples : int, optional
        How many configurations to evaluate at most, not counting what programs are rounded with.
    shares : Shares, optional
        How often which variation makes a child.
    more_starts : sequence of Configuration, optional
        Further ones, ignored likewise.
    known : Start, optional
        A certified bound, and seeds.

    Returns
    -------
    Solution
        The best configuration, with its certificate.
    """
    began = time.perf_counter()
    should_stop = deadline(options.time_limit, options.stop)
    search = Evolution(problem, options.seed, samples, shares)
    starts = [seed for seed in (start, *more_starts) if seed is not None]
    if known is None:
        limit = None if options.time_limit is None else options.time_limit * SEEDING_SHARE
        seeding = replace(options, time_limit=limit)
        known = solver_start(problem, seeding, seeding.checkpoint())
    bound = known.lower_bound

    def done() -> bool:
        return should_stop() or options.gap_is_met(search.value, bound)

    def tell() -> None:
        if report is not None:
            report(Progress(search.value, bound, search.samples, time.perf_counter() - began))

    seeds = [seed for seed in dict.fromkeys((*starts, *known.configurations)) if search.offer(seed)]
    if not (known.infeasible or done()):
        search.run(seeds, known.points, done, tell)
    certificate = conclude(
        search.value,
        bound,
        options,
        complete=known.infeasible,
        exhausted=not should_stop(),
        method=METHOD,
        nodes=search.samples,
        seconds=time.perf_counter() - began,
    )
    return make_solution(problem, search.incumbent, certificate)
