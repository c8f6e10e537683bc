"""Convolutions for AutoSA: options as in its published examples, programs that compile and pass."""

import re
import shutil
import subprocess

import pytest

from ithaca.exports.autosa.folder import AUTOSA, options, sa_sizes, simd_info
from ithaca.exports.autosa.requirements import design_obstacles, nest_obstacles
from ithaca.exports.autosa.scop import numbered_dataflows, reuse_loops
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload

CC = shutil.which("cc") or shutil.which("gcc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-O1")

#: Ten dataflows of a convolution in AutoSA's numbering (its docs/examples/cnn.rst).
DATAFLOWS = ("o", "r", "c", "i", "or", "oc", "oi", "rc", "ri", "ci")
SMALL = {"o": 6, "r": 5, "c": 7, "i": 6, "p": 3, "q": 4}


def convolution(dataflow, dtype="fp32", t1=None, t2=None, simd=2, **sizes):
    nest = workload("conv2d", {**SMALL, **sizes})
    array = derive(nest, tuple(dataflow), "cout")
    part = {"o": 4, "r": 4, "c": 4, "i": 4, **(t1 or {})}
    packs = {group.name: simd if group.tensor != "cout" else 1 for group in array.packed_groups}
    return ArrayConfiguration(
        nest,
        array,
        data_type(dtype),
        Tiling(part, {"o": 2, "r": 2, "c": 2, **(t2 or {})}, simd, packs),
    )


def run(program, folder):
    source, binary = folder / "kernel.c", folder / "kernel"
    source.write_text(program)
    subprocess.run(
        [str(CC), *FLAGS, str(source), "-o", str(binary)],
        check=True,
        capture_output=True,
        text=True,
    )
    return subprocess.run([str(binary)], capture_output=True, text=True, timeout=30, check=False)


def listed(options_text, name):
    found = re.search(rf"{name}\[([\d,]*)\]", options_text)
    assert found, options_text
    return [int(number) for number in found[1].split(",")]


# -- options, against published ones -----------------------------------------------------


@pytest.mark.parametrize(
    ("dataflow", "array_part", "latency", "simd"),
    [
        # AutoSA generated SIMD 2 from the first (one trip along c) and SIMD 8 from the others
        ("or", (8, 8, 4, 8), (4, 2, 4), (1, 1, 1, 2)),
        ("or", (64, 56, 14, 64), (4, 4, 7), (1, 1, 8)),
        ("o", (64, 56, 14, 64), (4, 4, 7), (1, 1, 8)),
        # docs/examples/cnn.rst
        ("o", (8, 4, 4, 8), (4, 2, 4), (1, 1, 1, 2)),
        ("ri", (4, 8, 8, 4), (2, 2, 2), (1, 1, 2)),
        ("ci", (4, 8, 8, 4), (2, 2, 2), (1, 1, 2)),
    ],
)
def test_options_of_published_convolutions(dataflow, array_part, latency, simd):
    loops = [*dataflow, *(x for x in "orci" if x not in dataflow)]
    part = dict(zip(loops, array_part, strict=True))
    hiding = dict(zip([x for x in loops if x != "i"], latency, strict=True))
    chosen = convolution(dataflow, t1=part, t2=hiding, simd=simd[-1], o=512, r=56, c=56, i=512, q=3)
    text = sa_sizes(chosen)
    assert listed(text, "space_time") == [DATAFLOWS.index(dataflow)]
    assert listed(text, "array_part") == list(array_part)
    assert listed(text, "latency") == list(latency)
    assert listed(text, "simd") == list(simd)


