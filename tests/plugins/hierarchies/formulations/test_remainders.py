"""Loops whose last iterations have fewer trips: against the real tool's tables, and refused."""

import csv
import random
import re
from dataclasses import replace
from itertools import permutations, product
from math import ceil, prod

import numpy as np
import pytest

import ithaca.plugins.hierarchies.formulations.search.extension as extension
import ithaca.plugins.hierarchies.formulations.search.stage as search
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest, directives
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping import slots
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.points import (
    SpatialPoint,
    evaluate_points,
    load_points,
    points_text,
)
from ithaca.solver.certificate import Status
from ithaca.solver.staged.engine import solve_staged
from tests.command_line import refused, succeed
from tests.plugins.hierarchies.formulations.cases import golden, nest_of, random_architecture
from tests.plugins.hierarchies.formulations.drawn import (
    MOST,
    OBJECTIVES,
    check_with_limit,
    drawn_architecture,
    posed,
    with_blocks,
)
from tests.plugins.hierarchies.formulations.test_space import METRICS, least
from tests.reference import DATA
from tests.whole_spaces import crossed, size_of, some_row, tables_of

STATEMENTS = (
    "O[m][n] += A[m][k] * B[n][k]",
    "O[i][j] += A[i][k][l] * B[k][j] * C[l][j]",
    "O[m][p] += W[m][c][r] * I[c][p+r]",
)

#: Counts of the tool, and what it rounds to.
COUNTS = {"reads": 0, "fills": 0, "updates": 0, "capacity": 0, "cycles": 1, "energy_pJ": 0.02}


def points(machine):
    folder = golden() / machine
    return load_points(DATA / f"remainders_{machine}.csv", read_architecture(folder), folder)


@pytest.mark.parametrize(("machine", "equal"), [("simple", 58), ("eyeriss", 67)])
def test_counts_are_the_tools(machine, equal):
    """All of every mapping; of those with a last iteration of one trip, in which the tool sees that
    a tile stays, no fewer words."""
    rows = csv.DictReader((DATA / f"remainders_{machine}.csv").read_text().splitlines())
    same = 0
    for row, point in zip(rows, evaluate_points(points(machine)), strict=True):
        differ = set()
        for column, text in row.items():
            what = column.rpartition(".")[2]
            if what in COUNTS and text:
                more = float(text) - point["metrics"][column]
                assert more <= COUNTS[what] + 1e-6, (row, column)
                differ |= {column} if more < -COUNTS[what] - 1e-6 else set()
        assert point["metrics"]["computes"] == int(row["computes"])
        trips = " ".join(row[name] for name in row if name.startswith("T:"))
        assert not differ or re.search(r",1\b", trips), (row, differ)
        same += not differ
    assert same == equal


def test_rows_and_directives_say_last_trips(tmp_path):
    """Last trips are read back, from rows and from the tool's files."""
    drawn = points("eyeriss")
    path = tmp_path / "points.csv"
    for point in drawn:
        machine = point.design.architecture
        path.write_text(points_text([point]))
        (again,) = load_points(path, machine, point.design.nest)
        assert again.mapping == point.mapping
        mapped = MappedNest(point.design.nest, machine, point.mapping, {})
        text = "\n".join(f"  - {entry}" for entry in directives(mapped))
        file = tmp_path / "mapping.yaml"
        file.write_text(f"mapping:\n{text}\n")
        (tools,) = load_points(file, machine, point.design.nest)
        assert tools.mapping.remainders == point.mapping.remainders
        assert point.mapping.padded(point.design.nest) == point.design.nest.sizes


@pytest.mark.parametrize(
    ("column", "factors", "message"),
    [
        ("T:DRAM.factors", "M=3,2 N=2 K=2", "loop of M is around"),
        ("T:RF.factors", "M=4,5", "from 1 to 4 trips"),
        ("T:RF.factors", "M=4,0", "from 1 to 4 trips"),
        ("sizes", "M=9,2 N=16 K=8", "such as M=4"),
    ],
)
def test_what_cannot_be(tmp_path, column, factors, message):
    row = {
        "workload": "gemm",
        "sizes": "M=9 N=16 K=8",
        "T:DRAM.factors": "M=3 N=2 K=2",
        "T:Buffer.factors": "K=4",
        "S:Buffer.factors": "N=2",
        "S:Buffer.X": "MN",
        "S:Buffer.Y": "",
        "T:RF.factors": "M=4,1 N=4",
    }
    file = tmp_path / "points.csv"

    def load(cells):
        lines = (",".join(f'"{cell}"' for cell in line) for line in (cells, cells.values()))
        file.write_text("\n".join(lines))
        return load_points(file, read_architecture(golden() / "simple"), golden() / "simple")

    assert load(row)
    with pytest.raises(InputError) as error:
        load(row | {column: factors})
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def drawn(seed):
    """A small problem with remainders of which everything can be enumerated."""
    rng = random.Random(seed)
    while True:
        statement = rng.choice(STATEMENTS)
        loops = sorted({c for c in statement if c.islower()})
        sizes = (2, 3, 5, 7, 9, 10, 11, 13) if len(loops) < 4 else (1, 2, 3, 5, 7)
        nest = nest_of(statement, {loop: rng.choice(sizes) for loop in loops})
        architecture = drawn_architecture(rng, nest)
        if rng.random() < 0.2:
            architecture = with_blocks(architecture, rng)
        design = SpatialDesign(nest, architecture, MappingOptions(remainders=True))
        if len(architecture.levels) > 1 and design.ending and size_of(design.space) <= MOST:
            return posed(design, rng.choice(OBJECTIVES))


