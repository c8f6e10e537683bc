"""Wide axes: rows that waste nothing stand for the others, and bounds that never fall are bounds."""

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

import ithaca
from ithaca.formulations.algebra.expression import Symbol, ceiling_division, maximum, minimum
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import never_falls, rising
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.cut import Cut
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver import level_set
from ithaca.solver.certificate import Status
from ithaca.solver.exact import wide
from ithaca.solver.exact.engine import solve_exact
from ithaca.solver.level_set import LevelSets
from ithaca.solver.options import SolveOptions, never
from ithaca.workloads.library import workload


@pytest.mark.parametrize("extent", [1, 7, 12, 64, 97])
@pytest.mark.parametrize("keep", [0, 3])
def test_pairs_are_the_least_of_each_count_and_width(extent, keep):
    most, widths = 2 * extent, (1, 2, 4)
    cut = Cut(extent, "inner", "outer", "size", "count")
    fixed = np.arange(1, most + 1)
    pairs = {
        (int(a), int(b))
        for first, second in cut.least(fixed, most, widths, keep)
        for a, b in zip(first, second, strict=True)
    }
    for one in fixed.tolist():
        every = {b: -(-extent // (one * b)) for b in range(1, most // one + 1)}
        for width, count in product(widths, set(every.values())):
            alike = [b for b, tiles in every.items() if tiles == count and b % width == 0]
            least = [b for b in alike if b <= keep] + [b for b in alike if b >= max(keep, 1)][:1]
            assert {(one, b) for b in least} <= pairs
    assert all(a * b <= most for a, b in pairs)
    assert len(pairs) <= most * most


@pytest.mark.parametrize("extent", [1, 12, 97])
def test_pairs_of_some_numbers_of_tiles_are_all_made(extent):
    most, cut, counts = 2 * extent, Cut(extent, "inner", "outer", "size", "count"), [1, 3, 7]
    counts = [count for count in counts if count <= extent]
    alike = {
        (a, b)
        for a, b in product(range(1, most + 1), repeat=2)
        if a * b <= most and -(-extent // (a * b)) in counts
    }
    chunks = cut.counted(np.arange(1, most + 1), np.array(counts), most)
    assert alike == {(int(a), int(b)) for f, s in chunks for a, b in zip(f, s, strict=True)}


@pytest.mark.parametrize("extent", [1, 12, 97])
def test_all_pairs_of_a_number_of_tiles_are_made(extent):
    most, cut = 2 * extent, Cut(extent, "inner", "outer", "size", "count")
    for one, count in product(range(1, most + 1), range(1, extent + 1)):
        alike = {(one, b) for b in range(1, most // one + 1) if -(-extent // (one * b)) == count}
        chunks = [*cut.like(np.array([one]), np.array([count]), most)]
        assert alike == {(int(a), int(b)) for f, s in chunks for a, b in zip(f, s, strict=True)}


def drawn(draw, depth=3):
    """An expression over x, y and z with everything that models have."""
    if not depth or draw.random() < 0.2:
        return draw.choice([Symbol("x"), Symbol("y"), Symbol("z"), Fraction(draw.randint(1, 9))])
    one, other = drawn(draw, depth - 1), drawn(draw, depth - 1)
    kind = draw.choice("+-*/^cmM")
    one = one + Fraction(0) if kind in "+-*" else one
    if kind == "+":
        return one + other
    if kind == "-":
        return one - other
    if kind == "*":
        return one * other
    if kind == "M":
        return maximum(one, other)
    if kind == "m":
        return minimum(one, other)
    positive = draw.choice([Symbol("x"), Symbol("y") * Symbol("z"), Symbol("x") + 1])
    return ceiling_division(one, positive) if kind == "c" else one / positive


def test_bounds_that_never_fall_are_below_and_never_fall():
    draw, span = Random(5), range(1, 6)
    ranges = dict.fromkeys("xyz", Interval(Fraction(1), Fraction(5)))
    changed = 0
    for _ in range(400):
        expression = drawn(draw) + Symbol("x") * 0 + 0
        names = frozenset(draw.sample("xyz", draw.randint(1, 2)))
        bound = rising(expression, names, ranges)
        assert never_falls(bound, names)
        changed += bound != expression
        for point in product(span, repeat=3):
            values = {name: Fraction(n) for name, n in zip("xyz", point, strict=True)}
            low = bound.evaluate(values, FRACTION)
            assert low <= expression.evaluate(values, FRACTION)
            for name in names:
                more = {**values, name: values[name] + 1}
                assert low <= bound.evaluate(more, FRACTION)
    assert changed > 100


def problems(seed):
    """Designs of a small nest with limits that bind."""
    draw = Random(seed)
    name, loops = draw.choice([("mm", "ijk"), ("ttm", "ijkl"), ("mttkrp", "ijkl")])
    nest = workload(name, {loop: draw.randint(2, 9) for loop in loops})
    edition = draw.choice([Edition.EXACT, Edition.CYCLE, Edition.ODYSSEY])
    data = data_type(draw.choice(["fp32", "int8"]))
    objective = parse_objective(draw.choice(["latency", "edp", "off_chip_words", "bram18k+dsp"]))
    limits = (
        Limit("dsp", Fraction(draw.choice([10, 40, 200]))),
        Limit("bram18k", Fraction(draw.choice([12, 30, 90]))),
    )
    arrays = [a for a in designs(nest, edition) if edition is not Edition.CYCLE or not a.obstacle]
    for array in draw.sample(arrays, 2):
        yield Problem(SystolicDesign(nest, array, data), limits, objective)


@pytest.mark.parametrize("seed", range(12))
def test_wide_and_narrow_axes_have_one_answer(seed, monkeypatch):
    for problem in problems(seed):
        narrow = solve_exact(problem)
        with monkeypatch.context() as patch:
            patch.setattr(level_set, "WIDE", 0)
            wide = solve_exact(problem)
        assert wide.certificate.status is narrow.certificate.status
        assert (wide.value, wide.configuration) == (narrow.value, narrow.configuration)


@pytest.mark.ci
def test_rows_that_waste_nothing_are_made_up_to_a_limit(monkeypatch):
    """One byte less, and the search does without; the answer stays."""
    monkeypatch.setattr(level_set, "WIDE", 0)
    problem = next(problems(2))
    levels, needed = LevelSets(problem, never), 0
    for axis, lean in zip(levels.axes, levels.rising.lean(levels.axes), strict=True):
        columns = len(levels.bounds.lowered.columns.get(axis.name, ()))
        for rows in axis.rows() if lean is None else lean.rows():
            needed += 8 * (len(rows) + columns) * next(iter(rows.values())).size
    assert needed > 1000
    answers = []
    for most in (needed, needed - 1):
        monkeypatch.setattr(wide, "MOST_BYTES", most)
        tables = wide.few_rows(levels)
        assert (tables is None) == (most < needed)
        answers.append(solve_exact(problem).value)
    assert answers[0] == answers[1]


@pytest.mark.parametrize("seed", range(6))
def test_level_sets_keep_all_rows_of_good_configurations(seed, monkeypatch):
    monkeypatch.setattr(level_set, "WIDE", 0)
    draw = Random(seed)
    for problem in problems(seed):
        best = solve_exact(problem, SolveOptions(any_tie=True))
        if best.value is None:
            continue
        value = best.value * Fraction(draw.choice([100, 103, 120]), 100)
        tables = LevelSets(problem, never).tables(value)
        axes = [axis.table() for axis in problem.space.axes]
        for _ in range(300):
            rows = [draw.randrange(next(iter(axis.values())).size) for axis in axes]
            point = {
                n: int(v[row])
                for axis, row in zip(axes, rows, strict=True)
                for n, v in axis.items()
            }
            own = problem.feasible_value(point)
            if own is not None and own <= value:
                assert tables is not None
                for table in tables:
                    assert any(
                        all(table.rows[n][r] == point[n] for n in table.rows)
                        for r in range(table.count)
                    )
        assert all(
            any(all(t.rows[n][r] == best.configuration[n] for n in t.rows) for r in range(t.count))
            for t in tables
        )


@pytest.mark.ci
@pytest.mark.parametrize("sizes", ["i=1,j=48,k=32", "i=8,j=56,k=32", "i=12,j=40,k=16"])
def test_wide_and_narrow_axes_with_ports_have_one_answer(sizes, monkeypatch):
    question = {"sizes": sizes, "platform": "u280", "dtype": "int8", "ports": 8, "limit": "dsp=96"}
    narrow = ithaca.solve("mm", **question).best
    monkeypatch.setattr(level_set, "WIDE", 0)
    wide = ithaca.solve("mm", **question).best
    assert wide.certificate.status is Status.OPTIMAL
    assert (wide.value, wide.configuration) == (narrow.value, narrow.configuration)


@pytest.mark.ci
def test_the_optimum_of_a_wide_product_is_that_of_an_enumeration_in_c():
    """The figure is of 150 lines of C that enumerate hardware and tiles, by others than us."""
    result = ithaca.solve(
        "mm", sizes="i=65536,j=65536,k=65536", platform="u250", dataflow="i,j", permutation="C"
    )
    assert result.best.value == 163_750_762_897
    assert result.best.certificate.status is Status.OPTIMAL


@pytest.mark.ci
def test_a_skinny_product_far_above_what_bounds_all_values_is_proven():
    """An optimum half as large again as that bound: guesses grow until rows hold it."""
    result = ithaca.solve(
        "mm", sizes="i=8,j=128256,k=4096", platform="u280", dtype="int8", ports=32, dataflow="j"
    )
    assert result.best.value == 1_028_508
    assert result.best.certificate.status is Status.OPTIMAL


@pytest.mark.ci
@pytest.mark.parametrize("text", ["bram18k+dsp", "off_chip_words", "latency", "dsp"])
def test_guesses_between_two_values_claim_nothing_false(monkeypatch, text):
    """Guesses off the objective's grid, around the optimum, where no descent finds it first."""
    monkeypatch.setattr("ithaca.solver.exact.probing.descend", lambda *_: None)
    nest, checked = workload("mm", {"i": 4, "j": 5, "k": 3}), 0
    limits = (Limit("dsp", Fraction(20)), Limit("bram18k", Fraction(90)))
    for array in designs(nest, Edition.EXACT)[:4]:
        design = SystolicDesign(nest, array, data_type("fp32"))
        problem = Problem(design, limits, parse_objective(text))
        monkeypatch.setattr(level_set, "WIDE", 1 << 12)
        least = solve_exact(problem).value
        if least is None or not problem.floor:
            continue
        monkeypatch.setattr(level_set, "WIDE", 0)
        for above in (Fraction(1, 4), Fraction(3, 4)):
            monkeypatch.setattr(wide, "GUESSES", ((least + above) / problem.floor,))
            result = solve_exact(problem)  # raises where a bound is above a value
            assert (result.value, result.certificate.status) == (least, Status.OPTIMAL)
            checked += 1
    assert checked > 3
