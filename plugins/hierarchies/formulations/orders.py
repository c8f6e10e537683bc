"""Orders of loops that suffice: no order of a level's temporal loops costs less than one of these.

What a mapping costs depends on the order of a level's loops only through how often the tiles of
each tensor kept inside are filled, and grows with every one of these counts. A loop costs a tensor
nothing while no loop inside it moves the tensor's tile; the first loop that does *closes* the
tensor at this level, and what neighbouring tiles along that loop share is saved.

Theorem. Let some order close the tensors v_1, …, v_k one after the other (that of ties is free).
Then the order that puts innermost the loops that move none of v_1, …, v_k, next to them those that
move none of v_2, …, v_k, and so on, leaves every tensor all loops that cost it nothing before:
while v_i is open, only loops that move none of v_i, …, v_k lie inside. If tiles of v_i overlap
along the loop that closes it, that loop follows directly on those that move none of v_i, …, v_k.

So one order for each sequence of tensors, and for each loop along which tiles of a tensor overlap,
suffices: 8 of 5,040 for a convolution. Nests with loops that move only one of three tensors, as
MTTKRP, are no exception. Tests compare with all orders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product

from ithaca.formulations.algebra.number_systems import NumbersByName, NumberSystem
from ithaca.plugins.hierarchies.formulations.counts import Number
from ithaca.plugins.hierarchies.formulations.mapping import Order, order_quantity
from ithaca.workloads.affine import Access
from ithaca.workloads.nest import LoopNest

#: Beyond as many loops, orders that others are better than are left in: finding them takes 2^loops
#: steps.
MAX_COMPARED = 9

#: What mappings have where not all orders are offered, and where padded factors are only as large
#: as their trips need.
MOST_REUSE, LEAST_PADDINGS = "orders of most reuse", "least paddings"

#: What an order does where some loops have several trips: to every tensor, the loops that cost
#: nothing, and the closing one.
_Effect = tuple[tuple[frozenset[str], str | None], ...]


def sufficient_orders(
    nest: LoopNest, tensors: Collection[str], innermost: Order = ()
) -> tuple[Order, ...]:
    """Orders of which one is best, outermost loop first, whatever the trips of loops.

    Parameters
    ----------
    nest : LoopNest
        The loops; those of extent 1 are outermost, in no particular place.
    tensors : collection of str
        The tensors that levels inside keep; the order makes no difference to others.
    innermost : tuple of str
        Loops that are to be innermost, the innermost last.
    """
    moving = tuple(loop for loop, extent in nest.extents if extent > 1)
    accesses = tuple(access for access in nest.accesses if access.tensor in tensors)
    order = tuple(loop for loop in innermost if loop in moving)
    still = tuple(loop for loop in nest.loops if loop not in moving)
    return tuple((*still, *each) for each in _sufficient(moving, accesses, order))


@lru_cache(256)  # layers of all sizes, and designs that keep other tensors, ask for the same few
def _sufficient(
    moving: tuple[str, ...], accesses: tuple[Access, ...], innermost: Order
) -> tuple[Order, ...]:
    fixed = innermost[::-1]
    free = [loop for loop in moving if loop not in fixed]
    orders = list(dict.fromkeys((*fixed, *order) for order in _sequences(free, accesses, moving)))
    if len(moving) <= MAX_COMPARED:
        orders = _needed(orders, accesses)
    return tuple(order[::-1] for order in orders)


def overlapping(access: Access, moving: Collection[str]) -> tuple[str, ...]:
    """Loops along which neighbouring tiles of a tensor may overlap: those that share a subscript
    with another that moves."""
    shared = ([loop for loop in subscript.loops if loop in moving] for subscript in access)
    return tuple(loop for loops in shared if len(loops) > 1 for loop in loops)


def sharing(nest: LoopNest, loops: Collection[str]) -> list[tuple[str, ...]]:
    """Groups of a nest's loops: those that stand in one subscript are one group, in its order."""
    groups = [{loop} for loop in loops]
    for access in nest.accesses:
        for subscript in access:
            joined = [group for group in groups if group & set(subscript.loops)]
            if len(joined) > 1:
                groups = [g for g in groups if g not in joined] + [set().union(*joined)]
    return [tuple(loop for loop in nest.loops if loop in group) for group in groups]


