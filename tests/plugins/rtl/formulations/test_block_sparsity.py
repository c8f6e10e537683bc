"""Block-sparse tensors: cycles and values of the simulated array, costs by hand, optima against
enumeration, and what options and files say of them."""

import csv
import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION, NUMPY
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import REGIMES, Sums
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive, in_edition
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective, throughput
from ithaca.formulations.systolic.packages import held_bytes, package_bytes
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.plugins.cpsat.solver.engine import solve_cpsat
from ithaca.plugins.rtl.formulations.activity import simulate_network
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.packages import Packages, emptied
from ithaca.plugins.rtl.formulations.values import check_values, random_tensors
from ithaca.solver.certificate import Status
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.options import SolveOptions
from ithaca.workloads.kernel_files import with_sparsity
from ithaca.workloads.library import workload
from ithaca.workloads.sparsity import BlockSparsity
from tests.command_line import ithaca
from tests.solver.enumeration import enumerated_optimum, loop_points, subset, tile_values

#: Bytes of packages in buffers and in DRAM, as AutoSA's compiler builds them.
PACKAGES = [
    ("fp32", "2/4", 9, 16),
    ("fp32", "1/4", 5, 8),
    ("fp32", "3/4", 13, 16),
    ("fp32", "3/8", 13, 16),
    ("fp32", "4/8", 17, 32),
    ("fp32", "7/8", 29, 32),
    ("int16", "1/2", 3, 4),
    ("int16", "4/8", 9, 16),
    ("int8", "1/8", 2, 4),
    ("int8", "6/8", 7, 8),
]


def sparse(nest, text):
    return with_sparsity(nest, text, "block_sparse")


@pytest.mark.parametrize(("dtype", "share", "held", "moved"), PACKAGES)
def test_packages_are_the_compilers(dtype, share, held, moved):
    blocks = sparse(workload("mm"), f"A={share}").sparse
    assert blocks is not None
    assert held_bytes(blocks, DATA_TYPES[dtype].bytes) == held
    assert package_bytes(blocks, DATA_TYPES[dtype].bytes) == moved


def random_arrays(name, dataflow, blocks, dtype, count, seed):
    """Random small arrays of a dataflow with a block-sparse tensor."""
    draw, plain, data = random.Random(seed), workload(name), DATA_TYPES[dtype]
    while count:
        values, sizes = {}, {}
        for x in plain.band:
            inner = draw.choice([1, 2, 3])
            if x == plain.simd:
                inner = blocks.block * draw.choice([1, 2])
            elif x in plain.sequential_loops:
                inner = 1
            lanes = draw.choice([1, 2, 3, 4])
            tiles = draw.choice([1, 2, 3])
            sizes[x] = inner * lanes * tiles
            values |= {f"t2.{x}": inner, f"lanes.{x}": lanes}
            values |= {f"t1.{x}": inner * lanes, f"tiles.{x}": tiles}
        nest = replace(plain.with_sizes({**plain.sizes, **sizes}), sparse=blocks)
        array = derive(nest, dataflow, nest.output.tensor, Edition.CYCLE)
        design = SystolicDesign(nest, array, data)
        known = {x: Fraction(n) for x, n in (*values.items(), *design.extents.items())}
        for group in array.packed_groups:
            last, least = (
                int(e.evaluate(known, FRACTION))
                for e in (group.packing.last, group.packing.multiple_of)
            )
            packs = [p for p in (1, 2, 4, 8, 16) if p % least == 0 and last % p == 0]
            values[f"pack.{group.name}"] = draw.choice(packs or [0])
        if all(values[f"pack.{g.name}"] for g in array.packed_groups):
            count -= 1
            yield design, Configuration(values)


