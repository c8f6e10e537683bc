"""Instructions of layers in calls of an intrinsic: random programs run by their interpreter, beside the
layer's result and the model's counts."""

import csv
import io
import json
import random
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest
from ithaca.plugins.hierarchies.exports.instructions.folder import INSTRUCTIONS
from ithaca.plugins.hierarchies.exports.templates import template
from ithaca.plugins.hierarchies.formulations.architecture import Tensorized
from ithaca.plugins.hierarchies.formulations.variation import with_figures
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload
from tests.command_line import refused, succeed
from tests.plugins.hierarchies.formulations.calls import designs, machine

WORKLOADS = {
    "mm": "ijk",
    "mv": "ij",
    "conv2d": "orcipq",
    "depthwise_conv2d": "orcpq",
    "pointwise_conv2d": "orci",
    "batched_mm": "bijk",
    "C[i,j] += A[i,k] * B[k,j]": "ijk",
    "y[n,a] += x[n,2*a+3*b] * w[b,n]": "nab",
    "y[a,d] += x[4*a+2*b,d-c] * w[b,c]": "abcd",
}
STRIDED = Tensorized("y[i] += m[2*i+k] * n[k]", (("row", ("i",)),), (("k", 3),))
SKIPPING = Tensorized("y[i] += m[5*i+k] * n[k]", (("row", ("i",)),), (("k", 3),))


def random_machine(numbers):
    """One of all arrays, small, with a scratchpad that some sub-problems fit."""
    side = numbers.choice((2, 3, 4))
    name = numbers.choice(("hasco-gemm", "hasco-units", "gemv", "dot", "own"))
    figures = {"Scratchpad.words": numbers.choice((60, 150, 900, 40_000))}
    own = numbers.choice((STRIDED, SKIPPING))
    found = machine("hasco-gemm" if name == "own" else name, **figures)
    if name == "own":
        found = replace(found, tensorized=own)
    figures = {"mac.mesh_x": side, "mac.mesh_y": numbers.choice((side, 2))}
    flows = len(found.tensorized.dataflows) if found.tensorized else 1
    if name.startswith("hasco"):
        figures["tensorized.dataflow"] = numbers.randint(1, flows)
    return sized(found, figures)


def sized(found, figures):
    return with_figures(found, {name: Fraction(n) for name, n in figures.items()})


def random_nest(numbers, statement=None):
    name = statement or numbers.choice([*WORKLOADS])
    most = 3 if len(WORKLOADS[name]) > 4 else 7
    sizes = {loop: numbers.randint(1, most) for loop in WORKLOADS[name]}
    if name in ("conv2d", "depthwise_conv2d"):
        sizes |= {"s": numbers.randint(1, 2), "d": numbers.randint(1, 2)}
    return statement_nest(name, sizes) if "+=" in name else workload(name, sizes)


def random_calls(numbers, design):
    """Tiles that fit, if some do."""
    for _ in range(30):
        tiles = {design.quantity(p): numbers.randint(1, n) for p, n in design.work.extents}
        if design.space.contains(tiles):
            values = {name: Fraction(n) for name, n in tiles.items()}
            return CalledNest(design, tiles, design.metrics(values, FRACTION))
    return None


def problems(count, seed=0):
    numbers = random.Random(seed)
    found = 0
    while found < count:
        try:
            all_designs = designs(random_machine(numbers), random_nest(numbers))
        except InputError as error:
            if "no loop runs on" not in str(error):
                raise
            continue
        called = random_calls(numbers, numbers.choice(all_designs))
        if called is not None:
            found += 1
            yield called


