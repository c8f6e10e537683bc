"""Questions about a hardware space: numbers to minimise and to limit, summed over layers or of the
hardware alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import number
from ithaca.formulations.algebra.domains import Guard, all_divisors
from ithaca.formulations.algebra.expression import (
    Constant,
    Expression,
    Symbol,
    add,
    multiply,
)
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.monotonicity import bounds, trends
from ithaca.formulations.algebra.sums import summands
from ithaca.formulations.goals import is_requirement, read_limited
from ithaca.formulations.hardware.accelerator import Trend, Work
from ithaca.formulations.problem import Limit, Objective, read_objective
from ithaca.formulations.region import Region
from ithaca.plugins.codesign.formulations.space import HARDWARE, HardwareSpace
from ithaca.studies.network.products import Factors, check_products, factors_of, multiplies
from ithaca.studies.scale import check_distinct, wording
from ithaca.workloads.networks.network import share_of
from ithaca.workloads.networks.share import Share, together

#: More than any metric of a layer: where expressions over metrics are asked which way they move.
HUGE = Fraction(10**60)


@dataclass(frozen=True)
class Amount:
    """A number that is minimised or limited: an expression of every run, summed, or one of the
    hardware alone."""

    text: str
    """As it was written."""
    expression: Expression
    """Over metrics of layers and of the hardware; of runs, the latter are constants."""
    shares: tuple[Fraction, ...] = ()
    """The factor of a run of each layer; empty: of the hardware alone."""
    bound: Fraction | None = None
    """Its largest allowed value; None: none."""
    workload: str | None = None
    """The workload that it is limited for; None: all together."""
    factors: Factors | None = None
    """The two sums of which it is the product; None: it is a sum itself."""
    degree: int = 1
    """To which power counts how often a layer runs: 2 of a product of what one layer takes."""
    divisors: tuple[Expression, ...] = ()
    """All that its text divides by, also what the expression cancels."""

    def of_layer(self, costs: Mapping[str, Fraction]) -> Objective:
        """The objective of a run, on hardware that costs so much. Raises `InputError` if there it
        divides by zero."""
        known = {name: costs[name] for name in self.expression.symbols & costs.keys()}
        try:
            under = [divisor.substitute(known) for divisor in self.divisors]
            expression = self.expression.substitute(known)
        except ZeroDivisionError:
            at = ", ".join(f"{name} = {number(value)}" for name, value in sorted(known.items()))
            allowed = "divisors that are positive"
            raise InputError(f"{self.text} divides by 0 at {at}; allowed: {allowed}") from None
        stated = expression == self.expression and not is_requirement(self.text)
        text = self.text if stated else wording(expression)
        kept = {*all_divisors(expression)}
        cancelled = tuple(d for d in under if d.symbols and d not in kept)
        return Objective(text, expression, summed=self.factors is None, divisors=cancelled)


@dataclass(frozen=True)
class CodesignQuestion:
    """A question about a hardware space: accelerators and layers, objectives and limits.

    Objectives are expressions over metrics of layers and of the hardware; several ask for the
    front. Limits are on metrics of the hardware, or on totals of metrics of layers, of each
    workload by itself.
    """

    space: HardwareSpace
    """The accelerators."""
    works: tuple[Work, ...]
    """The layers."""
    objectives: tuple[Objective, ...]
    """The objectives, which are minimised; at least one."""
    limits: tuple[Limit, ...] = ()
    """Upper limits."""
    before: tuple[tuple[Objective, Fraction], ...] = ()
    """Objectives that come first in order, with the optima they keep."""

    def shown_name(self, work: Work) -> str:
        """A layer's name among those of all workloads."""
        return work.name if len(self.workloads) == 1 else f"{work.workload} {work.name}"

    @cached_property
    def workloads(self) -> tuple[str, ...]:
        """Names of the workloads, in the order of their first layers."""
        return tuple(dict.fromkeys(work.workload for work in self.works))

    def share_of(self, workload: str) -> Share:
        """The share of a workload's multiply-accumulates that its layers are."""
        own = [work for work in self.works if work.workload == workload]
        counted = sum(work.count * work.nest.operations for work in own)
        return share_of(counted, own[0].omitted)

    @cached_property
    def share(self) -> Share:
        """The counted share of all workloads' multiply-accumulates, each workload by its weight."""
        weights = {work.workload: work.weight for work in self.works}
        return together((weight, self.share_of(name)) for name, weight in weights.items())

    def of_runs(self, expression: Expression) -> bool:
        """Whether an expression depends on mappings, not on the hardware alone."""
        return bool(self.space.in_full(expression).symbols - self.space.named.keys())

    @cached_property
    def minimised(self) -> tuple[Amount, ...]:
        """The objectives as amounts."""
        return tuple(self._amount(objective) for objective in self.objectives)

    def _amount(self, objective: Objective, bound: Fraction | None = None) -> Amount:
        """An objective as an amount."""
        expression, factors = objective.expression, factors_of(objective)
        plain = Amount(objective.words, expression, bound=bound, divisors=objective.divisors)
        if not self.of_runs(expression):
            return plain
        degree = 1
        if len(self.works) == 1 and factors is not None:  # of one layer it is a multiple of a run's
            degree, factors = factors.degree, None
        if factors is not None and factors.symbols & self.space.named.keys():
            factors = None
        shares = tuple(work.factor**degree for work in self.works)
        return replace(plain, shares=shares, factors=factors, degree=degree)

    def among_optima(self, value: Fraction) -> CodesignQuestion | None:
        """The question of the next objective, among accelerators and mappings of an optimum; None
        if there is none."""
        (first,) = self.objectives
        if first.then is None:
            return None
        before = (*self.before, (first, value))
        return replace(self, objectives=(first.then,), before=before)

    def check_products(self) -> None:
        """Refuse products of what several layers take, which are no sums, but for a single product
        of two sums."""
        if len(self.works) == 1:
            return
        own, names = self.space.named.keys(), self.space.accelerator.metrics.keys()
        for objective, amount in zip(self.objectives, self.minimised, strict=True):
            if amount.factors is None or len(self.objectives) > 1 or objective.then is not None:
                check_products(objective, names, own)
        for limit in self.limits:
            if multiplies(self.space.in_full(limit.expression), names, own):
                raise InputError(
                    f"{limit.option} '{limit.metric}' is no sum over {len(self.works)} layers; "
                    "allowed: metrics of layers that add up"
                )

    @cached_property
    def limited(self) -> tuple[Amount, ...]:
        """The limits as amounts: one per workload where they depend on mappings.

        Layers that nothing counts are among them with their first metric, without a limit:
        accelerators must run them all.
        """
        amounts = [self._amount(objective, bound) for objective, bound in self.before]
        amounts += [amount for limit in self.limits for amount in self.amounts_of(limit)]
        counted = (*self.minimised, *amounts)
        idle = [not any(a.shares and a.shares[n] for a in counted) for n in range(len(self.works))]
        if any(idle):
            name = next(iter(self.space.accelerator.metrics))
            amounts.append(Amount(name, Symbol(name), tuple(Fraction(each) for each in idle)))
        return tuple(amounts)

    def amounts_of(self, limit: Limit) -> list[Amount]:
        """A limit or requirement as amounts: one of the hardware alone, else one for each workload.

        Of a requirement terms of runs are summed over the runs of a workload; numbers, and terms of
        the hardware, count once. An equation holds both ways.
        """
        whole, amounts = self.space.in_full(limit.expression), list[Amount]()
        if not self.of_runs(whole):
            return [Amount(limit.metric, whole, bound=limit.bound)]
        under = tuple(map(self.space.in_full, limit.divisors))
        for name in self.workloads:
            shares = tuple(
                Fraction(work.count if work.workload == name else 0) for work in self.works
            )
            for excess in limit.excesses:
                summed, bound = self.space.in_full(excess), limit.bound
                if limit.required:
                    summed, bound = self._apart(summed, sum(shares))
                amounts.append(Amount(limit.metric, summed, shares, bound, name, divisors=under))
        return amounts

    def _apart(self, excess: Expression, runs: Fraction | int) -> tuple[Expression, Fraction]:
        """The expression of a run, and the bound of its sum over so many runs, that say of an
        excess that it is not above 0."""
        terms, own = summands(excess), self.space.named.keys()
        once = add(*(term for term in terms if term.symbols <= own))
        summed = add(*(term for term in terms if not term.symbols <= own))
        if isinstance(once, Constant):
            return summed, -once.value
        return add(summed, multiply(Fraction(1, runs), once)), Fraction(0)

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """All amounts of runs, what is minimised first."""
        return (*self.minimised, *self.limited)

    @cached_property
    def directions(self) -> tuple[Mapping[str, int], ...]:
        """The monotonicity of every amount of runs in each metric: it never falls (1), never rises
        (-1), or neither is known (0)."""
        box = self.space.box
        named = self.space.named
        each_amount = []
        for amount in self.amounts:
            ranges = {
                name: named[name].range(box) if name in named else Interval(Fraction(0), HUGE)
                for name in amount.expression.symbols
            }
            moves = trends(amount.expression, ranges)
            each_amount.append({name: moves.get(Symbol(name), 0) for name in ranges})
        return tuple(each_amount)

    @cached_property
    def enumerated(self) -> frozenset[str]:
        """Quantities that boxes must have one value of before layers bound them: those whose best
        end is not known.

        Beside the `HardwareSpace.mixed` ones, those of costs that an amount of runs may rise or
        fall with; and all that layers depend on if it may fall with a metric of layers, as trends
        of figures speak of what is minimised.
        """
        space, names = self.space, set(self.space.mixed)
        for amount, moves in zip(self.amounts, self.directions, strict=True):
            for name, direction in moves.items() if amount.shares else ():
                if name in space.named and direction == 0:
                    names |= space.named[name].symbols
                if name not in space.named and direction != 1:
                    figures = (
                        f
                        for key, f in space.figures.items()
                        if space.accelerator.trends[key] is not Trend.IDLE
                    )
                    names |= {symbol for figure in figures for symbol in figure.symbols}
        return frozenset(names)

    @cached_property
    def among(self) -> str:
        """The mappings in words among which an optimum is proven to be one; empty: among all
        (`Design.among`)."""
        return self._among(range(len(self.amounts)))

    @cached_property
    def feasible_among(self) -> str:
        """The mappings in words among which no accelerator keeps the limits where none does; empty:
        among all."""
        return self._among(range(len(self.minimised), len(self.amounts)))

    def _among(self, places: Sequence[int]) -> str:
        classes, point = dict[str, None](), self.space.box.corner(high=True)
        moves = [
            (n, d) for p in places if self.amounts[p].shares for n, d in self.directions[p].items()
        ]
        falling = {
            name for name, direction in moves if name not in self.space.named and direction != 1
        }
        place = next(place for place, amount in enumerate(self.amounts) if amount.shares)
        figures, objective = (
            self.space.at(point),
            self.amounts[place].of_layer(self.space.known(point)),
        )
        for work in self.works:
            for problem in self.space.accelerator.problems(work, figures, objective):
                classes |= dict.fromkeys(filter(None, problem.design.among(falling).split(" and ")))
        return " and ".join(classes)

    def best_costs(self, place: int, box: Region) -> dict[str, Fraction]:
        """The costs in an amount of runs at that end of a box where the amount is least."""
        moves, costs = self.directions[place], self.space.named
        spans = {
            name: (costs[name].range(box), move) for name, move in moves.items() if name in costs
        }
        return {name: span.high if move < 0 else span.low for name, (span, move) in spans.items()}


