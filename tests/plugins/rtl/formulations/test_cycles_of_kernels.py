"""The closed form of cycles on random arrays of every kernel, against simulated ones."""

import random
from dataclasses import replace
from statistics import mean

import pytest

from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import REGIMES, RTL, Sums
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import Technology
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload, workload_names
from tests.whole_spaces import small_arrays

#: Generated hardware.
OPEN = load_platform("rtl-open").technology.machine

MACHINES = {
    "rtl-open": OPEN,
    "one length of FIFOs": replace(OPEN, fitted_fifos=False),
    "sums first": RTL,
    "hls, sums last": replace(REGIMES["hls"], sums=Sums.LAST),
}

#: Least share that is exact, largest mean and largest error on each machine, of all designs.
ALLOWED = {
    "rtl-open": (0.998, 0.0001, 0.05),
    "one length of FIFOs": (0.9, 0.001, 0.06),
    "sums first": (0.93, 0.004, 0.1),
    "hls, sums last": (0.7, 0.007, 0.1),
}

#: Nests of two tensors of which PEs hand one on beside their sums.
OWN = ("C[i] += A[i,k,l] * B[k]", "C[i,j] += A[i,k] * B[i,j]", "C[i,j] += A[i,k,l] * B[k,j]")

#: Arrays whose cycles the form once missed (before: 389, 365, 820, 59, 4347, 670; 519, 474, 112,
#: 1590, 272, 4377, 8642, 8474; 214).
ONCE_MISSED = [
    # lanes behind those whose words wait in FIFOs, of a tensor handed on along the second loop
    (
        ("depthwise_conv2d", "o,c", {"o": 1, "r": 2, "c": 2, "p": 1, "q": 3}),
        {"o": (1, 1), "r": (3, 3), "c": (11, 1)},
        {"cin": 1, "w": 1, "cout_drain": 1},
        429,
    ),
    (
        ("depthwise_conv2d", "o,c", {"o": 1, "r": 3, "c": 1, "p": 1, "q": 3}),
        {"o": (1, 8), "r": (1, 7), "c": (13, 1)},
        {"cin": 8, "w": 8, "cout_drain": 8},
        383,
    ),
    (
        ("depthwise_conv2d", "o,r", {"o": 6, "r": 4, "c": 4, "p": 1, "q": 3}),
        {"o": (3, 1), "r": (10, 1), "c": (4, 2)},
        {"cin": 1, "w": 1, "cout_drain": 1},
        840,
    ),
    # few output tiles, of which none waits for the one before
    (
        ("mv", "i,j", {"i": 3, "j": 4}),
        {"i": (1, 2), "j": (6, 1)},
        {"A": 1, "x": 1, "y": 2},
        57,
    ),
    # what feeds several tiles is full before the last of them
    (
        ("mttkrp", "i,l", {"i": 4, "j": 6, "k": 12, "l": 24}),
        {"i": (3, 1), "j": (8, 2), "k": (23, 1), "l": (4, 2)},
        {"A": 2, "B": 1, "C": 2, "D_1": 2},
        4103,
    ),
    # a tensor beside sums has one buffer
    (
        ("mttkrp", "k", {"i": 5, "j": 16, "k": 2, "l": 12}),
        {"i": (1, 2), "j": (4, 3), "k": (13, 1), "l": (3, 8)},
        {"A": 8, "B": 4, "C": 8, "D_1": 2},
        628,
    ),
    # what PEs of later lanes have room for while their chains are busy holds up nothing
    (
        ("mm", "i,j", {"i": 16, "j": 16, "k": 6}),
        {"i": (7, 3), "j": (2, 3), "k": (6, 1)},
        {"C_drain": 1, "A": 2, "B": 2},
        509,
    ),
    (
        ("pointwise_conv2d", "o,r", {"o": 2, "r": 8, "c": 2, "i": 8}),
        {"o": (6, 2), "r": (3, 5), "c": (1, 1), "i": (2, 1)},
        {"cout_drain": 1, "cin": 2, "w": 2},
        472,
    ),
    # a chain takes a tile's words, and then sends them, before those of the next
    (
        ("batched_mm", "b,i", {"b": 6, "i": 4, "j": 5, "k": 2}),
        {"b": (2, 1), "i": (2, 2), "j": (4, 1), "k": (1, 2)},
        {"C_drain": 4, "A": 2, "B": 2},
        102,
    ),
    # few words of each lane, as lanes of both loops wait for the last
    (
        ("attention_scores", "i,j", {"h": 6, "i": 3, "j": 8, "d": 2}),
        {"h": (3, 1), "i": (5, 1), "j": (4, 4), "d": (2, 8)},
        {"S_drain": 4, "Q": 16, "K": 16},
        218,
    ),
    # no lane waits for another where nothing is handed on
    (
        ("batched_mm", "b,i", {"b": 24, "i": 6, "j": 1, "k": 6}),
        {"b": (2, 1), "i": (3, 1), "j": (1, 10), "k": (3, 4)},
        {"C_drain": 1, "A": 4, "B": 4},
        1567,
    ),
    # sums that leave in blocks, with visits between them
    (
        ("depthwise_conv2d", "r", {"o": 6, "r": 5, "c": 3, "p": 1, "q": 3}),
        {"o": (4, 1), "r": (16, 1), "c": (3, 1)},
        {"cin": 4, "w": 4, "cout_drain": 4},
        276,
    ),
    # memory that feeds lanes one after the other does not wait for what comes later at first
    (
        ("conv2d", "r,c", {"o": 3, "r": 3, "c": 4, "i": 6, "p": 3, "q": 3}),
        {"o": (1, 6), "r": (4, 3), "c": (10, 1), "i": (1, 1)},
        {"cout_drain": 1, "cin": 1, "w": 1},
        4141,
    ),
    (
        ("attention_values", "h,i", {"h": 12, "i": 5, "d": 13, "j": 16}),
        {"h": (3, 7), "i": (8, 1), "d": (4, 2), "j": (10, 1)},
        {"O_drain": 1, "P": 1, "V": 1},
        8641,
    ),
    # fills of several tiles take whole fills
    (
        ("mttkrp", "i,l", {"i": 3, "j": 5, "k": 24, "l": 24}),
        {"i": (1, 1), "j": (6, 2), "k": (6, 1), "l": (19, 1)},
        {"B": 2, "D_1": 2, "A": 1, "C": 1},
        8473,
    ),
]