@pytest.mark.parametrize(
    ("name", "dataflow", "blocks", "dtype"),
    [
        ("mm", ("i", "j"), BlockSparsity("A", 2, 4), "fp32"),
        ("mm", ("i",), BlockSparsity("A", 3, 8), "int16"),
        ("mm", ("j",), BlockSparsity("B", 1, 2), "int8"),
        ("mm", ("i", "k"), BlockSparsity("A", 1, 4), "int8"),
        ("mm", ("k",), BlockSparsity("B", 5, 8), "fp32"),
        ("mv", ("i", "j"), BlockSparsity("A", 3, 4), "int16"),
        ("conv2d", ("o", "r"), BlockSparsity("w", 2, 4), "int8"),
    ],
)
def test_simulated_arrays_take_the_cycles_and_compute_what_numpy_does(
    name, dataflow, blocks, dtype
):
    machine = replace(REGIMES["rtl"], sums=Sums.LAST)
    equal = 0
    for design, configuration in random_arrays(name, dataflow, blocks, dtype, 6, 1):
        on = replace(design, technology=replace(design.technology, machine=machine))
        exact = replace(on, array=in_edition(on.nest, on.array, Edition.EXACT))
        network = array_network(exact, configuration, machine)
        run = simulate_network(network)
        assert run.finished
        closed = on.costs(configuration).latency
        dense = replace(on, nest=replace(on.nest, sparse=None))
        dense = replace(
            dense, array=derive(dense.nest, dataflow, on.array.permutation, Edition.CYCLE)
        )
        assert closed == dense.costs(configuration).latency  # the same words, in packages
        equal += closed == run.cycles
        assert abs(closed / run.cycles - 1) <= 0.05
        values = check_values(exact, configuration, network, Sums.LAST)
        assert values.wrong == 0
        stored = values.tensors[blocks.tensor].reshape(-1, blocks.block)
        assert ((stored != 0).sum(axis=1) <= blocks.values).all()
    assert equal >= 5


def test_a_place_that_a_package_gets_wrong_shows(monkeypatch):
    """PEs select by the bits that come with the values."""
    ((design, configuration),) = random_arrays(
        "mm", ("i", "j"), BlockSparsity("A", 2, 4), "int16", 1, 2
    )
    exact = replace(design, array=in_edition(design.nest, design.array, Edition.EXACT))
    network = array_network(exact, configuration, REGIMES["rtl"])
    right = Packages.packed

    def moved(self, words):
        packages = right(self, words).reshape(-1, 3)
        packages[:, -1] = 0b0011
        return packages.reshape(len(words), -1)

    monkeypatch.setattr(Packages, "packed", moved)
    assert check_values(exact, configuration, network, Sums.FIRST).wrong > 0


def test_packages_hold_what_is_not_zero():
    blocks = BlockSparsity("A", 2, 4)
    words = np.array([[0, 5, 0, 7, 0, 0, 0, 3]])
    packages = Packages(blocks).packed(words)
    assert packages.tolist() == [[5, 7, 0b1010, 0, 3, 0b1001]]
    assert Packages(blocks).values(packages).tolist() == [[5, 7, 0, 3]]
    others = np.arange(10, 18)[None]
    assert Packages(blocks).selected(packages, others).tolist() == [[11, 13, 14, 17]]
    dense = np.ones((3, 16))
    assert (emptied(blocks, dense, 1).reshape(-1, 4).sum(axis=1) == 2).all()


def test_a_dense_tensor_is_what_it_was():
    nest = workload("mm", {"i": 8, "j": 8, "k": 8})
    assert sparse(nest, "A=4/4") == nest
    assert set(random_tensors(nest, DATA_TYPES["int8"])) == {"A", "B"}


def test_costs_by_hand():
    """2 × 2 PEs, 8 places of k at once: 2 packages of A, 4 multipliers."""
    nest = sparse(workload("mm", {"i": 16, "j": 16, "k": 32}), "A=2/4")
    array = derive(nest, ("i", "j"), "C", Edition.EXACT)
    values = {f"{kind}.{x}": n for kind, n in (("t1", 8), ("t2", 4), ("tiles", 2)) for x in "ij"}
    values |= {"lanes.i": 2, "lanes.j": 2, "t1.k": 16, "t2.k": 8, "tiles.k": 2, "lanes.k": 2}
    values |= {"pack.A": 8, "pack.B": 16, "pack.C_drain": 4}
    costs = SystolicDesign(nest, array, DATA_TYPES["fp32"]).costs(values)
    assert costs.comp == 4 * 4
    assert costs.dsp == 4 * 4 * 5
    assert costs.pe == 8 * 4 * 4 * 2  # tiles, latency hiding, two vectors of a tile
    assert costs.words == {"A": 8 * 8 * 4 * 4, "B": 8 * 8 * 16, "C": 16 * 16}
    # a pack is 2 packages of 9 bytes, 144 bits: 4 blocks wide; doubled, in each of 2 lanes
    assert costs.blocks["A"] == 2 * 2 * 4
    assert costs.accumulation == 16 - 8 * 4
    # 16 × 16 × 32 / 2 stored products, each a multiplication and an addition, at 300 MHz
    assert throughput(costs) == Fraction(2 * 16 * 16 * 16 * 3, 10) / costs.latency
    one = sparse(nest, "A=1/4")
    design = SystolicDesign(one, derive(one, ("i", "j"), "C", Edition.EXACT), DATA_TYPES["fp32"])
    assert design.costs(values).words["A"] == 8 * 8 * 4 * 2
    assert design.costs(values).comp == 4 * 2
    assert design.costs(values).off_chip_bytes == 4 * (8 * 8 * 4 * 2 + 8 * 8 * 16 + 16 * 16)


