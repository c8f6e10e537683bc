"""Commands on recurrences: what works on them, and one line where nothing does."""

import json
import shutil
import subprocess

import pytest
import yaml

import ithaca
from tests.command_line import ithaca as command
from tests.command_line import succeed
from tests.installed import needs
from tests.plugins.recurrences.test_arrays import ALL_HANGING, BANDED, HANGING

LU = ("lu", "-s", "n=5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("lu")
    succeed("solve", *LU, "-o", str(path / "lu.json"))
    (path / "banded.yaml").write_text(yaml.safe_dump(BANDED, sort_keys=False))
    return path


def test_the_best_of_all_choices_is_proven(folder):
    document = json.loads((folder / "lu.json").read_text())
    values = {",".join(d["dataflow"]): d["metrics"]["latency"] for d in document["designs"]}
    assert set(values) == {"k", "j", "i", "k,j", "k,i", "j,i"}
    assert document["best"]["metrics"]["latency"] == min(values.values())
    assert document["best"]["certificate"]["status"] == "optimal"
    assert document["best"]["metrics"]["off_chip_words"] >= 5 * 5 * 2
    for name, value in values.items():
        assert ithaca.solve("lu", sizes={"n": 5}, dataflow=name).value == value


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("verify", "lu.json"), "k,j        optimal: value "),
        (("evaluate", "lu.json"), "│     1 │"),
        (("explain", "lu.json", "--quick"), "Result: lu (n=5) fp32, space loops "),
        (("grid", "lu.json"), "grid   1 point"),
        pytest.param(("simulate", "lu.json"), "lu (n=5) fp32, space loops ", marks=needs("rtl")),
        (("refine", "lu.json", "--samples", "5"), "objective  "),
        (("solve", "banded.yaml", "-s", "n=6"), "banded (n=6, m=3, w=2) fp32, space loops "),
        (("pareto", *LU, "--objectives", "latency,bram18k"), "complete: "),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_commands_take_them(words, line, folder):
    done = command(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert any(printed.startswith(line) for printed in done.stdout.splitlines()), done.stdout


@needs("rtl")
def test_every_simulated_element_is_right(folder):
    for design in ("k", "k,j"):
        run = ithaca.simulate(folder / "lu.json", design=design).document["simulation"]
        assert run == {"cycles": run["model"], "elements": 25, "wrong": 0, "model": run["model"]}


def test_sizes_are_varied_and_verified(folder):
    succeed("whatif", "lu", "--vary", "n=2,4", "-o", str(folder / "study.json"))
    done = command("verify", "study.json", cwd=folder)
    assert done.stdout.count("optimal: value") == 2


REFUSED = {
    ("solve", "lu", "-s", "n=0"): "parameter 'n' is 0; allowed: an integer from 1",
    ("solve", "lu", "-s", "m=4"): "unknown size 'm' of lu; allowed: n",
    ("solve", "lu", "-s", "n=500"): "workload lu: more than 100,000 iterations; allowed: at most",
    ("solve", "lu", "--dataflow", "i,k"): "--dataflow is 'i,k'; allowed: k; j; i; k,j; k,i; j,i",
    ("solve", "lu", "--dtype", "int8"): "--dtype of recurrences is 'int8'; allowed: fp32",
    ("solve", "lu", "--simd", "k"): "--simd does not go with lu; allowed: without it",
    ("solve", "lu", "--arch", "simple"): "--arch does not go with lu; allowed: without it",
    ("match", "lu", "--intrinsic", "gemm"): "workload 'lu' is a system of recurrences; allowed",
    ("list", "designs", "lu"): "workload 'lu' is a system of recurrences; allowed here",
    ("simulate", "lu.json", "--regime", "hls"): "--regime does not go with family recurrence",
    (
        "export",
        "lu.json",
        "--to",
        "scalesim",
        "-o",
        "x",
    ): "--to scalesim does not go with family recurrence; allowed: --to autosa",
    (
        *("export", "lu.json", "--to", "rtl", "--memory", "axi4", "-o", "x"),
    ): "--memory axi4 takes no recurrences; allowed: stream",
    (
        *("export", "lu.json", "--to", "rtl", "--accumulator", "16", "-o", "x"),
    ): "--accumulator 16 takes no recurrences; allowed: 32",
    ("export", "lu.json", "--to", "autosa", "--target", "tapa", "-o", "x"): "--target tapa takes",
}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=needs("rtl") if {"rtl", "simulate"} & {*words} else ())
        for words in REFUSED
    ],
    ids=" ".join,
)
def test_what_cannot_be_is_refused_in_a_line(words, folder):
    done = command(*words, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ithaca: {REFUSED[words]}")
    assert len(done.stderr.splitlines()) == 1


def test_arrays_that_hang_are_left_out(folder):
    """Along k words of a row wait for room that the row behind them would make."""
    for nest in (HANGING, ALL_HANGING):
        (folder / f"{nest['name']}.yaml").write_text(yaml.safe_dump(nest, sort_keys=False))
    why = "the array hangs: PEs wait for each other's words and full FIFOs in a circle"
    done = command("solve", "hanging.yaml", "-o", "hanging.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"left out: k: {why}" in " ".join((done.stdout + done.stderr).split())
    document = json.loads((folder / "hanging.json").read_text())
    found = [",".join(d["dataflow"]) for d in document["designs"]]
    assert found == ["j", "i", "k,j", "k,i", "j,i"]
    assert command("verify", "hanging.json", cwd=folder).returncode == 0
    document["best"]["dataflow"] = ["k"]
    (folder / "edited.json").write_text(json.dumps(document))
    runs = "j; i; k,j; k,i; j,i"
    for words, line in (
        (
            ("solve", "hanging.yaml", "--dataflow", "k"),
            f"--dataflow is 'k': {why}; allowed: {runs}",
        ),
        (("verify", "edited.json"), f"dataflow is 'k': {why}; allowed: {runs}"),
        (("solve", "all-hanging.yaml"), f"all-hanging: {why}; allowed: recurrences of which"),
    ):
        done = command(*words, cwd=folder)
        assert done.returncode == 2
        assert line in done.stderr
        assert len(done.stderr.splitlines()) == 1


BROKEN = {
    "is read where": {"values": {**BANDED["values"], "X": "X[i-1][k][r] + B[k][r]"}},
    "is no value of a neighbour": {"values": {**BANDED["values"], "M": "M[i][k][r-2]"}},
    "is no name, or one of two things": {"values": {**BANDED["values"], "M": "A[i][k] * B[k][r]"}},
    "is used again where": {"values": {**BANDED["values"], "M": "A[i][k]"}},
    "cannot be read": {"values": {**BANDED["values"], "M": "A[i][k] if"}},
    "allowed: + - * /": {"values": {**BANDED["values"], "M": "A[i][k] ** 2"}},
    "there is no iteration": {"loops": {**BANDED["loops"], "r": [0, 0]}},
    "allowed: sums, min, max over n, m, w, i": {
        "loops": {**BANDED["loops"], "k": ["i", "open(i)"]}
    },
    "allowed: conditions joined by and": {"outputs": {"C[i][r]": "S where __import__('os')"}},
    "'k == 'x''; allowed: conditions": {"outputs": {"C[i][r]": "S where k == 'x'"}},
    "9'; allowed: sums, min, max over n, m, w, integers": {
        "loops": {**BANDED["loops"], "i": [0, "'a'*99999999999999"]}
    },
    "'min(n, 1.5)'; allowed: sums, min, max": {
        "loops": {**BANDED["loops"], "i": [0, "min(n, 1.5)"]}
    },
    "'n+0+0+0+0+": {"loops": {**BANDED["loops"], "i": [0, "n" + "+0" * 900]}},
    "outputs is missing": {"outputs": None},
}


@pytest.mark.parametrize("line", BROKEN)
def test_files_that_are_no_recurrences_are_refused(line, tmp_path):
    document = {name: text for name, text in {**BANDED, **BROKEN[line]}.items() if text is not None}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    done = command("solve", "own.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("ithaca: own.yaml: ")
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_the_compiler_cannot_take_is_refused(tmp_path):
    """The compiler knows sums as bounds and conditions, and unites no sets of iterations."""
    own = BANDED["values"] | {"X": "X[i-1][k][r] if i > 0 and i > k - w + 1 else B[k][r]"}
    for values, line in (
        (BANDED["values"], "i == max(0, k - w + 1); allowed: conditions without min and max"),
        (own, "i > 0 and i > k - w + 1 of X, else: allowed: one comparison before an else"),
    ):
        (tmp_path / "own.yaml").write_text(
            yaml.safe_dump(BANDED | {"values": values}, sort_keys=False)
        )
        succeed("solve", "own.yaml", "-o", "own.json", cwd=tmp_path)
        done = command("export", "own.json", "--to", "autosa", "-o", "x", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr == f"ithaca: AutoSA cannot build this workload: {line}\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(("workload", "space"), [("lu", 3), ("trisolve", 1)])
def test_exported_programs_check_themselves(workload, space, tmp_path):
    result = ithaca.solve(workload, sizes={"n": 6}, dataflow="k,j" if space == 3 else "i")
    result.export("autosa", tmp_path / "out")
    text = (tmp_path / "out" / "autosa_command.sh").read_text()
    assert f"kernel[]->space_time[{space}];kernel[]->array_part[-1,-1,-1]" in text
    assert "--no-reschedule --live-range-reordering" in text
    # else the compiler asks, and stops where nobody answers
    answers = {f"kernel{space}": {"reduction": ["n", "n", "n"]}}
    assert json.loads((tmp_path / "out" / "simd_info.json").read_text()) == answers
    build = ("cc", "-std=c99", "-Wno-unknown-pragmas", "kernel.c", "-o", "kernel", "-lm")
    subprocess.run(build, cwd=tmp_path / "out", check=True)
    done = subprocess.run("./kernel", cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.stdout == "Passed\n"
