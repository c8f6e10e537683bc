"""Constraints on mappings: which factors, orders, directions and bypasses they may have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from ithaca.files.messages import among, quoted, refuse
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class FactorRange:
    """The range of a factor."""

    level: str
    """The level."""
    kind: str
    """``temporal`` or ``spatial``."""
    loop: str
    """The loop."""
    low: int = 1
    """At least."""
    high: int | None = None
    """At most; None: anything."""
    where: str = field(default="", compare=False)
    """The place of its entry in a file."""

    @property
    def at(self) -> tuple[str, str, str]:
        """The level, kind (temporal or spatial) and loop of the factor."""
        return self.level, self.kind, self.loop

    def __str__(self) -> str:
        """The range, and its place: ``R=1 of DRAM (c.yaml: targets[0])``."""
        size = f"={self.low}"
        if self.low != self.high:
            size = f">={self.low}" if self.high is None else f"<={self.high}"
        spatial, place = "spatial " * (self.kind == "spatial"), self.where and f" ({self.where})"
        return f"{spatial}{self.loop}{size} of {self.level}{place}"


@dataclass(frozen=True)
class Constraints:
    """Restrictions of mappings. An `InputError` names those that contradict each other."""

    factors: tuple[FactorRange, ...] = ()
    """Ranges of factors."""
    directions: tuple[tuple[str, str, str], ...] = ()
    """Whether spatial loops lie along ``x`` or ``y``, by level and loop."""
    orders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The innermost loops of levels, the innermost last."""
    keep: tuple[tuple[str, frozenset[str]], ...] = ()
    """Tensors that levels keep."""
    bypass: tuple[tuple[str, frozenset[str]], ...] = ()
    """Tensors that pass by levels."""
    least_used: Fraction = Fraction(0)
    """The least share of the multipliers that works."""
    where: str = "constraints"
    """The beginning of error lines."""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Paths of fields of its file that nothing depends on."""

    def factor(self, level: str, kind: str, loop: str) -> FactorRange:
        """The range of the factor of a loop among a level's temporal or spatial loops.

        Parameters
        ----------
        level : str
            The name of a level.
        kind : str
            ``temporal`` or ``spatial``.
        loop : str
            The loop.

        Returns
        -------
        FactorRange
            1 to any, where nothing is constrained.
        """
        ranges = [span for span in self.factors if span.at == (level, kind, loop)]
        highs = [span.high for span in ranges if span.high is not None]
        low = max((span.low for span in ranges), default=1)
        return FactorRange(level, kind, loop, low, min(highs, default=None))

    def lies_along(self, level: str, loop: str, direction: str) -> bool:
        """Whether a spatial loop of a level may lie along a direction.

        Parameters
        ----------
        level : str
            The name of the level that holds the instances.
        loop : str
            The loop.
        direction : str
            ``x`` or ``y``.
        """
        sides = {side for *at, side in self.directions if at == [level, loop]}
        return not sides or sides == {direction}

    def innermost(self, level: str) -> tuple[str, ...]:
        """The innermost temporal loops of a level, the innermost last."""
        return dict(self.orders).get(level, ())

    def kept(self, level: str) -> frozenset[str]:
        """The tensors that a level is to keep."""
        return frozenset().union(*(tensors for name, tensors in self.keep if name == level))

    def bypassed(self, level: str) -> frozenset[str]:
        """The tensors that are to pass by a level."""
        return frozenset().union(*(tensors for name, tensors in self.bypass if name == level))

    @property
    def asks_for_more(self) -> bool:
        """Whether larger factors, or more multipliers that work, are asked for than mappings may
        have of themselves."""
        return self.least_used > 0 or any(span.low > 1 for span in self.factors)

    def check(self, nest: LoopNest, architecture: Architecture) -> None:
        """Refuse what nest and architecture do not have, and what contradicts itself or them."""
        for complaint in self._complaints(nest, architecture):
            raise refuse(self.where, complaint)

    def _complaints(self, nest: LoopNest, architecture: Architecture) -> Iterator[str]:
        tensors = [access.tensor for access in nest.accesses]
        for level in architecture.levels:
            kept, passed = self.kept(level.name), self.bypassed(level.name)
            for tensor in sorted(kept | passed):
                if tensor not in tensors:
                    yield (
                        f"{level.name} keeps or bypasses the unknown tensor "
                        f"{quoted(tensor)}{among(tensor, tensors)}"
                    )
            if both := sorted(kept & passed):
                yield f"{level.name} is to keep and to bypass {both[0]}; allowed: one of them"
            if unable := sorted(kept - level.kept(tensors)):
                yield (
                    f"{level.name} is to keep {unable[0]}, which it cannot hold; "
                    "allowed: what its architecture says"
                )
            if level is architecture.levels[0] and passed:
                yield (
                    f"{min(passed)} is to bypass {level.name}, the outermost level; "
                    "allowed: bypasses of inner levels"
                )
        for loop in sorted(
            {span.loop for span in self.factors}
            | {loop for _, loops in self.orders for loop in loops}
        ):
            if loop not in nest.loops:
                yield f"the loop {quoted(loop)} is unknown{among(loop, nest.loops)}"
        for name, loop, _ in self.directions:
            if not (self.lies_along(name, loop, "x") or self.lies_along(name, loop, "y")):
                yield f"{loop} of {name} is to lie along X and along Y; allowed: one of them"
        for loop, extent in nest.extents:
            ranges = dict.fromkeys(self.factor(*s.at) for s in self.factors if s.loop == loop)
            for span in ranges:
                if span.high is not None and span.low > span.high:
                    yield (
                        f"the {span.kind} factor of {loop} in {span.level} is to be at least "
                        f"{span.low} and at most {span.high}"
                    )
            least = prod(span.low for span in ranges)
            if least >= 2 * extent and least > 1:
                factors = [str(s) for s in self.factors if s.loop == loop and s.low > 1]
                yield (
                    f"factors of {loop} multiply to at least {least}: {', '.join(factors)}; "
                    f"allowed: its extent {extent}, or a little more"
                )
        if not 0 <= self.least_used <= 1:
            yield f"utilization is to be at least {self.least_used}; allowed: 0 to 1"


#: No constraints.
NONE = Constraints()
