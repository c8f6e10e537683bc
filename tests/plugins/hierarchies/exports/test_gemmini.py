"""Programs for Gemmini: compiled with a functional model of its interface, beside numpy; and TensorLib's
file beside the released ones."""

import json
import random
import re
import shutil
import subprocess
from fractions import Fraction
from itertools import cycle, product
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.exports.gemmini.folder import GEMMINI
from ithaca.plugins.hierarchies.exports.gemmini.tiling import CallProduct
from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest
from ithaca.plugins.hierarchies.exports.tensorlib.folder import TENSORLIB
from ithaca.workloads.affine import span
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload
from tests.plugins.hierarchies.exports.test_instructions import random_calls, sized
from tests.plugins.hierarchies.formulations.calls import designs, machine

CC = shutil.which("cc") or shutil.which("gcc")
OURS = Path(__file__).parent / "gemmini"

WORKLOADS = {
    "C[i,j] += A[i,k] * B[k,j]": "ijk",
    "C[i,j] += A[i,k] * B[j,k]": "ijk",
    "C[i,j] += A[k,i] * B[k,j]": "ijk",
    "C[j,i] += A[i,k] * B[k,j]": "ijk",
    "y[i] += A[i,k] * x[k]": "ik",
    "y[r,c,o] += x[r+p,c+q,i] * w[p,q,i,o]": "rcopqi",
    "y[r,c,o] += x[2*r+p,2*c+q,i] * w[o,p,q,i]": "rcopqi",
    "C[b,i,j] += A[b,i,k] * B[b,k,j]": "bijk",
}


def gemm(dataflow, side, **figures):
    """1: the array holds an input, 2: sums."""
    own = {"tensorized.dataflow": dataflow, "mac.mesh_x": side, "mac.mesh_y": side}
    return sized(machine("hasco-gemm"), {**own, **figures})


def tiled(architecture, nest, **tile):
    (design, *_) = sorted(designs(architecture, nest), key=lambda each: each.name)
    tiles = {design.quantity(p): tile.get(p, n) for p, n in design.work.extents}
    values = {name: Fraction(n) for name, n in tiles.items()}
    return CalledNest(design, tiles, design.metrics(values, FRACTION))


def problems(count):
    numbers, turns = random.Random(7), product((1, 2), WORKLOADS)
    found = 0
    for flow, statement in cycle(turns):
        most = 20 if len(WORKLOADS[statement]) < 4 else 6
        nest = statement_nest(
            statement, {x: numbers.randint(1, most) for x in WORKLOADS[statement]}
        )
        memory = {"Scratchpad.words": 1024, "Local.words": 1024}
        architecture = gemm(flow, numbers.choice((2, 4)), **memory)
        called = random_calls(numbers, numbers.choice(designs(architecture, nest)))
        if called is not None and not GEMMINI.obstacles(called):
            found += 1
            yield called
            if found == count:
                return


def wanted(called):
    """The number that the program should print, by numpy: a sum of all results, each times another
    number."""
    nest, values = called.nest, {}
    for access in nest.accesses:
        shape = [span(subscript, nest.sizes) for subscript in access]
        values[access.tensor] = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    first, second = (
        each.placed.access.tensor for each in list(CallProduct(called).matrices.values())[:2]
    )
    begin = values[nest.output.tensor] % 11 - 5
    tensors = {first: values[first] * 37 % 15 - 7, second: values[second] * 29 % 13 - 6}
    numpy_of = pytest.importorskip("ithaca.plugins.rtl.formulations.values")
    result = (begin + numpy_of.reference(nest, tensors)[0]).ravel()
    return int((result * (np.arange(result.size) % 97 + 1)).sum())


def ran(called, folder, *, includes=OURS):
    for name, text in GEMMINI.export(called).items():
        (folder / name).write_text(text)
    scratchpad, sums = CallProduct(called).rows
    defined = {
        "DIM": CallProduct(called).dim,
        "BANK_NUM": 1,
        "BANK_ROWS": scratchpad,
        "ACC_ROWS": sums,
    }
    flags = [f"-D{name}={n}" for name, n in defined.items()]
    warned = ["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror"]
    program = folder / "matmul"
    subprocess.run(
        [CC or "cc", *flags, *warned, "-I", includes, "-o", program, folder / "matmul.c"],
        check=True,
    )
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(CC is None, reason="no C compiler")
def test_random_programs_compute_what_numpy_does(tmp_path):
    seen = set()
    for called in problems(20):
        sum_ = wanted(called)
        lines = [f"{how}: Passed, checksum {sum_}" for how in ("tiled_matmul", "instructions")]
        assert ran(called, tmp_path).splitlines() == lines
        product_ = CallProduct(called)
        across = tuple(each.across for each in product_.matrices.values())
        seen.add((product_.flow, across, product_.loops["I"]))
    assert {flow for flow, *_ in seen} == {"weight", "output"}
    assert {across for _, across, _ in seen} >= {
        (False, False, False),
        (True, False, False),
        (False, True, False),
    }
    assert {loop for *_, loop in seen} == {"i", "j"}


