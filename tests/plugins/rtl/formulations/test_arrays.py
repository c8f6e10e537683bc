"""Networks of systolic arrays, against cycles that two independent simulations and RTL agree on
(``golden/cycles_*.csv``)."""

import csv
import gzip
import json

import pytest

from ithaca import simulate, solve
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import IDEAL, REGIMES, Machine, MemoryTiming, Sums
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.trace import phase_trace, word_dump
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.reference import DATA
from tests.refusals import refusals

GOLDEN = {"mm": "mm", "mm_more": "mm", "conv": "conv2d", "conv_sum_last": "conv2d"}


@pytest.fixture
def golden(tmp_path, request):
    path = tmp_path / "points.csv"
    path.write_bytes(
        gzip.decompress((DATA / "golden" / f"cycles_{request.param}.csv.gz").read_bytes())
    )
    return path


@pytest.mark.parametrize(("golden", "nest"), GOLDEN.items(), indirect=["golden"], ids=GOLDEN)
def test_cycles_are_the_golden_ones(golden, nest, request):
    sums = "last" if "sum_last" in request.node.callspec.id else "first"
    ran = ithaca("simulate", nest, "--points", golden, "--sums", sums, "--json")
    assert not ran.returncode, ran.stderr
    found = [point["cycles"] for point in json.loads(ran.stdout)["points"]]
    with golden.open(newline="") as file:
        assert found == [int(row["cycles"]) for row in csv.DictReader(file)]
    assert len(found) > 40


def design(nest, dataflow, permutation, **sizes):
    sized = workload(nest, sizes)
    return SystolicDesign(sized, derive(sized, dataflow, permutation), data_type("fp32"))


SMALL = design("mm", ("i", "j"), "C", i=8, j=8, k=8)
TILING = Tiling({"i": 4, "j": 4, "k": 4}, {"i": 2, "j": 2}, 2, {"A": 2, "B": 2, "C_drain": 2})


def cycles(machine, memory=IDEAL):
    run = simulate_network(array_network(SMALL, SMALL.configuration(TILING), machine, memory))
    assert run.finished
    return run.cycles


def test_every_pe_takes_every_trip():
    run = simulate_network(array_network(SMALL, SMALL.configuration(TILING), Machine()))
    pes = [activity for activity in run.activities if activity.module == "PE"]
    # 2 × 2 PEs; 8 tiles of 2 · 2 · 2 trips of two words
    assert [pe.turns for pe in pes] == [8 * 8] * 4
    assert sum(pe.turns for pe in pes) * 2 == 8**3


def test_what_slows_a_machine_makes_runs_longer():
    ideal = cycles(Machine())
    assert all(
        cycles(machine) > ideal for machine in (REGIMES["hls"], Machine(hop=4), Machine(mac=30))
    )
    slower = (
        MemoryTiming(latency=50),
        MemoryTiming(refresh=20, refresh_period=100),
        MemoryTiming(bandwidth=2),
    )
    assert all(cycles(Machine(), memory) > ideal for memory in slower)
    assert cycles(Machine(), MemoryTiming(bandwidth=10**6)) == ideal


def test_shared_bandwidth_bounds_a_run_by_the_bytes_it_moves():
    words = SMALL.costs(SMALL.configuration(TILING)).off_chip_words
    moved = 4 * int(words)
    for bandwidth in (1, 2, 3):
        found = cycles(Machine(), MemoryTiming(bandwidth=bandwidth))
        assert moved / bandwidth - 1 <= found <= moved / bandwidth * 1.6


def test_arrays_that_cannot_be_built_are_refused():
    unbuildable = design("mm", ("i", "j"), "A", i=8, j=8, k=8)
    with pytest.raises(InputError, match=r"cannot be simulated: partial sums of C are copied in"):
        array_network(unbuildable, {}, Machine())


@pytest.mark.parametrize("name", ["mttkrp", "ttmc"])
def test_products_of_three_tensors_run_and_may_hang_where_sums_come_first(name):
    nest = workload(name, {})
    small = nest.with_sizes(dict.fromkeys(nest.loops, 8))
    ended = {}
    for sums in Sums:
        found = []
        for loop in small.reduction_loops:
            if loop not in small.band:
                continue
            array = derive(small, (loop,), small.output.tensor)
            if not array.buildable:
                continue
            made = SystolicDesign(small, array, data_type("fp32"))
            packs = {group.name: 1 for group in array.packed_groups}
            tiling = Tiling(
                dict.fromkeys(array.band, 4), dict.fromkeys(array.latency_hiding_loops, 2), 1, packs
            )
            network = array_network(made, made.configuration(tiling), Machine(sums=sums))
            found.append(simulate_network(network).finished)
        ended[sums] = found
    assert ended[Sums.LAST]
    assert all(ended[Sums.LAST])


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("result") / "result.json"
    solve("mm", i=32, j=32, k=32, dataflow="i,j").save(path)
    return path


