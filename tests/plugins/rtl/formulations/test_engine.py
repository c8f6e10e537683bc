"""Networks run to exact times, whatever they are of."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ithaca.files.errors import InputError
from ithaca.formulations.processes import (
    Fifo,
    Loop,
    Meet,
    Process,
    ProcessNetwork,
    Refresh,
    Repeat,
    steps_of,
)
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.engine import run_network
from tests.plugins.rtl.formulations.stepping import run_stepping


@st.composite
def networks(draw):
    """Processes that exchange words in rounds, in any order, so that some networks hang."""
    count, rounds = draw(st.integers(2, 4)), draw(st.integers(1, 40))
    steps = [[] for _ in range(count)]
    fifos = []
    for number in range(draw(st.integers(1, 5))):
        writer, reader = draw(st.permutations(range(count)))[:2]
        name, words = f"f{number}", draw(st.integers(1, 4))
        fifos.append(Fifo(name, draw(st.integers(1, 4)), draw(st.integers(1, 5))))
        for process, end in ((writer, "writes"), (reader, "reads")):
            loop = Loop(words, entry=draw(st.integers(0, 2)), interval=draw(st.integers(1, 3)))
            steps[process].insert(
                draw(st.integers(0, len(steps[process]))), replace(loop, **{end: (name,)})
            )
    if draw(st.booleans()):
        meet = Meet("both", draw(st.integers(0, 3)))
        for process in draw(st.permutations(range(count)))[:2]:
            steps[process].insert(draw(st.integers(0, len(steps[process]))), meet)
    refresh = draw(st.sampled_from([None, Refresh(7, 2), Refresh(20, 5)]))
    begins = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    inner = st.sampled_from([n for n in (1, 2, 3, 4, 6) if rounds % n == 0])
    parts = draw(st.lists(inner, min_size=count, max_size=count))
    bodies = [
        tuple(o) if p == 1 else (Repeat(p, tuple(o)),) for o, p in zip(steps, parts, strict=True)
    ]
    return ProcessNetwork(
        tuple(fifos),
        tuple(
            Process(f"p{n}", (Repeat(rounds // part, own),), begin, memory=n == 0)
            for n, (own, part, begin) in enumerate(zip(bodies, parts, begins, strict=True))
        ),
        refresh,
    )


@given(networks())
def test_times_are_those_of_a_run_cycle_by_cycle(network):
    run = simulate_network(network)
    cycles, ended = run_stepping(network)
    assert all(activity.finished for activity in run.activities) == ended
    if ended:
        assert run.cycles == cycles


@given(networks())
def test_skipped_periods_change_nothing(network):
    whole, skipped = run_network(network, phases=True), run_network(network)
    assert whole.skipped == 0
    assert np.array_equal(whole.finished, skipped.finished)
    if whole.finished.all():
        assert np.array_equal(whole.ends, skipped.ends)
        assert np.array_equal(whole.processes, skipped.processes)
        assert np.array_equal(whole.waits, skipped.waits)


@given(networks(), st.integers(1, 50))
def test_work_is_tallied_when_words_move_also_in_periods_that_are_added(network, stretch):
    whole = run_network(network, words=True)
    if not whole.finished.all():
        return
    cycles = int(whole.ends.max())
    counts = run_network(network, stretch=stretch, cycles=cycles)
    expected = np.zeros((len(network.processes), cycles // stretch + 1), np.int64)
    for number, process in enumerate(network.processes):
        for step in steps_of(process.steps):
            if isinstance(step, Loop):
                fifo = next(
                    n for n, f in enumerate(network.fifos) if f.name in step.reads + step.writes
                )
                moved = (whole.words[:, 0] == fifo) & (whole.words[:, 1] == bool(step.reads))
                np.add.at(expected[number], whole.words[moved, 2] // stretch, step.interval)
    assert np.array_equal(counts.tally, expected)


@given(networks())
def test_every_cycle_of_a_process_is_accounted_for(network):
    run = simulate_network(network)
    for process, activity in zip(network.processes, run.activities, strict=True):
        spent = activity.working + activity.entering + activity.meeting + activity.refreshing
        if activity.finished:
            assert process.begin + spent + activity.starved + activity.held_up == activity.end


def pipe(
    words,
    interval=1,
    latency=2,
    capacity=3,
    sink=1,
):
    return ProcessNetwork(
        (Fifo("pipe", latency, capacity),),
        (
            Process("source", (Loop(words, writes=("pipe",), interval=interval),)),
            Process("sink", (Loop(words, reads=("pipe",), interval=sink),)),
        ),
    )


def test_a_pipe_delivers_a_word_a_cycle_after_its_latency():
    assert simulate_network(pipe(100)).cycles == 102


def test_room_is_made_a_cycle_later():
    # one word at a time: in at 0, out at 2, the next in at 3
    assert simulate_network(pipe(10, capacity=1)).cycles == 3 * 9 + 3


def test_intervals_may_be_fractions_of_cycles():
    # five words in seven cycles; the last of 101 enters at 140
    assert simulate_network(pipe(101, interval=Fraction(7, 5))).cycles == 140 + 2 + 1


def test_rates_may_depend_on_data():
    rates = [3, 1, 4, 1, 5]
    network = ProcessNetwork(
        (Fifo("pipe", 1, 8),),
        (
            Process("source", (Loop(5, writes=("pipe",)),)),
            Process("sink", (Repeat(2, (Loop([2, 3], reads=("pipe",), interval=rates),)),)),
        ),
    )
    run = simulate_network(network)
    assert run.cycles == 1 + sum(rates)
    assert run.activities[1].working == sum(rates)


def test_who_waits_for_whom_is_told():
    source, sink = simulate_network(pipe(100, sink=3)).activities
    assert source.waits[0].neighbour == "sink"
    assert not source.waits[0].starved
    assert source.held_up > 150
    source, sink = simulate_network(pipe(100, interval=3)).activities
    assert sink.waits[0].fifo == "pipe"
    assert sink.waits[0].starved


def test_a_circle_that_needs_what_it_makes_hangs_and_is_named():
    network = ProcessNetwork(
        (Fifo("there"), Fifo("back")),
        (
            Process("one", (Loop(4, reads=("back",)), Loop(4, writes=("there",)))),
            Process("two", (Loop(4, reads=("there",)), Loop(4, writes=("back",)))),
        ),
    )
    run = simulate_network(network)
    assert {(wait.fifo, wait.neighbour, wait.starved) for wait in run.hanging} == {
        ("back", "two", True),
        ("there", "one", True),
    }


@pytest.mark.parametrize(("rounds", "stretch"), [(10**9, 0), (10**5, 90_001)])
def test_long_runs_take_no_longer_than_their_periods(rounds, stretch):
    run = simulate_network(ProcessNetwork(
        (Fifo("pipe"),),
        (
            Process("source", (Repeat(rounds, (Loop(7, writes=("pipe",), entry=2),)),)),
            Process("sink", (Repeat(rounds, (Loop(7, reads=("pipe",)),)),)),
        ),
    ), stretch=stretch, cycles=10 * stretch)  # fmt: skip
    assert run.cycles == 9 * rounds + 1
    assert run.skipped > run.cycles - 1000
    if stretch:
        assert run.tally.sum(1).tolist() == [7 * rounds] * 2
        assert (abs(run.tally[:, :10] - stretch * 7 / 9) < 8).all()


@pytest.mark.parametrize(
    ("network", "line"),
    [
        (
            lambda: ProcessNetwork((Fifo("a"), Fifo("a")), ()),
            "two FIFOs are named 'a'; allowed: each name once",
        ),
        (
            lambda: ProcessNetwork((Fifo("a", capacity=0),), ()),
            "capacity of FIFO 'a' is 0; allowed: at least 1",
        ),
        (
            lambda: ProcessNetwork((Fifo("a"),), ()),
            "FIFO 'a' has no reader; allowed: a reader and a writer",
        ),
        (
            lambda: ProcessNetwork((), (Process("p", (Loop(1, reads=("a",)),)),)),
            "process 'p' reads 'a'; allowed: a FIFO of the network",
        ),
        (
            lambda: ProcessNetwork((), (Process("p", (Meet("m"),)),)),
            "barrier 'm' has 1 processes; allowed: two",
        ),
        (
            lambda: ProcessNetwork(
                (), (Process("p", (Meet("m", 1),)), Process("q", (Meet("m", 2),)))
            ),
            "barrier 'm' costs 1 and 2 cycles; allowed: one cost",
        ),
        (
            lambda: ProcessNetwork((), (Process("p", (Loop(1, interval=0),)),)),
            "interval of a loop of 'p' is 0; allowed: at least 1",
        ),
    ],
)
def test_networks_that_mean_nothing_are_refused(network, line):
    with pytest.raises(InputError) as caught:
        network()
    assert str(caught.value) == line
