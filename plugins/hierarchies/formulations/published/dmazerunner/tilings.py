"""Tilings of a layer on a machine with a scratchpad and register files: their space and metrics."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.formulations.algebra.expression import (
    SYMBOLIC,
    Expression,
    Symbol,
    as_expression,
    ceiling_division,
)
from ithaca.formulations.algebra.number_systems import (
    FRACTION,
    NUMPY,
    NumbersByName,
    NumberSystem,
    exactly,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design, Metric, MetricsAndParts
from ithaca.formulations.space import Axis, Link, Quantity, Relation, Space, make_space
from ithaca.formulations.stage import Stage
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Laid
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.metrics import priced
from ithaca.plugins.hierarchies.formulations.orders import LEAST_PADDINGS, MOST_REUSE
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.choices import factor_range
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import (
    DRAM,
    ORDERED,
    RF,
    SLOTS,
    SPATIAL,
    SPM,
    Capacities,
    StoredLayer,
    factors,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.model import (
    Pricing,
    computing_energy,
    reuse,
    reuses,
    whole_energy,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tables import Tables
from ithaca.workloads.nest import LoopNest, footprints

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit, Problem


def _whole(number: Fraction) -> Fraction | int:
    """A number, as Python's own integer where it is one."""
    return number.numerator if number.denominator == 1 else number


