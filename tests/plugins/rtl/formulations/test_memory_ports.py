"""Tensors spread over memory ports: cycles against the simulated array, optima against enumeration
by every engine, and what options, files and exports say of them."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ithaca.exports.autosa.folder import AUTOSA
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES, data_type
from ithaca.formulations.machine import LARGEST, REGIMES, MemoryTiming, Sums
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.dataflows import dataflows
from ithaca.formulations.systolic.derivation import derive, in_edition
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.ports import MemoryPorts, with_channels
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.geometric.solver.gp import solve_gp
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.values import check_values
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.solver.proof_state import ProofState
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.plugins.rtl.formulations.memory_access import SEVERAL_PORTS, on, random_arrays, simulated
from tests.solver.enumeration import enumerated_optimum, packed, subset, tile_values, within_dsp

SLOW = pytest.mark.slow


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("name", "dataflow"),
    [
        ("mm", ("i", "j")),
        ("mm", ("i", "k")),
        ("mm", ("k",)),
        ("mv", ("i", "j")),
        ("mv", ("j",)),
        ("mv", ("i",)),
    ],
)
def test_cycles_are_those_of_the_simulated_array(name, dataflow, regime):
    machine = REGIMES[regime]
    for design, configuration in random_arrays(name, dataflow, 12, 1):
        closed = on(design, machine).costs(configuration).latency
        assert closed == simulated(design, configuration, machine), configuration


@pytest.mark.parametrize("dataflow", [*dataflows(workload("mm"))], ids=",".join)
def test_cycles_are_close_where_channels_and_rows_of_a_word_hold_ports_up(
    dataflow,
):
    machine, memory = REGIMES["rtl"], MemoryTiming(port=47)
    off = []
    for design, configuration in random_arrays("mm", dataflow, 16, 2):
        closed = on(design, machine, memory).costs(configuration).latency
        off.append(closed / simulated(design, configuration, machine, memory) - 1)
    assert max(map(abs, off)) <= 0.06
    assert sum(map(abs, off)) <= 0.015 * len(off)


@pytest.mark.parametrize(
    ("name", "dataflow"),
    [("mm", ("i", "j")), ("mm", ("k",)), ("mm", ("j", "k")), ("mv", ("i", "j"))],
)
def test_arrays_of_several_ports_compute_what_numpy_does(name, dataflow):
    for design, configuration in random_arrays(name, dataflow, 4, 3):
        exact = replace(design, array=in_edition(design.nest, design.array, Edition.EXACT))
        network = array_network(exact, configuration, REGIMES["rtl"])
        assert check_values(exact, configuration, network, Sums.FIRST).wrong == 0


def test_one_port_of_each_tensor_is_what_there_was():
    for dataflow in dataflows(workload("mm")):
        for design, configuration in random_arrays("mm", dataflow, 6, 4):
            alone = Configuration(
                {x: 1 if x.startswith("ports.") else n for x, n in configuration.items()}
            )
            for edition in (Edition.CYCLE, Edition.EXACT):
                spread_out = replace(design, array=in_edition(design.nest, design.array, edition))
                plain = replace(design, array=derive(design.nest, dataflow, "C", edition))
                assert spread_out.metrics(
                    {x: Fraction(n) for x, n in alone.items()}, FRACTION
                ) == plain.metrics({x: Fraction(n) for x, n in alone.items()}, FRACTION)


def test_bursts_and_modules_by_hand():
    """B of 8 lanes over 4 ports: 2 tiles of 8 rows of 2 packs in each."""
    nest = workload("mm", {"i": 2, "j": 64, "k": 16})
    array = derive(nest, ("i", "j"), "C", Edition.EXACT, SEVERAL_PORTS)
    b = next(group for group in array.groups if group.name == "B")
    values = {
        "t1.i": 2,
        "t2.i": 1,
        "lanes.i": 2,
        "tiles.i": 1,
        "t1.j": 64,
        "t2.j": 8,
        "lanes.j": 8,
        "tiles.j": 1,
        "t1.k": 16,
        "t2.k": 4,
        "lanes.k": 4,
        "tiles.k": 1,
        "pack.A": 4,
        "pack.B": 8,
        "pack.C_drain": 4,
        "ports.A": 1,
        "ports.B": 4,
        "ports.C_drain": 1,
    }
    costs = SystolicDesign(nest, array, DATA_TYPES["fp32"]).costs(values)
    # rows have all of k, so that those of a port's lanes are one burst
    assert costs.modules["B_IO_L3_in"].transfer == 2 * 8 * 2 + 20
    assert costs.modules["B_IO_L2_in"].transfer == 2 * 8 * 2
    assert costs.modules["A_IO_L3_in"].transfer == 2 * 4 + 20  # a row of 4 packs in each lane
    assert [str(m.instances) for m in b.modules] == ["lanes.j", "ports.B"]
    assert (
        array.helpers["A_IO_L3_in_serialize"].evaluate(
            {x: Fraction(n) for x, n in values.items()}, FRACTION
        )
        == 0
    )


# -- optima ----------------------------------------------------------------------------


def problem(
    name,
    sizes,
    dataflow,
    edition,
    ports,
    dsp,
):
    nest = workload(name, dict(sizes))
    array = derive(nest, dataflow, nest.output.tensor, edition, SEVERAL_PORTS)
    memory = MemoryTiming(port=1, channels=ports.channels)
    technology = replace(DEFAULT_TECHNOLOGY, memory=memory)
    design = SystolicDesign(nest, array, DATA_TYPES["int16"], SpaceOptions(ports=ports), technology)
    return Problem(design, (Limit("dsp", Fraction(dsp)),), parse_objective("latency"))


def with_ports(problem):
    """All points, their ports by rules of their own."""
    design, array = systolic(problem), systolic(problem).array
    for point in packed(problem, within_dsp(problem, tile_values(problem))):
        for numbers in product((1, 2, 4, 8), repeat=len(array.split_groups)):
            if max(numbers) > design.options.ports.most:
                continue
            legal = np.ones(len(point[f"t1.{array.band[0]}"]), bool)
            for group, number in zip(array.split_groups, numbers, strict=True):
                lanes = point[quantities.lanes(str(group.split)).name]
                legal &= (number == 1) | ((lanes % number == 0) & (lanes > number))
            if legal.any():
                ports = zip(array.split_groups, numbers, strict=True)
                yield subset(point, legal) | {f"ports.{g.name}": n for g, n in ports}


CASES = [
    ("mv", {"i": 16, "j": 16}, ("i",), Edition.CYCLE, MemoryPorts(4, 32), 12),
    ("mv", {"i": 24, "j": 8}, ("i",), Edition.EXACT, MemoryPorts(4, 4), 12),
    ("mv", {"i": 12, "j": 24}, ("i", "j"), Edition.CYCLE, MemoryPorts(8, 8), 12),
    ("mm", {"i": 1, "j": 24, "k": 8}, ("i", "j"), Edition.CYCLE, MemoryPorts(4, 32), 12),
    ("mm", {"i": 2, "j": 4, "k": 12}, ("i", "k"), Edition.CYCLE, MemoryPorts(2, 4), 12),
]


def check_engines(problem, optimum):
    """No engine claims what enumeration contradicts; two of them prove the optimum."""
    for solve in (solve_exact, solve_cpsat, solve_gp):
        solution = solve(problem, SolveOptions(time_limit=20 if solve is solve_gp else 60))
        assert solution.value is not None, solve
        assert solution.certificate.lower_bound is not None, solve
        assert solution.certificate.lower_bound <= optimum <= solution.value, solve
        if solve is not solve_gp:
            assert solution.certificate.status is Status.OPTIMAL, solve
            assert solution.value == optimum, solve


@pytest.mark.parametrize(
    "case",
    CASES,
    ids=[
        f"{name}-{','.join(dataflow)}-{edition.value}" for name, _, dataflow, edition, *_ in CASES
    ],
)
def test_engines_find_the_optimum(case):
    posed = problem(*case)
    optimum = enumerated_optimum(posed, with_ports(posed))
    check_engines(posed, optimum)


def drawn(seed):
    """A drawn small problem: extents of at most 16, ports and channels that tensors must share."""
    draw = random.Random(seed)
    name, dataflow = draw.choice([("mv", ("i",)), ("mv", ("i", "j")), ("mm", ("i", "j"))])
    sizes = {x: draw.choice([1, 2, 4, 8, 12, 16]) for x in ("i", "j")}
    if name == "mm":
        sizes = {"i": draw.choice([1, 2]), "j": draw.choice([8, 12, 16]), "k": draw.choice([4, 8])}
    edition = draw.choice([Edition.CYCLE, Edition.EXACT])
    ports = MemoryPorts(draw.choice([1, 2, 4]), draw.choice([4, 5, 8]))
    return problem(name, sizes, dataflow, edition, ports, draw.choice([4, 8, 12]))


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(n, marks=SLOW) for n in range(2, 24))])
def test_drawn_problems_are_proven_as_enumerated(monkeypatch, seed):
    """Divisors first, then all; where axes are wide from few rows on."""
    monkeypatch.setattr("ithaca.solver.level_set.WIDE", 6)
    small = drawn(seed)
    optimum = enumerated_optimum(small, with_ports(small))
    solution = ProofState(small).solve(SolveOptions())
    assert solution.certificate.status is Status.OPTIMAL
    assert solution.value == optimum
    needed = small.design.needed("latency", optimum)
    assert all(solution.configuration[name] >= least for name, least in needed.items())


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=SLOW) for n in range(1, 6))])
def test_more_rows_are_never_faster(seed):
    """A matrix by 1, 2 and 8 vectors; where the array of more would do for fewer."""
    draw = random.Random(seed)
    sizes = {"j": draw.choice([16, 24, 32]), "k": draw.choice([8, 16])}
    ports, dsp = MemoryPorts(4, draw.choice([4, 8])), draw.choice([8, 12])
    values = [
        solve_exact(
            problem("mm", {"i": rows, **sizes}, ("i", "j"), Edition.CYCLE, ports, dsp),
            SolveOptions(),
        ).value
        for rows in (1, 2, 8)
    ]
    assert values == sorted(values)


# -- commands --------------------------------------------------------------------------

SMALL = [
    "solve",
    "mv",
    "-s",
    "i=32,j=64",
    "--dataflow",
    "i",
    "--permutation",
    "y",
    "--dtype",
    "int16",
]

#: A device whose memory has 8 channels of 0.3 GB/s: a byte in each cycle of 300 MHz.
SLOW = """name: slow
clock_mhz: 300
resources: {dsp: {total: 64}, bram18k: {total: 512}}
memory: {kind: HBM, channels: 8, bandwidth: 2.4}
"""


@pytest.fixture
def slow(tmp_path):
    """The file of such a platform."""
    path = tmp_path / "slow.yaml"
    path.write_text(SLOW)
    return path


def test_points_state_ports(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text(
        "dataflow,reuse,edition,sizes,array_part,latency_hiding,simd,pack,ports\n"
        'i,y,cycle,"{""i"":64,""j"":64}","{""i"":64,""j"":64}","{""i"":8}",4,'
        '"{""A_IO_L1_in"":4,""x_IO_L2_in"":4,""y_drain_IO_L1_out"":4}","{""A"":4,""y_drain"":2}"\n'
        'i,y,cycle,"{""i"":64,""j"":64}","{""i"":64,""j"":64}","{""i"":8}",4,'
        '"{""A_IO_L1_in"":4,""x_IO_L2_in"":4,""y_drain_IO_L1_out"":4}",\n'
    )
    run = ithaca("evaluate", "mv", "--points", file, "--json")
    assert run.returncode == 0, run.stderr
    several, one = (row["metrics"] for row in json.loads(run.stdout)["points"])
    # 2 lanes of 8 rows of 16 packs, in a burst of all that adjoin, instead of 8 lanes without
    assert several["prologue"] - one["prologue"] == 2 * 8 * 16 + 20 - 8 * 8 * 16


def test_autosa_is_told_ports_by_its_own_options(tmp_path, slow):
    file = tmp_path / "r.json"
    sizes = ["-s", "i=4,j=64,k=64", "--dataflow", "i,j", "--platform", slow, "--dtype", "int16"]
    solved = ithaca("solve", "mm", *sizes, "--ports", "2", "--for", "autosa", "-o", file)
    assert solved.returncode == 0, solved.stderr
    ports = json.loads(file.read_text())["best"]["tiling"]["ports"]
    assert ports["B"] == 2
    run = ithaca("export", file, "--to", "autosa", "-o", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    command = (tmp_path / "out" / "autosa_command.sh").read_text()
    assert "--hbm" in command
    assert "--host-serialize" not in command
    roles = [f"C{role}" for role in ("_0", "_1", "")]  # whatever the compiler calls its sums
    for name, number in {**ports, **dict.fromkeys(roles, ports["C_drain"])}.items():
        assert f"kernel[]->hbm_{name}[{number}]" in command
    modules = json.loads((tmp_path / "out" / "expected.json").read_text())["modules"]
    assert not [name for name in modules if name.endswith("_serialize")]
    assert modules["B_IO_L3_in"]["count"] == ports["B"]


@pytest.mark.parametrize(("k", "lanes", "built"), [(8, 4, False), (16, 4, True), (8, 2, True)])
def test_sums_that_never_leave_have_ports_of_their_own(k, lanes, built):
    """The compiler splits chains of sums, too, unless tiles of the reduction follow each other."""
    nest = workload("mm", {"i": 32, "j": 16, "k": k})
    array = derive(nest, ("i", "k"), "C", dram=SEVERAL_PORTS)
    tiling = Tiling(
        {"i": 2 * lanes, "j": 8, "k": 8},
        {"i": 2, "j": 2},
        2,
        {"A": 2, "B": 2, "C": 2},
        {"A": 2, "B": 2},
    )
    obstacles = AUTOSA.obstacles(ArrayConfiguration(nest, array, data_type("int16"), tiling))
    assert obstacles == (
        ()
        if built
        else (
            "C has one memory port for more than 2 modules, beside tensors of several, and k one "
            "tile: AutoSA splits such chains, or none",
        )
    )


def test_a_slow_clock_leaves_ports_as_fast_as_can_be_said(tmp_path):
    path = tmp_path / "slow.yaml"
    path.write_text(
        "{name: slow, clock_mhz: 0.001, memory: {channels: 4, bandwidth: 77},"
        " resources: {dsp: {total: 100}, bram18k: {total: 100}}}"
    )
    technology = with_channels(DEFAULT_TECHNOLOGY, load_platform(str(path)), MemoryPorts(2, 4))
    assert technology.memory == MemoryTiming(port=77 * 1000 // 4 // 300, channels=4)
    slow = replace(DEFAULT_TECHNOLOGY, clock_mhz=Fraction("0.001"))
    own = with_channels(slow, load_platform(str(path)), MemoryPorts(2, 4))
    assert own.memory.port == LARGEST