def test_the_command_says_where_the_time_goes(result):
    ran = ithaca("simulate", result)
    assert not ran.returncode, ran.stderr
    assert "cycles" in ran.stdout.splitlines()[1]
    assert "exact model edition" in ran.stdout
    assert "PE" in ran.stdout
    found = json.loads(ithaca("simulate", result, "--json").stdout)["simulation"]
    assert f"{found['cycles']:,} cycles" in ran.stdout
    shares = ("working", "entering", "starved", "held_up", "meeting", "idle")
    for module in found["modules"]:
        assert sum(module[name] for name in shares) == pytest.approx(1, abs=1e-9)
    assert simulate(result).cycles == found["cycles"]


def test_a_simulation_is_an_answer(result, tmp_path):
    found = simulate(result)
    assert (
        repr(found)
        == f"<Simulation: mm (i=32, j=32, k=32) fp32, design [i,j] C, simulated: {found.cycles:,} cycles>"
    )
    table = found.to_dataframe()
    assert list(table.index) == [module.module for module in found.run.modules]
    assert table.loc["PE", "working"] == next(
        m.working for m in found.run.modules if m.module == "PE"
    )
    assert "held_up" in found._repr_html_()
    ithaca("simulate", result, "--table", tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text() == found.table
    with pytest.raises(
        InputError,
        match="foo is 1, which simulate does not take; allowed: source, layer, design, regime",
    ):
        simulate(result, foo=1)


def test_options_and_columns_of_the_machine_do_not_contradict_each_other(tmp_path):
    row = {"dataflow": "i,j", "reuse": "C", "sizes": '{"i": 4, "j": 4, "k": 4}', "array_part": '{"i": 4, "j": 4, "k": 4}',
           "latency_hiding": '{"i": 2, "j": 4}', "simd": "1",
           "pack": '{"A_IO_L2_in": 1, "B_IO_L2_in": 1, "C_drain_IO_L1_out": 1}', "mac": "8"}  # fmt: skip
    with (path := tmp_path / "p.csv").open("w") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    assert not ithaca("simulate", "mm", "--points", path, "--param", "h=2").returncode
    for words in (("--param", "h=2,m=8"), ("--regime", "hls")):
        ran = ithaca("simulate", "mm", "--points", path, *words)
        line = f"ithaca: {path}: column 'mac' says what an option of the machine does; allowed: one of them\n"
        assert (ran.returncode, ran.stderr) == (2, line)


def test_traces_show_every_loop_and_every_word(result, tmp_path):
    ran = ithaca(
        "simulate", result, "--trace", tmp_path / "run.json", "--vcd", tmp_path / "run.vcd"
    )
    assert not ran.returncode, ran.stderr
    total = simulate(result).cycles
    assert total is not None
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    threads = {}
    for event in events:
        if event["ph"] == "X":
            place = event["pid"], event["tid"]
            assert event["ts"] >= threads.get(place, 0)  # phases of a process follow each other
            threads[place] = event["ts"] + event["dur"]
    assert max(threads.values()) == total
    dump = (tmp_path / "run.vcd").read_text()
    times = [int(line[1:]) for line in dump.splitlines() if line.startswith("#")]
    assert times == sorted(times)
    assert times[-1] == total


def test_words_of_a_dump_stay_within_their_fifos():
    network = array_network(SMALL, SMALL.configuration(TILING), Machine())
    most = max(fifo.capacity for fifo in network.fifos)
    values = {
        int(line.split()[0][1:], 2)
        for line in word_dump(network).splitlines()
        if line.startswith("b")
    }
    assert values <= set(range(most + 1))
    assert max(values) > 1
    assert phase_trace(network)["traceEvents"]


@pytest.mark.parametrize(
    ("options", "line"),
    refusals("formulations-simulation-arrays", "bad_input_is_one_line"),
)
def test_bad_input_is_one_line(result, tmp_path, options, line):
    ran = ithaca("simulate", result, *options, cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr == f"{line}\n"


def test_traces_to_unwritable_places_are_refused_before_anything_runs(result, tmp_path):
    ran = ithaca("simulate", result, "--trace", tmp_path / "none" / "run.json")
    assert ran.returncode == 2
    assert (
        ran.stderr
        == f"ithaca: cannot write {tmp_path / 'none' / 'run.json'}: {tmp_path / 'none'} is not an existing folder\n"
    )
    assert not ran.stdout


def test_waits_are_followed_to_what_causes_them():
    run = simulate_network(
        array_network(SMALL, SMALL.configuration(TILING), REGIMES["rtl"], MemoryTiming(bandwidth=1))
    )
    roots = {module.module: module.root for module in run.modules}
    # memory that moves a byte a cycle holds everything up, by way of buffers, their barriers and
    # other PEs
    assert {roots["PE"], roots["A_IO_L2_in fill"], roots["B_IO_L2_in fill"]} <= {
        "A_IO_L3_in",
        "B_IO_L3_in",
        "C_drain_IO_L3_out",
    }
    (pes,) = (module for module in run.modules if module.module == "PE")
    assert pes.cause == pes.chain[0]
    assert all(wait.cycles for wait in pes.chain)
    by_name = {activity.process: activity for activity in run.activities}
    for wait in pes.chain[1:]:
        assert any(wait in activity.waits[:1] for activity in by_name.values())
