"""Experiments that end early, fail while they write, or are refused leave files as they were."""

import os
import signal
from dataclasses import replace
from importlib.util import find_spec

import pytest

from benchmarks.paper import __main__ as command
from benchmarks.paper import methods_compared
from benchmarks.paper.experiment import (
    NAMES,
    Run,
    find_experiment,
)
from ithaca.files import signals
from ithaca.plugins.peers.studies.recorder import SampleBudget
from tests.command_line import interrupted
from tests.paper.test_experiments import SMALL, paper, small_outcome


def test_a_stopped_experiment_ends_before_it_has_anything():
    for name in NAMES:
        with pytest.raises(KeyboardInterrupt):
            find_experiment(name).run(Run(stop=lambda: True))


@pytest.fixture
def program():
    """Signals are the program's own, as on the command line."""
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    signals.install()
    yield
    signals.install()  # forgets those that came
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("program")
def test_an_interrupted_experiment_leaves_no_file(number, tmp_path):
    def interrupted(how):
        os.kill(os.getpid(), number)
        return small_outcome(how)

    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt):
        command.run([replace(SMALL, run=interrupted)], Run(), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(number) == before


def test_an_interruption_ends_the_searches_of_others_at_once(
    monkeypatch,
):
    ran = []

    def interrupted(*arguments):
        ran.append(arguments)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("it went on")

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(methods_compared, "run_peer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        methods_compared.compare(
            ["random"],
            [methods_compared.BEST_DESIGN],
            [0, 1],
            {"random": SampleBudget(10)},
            16,
            Run(),
        )
    assert len(ran) == 1
    assert signal.getsignal(signal.SIGINT) == before


def test_the_command_refuses_bad_words_in_one_line(tmp_path):
    for arguments, what in (
        (("figure-99",), "allowed: figure-1, table-3"),
        (("table-3", "--quick", "--full"), "--quick and --full"),
        (("table-3", "--list"), "--list goes with no name"),
        (("table-3", "--seed", "-1"), "--seed"),
        (
            ("table-3", "--run-seconds", "5"),
            "--run-seconds says nothing to table-3; allowed with it: figure-7, figure-8",
        ),
        (("figure-7", "--run-seconds", "0"), "--run-seconds"),
        (("table-3", "-o", str(tmp_path / "a" / "b")), "cannot write"),
    ):
        done = paper(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert what in done.stderr
        assert done.stderr.count("\n") == 1


def test_an_interrupted_command_says_so_and_leaves_nothing(tmp_path):
    peers = all(find_spec(library) for library in ("optuna", "torch", "pymoo", "nevergrad"))
    name = "figure-7" if peers else "figure-5"
    status, output, errors = interrupted(
        name, "--full", "-o", tmp_path / "out", program="benchmarks.paper.__main__"
    )
    assert (status, output) == (1, "")
    assert "interrupted" in errors
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