@pytest.fixture(scope="module")
def interpreter(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.py"
    path.write_text(template("instructions/run.py.txt"))
    return runpy.run_path(str(path))


def run(called, interpreter):
    """The machine after a program on the layer's random tensors; its result is the layer's."""
    nest, files = called.nest, INSTRUCTIONS.export(called)
    values = pytest.importorskip("ithaca.plugins.rtl.formulations.values")
    tensors = values.random_tensors(nest, data_type("int8"))
    wanted, _ = values.reference(nest, tensors)
    begin = np.arange(wanted.size).reshape(wanted.shape) % 7
    *inputs, _ = called.operands
    parts = [tensors[each.access.tensor].ravel() for each in inputs]
    memory = np.concatenate([*parts, begin.ravel()]).astype(np.int64)
    found = interpreter["Machine"](json.loads(files["layout.json"]), memory)
    found.run(list(csv.DictReader(io.StringIO(files["program.csv"]))))
    read = memory.size - wanted.size
    assert np.array_equal(memory[:read], np.concatenate(parts))
    assert np.array_equal(memory[read:].reshape(wanted.shape), begin + wanted)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_compute_their_layers_and_count_as_the_model_does(seed, interpreter):
    for called in problems(12, seed):
        counts = run(called, interpreter).counts
        metrics = called.metrics
        for name in ("subproblems", "calls", "words", "computes"):
            assert counts[name] == metrics[name], name
        assert counts["useful computes"] == prod(called.nest.sizes.values())
        work = called.design.work
        tiles = {p: Fraction(-(-n // called.tile[p])) for p, n in work.extents}
        traffic = work.traffic(tiles, FRACTION)
        gathered = all(c == 1 for o in work.operands for s in o.access for _, c in s.terms)
        assert counts["off_chip_words"] == traffic or not gathered
        assert counts["off_chip_words"] <= traffic


def test_words_off_chip_are_those_of_sub_problems_by_hand(interpreter):
    """A product of 5 × 3 × 4 in sub-problems of 2 × 3 × 3, calls of 2 × 2 × 1: 3 · 2 sub-problems."""
    nest = statement_nest("C[i,j] += A[i,k] * B[k,j]", {"i": 5, "j": 3, "k": 4})
    (design,) = designs(sized(machine("hasco-gemm"), {"mac.mesh_x": 2, "mac.mesh_y": 2}), nest)
    tiles = {design.quantity(p): n for p, n in {"i": 2, "j": 3, "k": 3}.items()}
    values = {name: Fraction(n) for name, n in tiles.items()}
    called = CalledNest(design, tiles, design.metrics(values, FRACTION))
    found = run(called, interpreter)
    assert found.loaded == {"A": 20, "B": 36, "C": 30}
    assert found.stored == {"C": 30}
    text = INSTRUCTIONS.export(called)["program.csv"].splitlines()
    assert text[:7] == [
        "opcode,what,off_chip,scratchpad,sizes,off_chip_strides,strides",
        "loop,2,,,,,",
        "load,A,0+8*t0,0,2x3,4x1,3x1",
        "load,B,20,6,3x3,3x1,3x1",
        "load,C,32+6*t0,15,2x3,3x1,3x1",
        "loop,3,,,,,",
        "compute,gemm,,0+1*t1 6+3*t1 15,2x2x1,,",
    ]
    assert text[-1] == "store,C,44,15,1x3,3x1,3x1"


def test_programs_stay_small(interpreter):
    """A program of 33 million calls."""
    nest = workload("conv2d", {"o": 512, "r": 56, "c": 56, "i": 512, "p": 3, "q": 3})
    (design, *_) = designs(machine("hasco-gemm"), nest)
    tiles = {design.quantity(p): n for p, n in design.work.extents}
    called = CalledNest(design, tiles, {name: Fraction(0) for name in design.vocabulary})
    assert len(INSTRUCTIONS.export(called)["program.csv"]) < 5_000


def answered(tmp_path, *more, statement="mm"):
    path = tmp_path / "answer.json"
    sizes = "i=30,j=20,k=10"
    edition = ("--edition", "intrinsic", "--objective", "latency")
    succeed("map", statement, "-s", sizes, "--arch", "hasco-gemm", *edition, *more, "-o", path)
    return path


def test_the_command_writes_what_runs(tmp_path):
    path = answered(tmp_path)
    said = succeed("export", path, "--to", "instructions", "-o", tmp_path / "out").stdout
    assert said == f"wrote {tmp_path / 'out'}: mm on hasco-gemm, i=i j=j k=k\n"
    ran = subprocess.run(
        [sys.executable, tmp_path / "out" / "run.py"], capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("right: C[i][j] += A[i][k] * B[j][k]\noff_chip_words 1,700 (")
    assert "stored C 600" in ran.stdout


def test_a_wrong_program_is_seen(tmp_path):
    succeed("export", answered(tmp_path), "--to", "instructions", "-o", tmp_path / "out")
    program = tmp_path / "out" / "program.csv"
    text = program.read_text()
    for old, new, complaint in (
        ("compute,gemm,,0+", "compute,gemm,,1+", "WRONG"),
        ("16x16x1", "16x15x1", "WRONG"),
        ("load,A,0,", "load,A,-1,", "run.py: words -1 to"),
    ):
        program.write_text(text.replace(old, new))
        ran = subprocess.run(
            [sys.executable, program.with_name("run.py")], capture_output=True, text=True
        )
        assert ran.returncode == 1
        assert complaint in ran.stdout + ran.stderr


@pytest.mark.parametrize("target", ["instructions", "gemmini", "tensorlib"])
def test_answers_of_other_kinds_are_refused_in_one_line(target, tmp_path):
    array, levels = tmp_path / "array.json", tmp_path / "levels.json"
    succeed("solve", "mm", "-s", "i=4,j=4,k=4", "--dataflow", "i,j", "-o", array)
    succeed("map", "mm", "-s", "i=4,j=4,k=4", "--arch", "simple", "-o", levels)
    calls = answered(tmp_path)
    for path, more, reason in (
        (array, (), rf"--to {target} does not go with family systolic; allowed: --to autosa, "),
        (
            levels,
            (),
            rf"--to {target} does not go with edition timeloop of family spatial; allowed: --",
        ),
        (calls, ("--nearest",), "--nearest does not go with a mapping; allowed: without it"),
    ):
        text = refused("export", path, "--to", target, "-o", tmp_path / "out", *more)
        assert re.match(f"ithaca: {reason}", text)
        assert text.count("\n") == 1
    text = refused("export", calls, "--to", "timeloop", "-o", tmp_path / "out")
    assert re.search(
        r"edition intrinsic of family spatial; allowed: --to .*instructions, gemmini, tensorlib\n",
        text,
    )
    assert not (tmp_path / "out").exists()
