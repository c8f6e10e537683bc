"""Random search: factors drawn evenly by their logarithms, exponents evenly.

Every configuration is drawn afresh; those drawn twice are charged twice, which is rare but in tiny design spaces.
The published random search (Odyssey's ``tuners.py``) draws t1 evenly up to the extent and t2 evenly among its divisors,
and redraws where accumulators are too few. Here draws are even by logarithm, over the padded design space, and what
breaks a limit costs its sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.formulations.systolic.tiling import Tiling
from ithaca.peers.evaluator import Evaluator
from ithaca.peers.trace import Ended

#: Configurations drawn at once.
BATCH = 512


def search(evaluator: Evaluator, seed: int, starts: Sequence[Tiling]) -> Ended | None:
    """Draw until the budget is used up. Starts are scored first, and do not steer it."""
    evaluator.starts(starts)
    generator, coordinates = np.random.default_rng(seed), evaluator.coordinates
    while True:
        evaluator.points(coordinates.of_units(generator.random((BATCH, coordinates.count))), remember=False)
