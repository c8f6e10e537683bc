"""Searches of hardware by name, beside the one by boxes that proves: all but the explained one know
an accelerator only by what it costs.

Limits are constraints; what breaks a rule is a trial, too, and what is too large by itself one that
takes no seconds. What a method asks for again costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from ithaca.files.registry import Registry
from ithaca.files.words import parse_choice
from ithaca.plugins.codesign.studies.evaluator import (
    HardwareEvaluator,
    HardwareTrace,
    SearchOverError,
)
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion

#: The searches by name: each ends by itself, or when its evaluator says so.
HARDWARE_SEARCHES: Registry[Callable[[HardwareEvaluator], None]] = Registry("hardware searches")

#: Accelerators in a row that are not new, after which drawing them ends.
PATIENCE = 2000


def search_random(evaluator: HardwareEvaluator) -> None:
    """Accelerators that keep the rules, each once."""
    generator, space = np.random.default_rng(evaluator.seed), evaluator.question.space
    sizes = [*evaluator.places.values()]
    while evaluator.idle < PATIENCE and len(evaluator.history) < space.box.count:
        point = evaluator.at(generator.integers(sizes))
        if space.allows(point):
            evaluator.evaluate(point)
        else:
            evaluator.idle += 1


def search_hardware(
    name: str,
    question: CodesignQuestion,
    bank: LayerCache,
    trials: int,
    seed: int = 0,
    stop: Callable[[], bool] | None = None,
) -> HardwareTrace:
    """Search by a method; the same seed and trials give the same accelerators.

    Raises `InputError` if there is none of that name, its library is not installed, or it cannot
    search for what is asked.

    Parameters
    ----------
    name : str
        The name of a method.
    question : CodesignQuestion
        The space, the layers, what is minimised and what is limited.
    bank : LayerCache
        Answers of layers, which searches share.
    trials : int
        How many accelerators may be evaluated.
    seed : int, optional
        Fixes what chance decides.
    stop : callable, optional
        Whether to end with what there is.
    """
    search = HARDWARE_SEARCHES[parse_choice("--method", name, HARDWARE_SEARCHES)]
    evaluator = HardwareEvaluator(question, bank, trials, stop, seed)
    with suppress(SearchOverError):
        search(evaluator)
    return HardwareTrace(name, seed, tuple(evaluator.history.values()), tuple(evaluator.trail))
