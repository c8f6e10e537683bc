"""A problem: one design of one nest, with its limits and objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.data_types import DataType
from ithaca.formulations.systolic.cost_model import Costs, evaluate, symbolic_costs
from ithaca.formulations.systolic.metrics import METRICS, metric_values
from ithaca.formulations.systolic.physical_array import ANY_ARRAY, PhysicalArray
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit on a metric, or on an expression over metrics.

    Attributes
    ----------
    metric : str
        Name of the metric, or an expression such as ``latency*dsp``.
    bound : Fraction
        Its largest allowed value.
    expression : Expression
        ``metric``, read: symbols are named like the metrics.
    """

    metric: str
    bound: Fraction
    expression: Expression = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        read = parse_expression(self.metric, where="limit", allowed=tuple(METRICS))
        object.__setattr__(self, "expression", read)
        if self.bound < 0 and self.metric in METRICS:
            raise InputError(f"limit {self.metric} is {self.bound}; allowed: a number that is not negative")

    def used(self, costs: Costs) -> Fraction:
        """How much of the limit exact costs take up."""
        return _exact(self.expression, costs)


@dataclass(frozen=True, slots=True)
class Objective:
    """What is minimised: an expression over metrics.

    Attributes
    ----------
    text : str
        As the user wrote it.
    expression : Expression
        The same, over symbols named like the metrics.
    """

    text: str
    expression: Expression

    def value(self, costs: Costs) -> Fraction:
        """The objective's exact value for exact costs."""
        return _exact(self.expression, costs)


def _exact(expression: Expression, costs: Costs) -> Fraction:
    value: Fraction = expression.evaluate(metric_values(costs, expression.symbols), FRACTION)
    return value


@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """Restrictions of the design space.

    Attributes
    ----------
    min_lanes : int
        Fewest PEs along each space loop.
    divisors_only : bool
        Whether every t1 must divide its loop's extent (no padding).
    dividing_packs : bool
        Whether inferred packs must divide the last dimension too (what AutoSA requires).
    """

    min_lanes: int = 1
    divisors_only: bool = False
    dividing_packs: bool = False


@dataclass(frozen=True)
class Problem:
    """One design of one nest, with its limits and objective.

    Attributes
    ----------
    nest : LoopNest
        The loop nest, with extents.
    array : SystolicArray
        The design.
    data : DataType
        The type of all arrays.
    limits : tuple of Limit
        Upper limits on metrics.
    objective : Objective
        What is minimised.
    space : SpaceOptions
        Restrictions of the design space.
    technology : Technology
        Clock and energies, for the metrics that need them.
    physical : PhysicalArray
        What is given of the array.
    """

    nest: LoopNest
    array: SystolicArray
    data: DataType
    limits: tuple[Limit, ...]
    objective: Objective
    space: SpaceOptions = field(default_factory=SpaceOptions)
    technology: Technology = DEFAULT_TECHNOLOGY
    physical: PhysicalArray = ANY_ARRAY

    def costs(self, tiling: Tiling) -> Costs:
        """All metrics of a tiling, by the exact reference (Fractions)."""
        values = tiling.quantities(self.array, self.nest.sizes)
        return evaluate(self.array, values, self.data, FRACTION, self.technology, dict(self.physical.buffers))

    def value(self, costs: Costs) -> Fraction:
        """The objective's exact value for exact costs."""
        return self.objective.value(costs)

    def exceeded(self, costs: Costs) -> tuple[Limit, ...]:
        """The limits that exact costs exceed."""
        return tuple(limit for limit in self.limits if limit.used(costs) > limit.bound)

    def symbolic(self) -> SymbolicProblem:
        """The problem in symbols, with the extents put in."""
        costs = symbolic_costs(self.array, self.data, self.technology, dict(self.physical.buffers))
        extents = {f"extent.{loop}": n for loop, n in self.nest.sizes.items()}
        names = self.objective.expression.symbols.union(*(limit.expression.symbols for limit in self.limits))
        metrics = {name: metric.substitute(extents) for name, metric in metric_values(costs, names).items()}
        constraints = [(limit.expression.substitute(metrics), limit.bound) for limit in self.limits]
        if self.array.pe.accumulators is not None and self.data.accumulator_factor:
            constraints.append((-costs.accumulation.substitute(extents), Fraction(0)))
        return SymbolicProblem(self.objective.expression.substitute(metrics), tuple(constraints))


@dataclass(frozen=True, slots=True)
class SymbolicProblem:
    """Objective and constraints as expressions over the tiling quantities.

    Attributes
    ----------
    objective : Expression
        What is minimised.
    constraints : tuple of (Expression, Fraction)
        ``expression ≤ bound``.
    """

    objective: Expression
    constraints: tuple[tuple[Expression, Fraction], ...]
