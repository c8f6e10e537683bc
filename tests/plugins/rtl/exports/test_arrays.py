"""Arrays that run: as many cycles as simulated word by word, every element as NumPy says, also with
stalls at random, and run after run; arrays that hang, hang; and faults in the hardware do not pass."""

import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ithaca.formulations.machine import Machine
from ithaca.formulations.systolic.buffering import choosable, single_buffered
from ithaca.formulations.systolic.derivation import derive
from ithaca.plugins.rtl.exports import tools
from ithaca.plugins.rtl.exports.tools import compiled, synthesize
from ithaca.workloads.library import workload_names
from ithaca.workloads.statement import parse_statement
from tests.plugins.rtl.exports.cases import (
    MACHINE,
    SPARSE,
    configuration,
    lint,
    random_case,
    two_level_case,
    write_case,
)
from tests.plugins.rtl.exports.waveform import cycles_high, drawn

pytestmark = pytest.mark.usefixtures("simulator")

PICTURE = Path(__file__).parents[4] / "docs" / "waveform.svg"

#: One array of each kind: sums that drains take, sums that are handed on in two and one dimensions.
KINDS = [("mm", "ij", 1), ("mttkrp", "ik", 2), ("mm", "k", 3)]


@contextmanager
def built(folder, case):
    """The stated facts of a case, and its compiled bench."""
    stated = json.loads(write_case(folder, case)["expected.json"])["rtl"]
    with compiled(folder) as bench:
        yield stated, bench


def check(folder, case, seed):
    """Run a case without stalls and with them, or see that it hangs as simulated."""
    with built(folder, case) as (stated, bench):
        plain, stalled = bench.run(), bench.run(stalls=seed + 1)
        again = bench.run(runs=3)
    assert plain.hangs == stalled.hangs == stated["hangs"]
    assert not plain.wrong
    assert not stalled.wrong
    if not plain.hangs:
        assert plain.cycles == stated["simulated"]
        assert plain.right == stalled.right == stated["elements"]
        assert stalled.cycles > plain.cycles
        assert again.right == 3 * stated["elements"]
        assert again.cycles <= 3 * plain.cycles
    return stated


@pytest.mark.parametrize(("name", "dataflow", "seed"), KINDS)
def test_hardware_takes_the_simulated_cycles_and_computes_what_numpy_does(
    name, dataflow, seed, folder
):
    check(folder, configuration(name, dataflow, seed, lanes=2), seed)


@pytest.mark.parametrize(
    ("name", "dataflow", "machine"),
    [
        ("mttkrp", "jk", MACHINE),
        ("ttmc", "l", replace(MACHINE, mac=8, fifo_depth=4)),
        ("mttkrp", "k", replace(MACHINE, fitted_fifos=False)),
    ],
)
def test_what_goes_beside_sums_has_as_many_words_on_its_way(name, dataflow, machine, folder):
    """FIFOs as long as those of the sums: the closed form is right, too."""
    stated = check(folder, configuration(name, dataflow, 2, machine=machine, lanes=3), 2)
    if machine.fitted_fifos:
        assert stated["cycle"] == stated["simulated"]


#: Floating point: sums of fp32 and of the type of words; handed on last, and first in deep pipelines,
#: where additions take several stages; lanes with sums of their own.
FLOATS = [
    ("mttkrp", "ik", "bf16", 32, MACHINE),
    ("mm", "k", "fp16", 16, MACHINE),
    ("mm", "ij", "fp32", 32, replace(MACHINE, mac=24)),
    ("mm", "ik", "fp32", 32, Machine(mac=13)),
    ("depthwise_conv2d", "r", "bf16", 16, MACHINE),
    ("ttmc", "ij", "fp16", 32, replace(MACHINE, mac=2)),
]


@pytest.mark.parametrize(("name", "dataflow", "data", "sum_bits", "machine"), FLOATS)
def test_floating_point_is_computed_bit_for_bit(name, dataflow, data, sum_bits, machine, folder):
    chosen, _ = configuration(name, dataflow, 1, data, machine, lanes=2)
    check(folder, (chosen, sum_bits), 1)


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed")
@pytest.mark.parametrize("data", ["int8", "fp16"])
def test_icarus_says_the_same(data, folder, monkeypatch):
    monkeypatch.setattr(tools, "find_verilator", lambda: None)
    check(folder, configuration("mm", "k", 1, data), 1)