def cycle_design(nest, loops, machine):
    """A design in the cycle edition on a machine."""
    array = derive(nest, loops, nest.output.tensor, Edition.CYCLE)
    technology = Technology(machine=machine)
    return SystolicDesign(nest, array, data_type("int16"), technology=technology)


def loops_of(kernel):
    """The loops of a statement of `OWN`, or of mttkrp."""
    return [x for x in "ijkl" if kernel not in OWN or f"{x}," in kernel or f"{x}]" in kernel]


def errors(kernel, machine, count, *, beside=False, seed=""):
    """Errors of the closed form on random arrays of every design, or of those alone where a tensor
    goes beside sums; a seed draws others."""
    found = []
    own = statement_nest(kernel, dict.fromkeys(loops_of(kernel), 4)) if kernel in OWN else None
    nest = own or workload(kernel)
    for array in choose_designs(nest, Edition.CYCLE, None, nest.output.tensor, sums=machine.sums):
        if beside and not any(map(array.beside_sums, array.groups)):
            continue
        draw = random.Random(f"{kernel} {array.name}{seed}")
        sizes = [1, 2, 3, 4, 6, 8, *([] if len(nest.loops) > 4 else [12, 16, 24])]
        for _ in range(count):
            extents = {x: draw.choice([1, 3] if x in nest.untiled else sizes) for x in nest.loops}
            design = cycle_design(nest.with_sizes(extents), array.dataflow, machine)
            (configuration,) = small_arrays(design, 1, draw.randrange(10**6))
            run = simulate_network(array_network(design, configuration, machine))
            assert run.finished
            found.append(float(design.costs(configuration).latency / run.cycles - 1))
    return found


def check(found, machine, *, share=True):
    exact, most_mean, most = ALLOWED[machine]
    assert not share or mean(error == 0 for error in found) >= exact
    assert mean(map(abs, found)) <= most_mean
    assert max(map(abs, found)) <= most


@pytest.mark.parametrize("kernel", ["mttkrp", "ttmc", *OWN])
def test_tensors_beside_sums_have_room_for_them(kernel):
    found = errors(kernel, OPEN, 3, beside=True)
    assert found
    assert not any(found)


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize("kernel", ["mttkrp", "ttmc", *OWN])
def test_waits_beside_sums_are_counted_where_fifos_are_short(kernel):
    """Without the term up to 27 % of a design's cycles are missing on average, 49 % at most."""
    found = errors(kernel, MACHINES["one length of FIFOs"], 12, beside=True)
    assert mean(error == 0 for error in found) >= 0.4
    assert mean(map(abs, found)) <= 0.005
    assert max(map(abs, found)) <= 0.06


