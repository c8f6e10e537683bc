"""A mapping for people: as a loop nest, as Timeloop prints it, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ithaca.files.numbers import number, percent
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.bottleneck import binding_words, bottleneck, shares
from ithaca.formulations.design import Design
from ithaca.formulations.family import Remarks
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.mapping import Mapping as Mapped
from ithaca.plugins.hierarchies.formulations.mapping import Slot
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.workloads.nest import LoopNest


def loop_lines(
    nest: LoopNest, architecture: Architecture, mapping: Mapped, metrics: Mapping[str, Fraction]
) -> Iterator[str]:
    """Every level with the tensors that it keeps, their words, and its loops, outermost first but
    for those of one trip.

    Parameters
    ----------
    nest : LoopNest
        The loops.
    architecture : Architecture
        The levels, outermost first.
    mapping : Mapped
        Factors, orders and kept tensors.
    metrics : mapping of str to Fraction
        Of the mapping; words held by ``LEVEL.TENSOR.capacity``, where the edition counts them.
    """
    indent = 0
    for level in architecture.levels:
        kept = [
            access.tensor for access in nest.accesses if access.tensor in mapping.keeps[level.name]
        ]
        words = {tensor: metrics.get(f"{level.name}.{tensor}.capacity") for tensor in kept}
        held = " ".join(
            tensor if n is None else f"{tensor}:{number(n)}" for tensor, n in words.items()
        )
        heading = f"{level.name} [ {held} ]"
        yield from (heading, "-" * len(heading))
        for direction, along in (("", ""), ("x", " (Spatial-X)"), ("y", " (Spatial-Y)")):
            for loop in mapping.orders[level.name]:
                slot = Slot(level.name, direction)
                if mapping.factor(slot, loop) > 1:
                    yield f"| {'  ' * indent}for {loop} in [0:{mapping.trips(slot, loop)}){along}"
                    indent += 1
        yield ""
    yield "<<< Compute >>>"


@dataclass(frozen=True, slots=True)
class LevelWait:
    """Cycles of the words of a level at a bandwidth."""

    level: str
    """The level."""
    what: str
    """``reads``, ``writes`` or ``words`` (both)."""
    words: Fraction
    """Words of an instance, as wide as the level's."""
    rate: Fraction
    """Words a cycle of an instance."""

    @property
    def cycles(self) -> Fraction:
        """The cycles that the words take."""
        return self.words / self.rate


def waits(
    nest: LoopNest, architecture: Architecture, metrics: Mapping[str, Fraction]
) -> Iterator[LevelWait]:
    """Cycles of the words of every level with a bandwidth.

    Parameters
    ----------
    nest : LoopNest
        Its tensors.
    architecture : Architecture
        The levels, with words a cycle that they move.
    metrics : mapping of str to Fraction
        Of a mapping; words of an instance by ``LEVEL.TENSOR.reads`` and so on.
    """
    for level in architecture.levels:
        for what, rate, counts in level.rates:
            own = units(level, nest)
            words = sum(
                (
                    own.share(access.tensor) * metrics.get(f"{level.name}.{access.tensor}.{c}", 0)
                    for access in nest.accesses
                    for c in counts
                ),
                Fraction(0),
            )
            if words:
                yield LevelWait(level.name, what, words, rate)


def working(architecture: Architecture, mapping: Mapped, level: str) -> int:
    """Instances of a level that work.

    Parameters
    ----------
    architecture : Architecture
        The levels, outermost first.
    mapping : Mapped
        Its spatial factors are counted.
    level : str
        The name of a level, or that of the multipliers.
    """
    count = 1
    for outer in architecture.levels:
        if outer.name == level:
            return count
        for direction in "xy":
            for trips in mapping.factors.get(Slot(outer.name, direction), {}).values():
                count *= trips
    return count


def costs(design: Design, configuration: Mapping[str, int]) -> Remarks:
    """Remarks on what sets the latency, and where the energy goes if the model states any, with the
    whole trees as a document."""
    names = [name for name in ("latency", "energy") if name in design.vocabulary]
    trees = {name: bottleneck(design, configuration, Symbol(name), name) for name in names}
    lines = [f"Binding: {binding_words(trees['latency'], 'cycles')}."]
    lines += (
        [f"Energy: {shares(trees['energy'])}."]
        if "energy" in trees and trees["energy"].value
        else []
    )
    return Remarks(
        tuple(lines), {"bottleneck": {name: tree.document for name, tree in trees.items()}}
    )


def statements(
    nest: LoopNest, architecture: Architecture, mapping: Mapped, pes: Fraction
) -> Iterator[str]:
    """Statements on how many multipliers work, and what is padded; each ``Term: statement.``

    Parameters
    ----------
    nest : LoopNest
        The loops with their extents.
    architecture : Architecture
        How many multipliers there are.
    mapping : Mapped
        The factors, which may pad loops.
    pes : Fraction
        Multipliers that work.
    """
    instances = architecture.compute.instances
    yield f"Lanes: {number(pes)} of {instances:,} multipliers work ({percent(pes / instances)})."
    padded = mapping.padded(nest)
    more = [
        f"{loop} from {extent} to {padded[loop]}"
        for loop, extent in nest.extents
        if padded[loop] != extent
    ]
    work = Fraction(1)
    for loop, extent in nest.extents:
        work *= Fraction(padded[loop], extent)
    none = "none outside the lanes, which run in step" if mapping.remainders else "none"
    yield (
        f"Padding: {', '.join(more)}; {percent(work - 1)} more work."
        if more
        else f"Padding: {none}."
    )