#: The exact reference without fractions where numbers are whole; for models that divide by nothing.
INTEGERS = replace(FRACTION, number=_whole, ceil_div=lambda a, b: -(-a // b))

#: Slots of mappings, by their names in quantities.
PLACES = {DRAM: Slot(DRAM), SPM: Slot(SPM), SPATIAL: Slot(SPM, "x"), RF: Slot(RF)}


@dataclass(frozen=True)
class TilingDesign(MappingDesign):
    """A layer on a machine, whatever the edition and what searches it."""

    architecture: Architecture
    """The machine."""
    layer: StoredLayer
    """The work."""
    divisors_only: bool = False
    """Whether factors must multiply to extents; otherwise to at least them, none larger than need
    be."""
    constraints: Constraints = NONE
    """The restrictions of mappings."""
    known: ClassVar[Mapping[str, Metric]]
    """The metrics of the edition."""
    model: ClassVar[Any]
    """The edition's model: what mappings take and cost."""
    machine_kind: ClassVar[type[Any]]
    """The kind of machine that it reads of architectures."""
    tables_kind: ClassVar[type[Tables]]
    """The kind of tables that its searches are made of."""
    stage_kind: ClassVar[type[Any]]
    """The kind of its searches, of a problem and its design."""

    def __post_init__(self) -> None:
        if len(self.nest.inputs) < 2 or not self.nest.reduction_loops:
            raise InputError(
                f"workload {self.nest.name} is {self.nest}; allowed in edition {self.edition}: a "
                "product of at least two arrays with a reduction, as published"
            )
        self.constraints.check(self.nest, self.architecture)
        if self.constraints.bypass:
            raise refuse(
                self.constraints.where,
                f"has bypasses; allowed in edition {self.edition}: levels that keep every tensor",
            )

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        """The metrics of the edition, but for energy where nothing says it."""
        return priced(self.known, self.architecture)

    @cached_property
    def machine(self) -> Any:
        """The figures of the architecture that the model reads."""
        return self.machine_kind.of(self.architecture)

    def stage(self, problem: Problem) -> Stage:
        stage: Stage = self.stage_kind(problem, self)
        return stage

    @cached_property
    def tables(self) -> Tables:
        """The tables for searches of this space, whatever the objective."""
        return self.tables_kind(
            self.layer, self.machine, self.constraints, exact=self.divisors_only
        )

    @property
    def nest(self) -> LoopNest:  # type: ignore[override]
        """The work as a loop nest."""
        return self.layer.nest

    @cached_property
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        """The loop orders that each level offers, outermost first: those that suffice, with the
        loops asked for innermost."""
        by_level = {}
        for level in ORDERED:
            last = self.constraints.innermost(level)
            ends = (
                (*(loop for loop in order if loop not in last), *last)
                for order in self.layer.orders
            )
            by_level[level] = tuple(dict.fromkeys(ends))
        return by_level

    def mapping(self, configuration: Mapping[str, int]) -> Laid:
        """A configuration as a mapping onto the architecture; where PEs lie on their mesh the model
        does not say."""
        factors = {
            slot: {loop: configuration[f"{loop}.{name}"] for loop in self.nest.loops}
            for name, slot in PLACES.items()
        }
        orders = {
            level: self.orders[level][configuration[f"order.{level}"] - 1] for level in ORDERED
        }
        keeps = frozenset(access.tensor for access in self.nest.accesses)
        return Laid(factors, {**orders, RF: self.nest.loops}, dict.fromkeys((DRAM, SPM, RF), keeps))

    def configuration(self, laid: Laid) -> Configuration:
        """The configuration of a mapping; an `InputError` if a level's order is none that the space
        offers."""
        values = {
            f"{loop}.{name}": laid.factor(slot, loop)
            for name, slot in PLACES.items()
            for loop in self.nest.loops
        }
        for level in ORDERED:
            trips = {loop: values[f"{loop}.{level}"] for loop in self.nest.loops}
            wanted, *offered = (
                reuse(self.layer, trips, order, NUMPY)
                for order in (laid.orders[level], *self.orders[level])
            )
            if wanted not in offered:
                known = "; ".join(map(" ".join, self.orders[level]))
                raise InputError(
                    f"order of {level} is {' '.join(laid.orders[level])}; allowed: "
                    f"orders that reuse as {known} do"
                )
            values[f"order.{level}"] = 1 + offered.index(wanted)
        return Configuration(values)

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        costs, _ = self.priced(values, numbers, self.orders)
        return {name: costs[name] for name in self.vocabulary if names is None or name in names}

    def parts(self, values: NumbersByName, numbers: NumberSystem) -> MetricsAndParts:
        return self.priced(values, numbers, self.orders)

    def used(self, values: NumbersByName, numbers: NumberSystem) -> dict[str, Any]:
        """Use of capacities by a mapping (`Capacities.limits`)."""
        use: dict[str, Any] = self.model.used(
            self.layer, self.machine, factors(self.layer, values), numbers
        )
        return use

    def pricing(self, at: Mapping[str, NumbersByName], numbers: NumberSystem) -> Pricing:
        """Costs of mappings with given factors, by slot."""
        costs: Pricing = self.model.pricing(self.layer, self.machine, at, numbers)
        return costs

    def priced(
        self,
        values: NumbersByName,
        numbers: NumberSystem,
        orders: Mapping[str, Sequence[Sequence[str]]],
    ) -> MetricsAndParts:
        """Costs of a mapping whose levels have given orders, and their parts by name.

        Parameters
        ----------
        values : NumbersByName
            Values of the quantities.
        numbers : NumberSystem
            The number system.
        orders : mapping of str to sequence of sequence of str
            By level, the orders that are offered, outermost loop first.
        """
        whole = numbers is FRACTION  # integers are as exact where nothing divides, and fast
        if whole:
            values, numbers = {name: _whole(n) for name, n in values.items()}, INTEGERS
        at = factors(self.layer, values)
        levels = reuses(self.layer, at, values, numbers, orders)
        costs, parts = self.pricing(at, numbers)(levels[SPM], levels[DRAM])
        if not whole:
            return costs, parts
        assert not any(isinstance(n, float) for n in (*costs.values(), *parts.values()))
        return exactly(costs), exactly(parts)

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """PEs do all operations, and DRAM moves every word once, one tensor at a time."""
        machine, words = self.machine, footprints(self.nest)
        moved = Fraction(sum(words.values()))
        latency = max(
            Fraction(self.nest.operations, machine.pes), max(words.values()) * machine.dma_word
        )
        energy = self.least_energy(moved)
        return {"latency": latency, "energy": energy, "edp": energy * latency, "dram_words": moved}

    def least_energy(self, moved: Fraction) -> Fraction:
        """The energy (pJ) of all operations, and of so many words of DRAM."""
        energies = self.machine.energies
        computing = computing_energy(self.layer, energies, self.nest.sizes)
        return Fraction(
            whole_energy(energies, computing, moved * energies.units(energies.dram), FRACTION)
        )

    @cached_property
    def space(self) -> Space:
        """Factors of every loop, and the orders that differ in what stays.

        Register files hold a tile of every tensor, half of the scratchpad's banks the tiles there,
        and there are so many PEs. Padded factors are least: none can be lowered with the others
        fixed but for DRAM's growing.
        """
        pes, held = self.machine.pes, self.machine.rf_words
        axes = [
            _factors(
                loop,
                extent,
                (min(extent, pes), min(extent, held)),
                self.constraints,
                exact=self.divisors_only,
            )
            for loop, extent in self.layer.nest.extents
        ]
        axes += [
            Axis(f"order.{level}", (Quantity(f"order.{level}", 1, len(self.orders[level])),))
            for level in ORDERED
        ]
        taken = _use(self.model, self.layer, self.machine.bank_words)
        links = [
            Link(taken[name], Relation.AT_MOST, as_expression(most))
            for name, most in self.machine.limits.items()
        ]
        if (least := ceil(self.constraints.least_used * self.machine.pes)) > 1:
            links.append(Link(as_expression(least), Relation.AT_MOST, taken["pes"]))
        return make_space(axes, links)

    def best_of(self, problem: Problem) -> str:
        """The mappings in words among which an optimum of the space is proven to be the best."""
        if self.divisors_only:
            return " and ".join(filter(None, ("factors that divide extents", problem.among)))
        return problem.among or "all paddings"

    def among(self, falling: Collection[str]) -> str:
        """Orders decide on words that move, and so on cycles and energy; what tiles and PEs take
        does not depend on them.

        Padded factors are least. Larger ones are never better, unless inputs have rows that nothing
        reads (tiles may be whole with them), something asked for falls with a metric, or
        constraints ask for the use of PEs or words.
        """
        moved = any(name not in self.machine.limits for name in falling)
        padded = not self.divisors_only and (
            falling or self.layer.surplus or self.constraints.asks_for_more
        )
        return " and ".join(
            what for what, may_pay in ((MOST_REUSE, moved), (LEAST_PADDINGS, padded)) if may_pay
        )

    @property
    def narrower(self) -> tuple[Design, ...]:
        """The space of factors that divide the extents."""
        return () if self.divisors_only else (replace(self, divisors_only=True),)

    def translated(self, design: Design, configuration: Configuration) -> Configuration | None:
        return (
            self.configuration(design.mapping(configuration))
            if isinstance(design, TilingDesign)
            else None
        )


@lru_cache(maxsize=1024)
def _use(model: Any, layer: StoredLayer, bank_words: int) -> Mapping[str, Expression]:
    """Use of capacities in symbols, whatever these are but for the words of a bank."""
    values = {
        f"{loop}.{slot}": Symbol(f"{loop}.{slot}") for loop in layer.nest.loops for slot in SLOTS
    }
    banks = Capacities(1, 1, 1, bank_words)
    use: Mapping[str, Expression] = model.used(layer, banks, factors(layer, values), SYMBOLIC)
    return use


@lru_cache(maxsize=4096)
def _factors(
    loop: str, extent: int, inside_most: tuple[int, int], constraints: Constraints, *, exact: bool
) -> Axis:
    """The factors of a loop, those inside first, and DRAM's from them.

    Parameters
    ----------
    loop : str
        The loop.
    extent : int
        Its iterations.
    inside_most : tuple of int
        The largest factors over PEs, and of a register file.
    constraints : Constraints
        The restrictions of mappings.
    exact : bool
        Whether factors multiply to the extent exactly.
    """
    s, r, p, d = (Symbol(f"{loop}.{slot}") for slot in (SPATIAL, RF, SPM, DRAM))
    n = as_expression(extent)
    inside: Expression = ceiling_division(n, s * r)
    most: dict[str, int | Expression] = dict(zip((SPATIAL, RF), inside_most, strict=True))
    most |= {SPM: inside, DRAM: extent}
    quantities, rules = [], []
    for symbol, (slot, high) in zip((s, r, p, d), most.items(), strict=True):
        low, top = factor_range(constraints, loop, slot)
        quantities.append(Quantity(symbol.name, low, high))
        if top < extent:
            rules.append(Link(symbol, Relation.AT_MOST, as_expression(top)))
    if exact:
        outside = ceiling_division(n, s * r * p)
        rules += [Link(product, Relation.DIVIDES, n) for product in (s, s * r, s * r * p)]
    else:  # one less of s, r or p would be one more trip outside
        outside = ceiling_division(inside, p)
        rules += [
            Link(product + 1, Relation.AT_MOST, n)
            for product in ((s - 1) * r * inside, s * (r - 1) * inside)
        ]
        rules.append(Link((p - 1) * outside + 1, Relation.AT_MOST, inside))
    return Axis(loop, tuple(quantities), (Link(d, Relation.EQUAL, outside), *rules))
