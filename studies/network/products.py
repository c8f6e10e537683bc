"""Products of sums over layers, such as the energy-delay product of a network: (Σ energy) ·
(Σ latency).

A mapping of every layer is a point (X, Y) of two sums. The product X^a · Y^b is quasi-concave, so
its minimum over all points is at a vertex of their convex hull, and there X + w · Y is least for
some weight w: a sum over layers, which is solved and proven as any objective that adds up. Each
weight leaves a half-plane that no network is outside of; the least product over their intersection,
which one of its vertices has, is a lower bound. The next weight is the one that cuts that vertex
off. Hulls have finitely many vertices, so bound and value meet, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from itertools import combinations
from math import log10
from typing import Any, Generic, TypeVar

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.formulations.algebra.domains import LARGEST
from ithaca.formulations.algebra.expression import (
    Expression,
    Product,
    Symbol,
    add,
    multiply,
    split_coefficient,
    walk,
)
from ithaca.formulations.algebra.monotonicity import falling
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.problem import Objective
from ithaca.solver.certificate import Certificate, among_all
from ithaca.solver.conclusion import conclude
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.solution import Solution
from ithaca.studies.network.envelope import Envelope, Weights
from ithaca.studies.network.result import NetworkResult, Total
from ithaca.studies.network.totals import ADDITIVE, adds_up, total
from ithaca.studies.scale import wording

#: Metrics that are products of others.
PRODUCTS: Mapping[str, Expression] = {"edp": multiply(Symbol("energy"), Symbol("latency"))}

#: Two sums over a network.
Point = tuple[Fraction, Fraction]

#: What is answered for some weights.
Answer = TypeVar("Answer")

#: Solves for weights, between others: the answer, what is proven of the sum, and its point.
SolveWeighted = Callable[
    [Weights, tuple[Weights, Weights], SolveOptions], tuple[Answer, Certificate, Point | None]
]

#: Weights of one amount alone.
AXES: tuple[Weights, Weights] = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))

#: Degree up to which sums of any hardware have a product that doubles hold.
MODEST = 4

#: The slope of weights that count the second amount alone.
INFINITE = float("inf")

#: Share of the time left that one weight may take.
SHARE = 0.5

#: Significant digits of weights that need not be exact.
DIGITS = 3


@dataclass(frozen=True)
class Factors:
    """A product of two sums: scale · X^a · Y^b."""

    scale: Fraction
    amounts: tuple[Expression, Expression]
    """X and Y, of a run of a layer."""
    powers: tuple[int, int]

    def value(self, point: Point) -> Fraction:
        """The product of two sums."""
        (x, y), (a, b) = point, self.powers
        return self.scale * x**a * y**b

    def weighted(self, weights: Weights) -> Objective:
        """The sum that stands for the product at some weights."""
        expression = add(*(multiply(w, x) for w, x in zip(weights, self.amounts, strict=True)))
        terms = (
            wording(amount) if weight == 1 else f"{weight}*{wording(amount)}"
            for weight, amount in zip(weights, self.amounts, strict=True)
            if weight
        )
        return Objective(" + ".join(terms), expression)

    @property
    def symbols(self) -> frozenset[str]:
        """The metrics that both are of."""
        return self.amounts[0].symbols | self.amounts[1].symbols

    @property
    def degree(self) -> int:
        """The degree of the product: the exponent of a common factor of both sums."""
        return sum(self.powers)

    def sums(self, result: NetworkResult) -> Point:
        """X and Y over a network of which every layer has a configuration."""
        return self.over([(r.layer.count, r.answer.metrics) for r in result.layers])

    def over(self, runs: Sequence[tuple[int | Fraction, Mapping[str, Fraction]]]) -> Point:
        """X and Y over runs: how much each counts, and its metrics."""
        x, y = (
            sum((count * part.evaluate(own, FRACTION) for count, own in runs), Fraction(0))
            for part in self.amounts
        )
        return x, y


def factors_of(objective: Objective) -> Factors | None:
    """An objective over layers as a product of two sums that never fall below 0; None if it is no
    such product, or the sum of what runs have."""
    if objective.summed:
        return None
    expression = objective.expression.substitute(PRODUCTS)
    scale, product = split_coefficient(expression)
    if not isinstance(product, Product) or scale <= 0:
        return None
    factors = list(product.factors)
    for base, exponent in factors:
        least = dict.fromkeys(base.symbols, Fraction(0))
        if (
            exponent < 1
            or not adds_up(Objective(wording(base), base))
            or falling(base)
            or base.evaluate(least, FRACTION) < 0
        ):
            return None
    if len(factors) > 2:
        return None
    (x, a), (y, b) = factors if len(factors) == 2 else (factors[0], (factors[0][0], 0))
    return Factors(scale, (x, y), (a, b))


def taken_together(
    factors: Factors | None, runs: Sequence[tuple[int, Solution]], method: str
) -> Total:
    """Add up what runs take.

    Parameters
    ----------
    factors : Factors or None
        The two sums whose product is minimised; None: the objective is a sum.
    runs : Sequence of tuple of int and Solution
        How often each runs, and how.
    method : str
        The engine, for the certificate.

    Returns
    -------
    Total
        The value, with what is proven of it by the proofs of runs: of a product nothing.
    """
    if factors is None:
        return total(runs, method)
    answered = all(own.configured for _, own in runs)
    value = factors.value(factors.over([(n, s.metrics) for n, s in runs])) if answered else None
    return Total(value, conclude(value, None, method=method))


def check_products(
    objective: Objective, names: Collection[str] = ADDITIVE, constants: Collection[str] = ()
) -> None:
    """Refuse products of what adds up over layers with anything else but constants: their value
    over several layers is not known from that of each.

    Parameters
    ----------
    objective : Objective
        The objective, or several in order.
    names : Collection of str
        The metrics of layers.
    constants : Collection of str
        Metrics that are the same for all layers, such as those of the hardware.

    Raises
    ------
    InputError
        If there is such a product, and no ``sum()`` around it.
    """
    for each in objective.order:
        if not each.summed and multiplies(each.expression, names, constants):
            raise InputError(
                f"--objective '{objective.text}' has products over layers that are not proven; "
                f"allowed: sums, or one product of powers of two sums, of {', '.join(names)}; "
                f"sum({each.words}) is the sum of what each run has"
            )


def multiplies(expression: Expression, names: Collection[str], constants: Collection[str]) -> bool:
    """Whether an expression has products of some metrics with others, or powers of them.

    Parameters
    ----------
    expression : Expression
        The expression.
    names : Collection of str
        Those metrics.
    constants : Collection of str
        Names that may multiply them.

    Returns
    -------
    bool
        Whether it has.
    """
    for node in walk(expression.substitute(PRODUCTS)):
        if isinstance(node, Product):
            parts = [(b, p) for b, p in node.factors if not b.symbols <= {*constants}]
            powers = [power for base, power in parts if base.symbols & {*names}]
            others = [power for base, power in parts if not base.symbols & {*names}]
            if sum(powers) > 1 or (powers and max(powers) > 0 and others and max(others) > 0):
                return True
    return False


def check_product(network: Any, request: Any, factors: Factors) -> None:
    """Refuse a power of sums over layers that may be too large for doubles.

    Parameters
    ----------
    network : Network
        The network.
    request : Question
        The question about each layer.
    factors : Factors
        The sums that are multiplied, with their powers.
    """
    if factors.degree <= MODEST:
        return
    most = [1.0, 1.0]
    for part in request.pose(network):
        spans = [[p.reach(amount) for p in part.problems] for amount in factors.amounts]
        for place, known in enumerate(spans):
            most[place] += part.layer.count * max((float(s.high) for s in known if s), default=0.0)
    sizes = zip(most, factors.powers, strict=True)
    if sum(b * log10(x) for x, b in sizes) + log10(factors.scale) > log10(LARGEST):
        raise InputError(
            f"--objective {quoted(request.objective.text)} computes a number that is too large; "
            "allowed: products between 1e-150 and 1e150"
        )


def with_products(solve: Callable[..., NetworkResult]) -> Callable[..., NetworkResult]:
    """Let a function that solves networks for sums over layers solve for products of two such sums,
    too."""

    @wraps(solve)
    def solve_product(network: Any, request: Any, options: Any) -> NetworkResult:
        factors = factors_of(request.objective)
        if factors is None:
            return solve(network, request, options)
        if request.objective.then is not None:
            raise InputError(
                f"--objective '{request.objective.text}' is several in order, of which a product "
                "over layers is one; allowed: the product alone"
            )
        check_product(network, request, factors)
        budget, envelope = Budget(options.search), Envelope(AXES[0], AXES)

        def at(
            weights: Weights, neighbours: tuple[Weights, Weights], share: SolveOptions
        ) -> tuple[NetworkResult, Certificate, Point | None]:
            envelope.weights, envelope.neighbours = weights, neighbours
            run = replace(options, search=share, envelope=envelope)
            result = solve(network, request.minimising(factors.weighted(weights)), run)
            assert result.total is not None  # weighted sums add up
            point = factors.sums(result) if result.answered else None
            return result, result.total.certificate, point

        best, total = ProductSearch[NetworkResult](factors, budget).run(at, options.method)
        complete = total.certificate.settled or not options.search.stopped
        return replace(best, request=request, total=total, finished=complete)

    return solve_product


@dataclass(frozen=True)
class _Line:
    """A bound for some weights: no network's weighted sum is below it."""

    weights: Weights
    bound: Fraction = Fraction(0)
    point: Point | None = None
    """Sums of the best network known for them."""
    solved: bool = False
    """Whether that was searched for."""

    def at(self, point: Point) -> Fraction:
        """The weighted sum of a point."""
        return self.weights[0] * point[0] + self.weights[1] * point[1]