#: Arrays whose last lanes hold up what is read, with sums first (before: 11062, 5778, 1438, 2139).
HELD_UP = [
    ((OWN[2], "i,l", "3 16 24 4"), "7 12 1 2", "1 2 10 8", {"A": 2, "B": 4, "C_1": 1}, 14783),
    ((OWN[2], "i,k", "12 16 16 12"), "13 8 1 2", "1 1 14 2", {"A": 2, "B": 8, "C_1": 2}, 7362),
    (("mttkrp", "i,k", "6 4 3 4"), "7 1 1 1", "1 1 14 8", {"A": 4, "B": 1, "C": 8, "D_1": 1}, 1580),
    ((OWN[2], "i,k", "3 16 24 12"), "1 16 1 2", "4 1 8 11", {"A": 2, "B": 2, "C_1": 16}, 2490),
]


#: Arrays whose PEs wait for room, with FIFOs of one length (before: 678, 868, 2190, 2820).
WAITING = [
    ((OWN[1], "i,k", "16 16 16"), "1 2 1", "1 8 21", {"A": 1, "B": 4, "C": 8}, 630),
    ((OWN[0], "l", "12 2 3"), "1 1 1", "3 8 8", {"A": 1, "B": 1, "C_1": 1}, 859),
    (("mttkrp", "k", "4 1 24 3"), "3 4 1 2", "3 2 39 4", {"A": 2, "B": 2, "C": 4, "D_1": 8}, 2151),
    (
        ("mttkrp", "j,l", "16 16 1 8"),
        "1 10 1 1",
        "27 3 2 6",
        {"A": 1, "B": 1, "C": 1, "D_1": 2},
        2915,
    ),
]


#: Arrays of which a tensor, or none, is handed on (before: 144, 181, 322, 1323).
HANDED_ON = [
    ((OWN[1], "i", "5 13 16"), "2 4 8", "5 1 2", {"A": 16, "B": 2, "C_drain": 4}, 129),
    ((OWN[1], "i,k", "8 4 13"), "1 8 1", "3 1 13", {"A": 1, "B": 1, "C": 2}, 176),
    ((OWN[1], "i,k", "12 5 4"), "1 4 1", "24 1 1", {"A": 1, "B": 2, "C": 2}, 314),
    ((OWN[2], "i,l", "6 6 8 13"), "1 16 1 2", "3 1 8 4", {"A": 2, "B": 1, "C_1": 4}, 1322),
]


