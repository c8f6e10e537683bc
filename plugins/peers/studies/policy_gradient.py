"""Policy gradient: REINFORCE on independent categorical distributions, one per coordinate, in
NumPy.

As in the released Odyssey (``RL_utils.py``, ``tuners.py``) an episode is one configuration, a
policy chooses each factor from a softmax, rewards are normalised over a batch, and Adam ascends.
That policy is a network without informative input (its state is what it chose last), so here its
output, the logits, is learnt directly. The released batch of 200 would leave a policy a dozen steps
in 3,000 samples, and its rate of 0.001 is meant for weights: `BATCH`, `RATE`, `VALUES` and
`ENTROPY` are the best of 81 combinations on the 1024³ matrix multiplication (3,000 samples, three
seeds).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.peers.studies.coordinates import Coordinates
from ithaca.plugins.peers.studies.evaluator import Evaluator
from ithaca.plugins.peers.studies.recorder import Ended

#: Configurations per step, and the rate of Adam.
BATCH, RATE = 10, 0.3

#: Adam's decays and its guard against division by zero (its authors' values).
FIRST_DECAY, SECOND_DECAY, GUARD = 0.9, 0.999, 1e-8

#: Values a coordinate may take, at most: all small ones, then evenly by their logarithms.
VALUES = 64

#: Weight of the entropy in the reward, so that a policy does not settle at once.
ENTROPY = 0.1

#: Logit that a start adds to its values: they are drawn about as often as all others together.
START = np.log(VALUES)


def search(evaluator: Evaluator, seed: int, starts: Sequence[Configuration]) -> Ended | None:
    """Learn until the budget is used up; the first policy prefers the values of the starts.

    Parameters
    ----------
    evaluator : Evaluator
        Scores configurations, and ends the search when its budget is used up.
    seed : int
        Fixes what chance decides.
    starts : sequence of Configuration
        Configurations known to be feasible.
    """
    generator, coordinates = np.random.default_rng(seed), evaluator.coordinates
    values = _values(coordinates)
    logits = np.array([np.where(np.arange(VALUES) < v.size, 0.0, -np.inf) for v in values])
    for point in evaluator.starts(starts):
        for row, value in enumerate(point):
            nearest = int(np.abs(values[row] - value).argmin())
            values[row][nearest] = value
            logits[row, nearest] = START
    moments = np.zeros((2, *logits.shape))
    step = 0
    while True:
        policy = _softmax(logits)
        actions = _drawn(policy, generator.random((BATCH, len(values))))
        points = np.stack([v[a] for v, a in zip(values, actions.T, strict=True)], axis=1)
        reward = -evaluator.points(points).cost
        advantage = (reward - reward.mean()) / (reward.std() + GUARD)
        gradient = -BATCH * policy * advantage.mean()
        for row in range(len(values)):
            np.add.at(gradient[row], actions[:, row], advantage)
        gradient = gradient / BATCH + ENTROPY * _entropy_gradient(policy)
        step += 1
        moments[0] += (1 - FIRST_DECAY) * (gradient - moments[0])
        moments[1] += (1 - SECOND_DECAY) * (gradient**2 - moments[1])
        mean, square = moments[0] / (1 - FIRST_DECAY**step), moments[1] / (1 - SECOND_DECAY**step)
        logits = logits + RATE * mean / (np.sqrt(square) + GUARD)


def _values(coordinates: Coordinates) -> list[Integers]:
    """The values each coordinate may take."""
    places = np.linspace(0.0, 1.0, VALUES)
    return [np.unique(coordinate.of_unit(places)) for coordinate in coordinates.all]


def _softmax(logits: Floats) -> Floats:
    weights: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
    policy: Floats = weights / weights.sum(axis=1, keepdims=True)
    return policy


def _drawn(policy: Floats, chances: Floats) -> Integers:
    """Actions, shape (configurations, coordinates), for chances of that shape."""
    sums = policy.cumsum(axis=1)
    actions = [
        np.searchsorted(row / row[-1], column, side="right")
        for row, column in zip(sums, chances.T, strict=True)
    ]
    return np.stack(actions, axis=1)


def _entropy_gradient(policy: Floats) -> Floats:
    """The gradient of the distribution's entropy in each logit."""
    logs = np.log(np.where(policy > 0, policy, 1.0))
    entropy = -(policy * logs).sum(axis=1, keepdims=True)
    gradient: Floats = -policy * (logs + entropy)
    return gradient