class ProductSearch(Generic[Answer]):
    """The least product, by weights one after the other."""

    def __init__(self, factors: Factors, budget: Budget, floor: Fraction = Fraction(0)) -> None:
        self.factors, self._budget, self._floor = factors, budget, floor
        self._lines: dict[Weights, _Line] = {}
        self._best: Answer | None = None
        self._value: Fraction | None = None
        self._proofs: list[Certificate] = []

    def run(self, at: SolveWeighted[Answer], method: str) -> tuple[Answer, Total]:
        """Search until bound and value meet, or the options say to stop: the best answer, or the
        last, and the product with what is proven of it."""
        options = replace(self._budget.options, gap=self._budget.options.gap / self.factors.degree)
        for axis in AXES:  # what is known without a search
            answer = self._look(at, axis, AXES, replace(options, time_limit=0.0))
        corner, pair = self._least()
        while not self._closed(corner) and not self._budget.over:
            weights = self._next(corner, *pair)
            if weights is None:
                break
            share = replace(self._budget.part(SHARE), gap=options.gap)
            answer = self._look(at, weights, (pair[0].weights, pair[1].weights), share)
            corner, pair = self._least()
        bound, empty = self._bound(corner), self._proofs[-1].empty
        proof = conclude(
            self._value,
            bound if self._value is None else min(bound, self._value),
            complete=empty,
            method=method,
            nodes=sum(known.nodes for known in self._proofs),
            seconds=sum(known.seconds for known in self._proofs),
        ).within(among_all(self._proofs), among_all(k for k in self._proofs if k.empty))
        return self._best or answer, Total(self._value, proof)

    def _look(
        self,
        at: SolveWeighted[Answer],
        weights: Weights,
        neighbours: tuple[Weights, Weights],
        options: SolveOptions,
    ) -> Answer:
        """Solve for some weights, between others, and keep what that tells."""
        answer, proof, point = at(weights, neighbours, options)
        self._proofs.append(proof)
        if point is not None:
            value = self.factors.value(point)
            if self._value is None or value < self._value:
                self._best, self._value = answer, value
        bound = proof.lower_bound or Fraction(0)
        self._lines[weights] = _Line(weights, bound, point, options.time_limit != 0)
        return answer

    def _bound(self, corner: Point) -> Fraction:
        """No product is below it: that of the corner of least product, or what was known before."""
        return max(self.factors.value(corner), self._floor)

    def _closed(self, corner: Point) -> bool:
        met = self._budget.options.gap_is_met(self._value, self._bound(corner))
        return self._proofs[-1].empty or met

    def _least(self) -> tuple[Point, tuple[_Line, _Line]]:
        """The corner of least product of what lines leave, and its two lines, that of the first
        axis first."""
        lines = sorted(self._lines.values(), key=lambda line: slope(line.weights))
        corners = [
            (self.factors.value(corner), corner, pair)
            for pair in combinations(lines, 2)
            if all(line.at(corner := crossing(*pair)) >= line.bound for line in lines)
        ]
        _, corner, pair = min(corners, key=lambda each: each[0])
        return corner, pair

    def _next(self, corner: Point, one: _Line, other: _Line) -> Weights | None:
        """Weights that may cut a corner off: those of the chord between the points of its lines, or
        of the tangent of its product; None if there are none that were not tried."""
        low, high = slope(one.weights), slope(other.weights)
        if one.solved and other.solved and one.point is not None and other.point is not None:
            (x, y), (u, v) = one.point, other.point
            ratio = (u - x) / (y - v) if u > x and y > v else low
        else:
            (x, y), (a, b) = corner, self.factors.powers
            exact = b * x / (a * y) if y else INFINITE
            near = Fraction(f"{float(exact):.{DIGITS}g}") if exact != INFINITE else exact
            ratio = near if low < near < high else exact
        if low < ratio < high:
            return Fraction(1), Fraction(ratio)
        return next((line.weights for line in (one, other) if not line.solved), None)


def slope(weights: Weights) -> Fraction | float:
    """The weight of the second amount for each of the first."""
    return weights[1] / weights[0] if weights[0] else INFINITE


def crossing(one: _Line, other: _Line) -> Point:
    """The point on two lines."""
    (a, b), (c, d) = one.weights, other.weights
    across = a * d - b * c
    return ((d * one.bound - b * other.bound) / across, (a * other.bound - c * one.bound) / across)
