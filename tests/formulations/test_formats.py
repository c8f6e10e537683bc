"""Formats of tensors: what multiplies them, and where commands, files and tools state or refuse
them."""

import csv
import json
from fractions import Fraction
from itertools import product

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.formats import FORMATS, multiplied
from ithaca.formulations.systolic.points import load_points
from ithaca.workloads.formats import kinds, network_with_formats, with_formats
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from tests.command_line import ithaca, refused, succeed

MM = ("solve", "mm", "-s", "i=2,j=4,k=8", "--limit", "dsp=8", "--dataflow", "i,j")

NETWORK = """\
name: tiny
layers:
  - {op: kernel, name: a, kernel: mm, sizes: {i: 4, j: 8, k: 32}, format: {W: int4, A: int8}}
  - {op: kernel, name: b, kernel: mm, sizes: {i: 4, j: 8, k: 32}, format: "B=mxfp4,A=bf16"}
  - {op: kernel, name: c, kernel: mm, sizes: {i: 4, j: 8, k: 32}}
"""


# -- arithmetic ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formats", "arithmetic"),
    [
        (("int4", "int8"), "int8"),
        (("int3", "int5"), "int5"),
        (("int4", "bf16"), "bf16"),
        (("int8", "fp16"), "fp16"),
        (("int12", "fp16"), "fp16"),
        (("int12", "bf16"), "fp32"),
        (("int16", "bf16"), "fp32"),
        (("fp8e4m3", "fp8e5m2"), "bf16"),
        (("fp16", "bf16"), "fp32"),
        (("mxfp4", "bf16"), "bf16"),
        (("mxfp8", "fp16"), "fp32"),
    ],
)
def test_products_are_made_in_the_least_format_that_holds_both(formats, arithmetic):
    assert multiplied(tuple(FORMATS[name] for name in formats)).name == arithmetic
    nest = with_formats(workload("mm"), dict(zip("AB", formats, strict=True)), "format")
    for data in (data_type("fp32").of(nest), data_type("fp32").of(nest).of(nest)):
        assert data.arithmetic.name == arithmetic
        assert data.built.dsp(2) == data_type(arithmetic).built.dsp(2)
        assert data.accumulator_factor == data_type(arithmetic).accumulator_factor


def values(form):
    """Positive values of a small format, without its shared scale."""
    if form.integer:
        return set(map(Fraction, range(1, 2 ** (form.bits - 1) + 1)))
    mantissas = range(2 ** (form.significand - 1))
    bias, top = 2 ** (form.exponent - 1) - 1, 2**form.exponent - 2
    normal = {
        (1 + Fraction(m, len(mantissas))) * Fraction(2) ** (e - bias)
        for m, e in product(mantissas, range(1, top + 1))
    }
    return normal | {Fraction(m, len(mantissas)) * Fraction(2) ** (1 - bias) for m in mantissas[1:]}


SMALL = [form for form in FORMATS.values() if form.bits <= 8 and not form.shared]


@pytest.mark.parametrize("form", SMALL, ids=lambda form: form.name)
def test_a_format_holds_another_where_it_has_its_values(form):
    own = values(form)
    for other in SMALL:
        if form.holds(other):
            assert values(other) <= own, (form.name, other.name)


def test_data_types_of_one_format_are_those_of_the_option():
    nest = with_formats(workload("mm"), "A=int8,B=int8", "format")
    assert data_type("fp32").of(nest) == data_type("int8")
    part = with_formats(workload("mm"), "B=int4", "format")
    assert data_type("int4").of(part) == data_type("int4")
    assert data_type("int8").of(with_formats(nest, "C=int16", "format")) == data_type("int8/16")


# -- tensors ---------------------------------------------------------------------------


