"""Time limits hold while problems are built: once time is over, little more is done, whatever is
under way; and what is known by then is told, and never false."""

import itertools
import sys
import time

import pytest

import ithaca
from ithaca.files import clock
from ithaca.files.clock import StoppedError
from ithaca.files.errors import InputError
from ithaca.formulations.systolic.options import ArrayOptions
from ithaca.formulations.systolic.question import ArrayQuestion
from ithaca.plugins.hierarchies.formulations.options import HierarchyOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.studies.network.fused import solve_fused
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import LayerRun
from tests.studies.network.chains import chain_of

#: Calls of functions that may follow the end of the time: of those that make the answer, above all;
#: and of those that bound each of a network's layers on each design.
MOST_CALLS, MOST_OF_NETWORKS = 60_000, 600_000

#: A limit that is over when the clock jumps by a second (s).
LIMIT = 0.05

#: Four levels of which each keeps every tensor: 1,680 orders of storage nodes.
FOUR_LEVELS = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 16, read_energy: 50, write_energy: 200}}
  - !Component {name: Buffer, class: SRAM, attributes: {datawidth: 16, read_energy: 10, write_energy: 2, entries: 16}}
  - !Component {name: Inner, class: SRAM, attributes: {datawidth: 16, read_energy: 200, write_energy: 50, entries: 12}}
  - !Component {name: Reg, class: SRAM, attributes: {datawidth: 16, read_energy: 200, write_energy: 2, entries: 11}}
  - !Component {name: mac, class: intmac, attributes: {energy: 20}}
