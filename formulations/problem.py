"""A problem: one design of one nest, with its limits and objective."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ithaca.formulations.cost_model import Costs, evaluate, symbolic_costs
from ithaca.formulations.data_types import DataType
from ithaca.formulations.expression import Expression
from ithaca.formulations.metrics import METRICS, metric_values
from ithaca.formulations.number_systems import FRACTION
from ithaca.formulations.systolic_array import SystolicArray
from ithaca.formulations.tiling import Tiling
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class Limit:
    """An upper limit on a metric.

    Attributes
    ----------
    metric : str
        Name of the metric.
    bound : Fraction
        Its largest allowed value.
    """

    metric: str
    bound: Fraction

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise InputError(f"unknown metric '{self.metric}' in a limit; allowed: {', '.join(METRICS)}")
        if self.bound < 0:
            raise InputError(f"limit {self.metric} is {self.bound}; allowed: a number that is not negative")


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
    """

    nest: LoopNest
    array: SystolicArray
    data: DataType
    limits: tuple[Limit, ...]
    objective: Objective
    space: SpaceOptions = field(default_factory=SpaceOptions)

    def costs(self, tiling: Tiling) -> Costs:
        """All metrics of a tiling, by the exact reference (Fractions)."""
        return evaluate(self.array, tiling.quantities(self.array, self.nest.sizes), self.data, FRACTION)

    def value(self, costs: Costs) -> Fraction:
        """The objective's exact value for exact costs."""
        value: Fraction = self.objective.expression.evaluate(metric_values(costs), FRACTION)
        return value

    def exceeded(self, costs: Costs) -> tuple[Limit, ...]:
        """The limits that exact costs exceed."""
        metrics = metric_values(costs)
        return tuple(limit for limit in self.limits if metrics[limit.metric] > limit.bound)

    def symbolic(self) -> SymbolicProblem:
        """The problem in symbols, with the extents put in."""
        costs = symbolic_costs(self.array, self.data)
        extents = {f"extent.{loop}": n for loop, n in self.nest.sizes.items()}
        metrics = {name: metric.substitute(extents) for name, metric in metric_values(costs).items()}
        constraints = [(metrics[limit.metric], limit.bound) for limit in self.limits]
        if self.array.pe.accumulators is not None:
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
