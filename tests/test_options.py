"""Rules that hold for the options of all commands."""

import sys
from pathlib import Path

import pytest

from ithaca.cli import COMMANDS, load
from tests.command_line import ithaca, succeed

SOLVE = ("solve", "mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--edition", "exact")
WHATIF = ("whatif", "mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--vary", "dsp=400,800")
NETWORK = ("network", "vgg16", "--layers", "conv5_1")


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("result") / "r.json"
    succeed(*SOLVE, "-o", path)
    return path


def paths():
    """Commands with their arguments and options that take a path."""
    commands = [(name, load(name)) for name in COMMANDS if name != "list"]
    return [
        (name, word.opts[-1] if word.opts[-1].startswith("--") else "")
        for name, command in commands
        for word in command.params
        if word.metavar in ("PATH", "DIR", "FILE", "FOLDER") or word.name == "result"
    ]


#: What each command needs besides.
NEEDS = {
    "solve": SOLVE[1:],
    "map": ("--arch", "simple", "--problem", "mm"),
    "match": ("mm", "-s", "i=4,j=4,k=4"),
    "timeloop-mapper": ("mapper.yaml",),
    "network": NETWORK[1:],
    "codesign": ("hasco-gemm", "--workload", "mm", "-s", "i=4,j=4,k=4"),
    "whatif": WHATIF[1:],
    "pareto": ("mm", "--objectives", "latency,dsp"),
    "grid": ("r.json",),
    "estimate": ("--arch", "arch"),
    "evaluate": ("mm",),
    "simulate": ("r.json",),
    "explain": ("r.json",),
    "report": ("r.json", "-o", "page.html"),
    "export": ("r.json", "--to", "autosa", "-o", "folder"),
    "seed": ("r.json", "--to", "optuna", "-o", "seeds.py"),
    "build": ("folder",),
    "programs": ("mm", "--to", "nl", "-o", "folder"),
    "refine": ("r.json",),
    "calibrate": ("reports.csv", "-o", "mine.yaml"),
    "unroll": ("vgg16", "--limit", "multipliers=4000"),
}


@pytest.mark.ci
@pytest.mark.parametrize("words", [("map", "mm", "--arch", ""), ("solve", "mm", "--platform", "")])
def test_empty_names_are_refused(words):
    done = ithaca(*words)
    assert done.returncode == 2
    assert done.stderr == f"ithaca: {words[2]} is empty; allowed: a name or a path\n"


@pytest.mark.parametrize(("command", "option"), paths())
def test_empty_paths_are_refused(command, option, result):
    words = (*NEEDS[command], option, "") if option else ("", *NEEDS.get(command, ())[1:])
    before = sorted(result.parent.iterdir())
    done = ithaca(command, *words, cwd=result.parent)
    assert done.returncode == 2, done.stderr
    argument = "FOLDER" if command == "build" else "FILE"
    assert (
        done.stderr
        == f"ithaca: {option or argument} is empty; allowed: the name of a file or folder\n"
    )
    assert sorted(result.parent.iterdir()) == before


def test_paths_of_all_kinds_are_among_them():
    assert {
        ("solve", "--start"),
        ("network", "--table"),
        ("export", "--output"),
        ("whatif", "--results"),
    } <= set(paths())
    assert ("verify", "") in paths()


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (NETWORK, "--output", "--table"),
        (WHATIF, "--plot", "--output"),
        (("pareto", "mm", "--objectives", "latency,dsp"), "--plot", "--output"),
        (("grid", "r.json", "--x", "t2.i", "--y", "t2.j"), "--plot", "--output"),
    ],
)
@pytest.mark.parametrize("other", ["out.nc", "./out.nc", "link/out.nc"])
def test_two_outputs_are_two_files(words, first, second, other, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    done = ithaca(*words, first, "out.nc", second, other, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert (
        done.stderr == f"ithaca: {second} is '{Path(other)}', like {first}; allowed: another file\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.skipif(sys.platform == "win32", reason="no /dev/null")
def test_devices_take_several_outputs():
    succeed(
        *NETWORK, "--divisors-only", "--dataflow", "o,r", "-o", "/dev/null", "--table", "/dev/null"
    )


@pytest.mark.parametrize(
    "words",
    [("simulate", "r.json", "--trace", "r.json"), ("evaluate", "r.json", "--table", "./r.json")],
)
def test_what_is_read_is_not_written(words, result, tmp_path):
    content = result.read_bytes()
    (tmp_path / "r.json").write_bytes(content)
    done = ithaca(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "which is read; allowed: another file" in done.stderr
    assert (tmp_path / "r.json").read_bytes() == content
