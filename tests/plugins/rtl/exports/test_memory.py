"""The array with AXI4 masters: every byte of memory right after done, without stalls and with them,
run after run, no rule of AXI broken; and faults in the masters do not pass."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ithaca.files.writing import write_folder
from ithaca.formulations.systolic.derivation import derive
from ithaca.plugins.rtl.exports import memory_text, tools
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.tools import compiled, find_program
from ithaca.workloads.statement import parse_statement
from tests.plugins.rtl.exports.cases import configuration, lint, random_case, two_level_case

SNAPSHOT = Path(__file__).parents[3] / "data" / "rtl" / "written" / "mm_ij_array_axi4.sv"

simulated = pytest.mark.usefixtures("simulator")

#: Bandwidth in bytes per cycle, latency, and seed of stalls.
MEMORIES = [
    {},
    {"memory": {"latency": 100, "bandwidth": 7}},
    {"memory": {"latency": 9}, "stalls": 5},
    {"memory": {"latency": 100, "bandwidth": 64}, "stalls": 6, "runs": 3},
]


def write(folder, case):
    """Write a case with AXI4 masters; what is stated of it."""
    chosen, sum_bits = case
    files = rtl_tool(sum_bits, "axi4").export(chosen)
    write_folder(folder, files)
    return json.loads(files["expected.json"])["rtl"]


def replaced(path, there, instead):
    """Change what stands once in a file."""
    text = path.read_text()
    assert text.count(there) == 1
    path.write_text(text.replace(there, instead))


def check(folder, case, *, ahead=False):
    """Run a case with all memories: every element is right, and no rule is broken."""
    stated = write(folder, case)
    with compiled(folder) as bench:
        runs = [bench.run(**options) for options in MEMORIES]
    for run in runs:
        assert (run.right, run.wrong, run.rules, run.hangs) == (stated["elements"], 0, (), False)
    assert runs[0].cycles < min(run.cycles for run in runs[1:])
    assert (runs[0].cycles < stated["simulated"]) == ahead
    return runs


def test_text_is_as_it_was():
    chosen, sum_bits = configuration("mm", "ij", 1)
    text = rtl_tool(sum_bits, "axi4").export(chosen)["array_axi4.sv"]
    if os.environ.get("UPDATE_RTL"):
        SNAPSHOT.write_text(text)
    assert text == SNAPSHOT.read_text()


def test_streams_stay_as_they_are():
    chosen, sum_bits = configuration("mm", "ij", 1)
    streams, masters = (rtl_tool(sum_bits, memory).export(chosen) for memory in ("stream", "axi4"))
    changed = {name for name in streams if streams[name] != masters[name]}
    assert changed == {
        "README.md",
        "bench.sv",
        "expected.json",
        "hardware.json",
        "synthesize.tcl",
        "vectors/A.hex",
        "vectors/B.hex",
        "vectors/C.hex",
    }
    more = {name.split("/")[0] for name in masters.keys() - streams.keys()}
    assert more == {"array_axi4.sv", "axi4", "board", "dram"}


@simulated
def test_tensors_in_memory_are_read_and_written(folder):
    check(folder, configuration("mm", "ij", 1, lanes=2))


@pytest.mark.skipif(find_program("iverilog") is None, reason="Icarus Verilog is not installed")
def test_icarus_runs_masters_too(folder, monkeypatch):
    monkeypatch.setattr(tools, "find_verilator", lambda: None)
    runs = check(folder, configuration("mm", "ij", 1))
    assert {run.simulator for run in runs} == {"Icarus Verilog"}


@simulated
@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("conv2d", 3),
        ("conv2d", 11),
        ("conv2d", 5),
        ("depthwise_conv2d", 1),
        ("mttkrp", 2),
        ("ttmc", 4),
    ],
)
def test_arrays_of_any_kernel_read_and_write(name, seed, folder):
    check(folder, random_case(seed, name))


@simulated
@pytest.mark.parametrize(
    ("name", "dataflow", "seed"), [("conv2d", "or", 1), ("mm", "ij", 0), ("ttm", "ik", 4)]
)
def test_rows_of_outer_tiles_are_read_and_written(name, dataflow, seed, folder):
    """Ahead of time, so in fewer cycles than where each row opens a burst in turn."""
    check(folder, two_level_case(seed, name, tuple(dataflow)), ahead=True)


@simulated
@pytest.mark.parametrize(
    ("name", "seed"), [("attention_values", 1), ("mm", 25), ("mv", 20), ("batched_mm", 2)]
)
def test_packages_are_read_from_memory(name, seed, folder):
    """Packages of int8 and fp32: 8, 16 and 32 bytes."""
    check(folder, random_case(seed, name, blocks=True))


@simulated
def test_elements_that_are_steps_apart_are_bursts_of_their_own(folder):
    chosen, sum_bits = configuration("mm", "ij", 1, "int16", lanes=2)
    output, inputs = parse_statement("C[j][i] += A[k][2*i] * B[j][k]")
    nest = replace(chosen.nest, output=output, inputs=inputs)
    array = derive(nest, ("i", "j"), "C")
    tiling = replace(chosen.tiling, pack={"A": 4, "B": 4, "C_drain": 1})
    check(folder, (replace(chosen, nest=nest, design=array, tiling=tiling), sum_bits))


@simulated
@pytest.mark.parametrize("width", [32, 128, 512])
def test_masters_may_be_of_any_width(width, folder, monkeypatch):
    monkeypatch.setattr(memory_text, "beat_bits", lambda bits: width)
    stated = write(folder, configuration("mm", "k", 1, lanes=2))
    assert f"parameter integer A_DATA = {width}" in (folder / "array_axi4.sv").read_text()
    with compiled(folder) as bench:
        run = bench.run(memory={"latency": 30, "bandwidth": 20}, stalls=2)
    assert (run.right, run.wrong, run.rules) == (stated["elements"], 0, ())


#: File, what stands there, what a fault makes of it, and what is said of it.
FAULTS = {
    "a burst of another length": (
        "ithaca_bursts.sv", "length <= 8'(now - 1'b1);", "length <= 8'(now);", "rule",
    ),
    "a burst across 4 KiB": (
        "ithaca_bursts.sv", "left < page ? left : page;", "left;", "border of 4 KiB",
    ),
    "a strobe too many": ("ithaca_writer.sv", "mask << (to", "{BYTES{1'b1}} << (to", "beside"),
    "a dropped strobe": ("ithaca_writer.sv", "mask << (to", "(mask >> 1) << (to", "wrong"),
    "a dropped last beat": (
        "ithaca_writer.sv", "assign wlast = sent + 9'd1 == length;",
        "assign wlast = sent + 9'd2 == length;", "rule",
    ),
    "an offer that is taken back": (
        "ithaca_bursts.sv", "else if (ready) valid <= 1'b0;", "else valid <= 1'b0;", "stay",
    ),
    "padding that is read": (
        "ithaca_reader.sv", "read_exists[RUN*l+b] ? run[b*BITS+:BITS] : {BITS{1'b0}}",
        "run[b*BITS+:BITS]", "wrong",
    ),
    "a pack before its beats": (
        "ithaca_reader.sv", "BEAT'(reach >> SHIFT) < fill_beat", "1'b1", "wrong",
    ),
    "an answer that is not awaited": (
        "ithaca_writer.sv", "busy = left != 0 || bursting || asked != 0;",
        "busy = left != 0;", "rule",
    ),
}  # fmt: skip


@simulated
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_do_not_pass(fault, folder):
    file, there, instead, said = FAULTS[fault]
    write(folder, configuration("mm", "ij", 1, lanes=2))
    replaced(folder / "axi4" / file, there, instead)
    with compiled(folder) as bench:
        run = bench.run(memory={"latency": 20}, stalls=3)
    if said == "wrong":
        assert run.wrong
    elif said == "rule":
        assert run.rules or run.hangs
    else:
        assert any(said in rule for rule in run.rules)


@simulated
@pytest.mark.parametrize("seed", range(4))
def test_what_is_written_is_clean(seed, folder):
    name = ["mm", "conv2d", "mttkrp", "mm"][seed]
    write(folder, random_case(seed, name, blocks=seed == 3))
    lint(folder, "array.sv", "array_pe.sv", "array_axi4.sv")
