"""Lower bounds of boxes of mappings by the duality of geometric programs.

A count is a sum of words u₁ + u₂ + …, each a product of a factor of every loop, and tiles and lanes
must fit: v₁ + v₂ + … ≤ c, products again. With shares λ of the words, which add up to 1, and
weights μ ≥ 0 of what must fit, with shares κ of its parts, the inequality of weighted means says

    ln count ≥ Σ λ ln(u / λ) + Σ μ (Σ κ ln(v / κ) − ln c).

This is a constant and, for every loop, a sum of logarithms of its own factors: its least over the
loop's options is taken of *whole* options, where a box's other bound takes the least of every
factor by itself. Any shares and weights give a bound. Good ones are those of the program whose
factors need not be whole, which Newton's method finds for many boxes together; as they only guide,
nothing depends on how well they are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ithaca.formulations.algebra.array_types import Floats, Integers, Mask

#: Steps of Newton's method for each weight of the objective beside the barriers; these weights.
STEPS, WEIGHTS = 8, (4.0, 60.0, 900.0, 9000.0)

#: Where a search begins above the least factors (logarithms); how much more than it needs there
#: what must fit is allowed, where it would not fit; and the share of the way to a barrier that a
#: step may go.
BEGIN, ELASTIC, NEAR = 0.02, 0.2, 0.95


@dataclass(frozen=True)
class Monomials:
    """Products of factors of loops, some of which add up to a sum."""

    weights: Floats
    """Logarithms of weights, minus infinity of what is left out, shape (boxes, products)."""
    exponents: Floats
    """Exponents of the unknowns, shape (boxes, products, unknowns)."""

    def at(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """The logarithm of the sum, and the shares of the products."""
        each = self.weights + (self.exponents @ unknowns[:, :, None])[:, :, 0]
        most = each.max(axis=1)
        with np.errstate(invalid="ignore"):  # of boxes without products
            parts = np.exp(each - most[:, None])
            whole = parts.sum(axis=1)
            return most + np.log(whole), parts / whole[:, None]

    def sorted(self, steps: Integers) -> Monomials:
        """The products with the steps of each loop in another order.

        Parameters
        ----------
        steps : ndarray
            The step at each place, shape (boxes, loops, steps).
        """
        boxes, loops, count = steps.shape
        own = self.exponents.reshape(*self.exponents.shape[:2], loops, count)
        own = np.broadcast_to(own, (boxes, *own.shape[1:]))
        own = np.take_along_axis(own, steps[:, None], axis=3)
        return Monomials(self.weights, own.reshape(boxes, -1, loops * count))

    def curved(self, unknowns: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The logarithm of the sum, the shares, and first and second derivatives."""
        value, shares = self.at(unknowns)
        slope = (shares[:, None, :] @ self.exponents)[:, 0]
        weighted = shares[:, :, None] * self.exponents
        bend = self.exponents.transpose(0, 2, 1) @ weighted
        return value, shares, slope, bend - slope[:, :, None] * slope[:, None, :]


@dataclass(frozen=True)
class Multipliers:
    """Shares and weights that make bounds, of boxes."""

    shares: Floats
    """Shares of the words of the count, shape (boxes, products)."""
    rules: tuple[tuple[Floats, Floats], ...]
    """Per rule its weight, shape (boxes), and the shares of its parts, shape (boxes, products)."""