"""


class Watch:
    """A clock that jumps by a second once it was asked so many times; from then on calls are
    counted, and each takes 10 µs."""

    def __init__(self, asks, most):
        self.calls, self._asks, self._most = 0, itertools.count(-asks), most

    def __call__(self):
        left = -next(self._asks)
        if left == 0:
            sys.setprofile(self._count)
        return -left * 1e-9 if left > 0 else 1 + self.calls * 1e-5

    def _count(self, frame, event, argument):
        self.calls += event == "call"
        if self.calls > self._most:
            sys.setprofile(None)
            raise AssertionError(f"{self._most:,} calls after the end of the time")


def end_after(asks, ask, monkeypatch, most=MOST_CALLS):
    """The answer of a call whose time is over when the clock was asked so many times."""
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter", Watch(asks, most))
        try:
            return ask()
        finally:
            sys.setprofile(None)


@pytest.fixture
def four_levels(tmp_path):
    path = tmp_path / "four.yaml"
    path.write_text(FOUR_LEVELS)
    return str(path)


ASKS = [3, 40, 400, 4000]


@pytest.mark.parametrize("asks", ASKS)
def test_orders_of_storage_nodes(asks, four_levels, monkeypatch):
    kind = {"arch": four_levels, "edition": "uneven", "objective": "energy"}
    answer = end_after(
        asks, lambda: ithaca.map("mm", i=3, j=2, k=3, time_limit=LIMIT, **kind), monkeypatch
    )
    assert answer.lower_bound == 9594  # operations, and every word once


@pytest.mark.parametrize("asks", ASKS)
def test_recurrences(asks, monkeypatch):
    answer = end_after(asks, lambda: ithaca.solve("lu", n=30, time_limit=LIMIT), monkeypatch)
    assert answer.lower_bound >= 30 * 31 // 2  # the words of U, one after the other


@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize("method", ["auto", "exact", "enumeration", "cpsat", "gp", "evolve"])
def test_engines(method, asks, monkeypatch):
    # several ports make tables and programs large
    kind = {"dtype": "int8", "platform": "u280", "ports": 32, "method": method, "dataflow": "i,j"}
    answer = end_after(
        asks,
        lambda: ithaca.solve("mm", i=6, j=64, k=48, time_limit=LIMIT, **kind),
        monkeypatch,
        MOST_OF_NETWORKS,  # an engine may be imported meanwhile
    )
    assert answer.lower_bound > 0
    assert answer.status in ("unknown", "feasible")


@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"fuse": True},
        {"mode": "shared-dataflow"},
        {"mode": "shared-array"},
        {"mode": "multi-array", "arrays": 2},
        {"arch": "eyeriss"},
        {"arch": "eyeriss", "fuse": True, "objective": "energy"},
    ],
    ids=str,
)
def test_networks(kind, asks, monkeypatch):
    answer = end_after(
        asks,
        lambda: ithaca.network("vgg16", layers=["conv5_*"], time_limit=LIMIT, **kind),
        monkeypatch,
        MOST_OF_NETWORKS,
    )
    assert answer.total.certificate.lower_bound > 0


#: Questions with the objective of their optimum, found without a limit.
QUESTIONS = {
    "arrays": lambda **limit: ithaca.solve("mm", i=6, j=5, k=4, dataflow="i,j", **limit),
    "levels": lambda **limit: ithaca.map("mm", i=6, j=4, k=4, arch="eyeriss", **limit),
    "uneven": lambda **limit: ithaca.map(
        "mm", i=4, j=3, k=2, arch="eyeriss", edition="uneven", **limit
    ),
    "recurrences": lambda **limit: ithaca.solve("lu", n=6, **limit),
}


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_known_by_then_is_so(name):
    """Wherever time ends: no bound is above the optimum, no value below, and no proof is of
    another."""
    optimum = QUESTIONS[name]().value
    seen = set()
    for power in range(36):
        answer = QUESTIONS[name](time_limit=1e-5 * 1.4**power)
        seen.add(answer.status)
        assert answer.lower_bound is None or answer.lower_bound <= optimum
        assert answer.value is None or answer.value >= optimum
        assert (answer.status == "optimal") == (answer.value == answer.lower_bound)
    assert len(seen) > 1


# -- what is bounded without a search ------------------------------------------------------


def test_runs_that_there_is_no_time_to_bound_are_left_open(
    monkeypatch,
):
    options = HierarchyOptions(arch="eyeriss", edition="uneven", divisors_only=True)
    question = MappingQuestion.read(options, "energy")
    nests = [workload("mm", {"i": 2, "j": 2, "k": 2}) for _ in range(2)]
    network = chain_of([LayerRun(f"l{n}", nest, 1, n > 0) for n, nest in enumerate(nests)])
    whole = solve_fused(network, question, RunOptions())
    for at in ("poll", "search_tiles"):
        with monkeypatch.context() as patch:
            patch.setattr(f"ithaca.plugins.hierarchies.studies.tiled_runs.{at}", _stop)
            open_ = solve_fused(network, question, RunOptions())
        assert 0 < open_.lower_bound <= whole.lower_bound
        assert open_.value is not None


def test_runs_left_open_take_no_objective_that_falls(monkeypatch):
    """Bounds of runs left open are of the least metrics, which are false where one falls."""
    options = HierarchyOptions(arch="eyeriss", edition="uneven", divisors_only=True)
    question = MappingQuestion.read(options, "energy - 100*latency")
    nests = [workload("mm", {"i": 2, "j": 2, "k": 2}) for _ in range(2)]
    network = chain_of([LayerRun(f"l{n}", nest, 1, n > 0) for n, nest in enumerate(nests)])
    monkeypatch.setattr("ithaca.plugins.hierarchies.studies.tiled_runs.poll", _stop)
    with pytest.raises(InputError, match="may fall with latency"):
        solve_fused(network, question, RunOptions())


def _stop(*_):
    raise StoppedError


def test_arrays_have_no_runs_to_look_at(monkeypatch):
    # of hundreds of layers there are tens of thousands
    monkeypatch.setattr("ithaca.plugins.hierarchies.studies.tiled_runs.TiledRuns", _stop)
    assert ithaca.network("vgg16", layers=["conv5_*"], fuse=True, dataflow="r,o").value is not None


def test_floors_build_no_space_and_end_with_the_grace_of_all(now):
    question = ArrayQuestion.read(ArrayOptions())
    nests = [workload("mm", {"i": 60 + n, "j": 64, "k": 64}) for n in range(3)]
    first, second, third = (question.problems(nest)[0] for nest in nests)
    with clock.running(1):
        now[0] += 100  # whatever could not be stopped
        assert first.floor > 0
        assert "space" not in vars(first.design)
        now[0] += clock.GRACE / 2
        assert second.floor > 0
        now[0] += clock.GRACE
        assert third.floor == 0
    assert question.problems(nests[2])[0].floor > 0


@pytest.mark.parametrize("edition", ["dmazerunner", "timeloop"])
def test_tables_of_stages_end_in_time(edition):
    arch = {"dmazerunner": "dmazerunner-256", "timeloop": "simba-like"}[edition]
    question = MappingQuestion.read(HierarchyOptions(arch=arch, edition=edition), "edp")
    nest = workload("conv2d", {"o": 64, "i": 64, "r": 28, "c": 28})
    problem = question.problems(nest)[0]
    stage = problem.design.stage(problem)
    calls = 0

    def over():
        nonlocal calls
        calls += 1
        return calls > 3

    with clock.ending(over), pytest.raises(StoppedError):
        for _ in stage.blocks(lambda: None):
            pass
    assert calls == 4


# -- the clock itself ----------------------------------------------------------------------


@pytest.fixture
def now(monkeypatch):
    at = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: at[0])
    return at


def test_nothing_is_interrupted_outside_of_regions(now):
    with clock.running(1):
        now[0] += 2
        clock.poll()
        with clock.ending(), pytest.raises(StoppedError):
            clock.poll()
        with clock.ending(), clock.uninterrupted():
            clock.poll()
    with clock.ending():
        clock.poll()  # nothing runs


def test_a_region_within_another_ends_with_it(now):
    over = False
    with clock.running(1), clock.ending(lambda: over), clock.ending(lambda: False):
        clock.poll()
        over = True
        with pytest.raises(StoppedError):
            clock.poll()


def test_what_an_answer_needs_has_a_moment(now):
    with clock.running(10):
        now[0] += 11
        with clock.finishing():
            clock.poll()  # all of them together have a share of the limit
        now[0] += 9
        with clock.finishing():
            clock.poll()  # each has a moment of its own
            now[0] += 1
            with pytest.raises(StoppedError):
                clock.poll()


def test_it_starts_with_the_command(now):
    with clock.beginning():
        now[0] += 3  # to start the program
        with clock.running(10):
            assert clock.left() == 7
            with clock.running(2):  # called on the way
                assert clock.left() == 2
    with clock.beginning():
        now[0] += 3
        with clock.running(1):
            assert clock.left() == 0.5  # there is always some time to search
    assert clock.left() is None
    with clock.beginning():
        pass  # a command that calls nothing leaves no trace
    now[0] += 3
    with clock.running(10):
        assert clock.left() == 10


def test_a_stop_ends_it(now):
    with clock.until(lambda: True), clock.ending(), pytest.raises(StoppedError):
        clock.poll()