def make_question(
    space: HardwareSpace,
    works: Sequence[Work],
    objectives: Sequence[str],
    limits: Mapping[str, Fraction] | None = None,
) -> CodesignQuestion:
    """Ask for the least of an objective, or for the front of several. Raises `InputError` if
    metrics are not known.

    Parameters
    ----------
    space : HardwareSpace
        The accelerators.
    works : sequence of Work
        The layers, with how often each runs and what its workload counts.
    objectives : sequence of str
        Expressions over metrics of runs and of the hardware; several ask for the front.
    limits : mapping of str to Fraction, optional
        Upper bounds by metric or expression, in its unit.

    Raises
    ------
    InputError
        If there are no layers or objectives, metrics are not known, or objectives are repeated.
    """
    known = space.vocabulary
    if not works:
        raise InputError(f"space {space.name}: there are no layers; allowed: at least one workload")
    metrics = space.accelerator.metrics
    parsed = tuple(read_objective(text, "--objective", known, metrics) for text in objectives)
    if not parsed:
        raise InputError("--objective is missing; allowed: an expression over " + ", ".join(known))
    check_distinct(parsed)
    read = tuple(Limit(text, Fraction(bound)) for text, bound in (limits or {}).items())
    twice = {q.name for q in space.quantities} & space.accelerator.metrics.keys()
    for limit in read:
        names = read_limited(limit.metric, limit.option, known).symbols & twice
        if limit.required and names:
            raise InputError(
                f"--require: {quoted(limit.metric)} names {min(names)}, which is a metric of "
                f"layers and a quantity of space {space.name}; allowed: {HARDWARE}{min(names)}, "
                "the quantity"
            )
    layers = tuple(part for work in works for part in space.accelerator.stages(work))
    objectives_in_full = tuple(_in_full(space, objective) for objective in parsed)
    question = CodesignQuestion(space, layers, objectives_in_full, read)
    question.check_products()
    _check_costs(question)
    return question