def test_kinds_of_tensors():
    assert kinds(workload("conv2d")) == {"cin": "A", "w": "W", "cout": "S"}
    assert kinds(workload("batched_mm")) == {"A": "A", "B": "A", "C": "S"}
    named = with_formats(workload("batched_mm"), "A=int8", "format")
    assert named.formats == (("A", "int8"), ("B", "int8"))
    over = with_formats(with_formats(workload("mm"), "A=int8,B=int4", "x"), "W=int2", "x")
    assert over.formats == (("A", "int8"), ("B", "int2"))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("W", "--format is 'W'; allowed: tensors, or W, A and S for weights, activations and "),
        ("Q=int4", "--format: 'Q' is no tensor; allowed: A, B, C, W, S"),
        ("W=int4,W=int8", "--format: W occurs twice; allowed: once"),
        ("W=int33", "unknown format of B 'int33'; allowed: fp32, "),
        ("W=int8,A=int8,S=int8", "format of C, sums of int8, is 'int8'; allowed: int16, int32"),
        ("W=bf16,A=bf16,S=int32", "sums of bf16, is 'int32'; allowed: fp32, bf16"),
        ("W=fp32,A=fp32,S=bf16", "sums of fp32, is 'bf16'; allowed: fp32"),
    ],
)
def test_words_that_are_no_formats(words, line):
    assert line in refused(*MM, "--format", words)


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (("--edition", "odyssey"), "odyssey publishes one type of all tensors; allowed: fp32, "),
        (("--platform", "rtl-open"), "rtl-open, whose hardware has one type of all tensors; "),
        (("--for", "autosa"), "format A=int8,B=int4: C programs that AutoSA reads have one type"),
    ],
)
def test_what_lacks_formats_refuses_them(more, line):
    assert line in refused(*MM, "--format", "W=int4,A=int8", *more)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("S=int16", "--accumulator 16 does not go with --format S=int16; allowed: one of them"),
        ("B=fp32", "--accumulator of fp32 is '16'; allowed: 32"),
    ],
)
def test_widths_of_sums_that_do_not_go_with_formats(words, line):
    stated = ("--dtype", "int8", "--accumulator", "16", "--format", words)
    assert line in refused(*MM, *stated)


def test_rows_of_other_than_whole_bytes_are_refused():
    nest = ("C[i,j] += A[i,k,q] * B[k,j,q]", "-s", "i=4,j=8,k=8,q=3", "--untiled", "q")
    line = refused("solve", *nest, "--simd", "k", "--format", "B=int4", "--dtype", "int8")
    assert "rows of 3 words are no whole bytes; allowed: multiples of 2" in line


def test_kernel_files_state_them(tmp_path):
    file = tmp_path / "own.yaml"
    document = "name: own\nstatement: Y[i][j] += X[i][k] * V[j][k]\nextents: {i: 4, j: 4, k: 8}\n"
    for words in ("{W: int4, A: int8}", "V=int4,X=int8"):
        file.write_text(document + f"format: {words if words[0] == '{' else repr(words)}\n")
        assert workload(str(file)).formats == (("X", "int8"), ("V", "int4"))
    file.write_text(document + "format: {Z: int4}\n")
    with pytest.raises(InputError, match="format: 'Z' is no tensor; allowed: X, V, Y, W, A, S"):
        workload(str(file))


# -- files -----------------------------------------------------------------------------


def test_results_state_them(tmp_path):
    file, table = tmp_path / "r.json", tmp_path / "p.csv"
    succeed(*MM, "--format", "W=int4,A=int8", "-o", file)
    document = json.loads(file.read_text())
    assert document["workload"]["format"] == "A=int8,B=int4"
    assert document["workload"]["dtype"] == "int8/32"
    assert "confirmed by enumeration" in succeed("verify", file).stdout
    best = document["best"]["metrics"]
    document["workload"]["format"] = "A=int8,B=int8"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(document))
    assert ithaca("verify", forged).returncode == 2
    succeed("evaluate", file, "--table", table)
    (point,) = load_points([*csv.DictReader(table.read_text().splitlines())], workload("mm"), None)
    design, configuration = point
    costs = design.costs(configuration)
    moved = best["off_chip_words_by_array"]
    assert costs.latency == best["latency"]
    assert costs.off_chip_bytes == moved["A"] + Fraction(moved["B"], 2) + 4 * moved["C"]
    assert "format A=int8,B=int4" in refused("export", file, "--to", "autosa", "-o", tmp_path / "x")