def multipliers(
    count: Monomials, rules: Sequence[Monomials], extents: Floats, fixed: Mask
) -> Multipliers:
    """Good shares and weights for boxes.

    Parameters
    ----------
    count : Monomials
        What is to be small.
    rules : sequence of Monomials
        What is to be 1 at most; the same of all boxes: shapes begin with 1.
    extents : ndarray
        Logarithms of what the factors of each loop must cover together.
    fixed : ndarray
        The factors that are 1, shape (boxes, loops, steps); the last other step of a loop takes
        what the others leave.
    """
    boxes, loops, steps = fixed.shape
    # that step changes places with the last one
    taking = steps - 1 - np.argmin(fixed[:, :, ::-1], axis=2)[:, :, None]
    change = np.where(np.arange(steps) == taking, steps - 1, np.arange(steps))
    change[:, :, -1:] = taking
    fixed = np.take_along_axis(fixed, change, axis=2)
    count, rules = count.sorted(change), [rule.sorted(change) for rule in rules]
    inner = steps - 1
    # what a loop's last factor is, of the others
    place = np.zeros((loops * steps, loops * inner))
    start = np.zeros(loops * steps)
    for d in range(loops):
        begin, own = d * steps, d * inner
        place[begin : begin + inner, own : own + inner] = np.eye(inner)
        place[begin + inner, own : own + inner] = -1
        start[begin + inner] = extents[d]
    free = (~fixed[:, :, :inner]).reshape(boxes, -1)

    def reduced(some: Monomials) -> Monomials:
        own = (some.exponents @ place) * free[:, None, :]
        return Monomials(some.weights + some.exponents @ start, own)

    goal, limits = reduced(count), [reduced(rule) for rule in rules]
    ends = np.repeat(np.eye(loops), inner, axis=1) * free[:, None, :]
    highs = np.repeat(extents, inner)
    point = np.full((boxes, loops * inner), BEGIN) * np.minimum(1, highs)
    limits = [
        Monomials(
            rule.weights - np.maximum(rule.at(point)[0] + ELASTIC, 0)[:, None], rule.exponents
        )
        for rule in limits
    ]

    def room(at: Floats) -> list[Floats]:
        """Distances that must stay positive."""
        return [
            -np.array([rule.at(at)[0] for rule in limits]).reshape(len(limits), boxes).T,
            at,
            1.05 * highs - at,
            1.05 * extents - (ends @ at[:, :, None])[:, :, 0],
        ]

    def value(at: Floats, weight: float) -> Floats:
        rooms = room(at)
        inside = np.all([np.all(each > 0, axis=1) for each in rooms], axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            barriers = sum(np.log(each).sum(axis=1) for each in rooms)
        whole: Floats = np.where(inside, weight * goal.at(at)[0] - barriers, np.inf)
        return whole

    every = np.arange(loops * inner)
    weight = WEIGHTS[0]
    for weight in WEIGHTS:
        for _ in range(STEPS):
            _, _, slope, bend = goal.curved(point)
            slope, bend = weight * slope, weight * bend
            for rule in limits:
                own, _, first, second = rule.curved(point)
                slope = slope - first / own[:, None]
                bend = bend - second / own[:, None, None]
                bend += first[:, :, None] * first[:, None, :] / (own**2)[:, None, None]
            _, low, high, last = room(point)
            slope = slope - 1 / low + 1 / high + ((1 / last)[:, None, :] @ ends)[:, 0]
            bend[:, every, every] += 1 / low**2 + 1 / high**2
            bend += ends.transpose(0, 2, 1) @ (ends / (last**2)[:, :, None])
            try:
                step = -np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:  # where it is, shares and weights are good enough
                break
            falls = -(slope * step).sum(axis=1)
            length = np.ones(boxes)
            for left, change in (
                (low, step),
                (high, -step),
                (last, -(ends @ step[:, :, None])[:, :, 0]),
            ):
                reach = np.where(change < 0, left / np.maximum(-change, 1e-300), np.inf)
                length = np.minimum(length, NEAR * reach.min(axis=1, initial=np.inf))
            before = value(point, weight)
            for _ in range(12):
                better = (
                    value(point + length[:, None] * step, weight) <= before - 0.05 * length * falls
                )
                if better.all():
                    break
                length = np.where(better, length, length / 2)
            point = point + np.where(better, length, 0)[:, None] * step
            if falls.max() < 0.05:
                break
    by_rule = []
    for rule in limits:
        own, shares = rule.at(point)
        by_rule.append((1 / (weight * -own), shares))
    return Multipliers(goal.at(point)[1], tuple(by_rule))