# -- optima ----------------------------------------------------------------------------

CASES = [
    ("mm", {"i": 4, "j": 6, "k": 8}, ("i", "j"), Edition.CYCLE, "A=2/4", "int16", 12, "latency"),
    ("mm", {"i": 3, "j": 5, "k": 16}, ("i",), Edition.EXACT, "A=1/8", "int16", 4, "latency"),
    ("mm", {"i": 6, "j": 4, "k": 8}, ("j",), Edition.CYCLE, "B=1/4", "fp32", 40, "energy"),
    ("mv", {"i": 12, "j": 16}, ("i", "j"), Edition.EXACT, "A=3/8", "int8", 9, "latency*bram18k"),
    ("mv", {"i": 9, "j": 24}, ("i",), Edition.CYCLE, "x=1/2", "int8", 6, "off_chip_words"),
    ("mm", {"i": 4, "j": 3, "k": 16}, ("i", "k"), Edition.CYCLE, "A=3/4", "int16", 12, "latency"),
]


def in_blocks(problem):
    """All points, with packs of blocks by rules of their own."""
    design, array = systolic(problem), systolic(problem).array
    blocks, simd, data = design.nest.sparse, design.nest.simd, design.data

    def whole_blocks(of, loop):
        points = loop_points(of, loop)
        return [p for p in points if loop != simd or p[1] % blocks.block == 0]

    values = tile_values(problem, whole_blocks)
    macs = array.pe.count.evaluate(values, NUMPY) * values[f"t2.{simd}"]
    macs = macs * blocks.values / blocks.block
    keep = macs * float(data.dsp(2)) <= float(problem.limits[0].bound)
    values, count = subset(values, keep), int(keep.sum())
    choices = []
    for group in array.packed_groups:
        last, floor = (
            e.evaluate(values, NUMPY) * np.ones(count, np.int64)
            for e in (group.packing.last, group.packing.multiple_of)
        )
        words = (16 if group.buffers[0].level == 1 else 64) // (
            data.sum_bytes if group.tensor == design.nest.output.tensor else data.bytes
        )
        if group.tensor == blocks.tensor:
            packages = (16 if group.buffers[0].level == 1 else 64) // package_bytes(
                blocks, data.bytes
            )
            words = packages * blocks.block
        cap = np.maximum(words, floor)
        legal = [(p, (p % floor == 0) & (last % p == 0) & (p <= cap)) for p in 2 ** np.arange(8)]
        choices.append(legal)
    for combination in product(*choices):
        legal = np.logical_and.reduce([ok for _, ok in combination])
        if legal.any():
            packs = zip(array.packed_groups, combination, strict=True)
            yield subset(values, legal) | {f"pack.{g.name}": p for g, (p, _) in packs}


@pytest.mark.parametrize("case", CASES, ids=[f"{c[0]}-{','.join(c[2])}-{c[4]}" for c in CASES])
def test_engines_find_the_optimum(case):
    name, sizes, dataflow, edition, text, dtype, dsp, objective = case
    nest = sparse(workload(name, sizes), text)
    array = derive(nest, dataflow, nest.output.tensor, edition)
    problem = Problem(
        SystolicDesign(nest, array, DATA_TYPES[dtype]),
        (Limit("dsp", Fraction(dsp)),),
        parse_objective(objective),
    )
    optimum = enumerated_optimum(problem, in_blocks(problem))
    for solve in (solve_exact, solve_cpsat):
        solution = solve(problem, SolveOptions(time_limit=60))
        assert solution.certificate.status is Status.OPTIMAL, solve
        assert float(solution.value) == pytest.approx(float(optimum), rel=1e-12), solve


@pytest.mark.parametrize(("second", "words"), [("B=1/4", 384 + 192), ("A=1/4", 640 + 384)])
def test_dense_tensors_stay_on_chip(second, words, tmp_path):
    """A package of one value is two words in DRAM: 128 words of the first layer's B."""
    file, out = tmp_path / "chain.yaml", tmp_path / "r.json"
    file.write_text(
        "name: chain\nlayers:\n- {op: kernel, name: one, kernel: mm, sizes: {i: 16, j: 16, k: 16}, "
        "block_sparse: B=1/4}\n- {op: kernel, name: two, kernel: mm, sizes: {i: 16, j: 8, k: 16}, "
        f"block_sparse: {second}, follows: true}}\n"
    )
    options = ["--dataflow", "i,j", "--limit", "dsp=80", "--objective", "off_chip_words"]
    run = ithaca("network", file, "--fuse", *options, "-o", out)
    assert run.returncode == 0, run.stderr
    total = json.loads(out.read_text())["total"]
    assert (total["value"], total["certificate"]["status"]) == (words, "optimal")