@pytest.mark.ci
def test_networks_state_them(tmp_path):
    source, file = tmp_path / "net.yaml", tmp_path / "n.json"
    source.write_text(NETWORK)
    network = find_network(str(source))
    own = [layer.nest.labels.get("format") for layer in network.layers]
    assert own == ["A=int8,B=int4", "A=bf16,B=mxfp4", None]
    one = network_with_formats(network, "W=int8,A=int8", "--format")
    assert [layer.count for layer in one.layers] == [3]
    with pytest.raises(InputError, match="--format: 'X' is no tensor; allowed: A, B, C, W, S"):
        network_with_formats(network, "X=int8", "--format")
    command = ("network", source, "--dtype", "int8", "--limit", "dsp=16", "--dataflow", "i,j")
    succeed(*command, "-o", file)
    layers = json.loads(file.read_text())["layers"]
    for layer, words in zip(layers, own, strict=True):
        options = ("--format", words) if words else ("--dtype", "int8")
        alone = ("solve", "mm", "-s", "i=4,j=8,k=32", "--limit", "dsp=16", "--dataflow", "i,j")
        best = json.loads(succeed(*alone, *options, "--json").stdout)["best"]
        assert layer["value"] == best["metrics"]["latency"]
        assert layer["best"]["metrics"]["energy"] == best["metrics"]["energy"]
    succeed("verify", file)
    line = refused(*command, "--mode", "shared-array")
    assert "words of one width and convert none, but tiny has A=int8" in line
    assert "or state the widest of all with network --format (none: --dtype)" in line
    none = network_with_formats(network, "none", "--format")
    assert not any(layer.nest.formats for layer in none.layers)


def test_layers_of_which_formats_say_nothing_are_named(tmp_path):
    """Products of activations have no weights: their tensors stay as they are, and a line says so."""
    source = tmp_path / "net.yaml"
    sizes = "sizes: {i: 4, j: 8, k: 32}"
    scores = "{op: kernel, name: scores, kernel: batched_mm, sizes: {b: 2, i: 4, j: 8, k: 32}}"
    source.write_text(
        f"name: tiny\nlayers: [{{op: kernel, name: a, kernel: mm, {sizes}}}, {scores}]\n"
    )
    network = find_network(str(source))
    alone = network_with_formats(network, "W=int4", "--format").remarks
    both = network_with_formats(network, "W=int4,A=int8", "--format").remarks
    line = "--format W=int4 says nothing of scores: their tensors are as without it"
    assert [*alone] == [*both, line]


@pytest.mark.parametrize(
    ("statement", "words", "formats"),
    [
        ("O[m,p] += W[m,c] * I[c,p]", "W=int4", {"W": "int4"}),
        ("O[m,p] += W[m,c] * I[c,p]", "W=int4,A=int8", {"W": "int4", "I": "int8"}),
        (
            "O[m,p] += Filter[m,c] * Inputs[c,p]",
            "W=int4,A=int8",
            {"Filter": "int4", "Inputs": "int8"},
        ),
        ("O[m,p] += S[m,c] * I[c,p]", "S=int4", {"S": "int4"}),
        ("O[m,p] += X[m,c] * Y[c,p]", "W=int4,A=int8", {"X": "int8", "Y": "int4"}),
    ],
)
def test_names_of_tensors_are_no_kinds_and_weights_are_known_by_theirs(statement, words, formats):
    nest = statement_nest(statement, dict.fromkeys("mcp", 4))
    assert dict(with_formats(nest, words, "--format").formats) == formats
