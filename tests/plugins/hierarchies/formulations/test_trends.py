"""Trends of figures, as editions declare them: on every mapping of random layers, and on the proven
optima of boxes."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.accelerator import Trend, Work
from ithaca.formulations.hardware.kind import Figure
from ithaca.formulations.problem import Objective
from ithaca.formulations.region import listed
from ithaca.plugins.codesign.formulations.space import HardwareSpace
from ithaca.plugins.hierarchies.formulations.accelerator import HIERARCHIES, HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.editions import (
    DMAZERUNNER,
    EDITIONS,
    TIMELOOP,
    Setting,
)
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.variation import MESHES
from ithaca.solver.certificate import Status
from ithaca.solver.options import SolveOptions
from ithaca.solver.staged.engine import solve_staged
from tests.plugins.hierarchies.formulations.drawn import drawn_architecture, drawn_nest, with_blocks
from tests.plugins.hierarchies.formulations.test_dmazerunner_proofs import (
    random_layer,
    small_machine,
)
from tests.whole_spaces import lengths, some_row, tables_of

#: Metrics of layers that objectives are made of.
OBJECTIVES = ("latency", "energy", "edp")

Values = Mapping[str, Fraction]


def drawn(edition, random, *, blocks=False):
    """A small layer on a small machine, with divisors or padding; with blocks (whose rounding no
    stage proves) and bypasses."""
    divisors = random.random() < 0.5
    if edition == DMAZERUNNER:
        layer = random_layer(random, surplus=True, most=6)
        return Setting(
            small_machine(random),
            layer.nest,
            edition,
            MappingOptions(divisors),
            memory=layer.stored,
        )
    nest = drawn_nest(random)
    architecture = drawn_architecture(random, nest)
    if blocks:
        architecture = with_blocks(architecture, random)
    return Setting(
        architecture,
        nest,
        edition,
        MappingOptions(divisors, blocks and random.random() < 0.3, random.random() < 0.3),
    )


def accelerator(setting):
    return HierarchyAccelerator(setting.architecture, setting.edition, setting.options)


def two_values(setting, name, random):
    """Values of a figure, the smaller first, of a size that matters."""
    figure = name.rpartition(".")[2]
    if figure in ("words", "bank_words"):
        low = random.choice((2, 4, 6, 12, 20)) * (8 if name.startswith("SPM") else 1)
        return Fraction(low), Fraction(low * random.choice((2, 3)) + random.choice((0, 1)))
    if figure in MESHES:
        parts = setting.architecture.parts
        place = [part.name for part in parts].index(name.partition(".")[0])
        around = (
            getattr(parts[place - 1], figure.replace("fanout", "mesh"))
            if place and figure.startswith("mesh")
            else 1
        )
        low = random.choice((1, 1, 2))
        return Fraction(around * low), Fraction(around * (low + random.choice((1, 2))))
    if figure == "word_bits":
        return random.choice(((Fraction(8), Fraction(16)), (Fraction(12), Fraction(32))))
    low = Fraction(random.randint(1, 12), 4)
    return low, low + Fraction(random.randint(1, 40), 4)


def monotone(setting):
    trends = EDITIONS[setting.edition].trends(setting.architecture)
    return {name: trend for name, trend in trends.items() if trend in (Trend.HELPS, Trend.HURTS)}


def on(setting, figures):
    return replace(setting, architecture=accelerator(setting).architecture_with(figures)).design


def some_configurations(design, random, most):
    """Legal configurations at random."""
    tables = tables_of(design.space)
    if not all(lengths(tables)):
        return []
    found = []
    for _ in range(40 * most):
        values = some_row(tables, random.randrange)
        if all(bool(np.all(link.holds(values))) for link in design.space.links):
            found.append(values)
        if len(found) == most:
            break
    return found


@pytest.mark.parametrize(("edition", "draws"), [(TIMELOOP, 90), (DMAZERUNNER, 30)])
def test_every_mapping_stays_and_costs_no_more(edition, draws):
    """Better hardware never costs a mapping more, and so neither an optimum of what rises with
    these metrics."""
    random, looked_at, better_by = Random(5), 0, 0
    seen = set()
    for turn in range(draws):
        setting = drawn(edition, random, blocks=True)
        figures = sorted(monotone(setting).items())
        name, trend = figures[turn % len(figures)]
        low, high = two_values(setting, name, random)
        worse, better = (
            on(setting, {name: v}) for v in ((low, high) if trend is Trend.HELPS else (high, low))
        )
        for values in some_configurations(worse, random, 5):
            there = {quantity: values.get(quantity, 1) for quantity in better.space.quantities}
            assert better.space.contains(there), (name, low, high)
            costs = [
                d.metrics({k: Fraction(v) for k, v in at.items()}, FRACTION, OBJECTIVES)
                for d, at in ((worse, values), (better, there))
            ]
            assert all(costs[1][metric] <= costs[0][metric] for metric in OBJECTIVES), (
                name,
                low,
                high,
                costs,
            )
            looked_at, better_by = looked_at + 1, better_by + (costs[0] != costs[1])
            seen.add(name.rpartition(".")[2])
    assert looked_at > 2 * draws
    assert better_by > draws // 3
    assert seen == {
        name.rpartition(".")[2]
        for name in EDITIONS[edition].trends(drawn(edition, Random(1)).architecture)
    } - ({"bank_words"})


def optimum(problem):
    found = solve_staged(problem, SolveOptions())
    assert found.certificate.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return found.value


@pytest.mark.parametrize("edition", [TIMELOOP, DMAZERUNNER])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_accelerator_of_a_box_surpasses_its_best_figures(edition, objective):
    random, compared = Random(objective), 0
    for _ in range(6):
        setting = drawn(edition, random)
        names = random.sample(sorted(monotone(setting)), 2)
        spans = {name: two_values(setting, name, random) for name in names}
        kind = accelerator(setting)
        quantities = tuple(listed(f"q{k}", (1, 2)) for k in range(len(names)))
        figures = {
            name: Figure(
                Symbol(f"q{k}"), ((Fraction(1), spans[name][0]), (Fraction(2), spans[name][1]))
            )
            for k, name in enumerate(names)
        }
        try:
            kind, completed = HIERARCHIES.completed(kind, figures)
        except InputError:  # of one mesh inside another, see below
            continue
        space = HardwareSpace("drawn", quantities, kind, completed)
        asked = Objective(
            objective, parse_expression(objective, where="objective", allowed=kind.metrics)
        )
        work = Work("layer", setting.nest, stored=setting.memory)
        (problem,) = kind.problems(work, space.best(space.box), asked)
        least = optimum(problem)
        for box in space.box.split("q0"):
            for single in box.split("q1"):
                assert single.point is not None
                (problem,) = kind.problems(work, space.at(single.point), asked)
                value = optimum(problem)
                assert value is None or (least is not None and least <= value), (
                    spans,
                    single.point,
                )
                compared += value is not None
    assert compared > 10


def test_meshes_inside_each_other_are_not_monotone_together():
    """More instances around leave fewer inside each: spaces have to state how many are inside each
    one around."""
    architecture = find_architecture("simple")
    kind, one = HierarchyAccelerator(architecture), Figure(Symbol("n"))
    for outer, inner in (
        ("RF.mesh_x", "mac.mesh_x"),
        ("RF.fanout_x", "mac.mesh_x"),
        ("Buffer.mesh_x", "mac.mesh_x"),
    ):
        with pytest.raises(
            InputError, match=f"figures.{inner} is beside {outer}; allowed: mac.fanout_x"
        ):
            HIERARCHIES.completed(kind, {outer: one, inner: one})
    HIERARCHIES.completed(kind, {"RF.mesh_x": one, "mac.fanout_x": one, "mac.mesh_y": one})
