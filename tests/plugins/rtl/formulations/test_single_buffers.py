"""Single buffers: cycles in closed form against simulated arrays, what these compute, and what is
not confirmed."""

import random

import pytest

from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import REGIMES, Machine, Sums
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.processes import Loop, Meet, steps_of
from ithaca.formulations.systolic.buffering import choosable, single_buffered
from ithaca.formulations.systolic.cycles import holds_transfers
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.values import check_values
from ithaca.workloads.library import workload
from tests.command_line import succeed
from tests.whole_spaces import small_arrays

#: The machine of the platform rtl-open.
OPEN = load_platform("rtl-open").technology.machine

#: Designs whose sums are drained; and those in which buffers add them up.
DRAINED = [
    ("mm", ("i",)),
    ("mm", ("j",)),
    ("mm", ("i", "j")),
    ("mv", ("i",)),
    ("conv2d", ("o",)),
    ("conv2d", ("r",)),
    ("conv2d", ("o", "r")),
    ("conv2d", ("o", "c")),
    ("mttkrp", ("j",)),
    ("mttkrp", ("i", "j")),
    ("ttmc", ("i", "j")),
]
COLLECTED = [
    ("mm", ("k",)),
    ("mv", ("j",)),
    ("conv2d", ("i",)),
]
#: Designs whose buffers memory fills lane by lane: words or sums keep lanes together, or a chain of
#: buffers does.
IN_TURN = [
    ("mm", ("i", "k")),
    ("mm", ("j", "k")),
    ("mv", ("i", "j")),
    ("batched_mm", ("b", "i")),
    ("batched_mm", ("b", "k")),
    ("conv2d", ("o", "i")),
    ("conv2d", ("r", "i")),
    ("conv2d", ("r", "c")),
    ("depthwise_conv2d", ("o", "r")),
    ("mttkrp", ("i", "k")),
    ("ttm", ("i", "j")),
    ("ttmc", ("i", "m")),
]
#: Designs in which tensors are handed on beside sums, which are added last.
BESIDE_SUMS = [("mttkrp", ("k",)), ("mttkrp", ("j", "k")), ("ttmc", ("l",)), ("ttmc", ("k", "l"))]


def arrays(name, dataflow, machine, count, seed):
    """Random small arrays, some of whose buffers are single, and their simulated networks."""
    draw = random.Random(seed)
    while count:
        extents = {loop: draw.choice([4, 6, 8, 12, 16, 24]) for loop in workload(name).loops}
        extents |= {loop: draw.choice([1, 3]) for loop in "pq" if loop in extents}
        nest = workload(name, extents)
        array = derive(nest, dataflow, nest.output.tensor, Edition.CYCLE)
        some = choosable(array)
        single = [x for x in some if draw.random() < 0.5] or [draw.choice(some)]
        array = single_buffered(array, single)
        design = SystolicDesign(
            nest, array, data_type("fp32"), technology=Technology(machine=machine)
        )
        (configuration,) = small_arrays(design, 1, draw.randrange(2**30))
        yield design, configuration, array_network(design, configuration, machine)
        count -= 1


def errors(name, dataflow, machine, count, seed):
    apart = []
    for design, configuration, network in arrays(name, dataflow, machine, count, seed):
        run = simulate_network(network)
        assert run.finished
        apart.append(float(design.costs(configuration).latency / run.cycles - 1))
    return apart


def ids(case):
    return f"{case[0]} {','.join(case[1])}"


@pytest.mark.parametrize("case", DRAINED, ids=ids)
def test_cycles_of_drained_arrays_are_those_simulated(case):
    assert not any(errors(*case, Machine(), 8, 1))
    for machine in (Machine(mac=1), Machine(sums=Sums.LAST)):
        assert not any(errors(*case, machine, 2, 1))


@pytest.mark.parametrize("case", COLLECTED, ids=ids)
def test_cycles_of_arrays_that_add_sums_up_are_those_simulated(case):
    """Exact but where tiles are as short as FIFOs are deep."""
    off = errors(*case, Machine(), 16, 2)
    assert sum(error != 0 for error in off) <= 1
    assert max(map(abs, off)) <= 0.15