@pytest.mark.parametrize(
    ("dataflow", "array_part", "latency", "simd"),
    [  # docs/examples/mm.rst
        ("i", (32, 32, 32), (8, 8), [2]),
        ("k", (4, 32, 32), (8, 8), [2]),
        ("ij", (16, 16, 16), (8, 8), [2]),
        ("ik", (32, 4, 32), (16, 16), [2]),
        # by the same rules: loops that latency hiding leaves as they are, or with one trip, come
        # before k
        ("i", (32, 32, 32), (8, 1), [1, 2]),
        ("i", (32, 32, 32), (8, 32), [1, 2]),
        ("ik", (32, 4, 32), (1, 16), [1, 2]),
    ],
)
def test_simd_of_matrix_multiplications(dataflow, array_part, latency, simd):
    nest = workload("mm", {"i": 64, "j": 64, "k": 64})
    array = derive(nest, tuple(dataflow), "C")
    loops = [*dataflow, *(x for x in "ijk" if x not in dataflow)]
    hiding = dict(zip([x for x in loops if x != "k"], latency, strict=True))
    packs = {group.name: 2 for group in array.packed_groups}
    tiling = Tiling(dict(zip(loops, array_part, strict=True)), hiding, 2, packs)
    chosen = ArrayConfiguration(nest, array, data_type("fp32"), tiling)
    assert listed(sa_sizes(chosen), "simd") == simd


@pytest.mark.parametrize(
    ("window", "stride", "dilation", "expected"),
    [(3, 2, 1, [1, 1, 2]), (3, 1, 2, [2]), (1, 1, 1, [2])],
)
def test_a_window_that_jumps_is_no_candidate_for_simd(window, stride, dilation, expected):
    chosen = convolution("oi", p=window, q=window, s=stride, d=dilation)
    assert listed(sa_sizes(chosen), "simd") == expected


@pytest.mark.parametrize("dataflow", DATAFLOWS)
def test_weights_are_handed_on_where_the_design_does(dataflow):
    # AutoSA would reuse weights along r; the published commands ask for candidate 1 where only c is
    # in space
    configuration = convolution(dataflow)
    chosen = [option for option in options(configuration) if "select-rar-dep" in option]
    along_columns = "c" in dataflow and "r" not in dataflow
    assert chosen == (['--select-rar-dep="{kernel[]->__pet_ref_4[1]}"'] if along_columns else [])


@pytest.mark.parametrize(
    ("name", "expected"),
    [  # isl_mat_right_kernel of these matrices, printed with islpy
        ("mm", {"A": "j", "B": "i"}),
        ("conv2d", {"cin": "o", "w": "rc"}),
        ("pointwise_conv2d", {"cin": "o", "w": "cr"}),
        ("ttm", {"A": "k", "B": "ij"}),
        ("mttkrp", {"A": "j", "B": "il", "C": "ki"}),
        ("ttmc", {"A": "jk", "B": "kim", "C": "ilj"}),
        ("mv", {"A": "", "x": "i"}),
    ],
)
def test_reuse_is_numbered_as_isl_does(name, expected):
    nest = workload(name)
    assert {access.tensor: "".join(reuse_loops(nest, access)) for access in nest.inputs} == expected


def test_all_ten_dataflows_are_numbered_and_buildable():
    nest = workload("conv2d")
    assert (
        tuple("".join(d) for d in numbered_dataflows(nest))
        == DATAFLOWS
        == tuple("".join(d) for d in dataflows(nest))
    )
    assert all(design_obstacles(nest, derive(nest, tuple(d), "cout")) == () for d in DATAFLOWS)
    assert design_obstacles(nest, derive(nest, ("o", "r"), "cin")) != ()


def test_dilation_keeps_autosas_numbers():
    # AutoSA knows no reuse along r and p together, and neither does the array: the window runs
    # inside the PE
    assert tuple("".join(d) for d in dataflows(convolution("oi", d=2).nest)) == DATAFLOWS
    for number, dataflow in enumerate(DATAFLOWS):
        assert listed(sa_sizes(convolution(dataflow, d=2)), "space_time") == [number]


def test_loops_of_one_iteration_are_left_out():
    chosen = convolution("oc", t1={"r": 1}, t2={"r": 1}, r=1, p=1, q=3)
    text = sa_sizes(chosen)
    assert listed(text, "space_time") == [3]  # [o], [c], [i], [o,c]
    assert listed(text, "array_part") == [4, 4, 4]
    assert listed(text, "latency") == [2, 2]
    assert simd_info(chosen) == '{"kernel3": {"reduction": ["y", "y"]}}\n'


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("depthwise_conv2d", "SIMD loop o is parallel"),
        ("mttkrp", "SIMD loop l is not k, the first reduction loop"),
    ],
)
def test_other_nests_are_refused_with_the_reason(name, reason):
    assert any(reason in found for found in nest_obstacles(workload(name)))


