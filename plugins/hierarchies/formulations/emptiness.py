"""Spaces without any mapping, told by their factors alone.

Rooms, meshes and utilisations do not depend on orders. What they count grows with every factor, so
of a loop's factors only those matter that no others are at most in all places. Combinations are
made loop by loop; those that exceed a bound whatever is left are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isqrt, prod
from typing import Any

import numpy as np

from ithaca.files.clock import poll
from ithaca.formulations.algebra.array_types import Integers
from ithaca.formulations.algebra.number_systems import NUMPY
from ithaca.formulations.space import Axis, Link, Rows
from ithaca.plugins.hierarchies.formulations.counts import CapacityRule
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace

#: Most factors of a loop, and most combinations, that are looked at.
MOST_ROWS, MOST_COMBINATIONS = 4_000, 200_000

#: What is said where more padding, which is not looked at, might do.
LEAST = "among least paddings (others are not looked at)"


@dataclass(frozen=True)
class Emptiness:
    """The reason why a space is empty."""

    loop: str = ""
    """A loop without factors; empty: each has some."""
    rules: tuple[tuple[Link, float], ...] = ()
    """Bounds that no factors keep to together, each with the least that factors come to."""


def emptiness(design: MappingSpace) -> Emptiness | None:
    """The reason why a design has no mapping; None where it has one, or where too many factors
    would have to be looked at."""
    if design.ending or not (design.constraints.factors or design.constraints.least_used):
        return None
    loops = [axis for axis in design.space.axes if axis.name in design.nest.loops]
    axes = [axis for axis in loops if not _open(design, axis)]
    if any(_many(design, axis) for axis in axes):
        return None
    for axis in axes:
        poll()
        if not next(iter(axis.table().values())).size:
            return Emptiness(axis.name)
    tables = [_table(design, axis) for axis in design.space.axes]
    tables = [table for table in tables if table]
    if any(next(iter(table.values())).size > MOST_ROWS for table in tables):
        return None
    rules = design.space.links
    if not _none(rules, tables):
        return None
    alone = [rule for rule in rules if _none((rule,), tables)]
    kept = list(rules)
    for rule in rules if not alone else ():
        if _none(tuple(each for each in kept if each is not rule), tables):
            kept.remove(rule)
    chosen = alone[:1] or kept
    return Emptiness("", tuple((rule, _least(rule, tables)) for rule in chosen))


def _open(design: MappingSpace, axis: Axis) -> bool:
    """Whether all of a loop may run in its outermost place: that is least everywhere else."""
    first, *others = design.slots_of(axis.name)
    span = design.span(first, axis.name)
    return (
        not design.constraints.least_used
        and span.low <= design.nest.sizes[axis.name]
        and span.high is None
        and design.highest(first, axis.name) is None
        and all(design.span(slot, axis.name).low == 1 for slot in others)
    )


def _many(design: MappingSpace, axis: Axis) -> bool:
    """Whether a loop may have more factors than are looked at: of each that is not fixed at most
    twice the root of the extent are worth a look."""
    extent, several = design.nest.sizes[axis.name], 1
    for slot in design.slots_of(axis.name)[1:]:
        span = design.span(slot, axis.name)
        high = min(n for n in (extent, span.high, design.highest(slot, axis.name)) if n is not None)
        several *= min(max(high - span.low + 1, 1), 2 * isqrt(extent) + 1)
    return several > 16 * MOST_ROWS


def _table(design: MappingSpace, axis: Axis) -> Rows:
    """The rows of an axis by what rules speak of, without those that others are at most in all of
    it; empty where rules do not speak of it."""
    used = {name for link in design.space.links for name in link.symbols}
    names = [quantity.name for quantity in axis.quantities if quantity.name in used]
    if not names:
        return {}
    if axis.name in design.nest.loops and _open(design, axis):
        return {name: np.ones(1, dtype=np.int64) for name in names}
    table = axis.table()
    rows = np.unique(np.array([table[name] for name in names]).T, axis=0)
    if not design.constraints.least_used and len(rows) <= MOST_ROWS:
        kept = np.ones(len(rows), dtype=bool)
        for place, row in enumerate(rows):
            less = (rows <= row).all(axis=1) & kept
            less[place] = False
            kept[place] = not less.any()
        rows = rows[kept]
    return {name: rows[:, place] for place, name in enumerate(names)}


def _none(rules: Sequence[Link], tables: Sequence[Rows]) -> bool:
    """Whether rules leave no combination of rows; not where there are too many."""
    least = {name: column.min() for table in tables for name, column in table.items()}
    most = {name: column.max() for table in tables for name, column in table.items()}
    own = {name for rule in rules for name in rule.symbols}
    points: dict[str, Integers] = {}
    count = 1
    for table in tables:
        poll()
        if not own & table.keys():
            continue
        rows = next(iter(table.values())).size
        if count * rows > MOST_COMBINATIONS:
            return False
        points = {name: np.repeat(column, rows) for name, column in points.items()}
        points |= {name: np.tile(column, count) for name, column in table.items()}
        kept = np.ones(count * rows, dtype=bool)
        for rule in rules:
            low = rule.left.evaluate({**least, **points}, NUMPY)
            high = rule.right.evaluate({**most, **points}, NUMPY)
            kept &= low <= high
        points = {name: column[kept] for name, column in points.items()}
        count = int(kept.sum())
        if not count:
            return True
    return bool(rules) and not points and not all(_holds(rule) for rule in rules)


def _holds(rule: Link) -> bool:
    """Whether a rule about nothing but numbers holds."""
    return bool(rule.left.evaluate({}, NUMPY) <= rule.right.evaluate({}, NUMPY))


def _least(rule: Link, tables: Sequence[Rows]) -> float:
    """The least that the left side of a rule comes to with any rows."""
    own = [table for table in tables if rule.left.symbols & table.keys()]
    counts = [next(iter(table.values())).size for table in own]
    if prod(counts) > MOST_COMBINATIONS:
        return float(rule.left.evaluate({n: c.min() for t in own for n, c in t.items()}, NUMPY))
    places = np.unravel_index(np.arange(prod(counts)), counts) if own else ()
    values = {
        name: column[place]
        for table, place in zip(own, places, strict=True)
        for name, column in table.items()
    }
    return float(np.min(rule.left.evaluate(values, NUMPY)))


def rules_by_link(design: MappingSpace) -> Iterator[tuple[Any, CapacityRule]]:
    """Each rule of a design with the expression that it limits, in symbols."""
    from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols, as_expression

    for rule in design.space_rules(design.model(Symbols(), SYMBOLIC)):
        yield as_expression(rule.used), rule


def reason(design: MappingSpace, why: Emptiness) -> str:
    """The reason in words, with its arithmetic."""
    if why.loop:
        return _without_factors(design, why.loop)
    known: Mapping[Any, CapacityRule] = dict(rules_by_link(design))
    parts = []
    for link, least in why.rules:
        rule = known.get(link.left)
        if rule is None:
            share, instances = design.constraints.least_used, design.architecture.compute.instances
            among = "" if design.options.divisors_only else f"{LEAST} "
            parts.append(
                f"{among}a utilization of {float(share):g} asks for {ceil(share * instances)} of "
                f"{instances} multipliers, which no factors keep busy"
            )
        elif "instances" in rule.what:
            parts.append(f"{rule.bound} instances of {rule.level} hold {int(least)} lanes or more")
        else:
            parts.append(
                f"{rule.level} has room for {rule.bound} words, and tiles take {int(least)} or more"
            )
    return " while ".join(parts)


def _without_factors(design: MappingSpace, loop: str) -> str:
    """The line on a loop without factors, with the range of each."""
    extent, ranges, most = design.nest.sizes[loop], [], 1
    for place, level in enumerate(design.architecture.levels):
        mesh = design.architecture.inner_mesh(place)
        for kind in ("temporal", "spatial")[: 1 + (mesh is not None)]:
            span = design.constraints.factor(level.name, kind, loop)
            room = extent if kind == "temporal" else max(mesh or ())
            if not design.one_direction and kind == "spatial":
                room = prod(mesh or ())
            allowed = range(span.low, min(extent, room, span.high or room) + 1)
            fitting = [n for n in allowed if not (design.options.divisors_only and extent % n)]
            if not fitting:
                wanted = f"{span.low}" if span.low == span.high else f"{span.low} or more"
                wanted = f"{wanted}, at most {span.high}" if (span.high or 0) > span.low else wanted
                divides = " that divides it" if design.options.divisors_only else ""
                inside = f"; its mesh of {mesh[0]} × {mesh[1]} has room for {room}" if mesh else ""
                return (
                    f"loop {loop} of extent {extent} has no {kind} factor of {level.name} of "
                    f"{wanted}{divides}{inside if kind == 'spatial' else ''}"
                )
            most *= fitting[-1]
            ranges.append(f"{fitting[0]} to {fitting[-1]}" if fitting[1:] else f"{fitting[0]}")
    bounds = " × ".join(ranges)
    if most < extent:
        return (
            f"loop {loop} cannot run to its extent {extent}: its factors come to at most {most}, "
            f"{bounds}"
        )
    if design.options.divisors_only:
        return f"loop {loop} has no factors that divide its extent {extent} among {bounds}"
    return (
        f"{LEAST} loop {loop} of extent {extent} has no factors {bounds} of which none could be "
        "less"
    )
