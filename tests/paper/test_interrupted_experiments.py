"""Experiments that end early, fail while they write, or are refused leave files as they were."""

import os
import signal
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.paper import __main__ as command
from benchmarks.paper import files, methods_compared
from benchmarks.paper.experiment import (
    NAMES,
    Run,
    find_experiment,
)
from benchmarks.paper.files import file_names, write_experiment
from ithaca.files import signals
from ithaca.files.errors import InputError
from ithaca.files.writing import check_folder
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


def test_an_interruption_while_writing_waits_for_whole_files(tmp_path, monkeypatch):
    draw = files.png

    def interrupted(chart):
        os.kill(os.getpid(), signal.SIGINT)
        return draw(chart)

    monkeypatch.setattr(files, "png", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.run([SMALL, SMALL], Run(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "small.csv",
        "small.json",
        "small.png",
    ]


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


@pytest.mark.parametrize("failing", ["csv_text", "png", "experiment_document"])
def test_a_failure_while_writing_leaves_no_file(failing, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, failing, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_experiment(tmp_path, SMALL, Run(), small_outcome(Run()))
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_renaming_puts_back_the_files_of_before(tmp_path, monkeypatch):
    write_experiment(tmp_path, SMALL, Run(), small_outcome(Run()))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)  # so that files are moved into it one by one
    rename = Path.replace

    def interrupted(self, target):
        if Path(target) == tmp_path / "small.json" and self.parent.name != "kept":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_experiment(tmp_path, SMALL, Run(seed=1), small_outcome(Run()))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_folders_that_cannot_be_written_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "small.csv").mkdir()
    for folder, what in (
        (tmp_path / "file", "it is a file"),
        (tmp_path / "a" / "b", "not an existing"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(InputError, match=what):
            check_folder(folder, file_names("small"))


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