@pytest.mark.parametrize("case", IN_TURN, ids=ids)
def test_cycles_of_arrays_that_memory_fills_in_turn_are_close(case):
    """Exact in nearly all."""
    off = [*errors(*case, Machine(), 16, 4), *errors(*case, OPEN, 8, 5)]
    assert sum(error != 0 for error in off) <= 4
    assert sum(map(abs, off)) <= 0.01 * len(off)
    assert max(map(abs, off)) <= 0.1


@pytest.mark.parametrize("case", BESIDE_SUMS, ids=ids)
def test_cycles_of_tensors_that_are_handed_on_beside_sums_are_close(case):
    assert sum(map(abs, errors(*case, OPEN, 8, 6))) <= 0.002 * 8
    assert sum(map(abs, errors(*case, Machine(sums=Sums.LAST), 8, 6))) <= 0.015 * 8


@pytest.mark.parametrize("case", [*DRAINED, *COLLECTED], ids=ids)
def test_cycles_are_close_as_synthesis_times_loops(case):
    off = errors(*case, REGIMES["hls"], 6, 3)
    assert sum(error != 0 for error in off) <= 2
    assert sum(map(abs, off)) <= 0.02 * len(off)


@pytest.mark.slow
@pytest.mark.parametrize("case", [*DRAINED, *COLLECTED, *IN_TURN], ids=ids)
def test_many_cycles_are_those_simulated(case):
    off = errors(*case, Machine(), 150, 1000)
    assert sum(error != 0 for error in off) <= (20 if case in IN_TURN else 5)
    assert sum(map(abs, off)) <= 0.005 * len(off)


@pytest.mark.parametrize("case", [*DRAINED[:9], *COLLECTED, ("conv2d", ("r", "c"))], ids=ids)
def test_arrays_compute_what_they_should(case):
    name, dataflow = case
    draw, checked = random.Random(4), 0
    while checked < 3:
        extents = {loop: draw.choice([4, 6, 8]) for loop in workload(name).loops}
        extents |= {loop: draw.choice([1, 3]) for loop in "pq" if loop in extents}
        nest = workload(name, extents)
        array = derive(nest, dataflow, nest.output.tensor)
        single = [x for x in choosable(array) if draw.random() < 0.7]
        array = single_buffered(array, single)
        design = SystolicDesign(nest, array, data_type("int16"))
        (configuration,) = small_arrays(design, 1, draw.randrange(2**30))
        network = array_network(design, configuration, Machine())
        assert simulate_network(network).finished
        assert check_values(design, configuration, network, Sums.FIRST).wrong == 0
        checked += 1


@pytest.mark.parametrize("case", [DRAINED[2], DRAINED[3], *COLLECTED[:1], *IN_TURN], ids=ids)
def test_no_array_is_faster_than_its_transfers(case):
    """Limits on bandwidth rest on it."""
    for design, configuration, _ in arrays(*case, Machine(), 30, 6):
        costs = design.costs(configuration)
        for group, module in design.array.modules:
            if module.dram and holds_transfers(design.array):
                assert costs.latency >= costs.point.value(group.off_chip(module) / group.pack)


def test_a_single_buffer_is_one_process_that_meets_nobody():
    design, _, network = next(
        entry for entry in arrays("mm", ("i", "j"), Machine(), 20, 5) if len(entry[0].array.single)
    )
    for name in ("A", "B"):
        own = [p for p in network.processes if p.name.startswith(f"{name}_IO_L2_in")]
        meets = any(isinstance(step, Meet) for p in own for step in steps_of(p.steps))
        assert meets == (name not in design.array.single)
        loops = [step for p in own for step in steps_of(p.steps) if isinstance(step, Loop)]
        assert any(loop.writes for loop in loops)


SMALL = ["mm", "-s", "i=16,j=16,k=16", "--dtype", "int16", "--permutation", "C"]
SMALL += ["--limit", "dsp=40,bram18k=16"]


def test_results_are_simulated(tmp_path):
    file = tmp_path / "r.json"
    succeed("solve", *SMALL, "--dataflow", "i,j", "--double-buffer", "none", "-o", file)
    text = succeed("simulate", file, "--check-values").stdout
    assert "design [i,j] C single A,B" in text
    assert "cycle model edition: " in text
    assert "(+0.00%)" in text.split("cycle model edition: ")[1].splitlines()[0]
    command = [*SMALL, "--dataflow", "i,k", "--edition", "exact", "--double-buffer", "none"]
    succeed("solve", *command, "-o", file)
    assert "cycle model edition: " in succeed("simulate", file).stdout
