"""Four search tools, seeded and unseeded: the table of `docs/seeding-tools.md`.

    python -m benchmarks.seeding [--write]

prints it, or writes it there, in some ten minutes. Each tool minimises the latency of a matrix product on a U250 by the exact model, over
Ithaca's parameters, with its defaults but where `RUNS` says otherwise, for 300 evaluations from
each of three random seeds. The seeds leave out all configurations as good as the proven optimum, so
that none has it from the start. Figures are the optimum divided by what was found, medians of the
random seeds. A tool that is not installed has no figures (OpenTuner wants SQLAlchemy below 1.4).
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

import ithaca
from benchmarks.measured import write_between
from ithaca.files.errors import InputError
from ithaca.files.extras import peer
from ithaca.plugins.seeds.exports import for_nevergrad as nevergrad
from ithaca.plugins.seeds.exports.for_opentuner import opentuner_manipulator, opentuner_seeds
from ithaca.plugins.seeds.exports.for_optuna import optuna_objective, seed_optuna
from ithaca.plugins.seeds.exports.for_pymoo import pymoo_problem, pymoo_sampling
from ithaca.plugins.seeds.exports.parameters import ParameterSpace, penalised, result_space

EVALUATIONS, RANDOM_SEEDS, COUNT = 300, range(3), 12

#: The page, and the lines there between which the table is.
PAGE = Path(__file__).parents[1] / "docs" / "seeding-tools.md"
MARKS = ("<!-- seeds -->\n", "<!-- end -->\n")

Parameters = Sequence[dict[str, int]]

#: A run of a tool with a random seed: the best value that it evaluates.
Run = Callable[[ParameterSpace, Parameters, int], float]


def run_optuna(space: ParameterSpace, starts: Parameters, seed: int) -> float:
    """Tree-structured Parzen estimators; the seeds are the first trials."""
    optuna = peer("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    seed_optuna(study, starts)
    study.optimize(optuna_objective(space), n_trials=EVALUATIONS)
    return float(study.best_value)


def run_pymoo(space: ParameterSpace, starts: Parameters, seed: int) -> float:
    """The genetic algorithm with a population of 20; the seeds are of the first."""
    repair = peer("pymoo.operators.repair.rounding").RoundingRepair()
    random = peer("pymoo.operators.sampling.rnd").IntegerRandomSampling()
    problem = pymoo_problem(space)
    drawn = random(problem, 20 - len(starts), random_state=np.random.default_rng(seed)).get("X")
    first = np.concatenate([pymoo_sampling(space, starts), drawn]) if starts else random
    algorithm = peer("pymoo.algorithms.soo.nonconvex.ga").GA(20, sampling=first, repair=repair)
    minimize = peer("pymoo.optimize").minimize
    outcome = minimize(problem, algorithm, ("n_eval", EVALUATIONS), seed=seed)
    return inf if outcome.F is None else float(outcome.F[0])


def run_nevergrad(space: ParameterSpace, starts: Parameters, seed: int) -> float:
    """Differential evolution with two-point crossover; the seeds are suggested."""
    parametrization = nevergrad.nevergrad_parametrization(space)
    parametrization.random_state = np.random.RandomState(seed)
    optimizer = peer("nevergrad").optimizers.TwoPointsDE(parametrization, budget=EVALUATIONS)
    for start in reversed(starts):
        optimizer.suggest(**start)
    loss, values = nevergrad.nevergrad_loss(space), list[float]()

    def recorded(**parameters: int) -> float:
        values.append(loss(**parameters))
        return values[-1]

    optimizer.minimize(recorded)
    return min(values)


def run_opentuner(space: ParameterSpace, starts: Parameters, seed: int) -> float:
    """OpenTuner's bandit of techniques; the seeds are its seed configurations."""
    import random

    api, tuner = peer("opentuner.api"), peer("opentuner")
    random.seed(seed)
    parser = tuner.default_argparser()
    with TemporaryDirectory() as folder:
        options = parser.parse_args(["--database", f"{folder}/tuner.db", "--no-dups"])
        interface = tuner.measurement.interface.DefaultMeasurementInterface(
            args=options, manipulator=opentuner_manipulator(space), project_name="ithaca"
        )
        interface.seed_configurations = lambda: opentuner_seeds(starts)
        manager, values = api.TuningRunManager(interface, options), list[float]()
        for _ in range(EVALUATIONS):
            desired = manager.get_next_desired_result()
            if desired is None:
                break
            point = {name: int(value) for name, value in desired.configuration.data.items()}
            values.append(penalised(space, point))
            manager.report_result(desired, tuner.resultsdb.models.Result(time=values[-1]))
        manager.finish()
    return min(values)


RUNS: dict[str, Run] = {
    "optuna, TPE": run_optuna,
    "pymoo, GA": run_pymoo,
    "nevergrad, TwoPointsDE": run_nevergrad,
    "OpenTuner": run_opentuner,
}


def main(*, write: bool) -> None:
    """Print the table, and write it where that is asked for."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    result = ithaca.solve("mm", i=1024, j=1024, k=1024, dataflow="i,j", permutation="C")
    space, optimum = result_space(result), float(result.lower_bound)
    grown = ithaca.seed(result, "opentuner", count=COUNT)
    starts = [seed for seed in grown if penalised(space, seed) > optimum]
    best = optimum / min(penalised(space, seed) for seed in starts)
    lines = [
        f"The {len(starts)} seeds leave out the optimum; the best is at {_percent(best)} of it.",
        "",
        f"| {EVALUATIONS} evaluations | unseeded | seeded |",
        "| --- | --- | --- |",
    ]
    head = len(lines)
    print(*lines, sep="\n", flush=True)
    for name, run in RUNS.items():
        try:
            cells = [median(_reached(optimum, run, space, each)) for each in ((), starts)]
        except InputError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        lines.append(f"| {name} | " + " | ".join(map(_percent, cells)) + " |")
        print(lines[-1], flush=True)
    if write and len(lines) < head + len(RUNS):
        sys.exit("the page is as it was: not all tools are installed")
    if write:
        write_between(PAGE, MARKS, "\n".join(lines) + "\n")


def _reached(optimum: float, run: Run, space: ParameterSpace, starts: Parameters) -> list[float]:
    """The optimum divided by what a tool finds, for each random seed; 0: nothing feasible."""
    values = [run(space, starts, seed) for seed in RANDOM_SEEDS]
    return [optimum / value if value < nevergrad.BROKEN else 0.0 for value in values]


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


if __name__ == "__main__":
    main(write=sys.argv[1:] == ["--write"])
