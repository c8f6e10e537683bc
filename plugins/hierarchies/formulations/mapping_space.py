"""The mappings of the edition ``timeloop``: of a nest onto an architecture, and their metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from math import factorial, prod
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import SYMBOLIC, Constant, Symbols, as_expression
from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design, Metric, MetricsAndParts
from ithaca.formulations.remembered import remembered
from ithaca.formulations.space import Axis, Quantity, Space, make_space
from ithaca.plugins.hierarchies.formulations import metrics as costs
from ithaca.plugins.hierarchies.formulations import orders as of_loops
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.constraints import NONE, Constraints, FactorRange
from ithaca.plugins.hierarchies.formulations.counts import CapacityRule, Number
from ithaca.plugins.hierarchies.formulations.factor_axes import at_most, factor_axis
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as LoopMapping
from ithaca.plugins.hierarchies.formulations.mapping import (
    Order,
    Slot,
    keep_quantity,
    order_quantity,
    slots,
)
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign, check_supported
from ithaca.plugins.hierarchies.formulations.remainders import Tails, ending
from ithaca.plugins.hierarchies.formulations.timeloop import TimeloopModel
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest, Sizes

if TYPE_CHECKING:
    from ithaca.formulations.problem import Limit


@dataclass(frozen=True, slots=True)
class MappingOptions:
    """Options that restrict or extend the mappings of a space."""

    divisors_only: bool = False
    """Whether factors multiply to the extents exactly; else loops may be padded."""
    free_bypass: bool = False
    """Whether each level but the outermost chooses which of its tensors it keeps."""
    within_parent: bool = False
    """Whether the lanes inside an instance fit the instances inside it; the tool holds only all to
    all."""
    nodes_by_level: bool = False
    """Whether the storage nodes of a level lie outside those of all inner levels; of edition
    uneven."""
    free_drains: bool = False
    """Whether results leave a level without being read there; of edition uneven."""
    off_chip: bool = False
    """Whether words from and to off-chip memory take cycles of its bus; of edition intrinsic."""
    remainders: bool = False
    """Whether loops outside the outermost mesh end with what is left, instead of padding."""


@dataclass(frozen=True)
class MappingSpace(MappingDesign):
    """Mappings of a nest onto an architecture, whatever searches them."""

    nest: LoopNest
    """The nest."""
    architecture: Architecture
    """The architecture."""
    options: MappingOptions = MappingOptions()
    """Which mappings are allowed."""
    constraints: Constraints = NONE
    """The further restrictions of a constraints file."""
    fixed_orders: tuple[tuple[str, Order], ...] = field(default=())
    """Orders of levels' temporal loops, outermost first, where they are given; other levels choose
    among those that suffice."""

    edition: ClassVar[str] = "timeloop"
    one_direction: ClassVar[bool] = True
    """Whether a loop's lanes lie along X or Y, as files can say, and not along both."""

    def __post_init__(self) -> None:
        self.architecture.check_tensors(self.nest)
        self.constraints.check(self.nest, self.architecture)
        check_supported(self.alone)
        for level, order in self.fixed_orders:
            if sorted(order) != sorted(self.nest.loops):
                raise InputError(
                    f"order of {level} is {' '.join(order)}; allowed: every one of "
                    f"{', '.join(self.nest.loops)} once"
                )

    # -- what there is to choose ---------------------------------------------------------

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Places for factors, outermost first."""
        return slots(self.architecture)

    def slots_of(self, loop: str) -> tuple[Slot, ...]:
        """Places for factors of a loop, outermost first."""
        return self.slots

    @cached_property
    def moving(self) -> tuple[str, ...]:
        """The loops with anything to choose: those with an extent above 1."""
        return tuple(loop for loop, extent in self.nest.extents if extent > 1)

    @cached_property
    def ending(self) -> frozenset[str]:
        """The loops that may have fewer trips in last iterations."""
        return ending(self.nest, self.moving) if self.options.remainders else frozenset()

    @cached_property
    def ends(self) -> tuple[Slot, ...]:
        """The slots where they may: of time outside all lanes, outermost first."""
        return tuple(takewhile(lambda slot: slot.temporal, self.slots))

    @cached_property
    def tensors(self) -> tuple[str, ...]:
        """The tensors, inputs first."""
        return tuple(access.tensor for access in self.nest.accesses)

    @property
    def kept(self) -> Sizes:
        resident = dict(each for level in self.architecture.levels for each in level.resident)
        return tuple((tensor, resident[tensor]) for tensor in self.tensors if tensor in resident)

    @remembered
    def keeping(self, kept: Sizes) -> MappingSpace | None:
        """The space with tensors that stay in the outermost level inside the first one that keeps
        them, which has one instance; None if they cannot."""
        names = [level.name for level in self.architecture.levels]
        constrained = frozenset[str]().union(*map(self.constraints.bypassed, names))
        retaining = self.architecture.retaining(kept, self.tensors)
        return (
            None
            if retaining is None or constrained & {t for t, _ in kept}
            else replace(self, architecture=retaining)
        )

    def keeps(self, level: int) -> frozenset[str]:
        """The tensors that a level may keep."""
        kept = self.architecture.levels[level].kept(self.tensors)
        return kept - self.constraints.bypassed(self.architecture.levels[level].name)

    def may_bypass(self, level: int) -> frozenset[str]:
        """The tensors that a level chooses whether to keep."""
        if not self.options.free_bypass or not level:
            return frozenset()
        own = self.architecture.levels[level]
        return (
            self.keeps(level)
            - self.constraints.kept(own.name)
            - {tensor for tensor, _ in own.resident}
        )

    @property
    def orders(self) -> Mapping[str, tuple[Order, ...]]:
        return self.reusing

    @cached_property
    def reusing(self) -> Mapping[str, tuple[Order, ...]]:
        """The orders of each level that suffice where tensors are dense, outermost loop first."""
        fixed, by_level = dict(self.fixed_orders), {}
        for place, level in enumerate(self.architecture.levels):
            inside, innermost = self._inside(place), self.constraints.innermost(level.name)
            by_level[level.name] = (
                (fixed[level.name],)
                if level.name in fixed
                else of_loops.sufficient_orders(self.nest, inside, innermost)
            )
        return by_level

    def _inside(self, level: int) -> frozenset[str]:
        """The tensors that levels inside may keep."""
        return frozenset().union(
            *(self.keeps(k) for k in range(level + 1, len(self.architecture.levels)))
        )

    def among(self, falling: Collection[str]) -> str:
        """Orders decide on words alone; words of tiles, lanes and multiply-accumulates do not
        depend on them."""
        words = any(
            name not in ("pes", "computes") and not name.endswith(".capacity") for name in falling
        )
        padded = not self.options.divisors_only and (falling or self.constraints.asks_for_more)
        reuse = of_loops.MOST_REUSE, words and not self._offers_all
        left_out = (reuse, (of_loops.LEAST_PADDINGS, padded))
        return " and ".join(what for what, may_pay in left_out if may_pay)

    @property
    def _offers_all(self) -> bool:
        """Whether levels have all orders that make a difference."""
        inner = [
            level.name
            for place, level in enumerate(self.architecture.levels[:-1])
            if self._inside(place)
        ]
        free = {
            name: len(set(self.moving) - set(self.constraints.innermost(name))) for name in inner
        }
        return all(
            name in dict(self.fixed_orders) or len(self.orders[name]) == factorial(free[name])
            for name in inner
        )

    def highest(self, slot: Slot, loop: str) -> int | None:
        """The largest factor of a loop that a slot allows; None: any."""
        if slot.temporal:
            return None
        if not self.constraints.lies_along(slot.level, loop, slot.direction):
            return 1
        place = [level.name for level in self.architecture.levels].index(slot.level)
        outer, mesh = self.architecture.levels[place], self.architecture.inner_mesh(place)
        assert mesh is not None  # slots lie where there is one
        along = "xy".index(slot.direction)
        parent = (outer.mesh_x, outer.mesh_y)[along] if self.options.within_parent else 1
        return mesh[along] // parent

    def span(self, slot: Slot, loop: str) -> FactorRange:
        return self.constraints.factor(slot.level, slot.kind, loop)

    @cached_property
    def space(self) -> Space:
        """Factors of every loop, an order for every level with several, and what levels keep where
        they may choose."""
        axes = [
            factor_axis(
                self,
                loop,
                extent,
                divides=self.options.divisors_only,
                one_direction=self.one_direction,
            )
            for loop, extent in self.nest.extents
            if extent > 1
        ]
        for name, orders in self.orders.items():
            if len(orders) > 1:
                axes.append(
                    Axis(order_quantity(name), (Quantity(order_quantity(name), 1, len(orders)),))
                )
        for place, level in enumerate(self.architecture.levels):
            for tensor in sorted(self.may_bypass(place)):
                name = keep_quantity(level.name, tensor)
                axes.append(Axis(name, (Quantity(name, 1, 2),)))
        model, links = self.model(Symbols(), SYMBOLIC), []
        for rule in self.space_rules(model):
            link = at_most(rule.used, rule.bound)
            if link not in links and (
                not isinstance(rule.used, Constant) or rule.used.value > rule.bound
            ):
                links.append(link)
        if self.constraints.least_used:
            least = self.constraints.least_used * self.architecture.compute.instances
            links.append(at_most(as_expression(least), model.pes))
        return make_space(axes, links)

    # -- what it costs -------------------------------------------------------------------

    def space_rules(self, model: TimeloopModel) -> Iterator[CapacityRule]:
        """The rules of the model that the space states."""
        return model.rules(self.options.within_parent)

    def model(self, values: NumbersByName, numbers: NumberSystem) -> TimeloopModel:
        """The model at values of the quantities."""
        one = numbers.number(Fraction(1))

        def factor(slot: Slot, loop: str) -> Number:
            return values[slot.quantity(loop)] if loop in self.moving else one

        inside = of_loops.chosen_orders(self.orders, values, numbers)
        keeps, most = self.kept_at(values), self.most_lanes
        mapping = self.numbers_of(numbers, factor, inside, keeps, most)
        if self.ending:
            tails = Tails(self.nest, self.slots, self.ends, self.ending)
            average, share = tails.numbers(factor, numbers)
            ended = self.numbers_of(numbers, average, inside, keeps, most)
            mapping = replace(ended, whole=mapping, share=share)
        return TimeloopModel(self.architecture, self.nest, mapping)

    def most_lanes(self, level: int, loop: str) -> int:
        """The most lanes of a loop inside a level."""
        mesh = self.architecture.inner_mesh(level) or (1,)
        return min(self.nest.sizes[loop], prod(mesh))

    def kept_at(self, values: NumbersByName) -> tuple[Mapping[str, Number], ...]:
        """Whether every level keeps a tensor at values of the quantities: 1 or 0."""
        return tuple(
            {
                tensor: values[keep_quantity(level.name, tensor)] - 1
                if tensor in self.may_bypass(place)
                else int(tensor in self.keeps(place))
                for tensor in self.tensors
            }
            for place, level in enumerate(self.architecture.levels)
        )

    @cached_property
    def vocabulary(self) -> Mapping[str, Metric]:
        """Whole costs, then those of levels, then counts of tensors in levels."""
        metrics = list(costs.common_metrics(self.architecture))
        for place, level in enumerate(self.architecture.levels):
            own = self.keeps(place)
            metrics += costs.count_metrics(level.name, (t for t in self.tensors if t in own))
        return {metric.name: metric for metric in metrics}

    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        model = self.model(values, numbers)
        return {
            name: model.metric(name) for name in self.vocabulary if names is None or name in names
        }

    def least(self, limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        return self.roofs((), limits)

    def roofs(self, free: Collection[str], limits: Sequence[Limit]) -> Mapping[str, Fraction]:
        """Roofs where words of some tensors may cost nothing."""
        places = range(len(self.architecture.levels))
        always = [self.keeps(n) - self.may_bypass(n) - {*free} for n in places]
        known = costs.least_metrics(self.nest, self.architecture, always, limits)
        return dict.fromkeys(self.vocabulary, Fraction(0)) | known

    def parts(self, values: NumbersByName, numbers: NumberSystem) -> MetricsAndParts:
        """All metrics, and the parts of latency and energy."""
        model = self.model(values, numbers)
        return {name: model.metric(name) for name in self.vocabulary}, model.parts

    @property
    def narrower(self) -> tuple[Design, ...]:
        """Factors that divide, and levels that keep what they may."""
        padded = (True,) if self.options.divisors_only else (True, False)
        free = (False, True) if self.options.free_bypass else (False,)
        ending = self.options.remainders
        every = [
            replace(self.options, divisors_only=d, free_bypass=f, remainders=ending and not d)
            for d in padded
            for f in free
        ]
        return tuple(replace(self, options=options) for options in every[:-1])

    def translated(self, design: Design, configuration: Configuration) -> Configuration | None:
        """A configuration of a smaller space as one of this space."""
        return (
            self.configuration(design.mapping(configuration))
            if isinstance(design, MappingSpace)
            else None
        )

    # -- mappings ------------------------------------------------------------------------

    def mapping(self, configuration: Mapping[str, int]) -> LoopMapping:
        """A configuration as factors, orders and kept tensors."""
        factors = {
            slot: {loop: configuration.get(slot.quantity(loop), 1) for loop in self.nest.loops}
            for slot in self.slots
        }
        orders = {
            level: offered[configuration.get(order_quantity(level), 1) - 1]
            for level, offered in self.orders.items()
        }
        keeps = {
            level.name: frozenset(
                tensor
                for tensor in self.keeps(place)
                if configuration.get(keep_quantity(level.name, tensor), 2) == 2
            )
            for place, level in enumerate(self.architecture.levels)
        }
        tails = self.tails(configuration, keeps)
        factors = {slot: factors[slot] for slot in tails.slots}
        return LoopMapping(factors, orders, keeps, tails.remainders(factors))

    def tails(self, configuration: Mapping[str, int], keeps: Mapping[str, frozenset[str]]) -> Tails:
        """The places of a configuration's loops in their order, and which of them end with what is
        left; ``keeps`` is what it keeps."""
        return Tails(self.nest, self.slots, self.ends, self.ending)

    def as_good(
        self, order: Order, other: Order, several: frozenset[str], accesses: Sequence[Access]
    ) -> bool:
        """Whether an order of a level's loops costs no more than another, whatever else is chosen:
        where nothing but the words that are moved depends on it, whether these are as few.

        Parameters
        ----------
        order, other : tuple of str
            The orders, the outermost loop first.
        several : frozenset of str
            Loops that have several trips there.
        accesses : sequence of Access
            The accesses of the tensors that are kept further inside.
        """
        return of_loops.as_good(order, other, several, accesses)

    def configuration(self, mapping: LoopMapping) -> Configuration:
        """The configuration that a mapping is; for orders that a level does not offer the first
        that is as good.

        Raises `InputError` if there is none, or what levels keep is not what they keep here.
        """
        mapping.check(self.nest, self.architecture)
        if mapping.remainders and not self.options.remainders:
            loop = next(iter(next(iter(mapping.remainders.values()))))
            raise InputError(f"factors of {loop} leave a remainder; allowed: with --remainders")
        values = {
            slot.quantity(loop): mapping.factor(slot, loop)
            for slot in self.slots
            for loop in self.moving
        }
        for place, (level, offered) in enumerate(self.orders.items()):
            kept = frozenset().union(
                *(mapping.keeps[inner.name] for inner in self.architecture.levels[place + 1 :])
            )
            accesses = [access for access in self.nest.accesses if access.tensor in kept]
            several = frozenset(
                loop for loop in self.moving if mapping.factor(Slot(level), loop) > 1
            )
            order = mapping.orders[level]
            able = [offered.index(order) + 1] if order in offered else []
            able += [
                n
                for n, each in enumerate(offered, start=1)
                if self.as_good(each, order, several, accesses)
            ]
            if not able:
                raise InputError(
                    f"order of {level} is {' '.join(order)}; allowed: one that the design offers"
                )
            values |= {order_quantity(level): able[0]} if len(offered) > 1 else {}
        for place, each in enumerate(self.architecture.levels):
            kept, may, choices = mapping.keeps[each.name], self.keeps(place), self.may_bypass(place)
            if kept - may or may - kept - choices:
                raise InputError(
                    f"{each.name} keeps {', '.join(sorted(kept))}; "
                    f"allowed: {', '.join(sorted(may))}"
                )
            values |= {
                keep_quantity(each.name, tensor): 2 if tensor in kept else 1
                for tensor in sorted(choices)
            }
        return Configuration({name: values[name] for name in self.space.quantities})
