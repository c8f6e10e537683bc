"""Mappings of the edition ``timeloop`` where tensors are sparse."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import permutations
from typing import TYPE_CHECKING, Any

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.number_systems import FRACTION, NumbersByName, NumberSystem
from ithaca.formulations.design import MetricsAndParts
from ithaca.plugins.hierarchies.formulations.counts import CapacityRule
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import Order, Slot
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace
from ithaca.plugins.hierarchies.formulations.orders import LEAST_PADDINGS, MOST_REUSE
from ithaca.plugins.hierarchies.formulations.sparse.formats import UnsuitedError
from ithaca.plugins.hierarchies.formulations.sparse.model import SparseModel, check_modelled
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import Sizes

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit

#: Beyond as many loops only orders of most reuse are offered.
ALL_ORDERS = 4


@dataclass(frozen=True)
class SparseSpace(MappingSpace):
    """Mappings of sparse tensors. Lanes of a direction are in the order of their level's loops."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_modelled(self.nest, self.architecture)
        if self.options.remainders:
            raise InputError("remainders do not go with sparse_optimizations; allowed: whole tiles")

    @cached_property
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        """The orders that each level offers: all, where there are few; formats and savings depend
        on them, also on where loops of one trip stand."""
        if len(self.moving) > ALL_ORDERS:
            return self.reusing
        every, offered = [*permutations(self.nest.loops)], {}
        for level in self.architecture.levels:
            fixed = self.constraints.innermost(level.name)
            offered[level.name] = tuple(o for o in every if o[len(o) - len(fixed) :] == fixed)
        return offered

    def among(self, falling: Collection[str]) -> str:
        orders, padded = len(self.moving) > ALL_ORDERS, not self.options.divisors_only
        left_out = ((MOST_REUSE, orders), (LEAST_PADDINGS, padded))
        return " and ".join(what for what, may_pay in left_out if may_pay)

    def as_good(
        self, order: Order, other: Order, several: frozenset[str], accesses: Sequence[Access]
    ) -> bool:
        return False  # savings depend on all of an order

    def nested(self, level: str, order: Order, several: Collection[str]) -> dict[Slot, list[str]]:
        """The loops of the slots of a level, innermost first, where some factors are above 1; loops
        of one lane are along Y, as in files.

        Parameters
        ----------
        level : str
            The level.
        order : tuple of str
            Its order, outermost loop first.
        several : collection of str
            The quantities above 1.
        """
        x, y, inwards = Slot(level, "x"), Slot(level, "y"), order[::-1]
        along = [loop for loop in inwards if x.quantity(loop) in several]
        lanes = {x: along, y: [loop for loop in inwards if loop not in along]}
        return {**(lanes if x in self.slots else {}), Slot(level): [*inwards]}

    def space_rules(self, model: TimeloopModel) -> Iterator[CapacityRule]:
        """Capacity rules of meshes alone: levels are checked mapping by mapping (`conditions`)."""
        return model.mesh_rules(self.options.within_parent)

    def model(self, values: NumbersByName, numbers: NumberSystem) -> TimeloopModel:
        """The model at values of the quantities: of sparse tensors in fractions, else of dense
        ones."""
        if numbers is not FRACTION:
            return super().model(values, numbers)
        return _model(self, tuple((name, int(n)) for name, n in values.items()))

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        if numbers is not FRACTION:
            raise InputError(
                f"{self.name}: costs of sparse tensors are known mapping by mapping only; allowed: "
                "--method auto, with objectives and limits that never fall as a metric grows"
            )
        return super().metrics(values, numbers, names)

    def parts(self, values: NumbersByName, numbers: NumberSystem) -> MetricsAndParts:
        """All metrics, with what latency and energy are made of: cycles and energies of levels."""
        known: dict[str, Any] = dict(values)
        if numbers is not FRACTION:  # they remember how they came about
            known = {name: n.value for name, n in known.items()}
        model = self.model(known, FRACTION)
        named = {name: numbers.number(n) for name, n in model.parts.items()}
        levels = self.architecture.levels
        waits = (
            named[f"{level.name} {what}"]
            for place, level in enumerate(levels)
            for what in model.waits(place)
        )
        named["latency"] = numbers.maximum(named["computation"], *waits)
        energies = (named[level.name] for level in levels)
        named["energy"] = sum(energies, named[self.architecture.compute.name])
        metrics = {name: numbers.number(model.metric(name)) for name in self.vocabulary}
        whole = {"latency": named["latency"], "energy": named["energy"]}
        whole["edp"] = whole["energy"] * whole["latency"]
        return {name: whole.get(name, n) for name, n in metrics.items()}, named

    def conditions(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[tuple[Any, Fraction], ...]:
        """Conditions on a configuration: tiles and metadata fit, and loops suit the formats."""
        try:
            rules = self.model(values, numbers).room_rules()
            return tuple((rule.used, Fraction(rule.bound)) for rule in rules)
        except UnsuitedError:
            return ((Fraction(1), Fraction(0)),)

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        return dict.fromkeys(self.vocabulary, Fraction(0))

    def keeping(self, kept: Sizes) -> None:
        """No space: sparse tensors begin and end in the outermost level."""

    def mapping(self, configuration: Mapping[str, int]) -> LoopMapping:
        mapping = super().mapping(configuration)
        several, nested = {name for name, n in configuration.items() if n > 1}, dict[Slot, Any]()
        for level, order in mapping.orders.items():
            nested |= self.nested(level, order, several)
        factors = {
            slot: {loop: own[loop] for loop in nested[slot]}
            for slot, own in mapping.factors.items()
        }
        return replace(mapping, factors=factors)


@lru_cache(1)  # what fits and what it costs are asked one after the other
def _model(design: SparseSpace, values: tuple[tuple[str, int], ...]) -> SparseModel:
    return SparseModel(design, design.mapping(dict(values)))