@pytest.mark.parametrize("pack", [4, 8])
def test_the_simd_loop_need_not_be_innermost_in_memory(pack, folder):
    chosen, sum_bits = configuration("mm", "ij", 1)
    output, inputs = parse_statement("C[i][j] += A[i][k] * B[k][j]")
    nest = replace(chosen.nest, output=output, inputs=inputs)
    tiling = replace(chosen.tiling, pack={**chosen.tiling.pack, "B": pack})
    tiling = replace(tiling, latency_hiding={"i": 2, "j": 8}, array_part={"i": 8, "j": 32, "k": 8})
    array = derive(nest, ("i", "j"), "C")
    check(folder, (replace(chosen, nest=nest, design=array, tiling=tiling), sum_bits), 1)


@pytest.mark.parametrize("seed", [*range(7, 20), *range(7)])
def test_random_hardware_takes_the_simulated_cycles(seed, folder):
    names = workload_names()
    check(folder, random_case(seed, names[seed % len(names)]), seed)


@pytest.mark.parametrize("seed", range(12))
def test_packages_are_multiplied_by_what_their_places_select(seed, folder):
    check(folder, random_case(seed, SPARSE[seed % len(SPARSE)], blocks=True), seed)


@pytest.mark.parametrize("seed", range(120))
def test_single_buffers_take_the_simulated_cycles(seed, folder):
    names = workload_names()
    check(folder, random_case(seed, names[seed % len(names)], single=True), seed)


#: Kernels and dataflows with two levels of tiles.
TWO_LEVELS = [("mm", "ij"), ("conv2d", "or"), ("conv2d", "oc"), ("conv2d", "rc"), ("ttm", "ik")]


@pytest.mark.parametrize("seed", range(20))
def test_two_levels_of_tiles_take_the_simulated_cycles(seed, folder):
    name, dataflow = TWO_LEVELS[seed % len(TWO_LEVELS)]
    check(folder, two_level_case(seed, name, tuple(dataflow)), seed)


@pytest.mark.parametrize("seed", range(20))
def test_two_levels_and_single_buffers_take_the_simulated_cycles(seed, folder):
    """No closed form says them."""
    name, dataflow = TWO_LEVELS[seed % len(TWO_LEVELS)]
    stated = check(folder, two_level_case(seed, name, tuple(dataflow), single=True), seed)
    assert stated["cycle"] is None


def test_arrays_that_hang_in_simulation_hang(folder):
    case = configuration("mttkrp", "jk", 1, machine=Machine(), lanes=2)
    assert check(folder, case, 1)["hangs"]
    assert not check(folder, configuration("mttkrp", "jk", 1, lanes=2), 1)["hangs"]  # sums last