@pytest.mark.parametrize(
    ("machine", "question", "inner", "lanes", "packs", "cycles"),
    [(RTL, *row) for row in HELD_UP]
    + [(MACHINES["one length of FIFOs"], *row) for row in WAITING]
    + [(OPEN, *row) for row in HANDED_ON],
)
def test_what_arrays_wait_for_is_counted(
    machine,
    question,
    inner,
    lanes,
    packs,
    cycles,
):
    kernel, space, sizes = question
    extents = dict(zip(loops_of(kernel), map(int, sizes.split()), strict=True))
    nest = statement_nest(kernel, extents) if kernel in OWN else workload(kernel, extents)
    design = cycle_design(nest, tuple(space.split(",")), machine)
    configuration = {f"pack.{name}": words for name, words in packs.items()}
    factors = zip(extents, map(int, inner.split()), map(int, lanes.split()), strict=True)
    for loop, t2, n in factors:
        tiles = -(-extents[loop] // (t2 * n))
        configuration |= {f"t2.{loop}": t2, f"lanes.{loop}": n}
        configuration |= {f"t1.{loop}": t2 * n, f"tiles.{loop}": tiles}
    run = simulate_network(array_network(design, configuration, machine))
    assert run.cycles == cycles == design.costs(configuration).latency


#: Products whose PEs wait for those of the last lane in both loops: output tiles, tiles of each, MAC
#: stages, blocks of sums, words of one, visits, lanes of both loops, words of a pack (before: 889,
#: 358, 646, 196, 499).
LAST_OF_BOTH = [
    ((15, 1), 4, (3, 4, 1), (8, 2), 4, 987),
    ((15, 1), 8, (2, 4, 2), (5, 2), 4, 386),
    # visits of several tiles between the words of two
    ((7, 2), 4, (1, 12, 3), (8, 3), 4, 673),
    # the last lane whose first is a tile ahead decides
    ((3, 1), 4, (1, 12, 3), (2, 3), 2, 199),
    ((6, 1), 6, (2, 8, 1), (8, 4), 8, 524),
    # words of a lane that FIFOs hold
    ((15, 1), 1, (1, 8, 1), (5, 3), 8, 420),
]


@pytest.mark.parametrize(("tiles", "mac", "turns", "lanes", "pack", "cycles"), LAST_OF_BOTH)
def test_lanes_wait_for_the_last_of_both_loops(tiles, mac, turns, lanes, pack, cycles):
    (outputs, each), (blocks, inner, visits), (chain, rows) = tiles, turns, lanes
    loops = {"h": (blocks, 1), "i": (chain, 1), "j": (rows, inner), "d": (visits, 8)}
    extents = {"h": blocks * outputs, "i": chain, "j": rows * inner, "d": 8 * visits * each}
    machine = replace(OPEN, mac=mac)
    design = cycle_design(workload("attention_scores", extents), ("i", "j"), machine)
    configuration = {"pack.S_drain": pack, "pack.Q": 8 * visits, "pack.K": 8 * visits}
    for loop, (count, words) in loops.items():
        part = count * words
        configuration |= {f"t2.{loop}": words, f"lanes.{loop}": count, f"t1.{loop}": part}
        configuration |= {f"tiles.{loop}": extents[loop] // part}
    run = simulate_network(array_network(design, configuration, machine))
    assert run.cycles == cycles == design.costs(configuration).latency


def drains_behind(machine, words, rows, chain):
    """The cycles, by the closed form and as simulated, of a product whose PEs each send so many
    words of every tile along a chain of a row of so many."""
    extents = {"i": 6 * chain, "j": words * rows, "k": 3}
    design = cycle_design(workload("mm", extents), ("i", "j"), machine)
    configuration = {"pack.A": 1, "pack.B": 1, "pack.C_drain": 1}
    for loop, inner, lanes in (("i", 1, chain), ("j", words, rows), ("k", 1, 1)):
        configuration |= {f"t2.{loop}": inner, f"lanes.{loop}": lanes}
        configuration |= {f"t1.{loop}": inner * lanes}
        configuration |= {f"tiles.{loop}": extents[loop] // (inner * lanes)}
    run = simulate_network(array_network(design, configuration, machine))
    return design.costs(configuration).latency, run.cycles


@pytest.mark.parametrize("mac", [1, 4, 8])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_room_for_sums_of_later_rows_decides(mac, depth):
    """A row of PEs holds up the one before if, and only if, it has more words to send than there is
    room for in FIFOs."""
    machine = replace(RTL, mac=mac, fifo_depth=depth)
    room = depth + machine.sum_latency - 1
    for rows in (1, 2, 3, 4):
        edge = room + (depth + 1) * (rows - 1)
        for words in {2, room, edge - 1, edge, edge + 1, edge + 2, edge + 9}:
            said, ran = drains_behind(machine, words, rows, 5)
            assert said == ran, (rows, words)


@pytest.mark.parametrize("kernel", ["mttkrp", "ttmc", OWN[2]])
@pytest.mark.parametrize("machine", [RTL, REGIMES["hls"], replace(RTL, fifo_depth=4)])
def test_lanes_far_behind_are_counted_on_random_arrays(machine, kernel):
    """Without the term 26 % are missing at most, of three groups in a hundred arrays."""
    found = errors(kernel, machine, 8)
    assert mean(map(abs, found)) <= 0.003
    assert min(found) >= -0.06


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize("kernel", workload_names())
@pytest.mark.parametrize("machine", MACHINES)
def test_every_kernel(machine, kernel):
    check(errors(kernel, MACHINES[machine], 2), machine, share=machine == "rtl-open")


@pytest.mark.parametrize("machine", MACHINES)
def test_many_arrays_of_all_kernels(machine):
    found = [e for kernel in workload_names() for e in errors(kernel, MACHINES[machine], 40)]
    check(found, machine)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", workload_names())
def test_arrays_drawn_anew(kernel):
    """Two of 68,000 drawn arrays were off, by 1 and 4 %."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")  # shown where it fails
    check(errors(kernel, OPEN, 60, seed=f" {seed}"), "rtl-open")


@pytest.mark.parametrize(("question", "loops", "packs", "cycles"), ONCE_MISSED)
def test_arrays_that_were_missed(
    question,
    loops,
    packs,
    cycles,
):
    name, space, extents = question
    nest = workload(name, extents)
    design = cycle_design(nest, tuple(space.split(",")), OPEN)
    configuration = {f"pack.{group}": words for group, words in packs.items()}
    for loop, (lanes, inner) in loops.items():
        tiles = -(-extents[loop] // (lanes * inner))
        configuration |= {f"t2.{loop}": inner, f"lanes.{loop}": lanes}
        configuration |= {f"t1.{loop}": lanes * inner, f"tiles.{loop}": tiles}
    run = simulate_network(array_network(design, configuration, OPEN))
    assert run.cycles == cycles == design.costs(configuration).latency
