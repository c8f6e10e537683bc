"""Layers solved ahead by several workers: the searches come to the same, whatever becomes of the
workers."""

import os
import signal
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ithaca.formulations.question import Minimise
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.plugins.codesign.studies.arrays import ahead
from ithaca.plugins.codesign.studies.arrays.alone import LayersAlone
from ithaca.plugins.codesign.studies.arrays.layer import FREE, Room
from ithaca.plugins.codesign.studies.arrays.pipeline import PipelineSearch
from ithaca.plugins.codesign.studies.arrays.search import SharedSearch
from ithaca.solver.executor import InProcess, LostError, Sharing
from ithaca.solver.options import SolveOptions, never
from ithaca.solver.processes import Processes
from ithaca.solver.splitting import Helpers
from ithaca.studies.network.modes import mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.runner import RunOptions
from tests.plugins.codesign.studies.test_several_arrays import drawn
from tests.problems import mm_problem
from tests.studies.network.tiny import tiny_network, tiny_request

#: Two layers on two designs; hardware by the hundred.
SPACE = SpaceOptions(divisors_only=True)
DESIGNS = [
    [
        (mm_problem(sizes, flow, dsp="600", bram18k="500", space=SPACE), count)
        for sizes, count in (((48, 32, 32), 2), ((16, 40, 24), 1))
    ]
    for flow in (("i", "j"), ("i", "k"))
]


class Two(InProcess):
    """Two workers, as it says, in this process; counts the hardware that it is given."""

    width = 2

    def __init__(self):
        self.jobs = 0

    def run(self, jobs, share, tell=None):
        self.jobs += sum(isinstance(job, Sharing) for job in jobs)
        return super().run(jobs, share, tell)


class Lossy(Two):
    """Loses every second job."""

    def run(self, jobs, share, tell=None):
        for number, outcome in super().run(jobs, share, tell):
            yield number, LostError("gone") if number % 2 else outcome


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as executor:
        yield executor


def timeless(outcome):
    """All that is known in the end, but how long it took."""
    designs = tuple(replace(each, seconds=0.0) for each in outcome.designs)
    return replace(outcome, seconds=0.0, designs=designs)


def shared(executor=None, **options):
    helpers = None if executor is None else Helpers(executor)
    return timeless(SharedSearch(DESIGNS, SolveOptions(helpers=helpers, **options)).run())


@pytest.mark.parametrize("make", [Two, Lossy])
def test_one_array_is_the_same(make):
    executor = make()
    assert shared(executor) == shared()
    assert executor.jobs > 5


def test_processes_come_to_the_same(processes):
    assert shared(processes) == shared()
    assert processes._runs > 1


def test_a_killed_process_changes_nothing(processes):
    shared(processes)  # they are there
    killed = []

    class Killing(Two):
        def run(self, jobs, share, tell=None):
            for outcome in processes.run(jobs, share):
                if not killed:
                    killed.append(min(processes._pool._processes))
                    os.kill(killed[0], signal.SIGKILL)
                yield outcome

    assert shared(Killing()) == shared()
    assert killed


def bank_of(layers):
    """A design's layers, of which nothing was solved."""
    alone = LayersAlone(layers)
    while not alone.complete:
        alone.prepare(never)
    return alone.bank(never, common=False)


def test_what_is_solved_ahead_is_known_for_its_room():
    """Within less block RAM optima are others, or none; those of all of it are not kept for less,
    and those of less not for all."""
    helped, alone = bank_of(DESIGNS[0]), bank_of(DESIGNS[0])
    options, differ = SolveOptions(helpers=Helpers(Two())), 0
    order = np.argsort(helped.bounds.sum(axis=0), kind="stable")
    nodes = [tuple(node) for node in helped.nodes.T[order[:40]].tolist()]
    tight, runs = Room(bram18k=Fraction(30)), {0: 2, 1: 1}
    for room in (tight, FREE):
        bounds = {0: 1.0, 1: 1.0}
        hardware = [ahead.Wanted(n, bounds, runs, ports=False, room=room) for n in nodes]
        ahead.solve([(helped, each) for each in hardware], options)
    for node in nodes:
        for layer in runs:
            one, other = (
                [
                    bank.optimum(layer, node, SolveOptions(), ports=False, room=room)
                    for room in rooms
                ]
                for bank, rooms in ((helped, (FREE, tight)), (alone, (FREE, tight)))
            )
            values = [[None if o is None else o.value for o in each] for each in (one, other)]
            assert values[0] == values[1]
            differ += values[0][0] != values[0][1]
    assert differ > 5


@pytest.mark.parametrize("seed", range(12))
def test_several_arrays_are_the_same(seed):
    designs, sequence, count, minimise = drawn(seed)
    outcomes = [
        PipelineSearch(designs(9), sequence, count, minimise, SolveOptions(helpers=helpers)).run()
        for helpers in (None, Helpers(Two()))
    ]
    alone, together = map(timeless, outcomes)
    assert together == alone


def test_plans_of_several_arrays_are_solved_ahead():
    executor = Two()
    alone, together = (
        PipelineSearch(DESIGNS, (0, 1), 2, Minimise.SLOWEST, SolveOptions(helpers=h)).run()
        for h in (None, Helpers(executor))
    )
    assert timeless(together) == timeless(alone)
    assert executor.jobs > 20


@pytest.mark.ci
def test_workers_do_not_delay_the_first_array():
    """Before there is one no work is handed over, which would wait for workers to start."""

    class Late(Two):
        def run(self, jobs, share, tell=None):
            assert search.stages
            return super().run(jobs, share, tell)

    executor = Late()
    search = SharedSearch(DESIGNS, SolveOptions(helpers=Helpers(executor)))
    assert search.run().value is not None
    assert executor.jobs > 5


@pytest.mark.parametrize("looks", [5, 20, 60, 120, 250])
def test_a_search_cut_short_has_a_bound(looks):
    whole, left = shared(), iter(range(looks))
    outcome = shared(Two(), stop=lambda: next(left, None) is None)
    assert outcome.value is None or outcome.value >= whole.value
    assert outcome.lower_bound is None or outcome.lower_bound <= whole.value
    assert not outcome.infeasible


@pytest.mark.parametrize(("name", "more"), [("shared-array", {}), ("multi-array", {"arrays": 2})])
def test_modes_take_threads(tmp_path, name, more):
    network = only_layers(tiny_network(tmp_path), ["mm"])
    request = tiny_request(space=SPACE, **more)
    alone, together = (
        mode(name)(network, request, RunOptions(threads=threads)) for threads in (1, 2)
    )
    assert together.total.value == alone.total.value
    assert together.total.certificate.lower_bound == alone.total.certificate.lower_bound
    assert together.total.certificate.nodes == alone.total.certificate.nodes
    assert [r.answer.configuration for r in together.layers] == [
        r.answer.configuration for r in alone.layers
    ]
