"""Windows with strides and holes: what the search counts of tiles that overlap, against the model
and enumeration."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

import ithaca.plugins.hierarchies.formulations.search.extension as extension
import ithaca.plugins.hierarchies.formulations.search.stage as search
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Compute, Level
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.library import find_architecture, fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.solver.staged.engine import solve_staged
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.drawn import MOST, check, posed
from tests.plugins.hierarchies.formulations.test_search_bounds import passed, scattered
from tests.whole_spaces import size_of

WINDOWS = (
    "O[p] += W[c][r] * I[c][{}*p+{}*r]",
    "O[c][p] += W[c][r] * I[c][{}*p+{}*r]",
    "O[m][p][q] += W[m][r][t] * I[{}*p+{}*r][{}*q+{}*t]",
)


def windows(rng, sizes, statements=3):
    """A convolution with strides and dilations."""
    statement = rng.choice(WINDOWS[:statements]).format(
        *(rng.choice((1, 2, 2, 3, 4)) for _ in range(4))
    )
    return nest_of(
        statement,
        {loop: rng.choice(sizes) for loop in sorted({c for c in statement if c.islower()})},
    )


def keeping_inputs(rng, nest, levels, words):
    """Levels, most of which keep the inputs, with meshes in between."""
    x = y = 1
    found = []
    for place in range(levels):
        kept = frozenset(
            t.tensor
            for t in nest.accesses
            if not place or rng.random() < (0.8 if t.tensor == "I" else 0.5)
        )
        costs = [Fraction(rng.randrange(1, 80), 8) for _ in range(3)]
        level = Level(
            f"L{place}",
            words=rng.choice(words) if place else None,
            keeps=kept,
            instances=x * y,
            mesh_x=x,
            mesh_y=y,
        )
        found.append(
            replace(level, read_energy=costs[0], write_energy=costs[1], update_energy=costs[2])
        )
        if rng.random() < 0.5:
            x, y = x * rng.choice((1, 2, 4)), y * rng.choice((1, 2, 4))
    return Architecture("drawn", tuple(found), Compute("mac", x * y, x, y, Fraction(1)))


@pytest.mark.parametrize(
    "first", [pytest.param(n, marks=pytest.mark.slow) if n != 240 else n for n in range(0, 960, 60)]
)
def test_counts_of_labels_are_those_of_the_model(first):
    """Counts agree to the word, of inputs at any level that keeps them, whatever is inside and
    around it."""
    checked = 0
    for seed in range(first, first + 60):
        rng = random.Random(seed)
        nest = windows(rng, (2, 3, 4, 5, 6, 7, 10, 12, 13, 17, 28, 31))
        architecture = keeping_inputs(rng, nest, rng.choice((2, 3, 4, 5)), (None,))
        level = rng.choice(
            [level.name for level in architecture.levels if "I" in level.kept(["I"])]
        )
        design = SpatialDesign(nest, architecture, MappingOptions(divisors_only=rng.random() < 0.5))
        problem = posed(design, f"{level}.I.{rng.choice(('reads', 'fills'))}")
        stage = problem.design.stage(problem)
        for _ in range(4):
            values = scattered(rng, problem)
            assert values is not None
            checked += 1
            *_, (labels, _) = passed(stage, values)
            assert stage.goal.exact(stage._final(labels)[:, 0]) == problem.value(values), (
                seed,
                values,
            )
    assert checked == 240


@pytest.mark.parametrize(
    ("p", "r", "value"), [(7, 3, "13267.875"), (10, 7, "23592.75"), (28, 7, "52233")]
)
def test_windows_of_stride_two_on_a_published_hierarchy(p, r, value):
    """Tiles of 13 words that move by one are filled with 13 + 2 words in three trips, of which
    floats lost one."""
    nest = nest_of("O[p] += W[c][r] * I[c][2*p+r]", {"p": p, "r": r, "c": 3})
    design = SpatialDesign(
        nest, fitted(find_architecture("simple"), nest), MappingOptions(divisors_only=True)
    )
    check(posed(design, "energy"), p)
    assert solve_staged(posed(design, "energy")).value == Fraction(value)


def small(seed):
    """A convolution of which every mapping can be enumerated."""
    rng = random.Random(seed)
    while True:
        nest = windows(rng, (2, 3, 4, 6, 7), 2)
        architecture = keeping_inputs(rng, nest, rng.choice((2, 3)), (None, 10, 20, 40))
        design = SpatialDesign(nest, architecture, MappingOptions(divisors_only=rng.random() < 0.5))
        if design.space.axes and size_of(design.space) <= MOST:
            return design


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow) if n > 9 else n for n in range(100)]
)
def test_small_windows_are_solved_as_by_enumeration(monkeypatch, seed):
    monkeypatch.setattr(extension, "FEW", 0)
    monkeypatch.setattr(search, "BEAMS", (3,))
    design = small(seed)
    for objective in ("energy", "edp"):
        check(posed(design, objective), seed)
