"""The figures of an architecture to raise where a part of a mapping's costs binds
(`ithaca.formulations.hardware.remedies`)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

from ithaca.formulations.hardware.remedies import Remedy
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Laid
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.variation import MESHES
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.workloads.nest import LoopNest

#: Figures of what the words of a level take, by what they are.
RATES = {"reads": "read_bandwidth", "writes": "write_bandwidth", "words": "shared_bandwidth"}


def lanes(architecture: Architecture) -> tuple[Remedy, ...]:
    """Remedies that add multipliers: more instances of any part inside the outermost level."""
    return tuple(
        Remedy(f"{part.name}.{figure}") for part in architecture.parts[1:] for figure in MESHES
    )


def capacity(
    nest: LoopNest, architecture: Architecture, laid: Laid, tensor: str, level: str
) -> tuple[Remedy, ...]:
    """Remedies that add words to a level, so that a tensor is fetched less often; none where it
    does not keep the tensor, or has no end.

    Loops outside that do not index the tensor may reuse it inside; they grow what the level holds
    of all others.

    Parameters
    ----------
    nest : LoopNest
        The loops.
    architecture : Architecture
        The levels, with the words that each holds.
    laid : Laid
        Factors, orders and kept tensors.
    tensor : str
        The tensor that is fetched less often.
    level : str
        The level that would hold more.
    """
    place = [each.name for each in architecture.levels].index(level)
    own = architecture.levels[place]
    if own.words is None or tensor not in laid.keeps[level]:
        return ()
    inside = {each.name for each in architecture.levels[place:]}
    covered = {
        loop: prod(f.get(loop, 1) for slot, f in laid.factors.items() if slot.level in inside)
        for loop in nest.loops
    }
    units_of = units(own, nest)
    held = {
        access.tensor: units_of.words(access.tensor, access.box(covered))
        for access in nest.accesses
        if access.tensor in laid.keeps[level]
    }
    stays = next(access for access in nest.accesses if access.tensor == tensor)
    around = (Slot(each.name) for each in architecture.levels[:place])
    left = prod(
        laid.factor(slot, loop)
        for slot in around
        for loop in nest.loops
        if not stays.indexed_by(loop)
    )
    times = Fraction(own.buffering)
    others = times * (sum(held.values()) - held[tensor])
    return (
        Remedy(f"{level}.words", stays=times * held[tensor], grows=others, reuse=Fraction(left)),
    )


def remedies(
    nest: LoopNest, architecture: Architecture, laid: Laid
) -> Mapping[str, tuple[Remedy, ...]]:
    """Remedies by part: of computing more multipliers, of words more of their bandwidth, and of a
    tensor's words more room inside.

    Parameters
    ----------
    nest : LoopNest
        The loops.
    architecture : Architecture
        The levels.
    laid : Laid
        Factors, orders and kept tensors.
    """
    known = {"computation": lanes(architecture)}
    for place, level in enumerate(architecture.levels):
        for what, figure in RATES.items():
            known[f"{level.name} {what}"] = (Remedy(f"{level.name}.{figure}"),)
        for access in nest.accesses:
            inner = [
                each.name
                for each in architecture.levels[place + 1 :]
                if access.tensor in laid.keeps[each.name]
            ]
            for name, whats in (
                (level.name, ("fills",)),
                *((each, ("reads", "updates")) for each in inner[:1]),
            ):
                room = capacity(nest, architecture, laid, access.tensor, name)
                known |= {f"{level.name} {access.tensor} {what}": room for what in whats if room}
    return known
