"""A problem: one design, with limits on its metrics and an objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ithaca.files.clock import StoppedError, finishing, late, uninterrupted
from ithaca.files.errors import InputError
from ithaca.files.messages import among
from ithaca.formulations.algebra.domains import (
    LARGEST,
    Guard,
    check_sizes,
    guarded_form,
    least,
)
from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    Expression,
    Maximum,
    Symbols,
    multiply,
    quotient,
    split_coefficient,
)
from ithaca.formulations.algebra.interval import Interval, as_interval
from ithaca.formulations.algebra.monotonicity import bounds, falling
from ithaca.formulations.algebra.number_systems import FRACTION, INTERVAL, NumbersByName, exactly
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.design import Design, Known
from ithaca.formulations.goals import Limit as Limit
from ithaca.formulations.goals import Objective as Objective
from ithaca.formulations.goals import read_objective as read_objective
from ithaca.formulations.remembered import latest, remembered
from ithaca.formulations.space import Space
from ithaca.formulations.terms import Terms, terms_of
from ithaca.workloads.nest import Sizes

if TYPE_CHECKING:
    from ithaca.formulations.stage import Stage

#: Objectives below its negative say no more than that a metric without bounds makes them fall.
SENSIBLE = 10**75

#: All that metrics may be.
ANYTHING = Interval(Fraction(0), Fraction(LARGEST))


@dataclass(frozen=True)
class Problem:
    """One design, with limits and objective."""

    design: Design
    """The design."""
    limits: tuple[Limit, ...]
    """Upper limits on metrics."""
    objective: Objective
    """The objective, which is minimised."""
    divided: frozenset[str] = frozenset()
    """Metrics whose limits others share: open, as less than all of them may be left."""

    def __repr__(self) -> str:
        return f"<Problem {self.design.name}: minimise {self.objective.text}>"

    def __post_init__(self) -> None:
        for limit in self.limits:
            if abs(limit.bound) > LARGEST:
                raise InputError(
                    f"limit {quoted(limit.metric)} is beyond 1e150; allowed: a bound that is not"
                )

    def among_optima(self, value: Fraction) -> Problem | None:
        """The problem of the next objective, among configurations of an optimum; None if there is
        none."""
        if self.objective.then is None:
            return None
        # in parentheses it is an expression, whose bound may be negative
        limit = Limit(f"({self.objective.words})", value)
        return replace(self, limits=(*self.limits, limit), objective=self.objective.then)

    def values(self, configuration: Mapping[str, int]) -> tuple[Fraction, ...]:
        """The objectives of a configuration, in order, by the exact reference."""
        metrics = self.metrics(configuration)
        return tuple(objective.value(metrics) for objective in self.objective.order)

    @cached_property
    def _terms(self) -> Terms:
        objectives = tuple((each.text, each) for each in self.objective.order)
        limits = tuple((limit.metric, limit) for limit in self.limits)
        divisors = (*(x.divisors for _, x in objectives), *(x.divisors for _, x in limits))
        return terms_of(objectives, limits, divisors)

    @property
    def space(self) -> Space:
        """The legal configurations, limits aside."""
        return self.design.space

    @property
    def used_metrics(self) -> frozenset[str]:
        """The metrics that objective and limits speak of."""
        return self._terms.used_metrics

    def metrics(self, configuration: Mapping[str, int]) -> dict[str, Fraction]:
        """All metrics of a configuration, by the exact reference (Fractions); those of the latest
        are kept."""
        key = frozenset(configuration.items())
        known = latest(self, key, lambda: self.design.metrics(exactly(configuration), FRACTION))
        return self.known(known, configuration)

    def known(self, metrics: NumbersByName, configuration: Mapping[str, int]) -> Known:
        """Metrics of a configuration, beside which everything that has a name is known."""
        return Known(metrics, self.design, exactly(configuration), FRACTION)

    def value(self, configuration: Mapping[str, int]) -> Fraction:
        """The objective of a configuration, by the exact reference."""
        return self.objective.value(self._used(configuration))

    def preferences(self, configuration: Mapping[str, int]) -> tuple[Fraction | None, ...] | None:
        """Numbers that choose among configurations of equal objective, by the exact reference."""
        return self.design.preferences(exactly(configuration), FRACTION)

    def meets_conditions(self, configuration: Mapping[str, int]) -> bool:
        """Whether a configuration meets the design's own conditions, by the exact reference."""
        return all(
            used <= bound
            for used, bound in self.design.conditions(exactly(configuration), FRACTION)
        )

    def feasible_value(self, configuration: Mapping[str, int]) -> Fraction | None:
        """The exact objective of a configuration; None if it is outside the space, or breaks a
        condition or a limit."""
        if not self.space.contains(configuration) or not self.meets_conditions(configuration):
            return None
        metrics = self._used(configuration)
        if any(limit.used(metrics) > limit.bound for limit in self.limits):
            return None
        return self.objective.value(metrics)

    @cached_property
    def falling(self) -> frozenset[str]:
        """The metrics that the objective or a limit may fall with."""
        return falling(*(expression for _, expression in self._terms.expressions))

    @cached_property
    def among(self) -> str:
        """The configurations in words among which an optimum of the space is proven to be one;
        empty: among everything (`Design.among`)."""
        return self.design.among(self.falling | self.beside)

    @cached_property
    def feasible_among(self) -> str:
        """The configurations in words among which nothing meets the limits where nothing of the
        space does; empty: among everything."""
        falls = falling(*(limit.expression for limit in self.limits))
        words = self.design.among(falls | self.beside)
        return "" if words and self.hopeless else words

    @property
    def beside(self) -> frozenset[str]:
        """The names beside metrics that objective and limits speak of, such as quantities: nothing
        of them is better or worse, so that no argument that leaves configurations out holds."""
        return self.used_metrics - self.design.vocabulary.keys()

    @property
    def stage(self) -> Stage | None:
        """The search of its design in stages, which knows metrics alone; None where there is
        none."""
        return None if self.beside else self.design.stage(self)

    @property
    def open_limits(self) -> tuple[Limit, ...]:
        """The limits that a configuration may exceed, for all that the design proves of its
        metrics."""
        most = {limit.metric: self.design.most(limit.metric) for limit in self.limits}
        return tuple(
            x
            for x in self.limits
            if x.metric in self.divided or (bound := most[x.metric]) is None or bound > x.bound
        )

    def symbolic(self) -> SymbolicProblem:
        """The problem in symbols, without the limits that always hold.

        Refused are unknown names, divisors that may be 0, and products that doubles cannot hold.
        """
        return self._symbolic

    def check_names(self) -> None:
        """Refuse names of metrics that the design does not have."""
        if not self.design.unknown(self._terms.names):
            return
        for what, names in self._terms.spoken:
            if unknown := min(self.design.unknown(names), default=None):
                self.design.metrics(Symbols(), SYMBOLIC, {unknown})  # says why, where it can
                known = self.design.names if "." in unknown else self.design.vocabulary
                known = among(unknown, sorted(known))
                raise InputError(f"{what} uses the unknown name {quoted(unknown)}{known}")

    @cached_property
    def guarded(self) -> tuple[Expression, ...]:
        """Objective and limits over metrics, with divisors that are positive by their looks
        (`Guard`): what bounds are made of.

        Here divisors are refused: of next objectives, too, and where an expression cancels them.
        """
        self.check_names()
        guard = Guard(self.reach)
        for what, divisors in self._terms.divisors:
            guard.check(divisors, what)
        return tuple(guard(expression, what) for what, expression in self._terms.expressions)

    @cached_property
    def sensible(self) -> bool:
        """Whether objective and limits compute no number that is too large or too small for
        doubles; raises `InputError` if one may be."""
        for (what, _), expression in zip(self._terms.expressions, self.guarded, strict=True):
            check_sizes(expression, what, self._range)
        return True

    @remembered
    def reach(self, divisor: Expression) -> Interval | None:
        """All values of an expression over metrics, and perhaps more, over the whole space: by the
        ranges of metrics, or of quantities where those leave its sign open."""
        span = self._range(divisor)
        if span is not None and not span.low <= 0 <= span.high:
            return span
        form = divisor.substitute(self.design.in_symbols(frozenset(divisor.symbols)))
        if (low := least(form)) > 0:
            return Interval(Fraction(low), Fraction(LARGEST))
        own = bounds(form, self.intervals)
        return own if span is None or (own is not None and not own.low <= 0 <= own.high) else span

    @cached_property
    def _symbolic(self) -> SymbolicProblem:
        metrics = self.design.in_symbols(frozenset(self.used_metrics))
        _ = self.sensible  # what is out of doubles is refused there
        objective, *limits = (
            guarded_form(expression, metrics, self.reach, self.intervals, what)
            for what, expression in self._terms.expressions
        )
        still_open = self.open_limits
        exceedable = tuple(
            (each, limit.bound)
            for used, limit in zip(limits, self.limits, strict=True)
            if limit in still_open
            for each in (used.arguments if isinstance(used, Maximum) else (used,))
        )
        conditions = self.design.conditions(Symbols(), SYMBOLIC)
        return SymbolicProblem(objective, exceedable, conditions)

    @cached_property
    def floors(self) -> tuple[Expression, ...]:
        """Lower bounds of the objective under the limits: n / b where n / objective ≤ b > 0.

        A limit on the bandwidth says so of the latency, for one.
        """
        symbolic = self.symbolic()
        base = split_coefficient(symbolic.objective)[1]
        ratios = [(e, b) for e, b in symbolic.limits if (base, -1) in quotient(e) and b > 0]
        reach = bounds(symbolic.objective, self.intervals) if ratios else None
        if reach is None or reach.low <= 0:
            return ()
        return tuple(multiply(e, symbolic.objective, 1 / b) for e, b in ratios)

    @property
    def intervals(self) -> Mapping[str, Interval]:
        """Every quantity's range over the whole design space (or a little more)."""
        return self.design.intervals

    @remembered
    def _metric_ranges(self, names: frozenset[str]) -> NumbersByName | None:
        """The ranges of metrics over the whole space; None if unknown."""
        try:
            ranges = self.design.in_ranges(names)
        except ZeroDivisionError:
            return None
        spans, roofs = {n: as_interval(ranges[n]) for n in names}, self.design.least(())
        return {n: Interval(max(x.low, roofs.get(n, x.low)), x.high) for n, x in spans.items()}

    def _range(self, expression: Expression) -> Interval | None:
        """All values of an expression over metrics, and more, by their ranges; None if unknown."""
        ranges = self._metric_ranges(self._terms.names | expression.symbols)
        return None if ranges is None else bounds(expression, ranges)

    @cached_property
    @uninterrupted()
    def floor(self) -> Fraction | None:
        """No configuration has a smaller objective; None if nothing is known without a search."""
        return self._least(self.guarded[0])

    @cached_property
    @uninterrupted()
    def hopeless(self) -> bool:
        """Whether no search is needed to prove that some limit cannot be met."""
        floors = zip(map(self._least, self.guarded[1:]), self.limits, strict=True)
        if any(floor is not None and floor > limit.bound for floor, limit in floors):
            return True
        if late() or self.stage or not any(quotient(e) for e, _ in self.symbolic().limits):
            return False
        from ithaca.formulations.unreachable import all_exceed

        return all_exceed(self.symbolic().limits, self.design)

    def _least(self, expression: Expression) -> Fraction | None:
        """The least of an expression over what roofs, limits and ranges let metrics be, once it is
        `late` over all that is not negative; None if there is none."""
        most = dict[str, Fraction]()
        for limit in self.limits:
            most[limit.metric] = min(limit.bound, most.get(limit.metric, limit.bound))
        falls, over = falling(expression), late()
        _ = over or self.sensible
        least = {} if over else self._roofs
        ranges: dict[str, Any] = {
            name: Interval(x, x) for name, x in least.items() if name in expression.symbols - falls
        }
        try:
            if over:
                ranges = dict.fromkeys(expression.symbols, ANYTHING)
            elif loose := expression.symbols - ranges.keys():
                with finishing():
                    spans = self._metric_ranges(self._terms.names | expression.symbols)
                if spans is None:
                    return None
                ranges |= {name: spans[name] for name in loose}
            for name in falls:
                reach = as_interval(ranges[name])
                low = max(reach.low, least.get(name, reach.low))
                ranges[name] = Interval(low, max(min(reach.high, most.get(name, reach.high)), low))
            lowest = Fraction(as_interval(expression.evaluate(ranges, INTERVAL)).low)
            if lowest < 0:  # what nothing keeps small may be anything
                for name in falls - most.keys():
                    metric = self.design.vocabulary.get(name)
                    if metric is not None and not metric.most:
                        ranges[name] = Interval(ranges[name].low, Fraction(LARGEST))
                lowest = Fraction(as_interval(expression.evaluate(ranges, INTERVAL)).low)
        except (InputError, ZeroDivisionError, StoppedError):
            return None
        return lowest if lowest > -SENSIBLE else None

    @cached_property
    def _roofs(self) -> Mapping[str, Fraction]:
        return self.design.least(self.limits)

    def _used(self, configuration: Mapping[str, int]) -> dict[str, Fraction]:
        return self.design.lookup(exactly(configuration), FRACTION, self.used_metrics)

    def within(self, bounds: Mapping[str, Fraction]) -> Problem:
        """A problem with other bounds of some of its limits."""
        limits = tuple(Limit(x.metric, bounds.get(x.metric, x.bound)) for x in self.limits)
        return replace(self, limits=limits)

    def keeping(self, kept: Sizes) -> Problem:
        """The problem with tensors that stay on chip, for which its design has a place."""
        design = self.design.keeping(kept) if kept else self.design
        assert design is not None
        return replace(self, design=design)

    def with_design(self, **changes: Any) -> Problem:
        """The problem of a design that differs in some of its fields."""
        return replace(self, design=replace(self.design, **changes))  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class SymbolicProblem:
    """Objective and constraints as expressions over quantities."""

    objective: Expression
    """The objective, which is minimised."""
    limits: tuple[tuple[Expression, Fraction], ...]
    """``expression ≤ bound``: those of the limits that may be exceeded, and of the design's own
    conditions."""
    conditions: tuple[tuple[Expression, Fraction], ...]

    @property
    def constraints(self) -> tuple[tuple[Expression, Fraction], ...]:
        """Limits of the problem, and conditions of its design."""
        return (*self.limits, *self.conditions)