# -- commands --------------------------------------------------------------------------

SMALL = ["solve", "mm", "-s", "i=16,j=16,k=16", "--dataflow", "i,j", "--permutation", "C"]


def test_points_state_blocks(tmp_path):
    file, out = tmp_path / "points.csv", tmp_path / "out.csv"
    row = (
        'mm,"i,j",C,cycle,"{""i"":16,""j"":16,""k"":32}","{""i"":8,""j"":8,""k"":16}",'
        '"{""i"":4,""j"":4}",8,"{""A_IO_L2_in"":8,""B_IO_L2_in"":8,""C_drain_IO_L1_out"":4}"'
    )
    head = "app,dataflow,reuse,edition,sizes,array_part,latency_hiding,simd,pack,block_sparse\n"
    file.write_text(f"{head}{row},A=2/4\n{row},\n{row},B=1/8\n")
    run = ithaca("evaluate", "mm", "--points", file, "--table", out)
    assert run.returncode == 0, run.stderr
    rows = [*csv.DictReader(out.open())]
    assert [each["block_sparse"] for each in rows] == ["A=2/4", "", "B=1/8"]
    assert [int(each["dsp"]) for each in rows] == [80, 160, 20]
    assert len({each["latency"] for each in rows}) == 1
    again = ithaca("evaluate", "mm", "--points", out, "--json")
    assert [p["metrics"]["dsp"] for p in json.loads(again.stdout)["points"]] == [80, 160, 20]


def test_kernel_files_state_blocks(tmp_path):
    file = tmp_path / "layer.yaml"
    file.write_text(
        "name: pruned\nstatement: C[i,j] += A[i,k] * B[j,k]\nextents: {i: 16, j: 16, k: 16}\n"
        "block_sparse: A=1/4\n"
    )
    run = ithaca("solve", file, "--dataflow", "i,j", "--limit", "dsp=80", "--json")
    assert json.loads(run.stdout)["workload"]["block_sparse"] == "A=1/4"
    refused = ithaca("solve", file, "--arch", "eyeriss")
    assert refused.returncode == 2
    assert "block sparsity A=1/4 goes with systolic arrays only" in refused.stderr


def test_layers_of_networks_state_blocks(tmp_path):
    run = ithaca("network", "resnet18", "--block-sparse", "w=2/4")
    assert run.returncode == 2
    assert "--block-sparse is of one loop nest" in run.stderr
    file, out = tmp_path / "pruned.yaml", tmp_path / "r.json"
    layers = (
        "- {op: conv, name: c, channels: 4, kernel: 3, block_sparse: w=2/4}\n"
        "- {op: linear, name: fc, features: 8, block_sparse: B=1/2}\n"
        "- {op: kernel, name: two, kernel: mm, sizes: {i: 4, j: 4, k: 8}, block_sparse: A=1/4}\n"
        "- {op: kernel, name: dense, kernel: mm, sizes: {i: 4, j: 4, k: 8}}\n"
    )
    start = "name: pruned\ninput: {batch: 1, channels: 8, height: 4, width: 4}\nlayers:\n"
    file.write_text(start + layers)
    mm = ["network", file, "--layers", "mm", "--limit", "dsp=40"]
    run = ithaca(*mm, "--dataflow", "i,j", "-o", out)
    assert run.returncode == 0, run.stderr
    assert "i4 j4 k8 A=1/4" in run.stdout
    nests = [layer["workload"] for layer in json.loads(out.read_text())["layers"]]
    assert [nest.get("block_sparse") for nest in nests] == ["B=1/2", "A=1/4", None]
    assert ithaca("verify", out).returncode == 0
    shared = ithaca(*mm, "--mode", "shared-array")
    assert shared.returncode == 2
    assert "block sparsity of fc does not go with --mode shared-array" in shared.stderr
    mapped = ithaca("network", file, "--arch", "eyeriss")
    assert "layer c: block sparsity w=2/4 goes with systolic arrays only" in mapped.stderr
    file.write_text(start + layers.replace("w=2/4", "cin=2/3"))
    wrong = ithaca(*mm)
    assert wrong.returncode == 2
    assert "layers[0]: layer c: block_sparse: a block of cin has 3 places" in wrong.stderr


def test_fewer_extents_than_blocks_are_refused_later():
    nest = sparse(workload("mm", {"k": 16}), "A=2/4")
    with pytest.raises(InputError, match="blocks of 4 do not divide loop k of 6"):
        nest.with_sizes({"k": 6})
