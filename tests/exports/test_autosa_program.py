"""The exported C program compiles, passes, and notices mistakes."""

import re
import shutil
import subprocess

import pytest

from ithaca.exports.autosa.folder import AUTOSA
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

CC = shutil.which("cc") or shutil.which("gcc")
CXX = shutil.which("c++") or shutil.which("g++")
FLAGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-O1")

needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")


def run(program, folder):
    source, binary = folder / "kernel.c", folder / "kernel"
    source.write_text(program)
    subprocess.run(
        [str(CC), "-std=c99", *FLAGS, str(source), "-o", str(binary)],
        check=True,
        capture_output=True,
        text=True,
    )
    return subprocess.run([str(binary)], capture_output=True, text=True, timeout=30, check=False)


def scop(program):
    return program.partition("#pragma scop")[2].partition("#pragma endscop")[0]


@needs_cc
@pytest.mark.parametrize("dtype", ["fp32", "int16", "int8"])
def test_passes(row, dtype, configure, tmp_path):
    result = run(AUTOSA.export(configure(row, dtype))["kernel.c"], tmp_path)
    assert (result.stdout, result.returncode) == ("Passed\n", 0)


@needs_cc
def test_passes_where_int8_wraps(configure, tmp_path):
    result = run(AUTOSA.export(configure(dtype="int8", sizes={"k": 301}))["kernel.c"], tmp_path)
    assert (result.stdout, result.returncode) == ("Passed\n", 0)


@needs_cc
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("+ A", "- A"),
        ("B[j][k]", "B[k][j]"),
        ("A[i][k]", "A[k][i]"),
        ("* B", "+ B"),
        ("C[i][j] = 0;", ""),
        ("C[i][j] = 0;", "C[i][j] = 1;"),
        ("k < PADDED_k", "k < EXTENT_k - 1"),
        ("i < PADDED_i", "i < PADDED_i - 1"),
        ("j = 0; j", "j = 1; j"),
    ],
)
def test_a_broken_nest_fails(right, wrong, configure, tmp_path):
    # All extents are padded to 24, so that every index is legal for every array: wrong, but
    # defined.
    program = AUTOSA.export(configure(sizes={"i": 22, "j": 20, "k": 23}))["kernel.c"]
    nest = scop(program)
    assert right in nest
    result = run(program.replace(nest, nest.replace(right, wrong)), tmp_path)
    assert re.fullmatch(r"Failed: [1-9]\d* errors\n", result.stdout)
    assert result.returncode == 1


def test_the_scop_is_what_the_compiler_expects(configure):
    lines = [
        line.strip() for line in scop(AUTOSA.export(configure())["kernel.c"]).strip().splitlines()
    ]
    assert lines == [
        "for (int i = 0; i < PADDED_i; i++) {",
        "for (int j = 0; j < PADDED_j; j++) {",
        "C[i][j] = 0;",
        "for (int k = 0; k < PADDED_k; k++) {",
        "C[i][j] = C[i][j] + A[i][k] * B[j][k];",
        "}",
        "}",
        "}",
    ]


def test_extents_are_padded_to_whole_tiles(configure, table):
    sizes = {"i": 1024, "j": 1024, "k": 1024}
    t1, t2 = {"i": 205, "j": 172, "k": 64}, {"i": 41, "j": 4}
    pack = {"A": 16, "B": 16, "C_drain": 4}
    program = AUTOSA.export(configure(table[3], sizes=sizes, t1=t1, t2=t2, simd=8, pack=pack))[
        "kernel.c"
    ]
    for loop, extent in (("i", 1025), ("j", 1032), ("k", 1024)):
        assert f"#define EXTENT_{loop} 1024\n#define PADDED_{loop} {extent}\n" in program
    assert "static data_t B[PADDED_j][PADDED_k];" in program


@needs_cc
@pytest.mark.skipif(CXX is None, reason="no C++ compiler")
def test_is_cpp_too_because_the_generated_host_is(configure, tmp_path):
    source = tmp_path / "kernel.cpp"
    source.write_text(AUTOSA.export(configure())["kernel.c"])
    subprocess.run([str(CXX), *FLAGS, "-fsyntax-only", str(source)], check=True)


def nest_of(statement, extents, simd):
    output, inputs = parse_statement(statement)
    return LoopNest("mine", tuple(extents.items()), output, inputs, simd)


@needs_cc
def test_knows_no_names(row, configure, tmp_path):
    known = configure(row)
    new = dict(zip("ijkABC", "xyzPQR", strict=True))

    def rename(text):
        return re.sub(r"(?<![A-Za-z])[ijkABC](?![A-Za-z])", lambda match: new[match[0]], text)

    nest = nest_of("R[x][y] += P[x][z] * Q[y][z]", {"x": 5, "y": 7, "z": 9}, "z")
    old = known.tiling
    tiling = Tiling(
        {new[loop]: n for loop, n in old.array_part.items()},
        {new[loop]: n for loop, n in old.latency_hiding.items()},
        old.simd,
        {group.replace(group[0], new[group[0]], 1): n for group, n in old.pack.items()},
    )
    files = AUTOSA.export(
        ArrayConfiguration(
            nest, derive(nest, tuple(new[x] for x in row.dataflow), "R"), known.data, tiling
        )
    )
    expected = AUTOSA.export(known)
    assert files["kernel.c"] == rename(expected["kernel.c"])
    assert files["autosa_command.sh"].count("kernel[]->P[") == 1
    assert files["simd_info.json"] == expected["simd_info.json"]
    assert run(files["kernel.c"], tmp_path).stdout == "Passed\n"


@needs_cc
def test_a_nest_of_four_loops_and_three_inputs(tmp_path):
    nest = nest_of(
        "D[a][b][c] += E[a][b][m] * F[c][m] * G[m]", {"a": 3, "b": 5, "c": 4, "m": 7}, "m"
    )
    array = derive(nest, ("b", "c"), "D")
    tiling = Tiling(
        {"a": 2, "b": 4, "c": 4, "m": 4},
        {"a": 1, "b": 2, "c": 2},
        2,
        {g.name: 1 if g.tensor == "D" else 2 for g in array.packed_groups},
    )
    files = AUTOSA.export(ArrayConfiguration(nest, array, data_type("fp32"), tiling))
    assert (
        "array_part[4,4,2,4];kernel[]->latency[2,2,1];kernel[]->simd[1,2]"
        in files["autosa_command.sh"]
    )
    assert run(files["kernel.c"], tmp_path).stdout == "Passed\n"
