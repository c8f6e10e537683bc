"""What a co-design answers: accelerators with a mapping of every layer, and what is proven over the
whole space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ithaca.files.numbers import number
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.space import HardwareSpace
from ithaca.solver.certificate import Certificate
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.studies.codesign.question import Amount, Question


@dataclass(frozen=True)
class HardwarePoint:
    """An accelerator with a mapping of every layer."""

    point: Configuration
    """Its quantities."""
    costs: Mapping[str, Fraction]
    """Metrics of the hardware itself, by name."""
    values: tuple[Fraction, ...]
    """The objectives, by the Fraction reference."""
    layers: tuple[Solution, ...]
    """The mapping of every layer, in the order of the question."""

    def __repr__(self) -> str:
        return f"<HardwarePoint {dict(self.point)}: {', '.join(map(number, self.values))}>"

    def total(self, amount: Amount) -> Fraction:
        """An amount, by the Fraction reference."""
        if not amount.shares:
            return amount.of_layer(self.costs).value({})
        if amount.factors is not None:
            runs = zip(amount.shares, (layer.metrics for layer in self.layers), strict=True)
            return amount.factors.value(amount.factors.over([*runs]))
        objective, pairs = amount.of_layer(self.costs), zip(amount.shares, self.layers, strict=True)
        return sum(
            (share * objective.value(solution.metrics) for share, solution in pairs if share),
            Fraction(0),
        )


@dataclass(frozen=True)
class OpenBox:
    """Accelerators that are not excluded yet."""

    spans: Mapping[str, tuple[int, int]]
    """Least and largest value of every quantity."""
    points: int
    """How many there are, whatever rules exclude."""
    lower_bounds: tuple[Fraction | None, ...]
    """None of them has smaller objectives; None: nothing is known."""

    def within(self, space: HardwareSpace) -> HardwareSpace:
        """The space of these accelerators alone."""
        ends = [(quantity, *self.spans[quantity.name]) for quantity in space.quantities]
        parts = (
            replace(q, values=tuple(v for v in q.values if low <= v <= high))
            for q, low, high in ends
        )
        return replace(space, quantities=tuple(parts))


@dataclass(frozen=True)
class Counts:
    """Counts of a search: the same for any number of workers, and for resumed runs."""

    points: int = 0
    """Accelerators of the space, whatever rules exclude."""
    boxes: int = 0
    """Boxes of hardware examined."""
    excluded: int = 0
    """Boxes without an accelerator that keeps rules and limits of the hardware."""
    evaluated: int = 0
    """Accelerators with a proven optimum."""
    layers: int = 0
    """Layer problems that it asked for, each once."""


@dataclass(frozen=True)
class CodesignResult:
    """The answer of a co-design."""

    question: Question
    """What was asked."""
    best: HardwarePoint | None
    """The best accelerator, of one objective; of several, the first of the front."""
    front: tuple[HardwarePoint, ...]
    """Accelerators that none found dominates, by ascending objectives."""
    certificate: Certificate
    """What is proven over the space, and of several objectives of the first of them: `optimal` says
    that the front is complete."""
    open: tuple[OpenBox, ...] = ()
    """What is not excluded yet, the most promising first; at most `SHOWN`."""
    counts: Counts = field(default_factory=Counts)
    """What the search did."""
    shortfalls: tuple[Shortfall, ...] = ()
    """If there is no such accelerator: limits that cannot be met, and their least."""

    @property
    def value(self) -> Fraction | None:
        """The objective of the best accelerator, exactly; of several the first one's least; None
        where none was found."""
        return None if self.best is None else self.best.values[0]

    @property
    def complete(self) -> bool:
        """Whether everything is proven: the optimum (of all objectives in order), the whole front,
        or that there is nothing."""
        proof = self.certificate
        return proof.settled and all(then.certificate.settled for then in proof.further)


#: Open boxes that a result lists.
SHOWN = 20
