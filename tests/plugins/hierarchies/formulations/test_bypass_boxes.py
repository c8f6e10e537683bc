"""Boxes of all choices of what levels keep, whose loops share their options: each choice's optimum
is that of enumeration, also where bounds know a value that is hardly worse."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.search import option_forest
from ithaca.plugins.hierarchies.formulations.search.bypasses import BypassStage
from tests.plugins.hierarchies.formulations import drawn
from tests.plugins.hierarchies.formulations.test_search import NO_WINDOWS
from tests.whole_spaces import size_of

#: Configurations of a choice, and choices of a question, that are enumerated at most.
MOST, CHOICES = 6_000, 3


def drawn_question(rng):
    """A question whose levels choose, with an objective that perhaps reads one level or tensor."""
    while True:
        nest = drawn.drawn_nest(rng, (2, 3, 4, 6, 7))
        architecture = drawn.drawn_architecture(rng, nest, (3,))
        levels = tuple(replace(level, leak=Fraction(0)) for level in architecture.levels)
        options = MappingOptions(rng.random() < 0.5, free_bypass=True)
        design = SpatialDesign(nest, replace(architecture, levels=levels), options)
        tensor = rng.choice(nest.accesses).tensor
        words = (f"L0.{tensor}.reads", f"L{rng.choice((1, 2))}.{tensor}.fills")
        objective = rng.choice(("energy", "energy", "L0.energy", "L1.energy", "edp", *words))
        if objective not in design.vocabulary:
            continue
        stage = BypassStage(design, drawn.posed(design, objective))
        if len(stage.choices) > 16:
            continue
        if all(size_of(choice.design.space) <= MOST for choice in stage.choices):
            return stage


def found(boxes, case, known):
    """The least value that a search by boxes finds below a known one."""
    values = [] if known is None else [known]

    def best():
        return min(values, default=None)

    for block in boxes.blocks(best):
        for configuration in boxes.complete(block.rows, best):
            if configuration is not None and case.design.space.contains(configuration):
                values.append(case.feasible_value(configuration))
    return best()


def _states(case):
    """Whether a choice has what its objective reads: not where the level does not keep that."""
    name = case.objective.text
    return name in case.design.vocabulary and all(
        level.keeps is None or tensor in level.keeps
        for level in case.design.architecture.levels
        for tensor in name.split(".")[1:-1]
        if level.name == name.split(".")[0]
    )


@pytest.mark.ci(every=40)
@pytest.mark.slow(every=1)
@pytest.mark.parametrize("seed", range(250))
def test_boxes_that_share_options_find_the_optimum_of_every_choice(monkeypatch, seed):
    monkeypatch.setattr(drawn, "STATEMENTS", NO_WINDOWS)
    monkeypatch.setattr(option_forest, "SMALL", 0)  # options are left out of small forests, too
    rng = random.Random(seed)
    compared = 0
    while compared < 2:
        stage = drawn_question(rng)
        for number in rng.sample(range(len(stage.choices)), min(CHOICES, len(stage.choices))):
            case, boxes = stage.choices[number], stage._stage(number)._boxes
            if boxes is None or not _states(case):
                continue
            expected = drawn.enumerated(case)
            if expected is None:
                continue
            value = case.feasible_value(expected[1])
            for known in (None, value + Fraction(1, 2), value * Fraction(9, 8) + 1, value):
                assert found(boxes, case, known) == value, (seed, number, known)
            compared += 1
