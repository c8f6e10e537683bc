"""Contradictions among constraints, an architecture and a nest that need no search: each with the
entries at fault, none of which could be left out, and the arithmetic."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, prod

from ithaca.plugins.hierarchies.formulations.constraints import FactorRange
from ithaca.plugins.hierarchies.formulations.editions import TIMELOOP
from ithaca.plugins.hierarchies.formulations.emptiness import emptiness, reason
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace
from ithaca.plugins.hierarchies.formulations.widths import units


def conflict(design: MappingSpace) -> str:
    """The line on a loop that cannot run to its extent, a mesh that is too small, a level without
    room for the smallest tiles, or what follows from several of these; empty where there is none.
    Without any of the entries that it names there would be no such line."""
    if not any(_lines(design)) and emptiness(design) is None:
        return ""
    if any(_lines(design)):
        for entry in design.constraints.factors:
            fewer = _with(design, [e for e in design.constraints.factors if e is not entry])
            design = fewer if any(_lines(fewer)) else design
    kept = _with(design, _needed(design, (), design.constraints.factors))
    if line := next(_lines(kept), ""):
        return line
    why = emptiness(kept)
    assert why is not None
    entries = kept.constraints.factors
    return f"{reason(kept, why)}{f': {_named(entries)}' if entries else ''}"


def _with(design: MappingSpace, entries: Sequence[FactorRange]) -> MappingSpace:
    return replace(design, constraints=replace(design.constraints, factors=tuple(entries)))


def _contradicts(design: MappingSpace) -> bool:
    return any(_lines(design)) or emptiness(design) is not None


def _needed(
    design: MappingSpace, kept: tuple[FactorRange, ...], entries: tuple[FactorRange, ...]
) -> tuple[FactorRange, ...]:
    """Entries without any of which what is left would not contradict, beside those that are kept
    (QuickXplain, Junker 2004)."""
    if _contradicts(_with(design, kept)):
        return ()
    if len(entries) == 1:
        return entries
    half = len(entries) // 2
    first, second = entries[:half], entries[half:]
    of_second = _needed(design, (*kept, *first), second)
    return (*_needed(design, (*kept, *of_second), first), *of_second)


def _lines(design: MappingSpace) -> Iterator[str]:
    for loop in design.nest.loops:
        yield from _short(design, loop)
    yield from _idle(design)
    dense = design.edition == TIMELOOP and design.architecture.sparsity is None
    for place in range(len(design.architecture.levels)):
        yield from _narrow(design, place)
        if dense:
            yield from _full(design, place)


def _named(entries: Sequence[FactorRange]) -> str:
    return ", ".join(map(str, entries))


def _short(design: MappingSpace, loop: str) -> Iterator[str]:
    """The line on a loop whose factors are all bounded, by less than its extent; of divisors those
    on fixed factors that do not divide it."""
    extent, levels = design.nest.sizes[loop], design.architecture.levels
    own = [span for span in design.constraints.factors if span.loop == loop]
    slots = [
        (level.name, kind, None if kind == "temporal" else prod(mesh or ()))
        for place, level in enumerate(levels)
        for mesh in [design.architecture.inner_mesh(place)]
        for kind in ("temporal", "spatial")[: 1 + (mesh is not None)]
    ]
    most: int | None = 1
    for level, kind, lanes in slots:
        highs = [lanes, *(e.high for e in own if e.at == (level, kind, loop))]
        bounds = [high for high in highs if high is not None]
        most = most * min(bounds) if bounds and most is not None else None
    if most is not None and most < extent:
        yield (
            f"loop {loop} cannot run to its extent {extent}: all its factors are bounded, to "
            f"{most} together: {_named(own)}"
        )
    for entry in own:
        if design.options.divisors_only and entry.low == entry.high and extent % entry.low:
            yield f"{entry} is no divisor of the extent {extent}, as --divisors-only asks"


def _narrow(design: MappingSpace, place: int) -> Iterator[str]:
    """The line on a mesh with fewer instances than spatial factors ask for, in all or along a
    direction."""
    level, mesh = design.architecture.levels[place], design.architecture.inner_mesh(place)
    if mesh is None:
        return
    own = [e for e in design.constraints.factors if e.at[:2] == (level.name, "spatial")]
    sides = {loop: side for at, loop, side in design.constraints.directions if at == level.name}
    for size, along, words in (
        (prod(mesh), own, f"{mesh[0]} × {mesh[1]} instances"),
        (mesh[0], [e for e in own if sides.get(e.loop) == "x"], f"{mesh[0]} instances along X"),
        (mesh[1], [e for e in own if sides.get(e.loop) == "y"], f"{mesh[1]} instances along Y"),
    ):
        lanes = prod(_lows(along).values())
        if lanes > size:
            yield f"{level.name} has {words} inside, not {lanes}: {_named(along)}"
            return


def _idle(design: MappingSpace) -> Iterator[str]:
    """The line on lanes that are too few for the share of the multipliers that is to work."""
    share, levels = design.constraints.least_used, design.architecture.levels
    least, most, words = ceil(share * design.architecture.compute.instances), 1, []
    for place, level in enumerate(levels if share else ()):
        if (mesh := design.architecture.inner_mesh(place)) is not None:
            most *= (lanes := _most_lanes(design, place, prod(mesh)))
            words.append(f"{lanes} inside {level.name}")
    if share and most < least:
        own = [e for e in design.constraints.factors if e.kind == "spatial"]
        why = f": {_named(own)}" if own else ""
        yield (
            f"a utilization of {float(share):g} asks for {least} of "
            f"{design.architecture.compute.instances} multipliers, and {most} can work, "
            f"{' × '.join(words) or '1'}{why}"
        )


def _most_lanes(design: MappingSpace, place: int, room: int) -> int:
    """At most the lanes inside a level, by the factors that its spatial loops may have."""
    lanes = {1}
    for loop, extent in design.nest.extents:
        span = design.constraints.factor(design.architecture.levels[place].name, "spatial", loop)
        factors = range(span.low, min(extent, room, span.high or room) + 1)
        step = [n for n in factors if not (design.options.divisors_only and extent % n)]
        lanes = {a * b for a in lanes for b in step[: bisect_right(step, room // a)]}
        if not lanes:
            return 0
    return max(lanes)


def _full(design: MappingSpace, place: int) -> Iterator[str]:
    """The line on a level without room for the least tiles of the tensors that it keeps."""
    nest, levels, level = design.nest, design.architecture.levels, design.architecture.levels[place]
    if level.words is None or level.resident:
        return
    fixed = design.constraints.kept(level.name)
    keeps = fixed if design.options.free_bypass else design.keeps(place)
    own, inside = units(level, nest), {each.name for each in levels[place:]}
    room = level.usable(level.words)
    kept = [access for access in nest.accesses if access.tensor in keeps]
    entries = [e for e in design.constraints.factors if e.level in inside and e.low > 1]

    least = _lows(entries)
    sides = {loop: min(least.get(loop, 1), n) for loop, n in nest.extents}
    words = {access.tensor: own.words(access.tensor, access.box(sides)) for access in kept}
    if sum(words.values()) > room:
        parts = " + ".join(f"{n} of {tensor}" for tensor, n in words.items())
        why = f": {_named(entries)}" if entries else ""
        yield (
            f"{level.name} has room for {room} words, not for the {sum(words.values())} of the "
            f"tiles that it keeps, {parts}{why}"
        )


def _lows(entries: Sequence[FactorRange]) -> dict[str, int]:
    """The least trips of each loop: of slots the most that entries ask for, multiplied."""
    slots: dict[tuple[str, str, str], int] = {}
    for entry in entries:
        slots[entry.at] = max(slots.get(entry.at, 1), entry.low)
    loops: dict[str, int] = {}
    for (_, _, loop), low in slots.items():
        loops[loop] = loops.get(loop, 1) * low
    return loops