def _in_full(space: HardwareSpace, objective: Objective) -> Objective:
    """An objective with quantities by their full names."""
    return replace(
        objective,
        expression=space.in_full(objective.expression),
        divisors=tuple(map(space.in_full, objective.divisors)),
        then=None if objective.then is None else _in_full(space, objective.then),
    )


def _check_costs(question: CodesignQuestion) -> None:
    """Refuse division by what hardware alone makes 0; other divisors are the layers' problems'."""
    space, box = question.space, question.space.box
    costs = space.named

    def reach(divisor: Expression) -> Interval | None:
        if divisor.symbols - costs.keys():
            return None
        return bounds(divisor, {name: costs[name].range(box) for name in divisor.symbols})

    ordered = [each for objective in question.objectives for each in objective.order]
    terms: list[tuple[str, Objective | Limit]] = [
        *((f"--objective: {quoted(each.text)}", each) for each in ordered),
        *((f"{each.option}: {quoted(each.metric)}", each) for each in question.limits),
    ]
    for what, each in terms:
        every = [*map(space.in_full, (*each.divisors, *all_divisors(each.expression)))]
        runs = question.of_runs(each.expression)  # the layers' problems know what their metrics are
        Guard(reach).check([d for d in every if not runs or d.symbols <= costs.keys()], what)
