"""The search methods by name."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np

from ithaca.files.errors import InputError
from ithaca.files.extras import peer
from ithaca.files.words import parse_choice
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.problem import Problem
from ithaca.plugins.peers.studies import chance, exhaustive, libraries, own, policy_gradient
from ithaca.plugins.peers.studies.evaluator import Evaluator, SettledError
from ithaca.plugins.peers.studies.recorder import (
    BudgetUsedError,
    Ended,
    Recorder,
    SampleBudget,
    Trace,
)
from ithaca.solver.combination import NOTHING

#: A search: it scores configurations until it is interrupted, or returns why it ended; None if it
#: may begin again.
Search = Callable[[Evaluator, int, Sequence[Configuration]], Ended | None]

#: Libraries that log on their own.
LOGGERS = ("optuna", "nevergrad", "cma", "pymoo")


@dataclass(frozen=True, slots=True)
class Peer:
    """A search method, and modules of other packages that it needs; ``boxed``: it moves in the
    coordinates of `coordinates`."""

    search: Search
    libraries: tuple[str, ...] = ()
    boxed: bool = True


#: All methods by name.
PEERS = {
    "random": Peer(chance.search_random),
    "exhaustive": Peer(exhaustive.search),
    "annealing": Peer(chance.anneal),
    "optuna-tpe": Peer(partial(libraries.search_optuna, "TPESampler"), ("optuna",)),
    "optuna-gp": Peer(partial(libraries.search_optuna, "GPSampler"), ("optuna", "scipy", "torch")),
    "pymoo-ga": Peer(libraries.search_ga, ("pymoo",)),
    "nevergrad-cma": Peer(partial(libraries.search_nevergrad, "CMA"), ("nevergrad",)),
    "nevergrad-de": Peer(partial(libraries.search_nevergrad, "TwoPointsDE"), ("nevergrad",)),
    "policy-gradient": Peer(policy_gradient.search),
    "evolve-unseeded": Peer(partial(own.evolve, known=NOTHING), boxed=False),
    "evolve": Peer(own.evolve, boxed=False),
    "exact": Peer(own.search_exact, boxed=False),
}


def run_peer(
    name: str,
    problem: Problem,
    budget: SampleBudget,
    seed: int = 0,
    starts: Sequence[Configuration] = (),
) -> Trace:
    """Run a search method of `PEERS` on a problem; what it found, and when.

    The same seed and budget in samples give the same trace, times aside. Every method scores the
    known feasible ``starts`` first, and all but random and exhaustive search are steered by them.

    Methods are those of `PEERS`, and the baselines that the problem's design states: the best of
    the space that each keeps to.

    Raises `InputError` if there is no such method, its library is not installed, a start is not
    feasible, or the design space is empty.

    Parameters
    ----------
    name : str
        A method of `PEERS`, or a baseline of the design.
    problem : Problem
        The problem.
    budget : SampleBudget
        How many configurations, and for how many seconds.
    seed : int, optional
        Fixes what chance decides; not negative.
    starts : sequence of Configuration, optional
        Configurations known to be feasible.
    """
    known = PEERS | {
        b: Peer(partial(own.search_within, b), boxed=False)
        for b in profile_of(problem.design).baselines()
    }
    parse_choice("method", name, known)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed is {seed!r}; allowed: an integer that is not negative")
    method = known[name]
    with quiet(method.libraries):
        recorder = Recorder(problem, budget)
        evaluator = Evaluator(recorder)
        lonely = method.boxed and not evaluator.coordinates.count
        ended = _run(_only if lonely else method.search, evaluator, seed, starts)
        return recorder.trace(name, seed, ended)


@contextmanager
def quiet(libraries: Sequence[str]) -> Iterator[None]:
    """Silence warnings, the loggers of search libraries, and both output streams, from the import
    of libraries on; errors still pass."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        try:
            for library in libraries:
                peer(library)
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def _only(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Score the only configuration there is: a box without coordinates is more than libraries can
    take."""
    evaluator.starts(starts)
    evaluator.points(np.zeros((1, 0), dtype=np.int64))
    return Ended.EXHAUSTED


def _run(search: Search, evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended:
    """Run a search, afresh with another seed whenever it has settled, until it ends or finds
    nothing new."""
    for attempt in count():
        before = evaluator.recorder.samples
        fresh = int(np.random.SeedSequence((seed, attempt)).generate_state(1)[0])
        try:
            ended = search(evaluator, fresh, starts if attempt == 0 else ())
        except BudgetUsedError as stopped:
            return stopped.ended
        except SettledError:
            ended = None
        if ended is not None:
            return ended
        if evaluator.recorder.samples == before:
            return Ended.STOPPED
    raise AssertionError("unreachable")