def test_tiles_are_whole_blocks_and_rules_those_of_the_library():
    """Rules in the library's own words: A and B in the scratchpad, C in the accumulators, half of
    both where the array holds weights."""
    nest = statement_nest("C[i,j] += A[i,k] * B[k,j]", {"i": 100, "j": 101, "k": 100})
    for flow, side, i, j, k in product((1, 2), (16,), (17, 64, 100), (16, 50, 100), (3, 90, 100)):
        # 4 banks of 256 rows of 16 words, accumulators of 512 rows of 16 sums of 4 bytes
        memory = {"Scratchpad.words": 16 * 1024, "Local.words": 4 * 16 * 512}
        called = tiled(gemm(flow, side, **memory), nest, i=i, j=j, k=k)
        ti, tj, tk = (ceil(n / 16) for n in (i, j, k))
        assert CallProduct(called).tiles == {"I": ti, "J": tj, "K": tk}
        half = 2 if flow == 1 else 1
        refused = [
            what
            for what, rows, there in (
                ("scratchpad", (ti * tk + tk * tj) * 16, 1024),
                ("accumulators", ti * tj * 16, 512),
            )
            if rows > there // half
        ]
        found = [
            re.search(r"rows of the (\w+); allowed: ", text) for text in GEMMINI.obstacles(called)
        ]
        assert [match and match.group(1) for match in found] == refused


@pytest.mark.parametrize(
    ("statement", "sizes", "flow", "reason"),
    [
        (
            "C[i,j] += A[i,k] * B[j,k]",
            (9, 9, 9),
            2,
            "B[j][k] lies column by column; allowed: one input",
        ),
        (
            "C[i,j] += A[k,i] * B[j,k]",
            (9, 9, 9),
            1,
            "A[k][i] and B[j][k] lies column by column; allowed: one input",
        ),
        (
            "C[i,j] += A[2*i,2*k] * B[k,j]",
            (9, 9, 9),
            1,
            "A[2*i][2*k]: neighbours in a matrix are 34 and 2 words apart; allowed: 1",
        ),
    ],
)
def test_what_gemmini_lacks_is_refused(statement, sizes, flow, reason):
    nest = statement_nest(statement, dict(zip("ijk", sizes, strict=True)))
    with pytest.raises(InputError, match=re.escape(reason)) as error:
        GEMMINI.export(tiled(gemm(flow, 4), nest))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["gemv", "dot", "hasco-conv", "oblong"])
def test_other_arrays_are_refused(name):
    nest = workload("conv2d", {"o": 4, "r": 4, "c": 4, "i": 4, "p": 3, "q": 3})
    architecture = sized(gemm(1, 4), {"mac.mesh_y": 2}) if name == "oblong" else machine(name)
    called = tiled(architecture, nest)
    with pytest.raises(
        InputError, match=r"the array runs \w+ on .*; allowed: gemm along two loops"
    ):
        GEMMINI.export(called)
    if name in ("gemv", "dot"):
        with pytest.raises(InputError, match=rf"the array runs {name}; allowed: gemm or conv2d"):
            TENSORLIB.export(called)


# -- TensorLib's -----------------------------------------------------------------------------------


def test_the_file_of_tensorlib_is_laid_out_as_the_released_ones():
    """``examples/gemm.json`` and ``conv2d.json``: weights stay, the others pass along diagonals."""
    nest = statement_nest("C[i,j] += A[i,k] * B[k,j]", {"i": 20, "j": 20, "k": 8})
    called = tiled(gemm(1, 8), nest, i=16, j=10)
    assert json.loads(TENSORLIB.export(called)["tensorlib.json"]) == {
        "benchmark": "GEMM",
        "bitwidth": 8,
        "length": [8, 8, 10],
        "STT": [[1, 0, 0], [0, 1, 0], [1, 1, 1]],
        "reuse": {"w": [0, 0, 1], "i": [1, 0, 1], "o": [0, 1, 1]},
    }
    layer = workload("conv2d", {"o": 8, "r": 16, "c": 16, "i": 8, "p": 3, "q": 3})
    called = tiled(machine("hasco-conv"), layer)
    assert len(called.binding) == 6
    document = json.loads(TENSORLIB.export(called)["tensorlib.json"])
    assert document["benchmark"] == "CONV2D"
    assert document["length"] == [16, 16, 16, 16, 3, 3]
    assert document["STT"] == [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 0],
    ]
    assert document["reuse"]["w"] == [0, 0, 1]


def test_places_and_times_of_iterations_differ_and_tensors_are_where_they_are_said_to_be():
    """Enumeration: no two iterations meet, and those that a reuse apart are share an element."""
    for flow, side in product((1, 2), (2, 3)):
        nest = statement_nest("C[i,j] += A[i,k] * B[k,j]", {"i": 5, "j": 4, "k": 6})
        document = json.loads(TENSORLIB.export(tiled(gemm(flow, side), nest))["tensorlib.json"])
        matrix = np.array(document["STT"])
        points = list(product(*map(range, document["length"])))
        places = {tuple(matrix @ np.array(point)): point for point in points}
        assert len(places) == len(points)
        assert {place[:2] for place in places} == {*product(range(side), repeat=2)}
        elements = {"w": (0, 1), "i": (1, 2), "o": (0, 2)}
        for tensor, moves in document["reuse"].items():
            again = 0
            for place, point in places.items():
                other = places.get(tuple(np.add(place, moves)))
                if other is not None:
                    again += 1
                    assert all(point[n] == other[n] for n in elements[tensor])
            assert again