#: File, what stands there, and what a fault makes of it.
FAULTS = {
    "a row that is opened too soon": ("ithaca_opens.sv", "left <= BURST;", "left <= BURST - 1;"),
    "a buffer that is not read ahead": ("ithaca_outer.sv", "send ? row_next : row", "row"),
    "a dropped word": (
        "ithaca_fifo.sv",
        "if (store) ring[put] <= arrived;",
        "if (store && put != LAST) ring[put] <= arrived;",
    ),
    "swapped counters": (
        "ithaca_walk.sv",
        "localparam integer COUNT = COUNTS[32*axis+:32];",
        "localparam integer COUNT = COUNTS[32*(AXES-1-axis)+:32];",
    ),
    "a shorter channel": (
        "ithaca_fifo.sv",
        "localparam integer CAPACITY = DEPTH + LATE + STAGES;",
        "localparam integer CAPACITY = DEPTH + LATE + STAGES - 1;",
    ),
    "a wrong sign": (
        "ithaca_product.sv",
        ".in(whole[SUM-1:0])",
        ".in(-whole[SUM-1:0])",
    ),
    "a swap that comes late": (
        "ithaca_feeder.sv",
        "wire swap = filled && !feeding;",
        "reg swap; always @(posedge clk) swap <= !rst && !swap && filled && !feeding;",
    ),
    "a sum that is not begun anew": ("ithaca_mac.sv", "fresh ? begun : ", ""),
    "a bit that is not rounded": (
        "ithaca_float_round.sv",
        "(half && (rest || fraction[0]))",
        "(half && rest)",
    ),
    "places that are not skipped": (
        "ithaca_select.sv",
        "value = value + {3'd0, places[p]};",
        "value = value + 4'd1;",
    ),
    "a single buffer that is filled while it is fed": (
        "ithaca_feeder.sv",
        " && !(BANKS == 1 && feeding)",
        "",
    ),
    "a last sum that does not leave with the first word": (
        "ithaca_collector.sv",
        "first && parts[n] ? sum : kept",
        "kept",
    ),
    "an accumulator that is read too soon": (
        "ithaca_mac.sv",
        "MOST = EVEN < APART ? EVEN : APART;",
        "MOST = EVEN;",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_do_not_pass(fault, folder):
    file, there, instead = FAULTS[fault]
    case = configuration("mm", "ij", 1, lanes=2)
    if file in ("ithaca_opens.sv", "ithaca_outer.sv"):
        case = two_level_case(5, "mm", ("i", "j"))
    if file == "ithaca_select.sv":
        case = random_case(24, "mm", blocks=True)
    if "single" in fault or "sum that does not leave" in fault:
        chosen, sum_bits = configuration("mm", "k", 1, lanes=2)
        array = single_buffered(chosen.design, choosable(chosen.design))
        case = replace(chosen, design=array), sum_bits
    if "float" in file or "APART" in there:  # an accumulator is needed again after four turns
        case = configuration("mm", "ij", 1, "fp16", replace(MACHINE, mac=24), lanes=2)
    stated = json.loads(write_case(folder, case)["expected.json"])["rtl"]
    (path,) = folder.glob(f"*/{file}")
    text = path.read_text()
    assert text.count(there) == 1
    path.write_text(text.replace(there, instead))
    with compiled(folder) as bench:
        run = bench.run()
    assert (run.cycles, run.right) != (stated["simulated"], stated["elements"])


def test_the_waveform_of_the_guide_is_the_one_that_is_written(folder, tmp_path):
    write_case(folder, configuration("mm", "ij", 1))
    with compiled(folder, traced=True) as bench:
        run = bench.run(vcd=tmp_path / "wave.vcd")
    pe = "bench.array.PEs_i[{0}].PEs[{0}].PE.turn"
    signals = {
        "A_tready": "bench.A_tready",
        "A_IO_L2_in [0] swap": "bench.array.A_IO_L2_ins[0].A_IO_L2_in.swap",
        "PE [0][0] turn": pe.format(0),
        "PE [3][3] turn": pe.format(3),
        "C_tvalid": "bench.C_tvalid",
    }
    rows = cycles_high(tmp_path / "wave.vcd", signals)
    assert max(rows["C_tvalid"]) + 1 == run.cycles
    assert len(rows["PE [0][0] turn"]) == len(rows["PE [3][3] turn"])
    text = drawn(rows, "A run of 4 × 4 PEs: when ports and PEs are active")
    if os.environ.get("UPDATE_RTL"):
        PICTURE.write_text(text)
    assert PICTURE.read_text() == text


@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_is_clean(seed, folder):
    names = [*workload_names(), "two levels"]
    name = names[seed % len(names)]
    two = two_level_case(seed, "conv2d", ("o", "r"))
    write_case(folder, two if name == "two levels" else random_case(seed, name))
    lint(folder, "array.sv", "array_pe.sv")


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("dataflow", ["ij", "k"])
def test_a_synthesized_array_has_the_blocks_of_its_model(dataflow, single, folder):
    chosen, _ = configuration("mm", dataflow, 1, "int16")
    if single:
        array = single_buffered(chosen.design, choosable(chosen.design))
        chosen = replace(chosen, design=array)
    stated = json.loads(write_case(folder, (chosen, 16))["expected.json"])["rtl"]
    made = synthesize(folder, block_ram=True)
    assert (made.dsp, made.bram18k) == (stated["dsp"], stated["bram18k"])
    assert made.lut > made.lutram > 0
    assert made.ff > 0


def test_tiles_of_one_pack_are_in_block_ram_too(folder):
    chosen, _ = configuration("mv", "i", 1, "int16")
    part = {**chosen.tiling.array_part, "i": 8}
    hiding = {**chosen.tiling.latency_hiding, "i": 4}
    tiling = replace(
        chosen.tiling,
        array_part=part,
        latency_hiding=hiding,
        pack={**chosen.tiling.pack, "y_drain": 4},
    )
    files = write_case(folder, (replace(chosen, tiling=tiling), 16))
    assert ".PACK(4), .WORD(1), .PACKS(1)" in files["array.sv"]
    assert (
        synthesize(folder, block_ram=True).bram18k
        == json.loads(files["expected.json"])["rtl"]["bram18k"]
    )