def as_good(
    order: Order, other: Order, several: frozenset[str], accesses: Sequence[Access]
) -> bool:
    """Whether an order (outermost first) costs no tensor more than another one where some loops
    have several trips.

    Parameters
    ----------
    order, other : Order
        Loops of a level, outermost first.
    several : frozenset of str
        Loops that have several trips there.
    accesses : sequence of Access
        The tensors that levels inside keep.
    """
    effects = (_effect(tuple(reversed(each)), several, accesses) for each in (order, other))
    return _as_good(next(effects), next(effects), accesses, order)


def _sequences(
    loops: Sequence[str], accesses: Sequence[Access], moving: Collection[str]
) -> Iterator[tuple[str, ...]]:
    """Orders of the theorem, innermost loop first."""
    for sequence in permutations(accesses):
        closings = [
            (None, *(loop for loop in overlapping(access, moving) if loop in loops))
            for access in sequence
        ]
        for closing in product(*closings):
            order: dict[str, None] = {}
            for place, close in enumerate(closing):
                still_open = sequence[place:]
                order |= {
                    loop: None
                    for loop in loops
                    if not any(access.indexed_by(loop) for access in still_open)
                }
                if close is not None:
                    order[close] = None
            yield tuple(order | dict.fromkeys(loops))


def _needed(orders: list[tuple[str, ...]], accesses: Sequence[Access]) -> list[tuple[str, ...]]:
    """Orders without those that can be spared: whichever loops have several trips, another one left
    is as good."""
    loops = orders[0]
    subsets = [
        frozenset(loop for place, loop in enumerate(loops) if number >> place & 1)
        for number in range(1 << len(loops))
    ]
    effects = [[_effect(order, subset, accesses) for order in orders] for subset in subsets]
    left = list(range(len(orders)))
    for place in reversed(range(len(orders))):
        others = [other for other in left if other != place]
        if all(
            any(_as_good(there[other], there[place], accesses, loops) for other in others)
            for there in effects
        ):
            left = others
    return [orders[place] for place in left]


def _effect(order: Sequence[str], several: frozenset[str], accesses: Sequence[Access]) -> _Effect:
    running = [loop for loop in order if loop in several]
    effects = []
    for access in accesses:
        closing = next(
            (place for place, loop in enumerate(running) if access.indexed_by(loop)), None
        )
        effects.append(
            (frozenset(running[:closing]), None if closing is None else running[closing])
        )
    return tuple(effects)


def _as_good(
    one: _Effect, other: _Effect, accesses: Sequence[Access], moving: Collection[str]
) -> bool:
    """Whether every tensor has at least the loops for nothing that it has there, and the saving
    along the closing loop."""
    for (free, closing), (free_there, closing_there), access in zip(
        one, other, accesses, strict=True
    ):
        if not free_there <= free or (
            closing != closing_there and closing_there in overlapping(access, moving)
        ):
            return False
    return True


def chosen_orders(
    orders: Mapping[str, tuple[Order, ...]], values: NumbersByName, numbers: NumberSystem
) -> Callable[[int, str, str], Number]:
    """Whether, in the order that a level chooses, one loop lies inside another: 1 or 0, a plain one
    where all orders agree, or the order is known.

    Parameters
    ----------
    orders : mapping of str to tuple of Order
        The orders that each level offers, outermost loop first.
    values : NumbersByName
        The number of the order chosen, from 1, where a level offers several.
    numbers : NumberSystem
        The number system of values and answers.

    Returns
    -------
    callable
        From a level's number, a loop and another one, whether the first lies inside the second.
    """
    levels = list(orders)
    known: dict[tuple[int, str, str], Number] = {}
    one = numbers.number(Fraction(1))
    chosen: dict[tuple[int, int], Number] = {}

    def is_chosen(level: int, number: int) -> Number:
        if (level, number) not in chosen:
            away = values[order_quantity(levels[level])] - number
            chosen[level, number] = numbers.maximum(1 - numbers.maximum(away, -away), one * 0)
        return chosen[level, number]

    def known_order(level: int) -> object:
        value = values[order_quantity(levels[level])]
        return getattr(value, "value", value)  # of traced numbers

    def inside(level: int, inner: str, outer: str) -> Number:
        if (level, inner, outer) not in known:
            offered = orders[levels[level]]
            where = [
                n
                for n, order in enumerate(offered, start=1)
                if order.index(inner) > order.index(outer)
            ]
            if len(where) in (0, len(offered)):
                known[level, inner, outer] = int(bool(where))
            elif isinstance(number := known_order(level), int | Fraction):
                known[level, inner, outer] = int(number in where)
            else:
                total = numbers.total(*(is_chosen(level, number) for number in where))
                known[level, inner, outer] = numbers.minimum(total, one)
        return known[level, inner, outer]

    return inside