def proven(monkeypatch, seed):
    """Whether remainders pay, where the search proves what enumeration finds; they never cost."""
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    problem = drawn(seed)
    check_with_limit(problem, seed)
    ended = solve_staged(problem)
    padded = solve_staged(
        replace(problem, design=replace(problem.design, options=MappingOptions()))
    )
    if padded.value is None:
        return False
    assert ended.certificate.status is Status.OPTIMAL
    assert ended.value <= padded.value, seed
    return ended.value < padded.value


@pytest.mark.parametrize("seed", range(10))
def test_proofs_are_those_of_enumeration(monkeypatch, seed):
    proven(monkeypatch, seed)


def test_many_proofs_are_those_of_enumeration(monkeypatch):
    assert sum(proven(monkeypatch, seed) for seed in range(100, 240)) > 10


@pytest.mark.parametrize("seed", range(8))
def test_nothing_beside_the_space_is_better(seed):
    """All tiles, larger ones than needed, too, in all orders."""
    rng = random.Random(seed)
    nest = nest_of("O[i][j] += A[i][k] * B[k][j]", {loop: rng.choice((2, 3, 5)) for loop in "ijk"})
    architecture = random_architecture(rng, nest, 2 + seed % 2)
    levels = tuple(
        replace(level, words=level.words and rng.randint(6, 30)) for level in architecture.levels
    )
    architecture, options = replace(architecture, levels=levels), MappingOptions(remainders=True)
    places, tables = slots(architecture), []
    for loop, extent in nest.extents:
        rows = [
            (ceil(extent / prod(row)), *row)
            for row in product(range(1, extent + 1), repeat=len(places) - 1)
            if not any(
                row[n - 1] > 1 and row[n] > 1
                for n, slot in enumerate(places)
                if slot.direction == "x"
            )
        ]
        names = (slot.quantity(loop) for slot in places)
        tables.append(dict(zip(names, np.array(rows).T, strict=True)))
    if prod(len(next(iter(table.values()))) for table in tables) > MOST:
        return
    everything = dict.fromkeys(METRICS, np.inf)
    for orders in product(permutations(nest.loops), repeat=len(levels) - 1):
        fixed = tuple((level.name, order) for level, order in zip(levels, orders, strict=False))
        found = least(
            SpatialDesign(nest, architecture, options, fixed_orders=fixed), crossed(tables)
        )
        everything = {name: min(everything[name], value) for name, value in found.items()}
    design = SpatialDesign(nest, architecture, options)
    assert least(design, crossed(tables_of(design.space))) == pytest.approx(everything)


def test_results_and_evaluations_agree():
    """The space's figures of a configuration are those of its last trips, written out."""
    for seed in range(12):
        problem, rng = drawn(seed), random.Random(seed)
        design = problem.design
        configuration = Configuration(some_row(tables_of(design.space), rng.randrange))
        plain = replace(design, options=MappingOptions())
        mapping = design.mapping(configuration)
        assert design.configuration(mapping) == configuration
        (point,) = evaluate_points([SpatialPoint(plain, mapping)])
        for name, value in design.metrics(configuration, FRACTION).items():
            assert point["metrics"][name] == pytest.approx(float(value)), (seed, name)
        if mapping.remainders:
            with pytest.raises(InputError, match="with --remainders"):
                plain.configuration(mapping)


def test_hardware_spaces_have_none():
    """The effect of more of a mesh on remainders is not known."""
    machine = read_architecture(golden() / "simple")
    with pytest.raises(InputError, match="remainders is true"):
        HierarchyAccelerator(machine, options=MappingOptions(remainders=True))


def test_searches_begin_with_mappings_that_the_tool_writes(tmp_path):
    """The exported optimum of 127³, which ends with what is left."""
    words = ("map", "mm", "-s", "i=127,j=127,k=127", "--arch", "simple", "--objective", "energy")
    succeed(*words, "--remainders", "-o", tmp_path / "r.json")
    succeed("export", tmp_path / "r.json", "--to", "timeloop", "-o", tmp_path / "own")
    start = ("--start", tmp_path / "own" / "mapping.yaml")
    assert "20,745,028.5  (optimal" in succeed(*words, "--remainders", *start).stdout
    assert "leave a remainder; allowed: with --remainders" in refused(*words, *start)
