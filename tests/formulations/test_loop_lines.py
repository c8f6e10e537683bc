"""The printed loop nest, read back: it does the padded work, and moves the words that the model
counts."""

import re
from dataclasses import dataclass
from math import prod
from random import Random

import pytest

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.families import profile_of
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import tensor_words
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from tests.command_line import ithaca, succeed

LOOP = re.compile(r"(parallel )?for (\w+) in ([\d,]+)( tiles of ([\d,]+))?$")
MOVE = re.compile(r"(load|store) (\w+)$")
BUFFERS = re.compile(r"(\d+) buffers? of (\d+) words?, ")


@dataclass
class Line:
    code: str
    remark: str
    around: dict[str, list[int]]
    """Trips of the loops around it, by loop."""


def read(lines):
    """Lines with the loops around them; indentation says which."""
    found = []
    path = []
    for line in lines:
        code, _, remark = (part.rstrip() for part in line.partition("  # "))
        depth, odd = divmod(len(code) - len(code.lstrip()), 2)
        assert not odd
        assert depth <= len(path)
        del path[depth:]
        around = {}
        for loop, trips in path:
            around.setdefault(loop, []).append(trips)
        found.append(Line(code.strip(), remark.strip(), around))
        if match := LOOP.match(code.strip()):
            path.append((match[2], int(match[3].replace(",", ""))))
    return found


def words_moved(nest, lines):
    words = {}
    for line in lines:
        if match := MOVE.match(line.code):
            buffers = BUFFERS.match(line.remark)
            times = prod(trips for found in line.around.values() for trips in found)
            sums = prod(
                trips
                for loop, found in line.around.items()
                if loop in nest.reduction_loops
                for trips in found
            )
            if "partial sums" in line.remark:
                times = times // sums * (sums - 1)
            elif "after the last of" in line.remark:
                times //= sums
            words[match[2]] = words.get(match[2], 0) + times * int(buffers[1]) * int(buffers[2])
    return words


def tiled(nest, array, random):
    hidden = {loop: random.choice([1, 2, 3]) for loop in array.latency_hiding_loops}
    inner = {loop: 2 if loop == array.simd_loop else hidden.get(loop, 1) for loop in nest.band}
    parts = {x: t2 * random.choice([1, 2, 3, -(-nest.sizes[x] // t2)]) for x, t2 in inner.items()}
    return Tiling(parts, hidden, 2, {group.name: 2 for group in array.packed_groups})


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        ("mm", {"i": 20, "j": 12, "k": 18}),
        ("conv2d", {"o": 6, "r": 7, "c": 5, "i": 8, "p": 3, "q": 2}),
        ("depthwise_conv2d", {"o": 6, "r": 7, "c": 5, "p": 3, "q": 3}),
        ("mttkrp", {"i": 6, "j": 5, "k": 4, "l": 7}),
    ],
)
def test_the_printed_nest_does_the_work_and_moves_the_words(kernel, sizes):
    nest, random = workload(kernel, sizes), Random(2)
    for array in designs(nest):
        tiling = tiled(nest, array, random)
        configuration = tiling.configuration(array, nest.sizes)
        lines = read(
            profile_of(SystolicDesign(nest, array, data_type("fp32"))).loops(configuration)
        )
        (body,) = (line for line in lines if line.code == str(nest))
        for loop, extent in nest.extents:
            part = tiling.array_part.get(loop, extent)
            assert prod(body.around.get(loop, ())) == -(-extent // part) * part, (array.name, loop)
        assert all(trips > 1 for found in body.around.values() for trips in found)
        costs = evaluate(array, tiling.quantities(array, nest.sizes), data_type("fp32"), FRACTION)
        assert words_moved(nest, lines) == {
            name: n for name, n in tensor_words(array, costs).items() if n
        }


def test_a_nest_as_printed():
    nest = workload("mm", {"i": 1024, "j": 1024, "k": 1024})
    array = derive(nest, ("i", "j"), "C")
    tiling = Tiling(
        {"i": 205, "j": 172, "k": 64}, {"i": 41, "j": 4}, 8, {"A": 16, "B": 16, "C_drain": 4}
    )
    found = profile_of(SystolicDesign(nest, array, data_type("fp32"))).loops(
        tiling.configuration(array, nest.sizes)
    )
    assert "\n".join(found) == (
        """\
for i in 5 tiles of 205                         # 1,024, padded to 1,025
  for j in 6 tiles of 172                       # 1,024, padded to 1,032
    for k in 16 tiles of 64
      load A                                    # 5 buffers of 2,624 words, 16 at a time; handed from PE to PE
      load B                                    # 43 buffers of 256 words, 16 at a time; handed from PE to PE
      parallel for i in 5                       # PEs
        parallel for j in 43                    # PEs
          for k in 8                            # in the PE
            for i in 41                         # latency hiding
              for j in 4                        # latency hiding
                parallel for k in 8             # SIMD
                  C[i][j] += A[i][k] * B[j][k]  # sums in 164 words of each PE
    store C                                     # 215 buffers of 164 words, 4 at a time"""
    )


def test_partial_sums_are_loaded_and_stored_but_once_each():
    nest = workload("mm", {"i": 8, "j": 8, "k": 8})
    array = derive(nest, ("i", "j"), "A")
    tiling = Tiling(
        {"i": 4, "j": 4, "k": 4}, {"i": 2, "j": 2}, 1, dict.fromkeys(("A", "B", "C", "C_drain"), 1)
    )
    lines = read(
        profile_of(SystolicDesign(nest, array, data_type("fp32"))).loops(
            tiling.configuration(array, nest.sizes)
        )
    )
    moves = [(line.code, line.remark.partition("; ")[2]) for line in lines if MOVE.match(line.code)]
    assert moves == [
        ("load A", "handed from PE to PE"),
        ("load B", "handed from PE to PE"),
        ("load C", "partial sums, but the first time"),
        ("store C", "partial sums, but the last time"),
        ("store C", "after the last of k"),
    ]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("loops") / "r.json"
    answer = succeed(
        "solve",
        "mm",
        "-s",
        "i=32,j=24,k=16",
        "--dataflow",
        "i,j",
        "--edition",
        "exact",
        "--loops",
        "-o",
        path,
    )
    assert "  store C" in answer.stdout
    path.with_suffix(".txt").write_text(answer.stdout[answer.stdout.index("for i in") :])
    return path


def test_a_result_that_is_read_prints_what_was_solved(result):
    printed = result.with_suffix(".txt").read_text()
    assert printed in ithaca("explain", result, "--quick", "--loops").stdout
    assert printed in ithaca("refine", result, "--samples", 1, "--loops").stdout
    evaluated = ithaca("evaluate", "mm", "--points", result, "--loops").stdout
    assert "point 1: design [i,j] C as a loop nest" in evaluated
    assert printed in evaluated
    assert "for i in" not in ithaca("explain", result, "--quick").stdout


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "mm"),
        ("network", "vgg16"),
        ("explain", "r.json"),
        ("refine", "r.json"),
        ("evaluate", "mm", "--points", "p.csv"),
    ],
)
def test_loops_are_no_json(command):
    answer = ithaca(*command, "--loops", "--json")
    assert answer.returncode == 2
    assert (
        answer.stderr
        == "ithaca: --loops cannot be given with --json, which prints one document; allowed: one of them\n"
    )