def test_a_simd_loop_of_one_iteration_is_refused():
    with pytest.raises(InputError, match="SIMD loop i has one iteration"):
        AUTOSA.export(convolution("or", t1={"i": 1}, simd=1, i=1))


# -- programs ----------------------------------------------------------------------------


@needs_cc
@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize(
    "dtype",
    [
        "fp32",
        pytest.param("int16", marks=pytest.mark.slow),
        pytest.param("int8", marks=pytest.mark.slow),
    ],
)
def test_passes(dataflow, dtype, tmp_path):
    files = AUTOSA.export(convolution(dataflow, dtype))
    assert {"README.md", "autosa_command.sh", "kernel.c", "simd_info.json"} <= set(files)
    result = run(files["kernel.c"], tmp_path)
    assert (result.stdout, result.returncode) == ("Passed\n", 0)


@needs_cc
@pytest.mark.parametrize(
    ("dataflow", "dtype", "sizes"),
    [
        ("or", "int16", {"s": 2}),
        ("ri", "int8", {"s": 2}),
        ("oi", "fp32", {"d": 2}),
        ("oi", "int8", {"s": 4, "d": 2}),
        ("rc", "int8", {"d": 2}),
        ("r", "int8", {"s": 2, "d": 4}),
        ("oc", "fp32", {"p": 1, "q": 1, "s": 2}),
        ("or", "int8", {"i": 301}),
    ],
)
def test_strides_dilation_and_small_windows_pass(dataflow, dtype, sizes, tmp_path):
    result = run(AUTOSA.export(convolution(dataflow, dtype, **sizes))["kernel.c"], tmp_path)
    assert (result.stdout, result.returncode) == ("Passed\n", 0)


@needs_cc
@pytest.mark.parametrize(
    "name", ["ttm", "batched_mm", "attention_values", "mv", "pointwise_conv2d"]
)
def test_other_nests_pass(name, tmp_path):
    nest = workload(name, dict.fromkeys(workload(name).loops, 5))
    array = next(
        a
        for d in dataflows(nest)
        if not design_obstacles(nest, a := derive(nest, d, nest.output.tensor))
    )
    packs = {
        group.name: 2 if group.tensor != nest.output.tensor else 1 for group in array.packed_groups
    }
    tiling = Tiling(
        dict.fromkeys(nest.band, 4), dict.fromkeys(array.latency_hiding_loops, 2), 2, packs
    )
    result = run(
        AUTOSA.export(ArrayConfiguration(nest, array, data_type("fp32"), tiling))["kernel.c"],
        tmp_path,
    )
    assert (result.stdout, result.returncode) == ("Passed\n", 0)


def test_arrays_hold_what_the_padded_nest_reads():
    program = AUTOSA.export(convolution("oi", s=2, d=4))["kernel.c"]
    assert "#define PADDED_p 3\n" in program
    assert "#define PADDED_r 8\n" in program
    assert "static data_t cin[2 * (PADDED_r - 1) + 4 * (PADDED_p - 1) + 1][" in program
    assert "cin[2*r+4*p][2*c+4*q][i] * w[o][p][q][i];" in program


@needs_cc
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("cin[2*r+p]", "cin[r+p]"),
        ("[2*c+q]", "[2*c]"),
        ("w[o][p][q][i]", "w[o][p][0][i]"),
        ("i < PADDED_i", "i < EXTENT_i - 1"),
        ("r < PADDED_r", "r < PADDED_r - 1"),
        ("p = 0; p", "p = 1; p"),
    ],
)
def test_a_broken_nest_fails(right, wrong, tmp_path):
    program = AUTOSA.export(convolution("or", s=2))["kernel.c"]
    nest = program.partition("#pragma scop")[2].partition("#pragma endscop")[0]
    assert right in nest
    result = run(program.replace(nest, nest.replace(right, wrong)), tmp_path)
    assert re.fullmatch(r"Failed: [1-9]\d* errors\n", result.stdout)
