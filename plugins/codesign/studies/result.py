"""Results of co-designs: accelerators with a mapping of every layer, and the proof over the whole
space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.numbers import counted, number
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.formulations.limits import typed_unit
from ithaca.formulations.region import Region
from ithaca.plugins.codesign.formulations.space import HARDWARE, HardwareSpace
from ithaca.plugins.codesign.studies.question import Amount, CodesignQuestion
from ithaca.solver.certificate import OWN, Certificate, Status
from ithaca.solver.reasons import CONTRADICTION, OPEN, contradiction, explain
from ithaca.solver.runs import not_run
from ithaca.solver.shortfall import Shortfall
from ithaca.solver.solution import Solution
from ithaca.studies.network.networks import NetworksAnswer
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.networks.share import Share


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

    @property
    def known(self) -> dict[str, Fraction]:
        """Costs, and quantities by their full names."""
        return {**{HARDWARE + n: Fraction(value) for n, value in self.point.items()}, **self.costs}

    def total(self, amount: Amount) -> Fraction:
        """An amount, by the Fraction reference."""
        if not amount.shares:
            return amount.of_layer(self.known).value({})
        if amount.factors is not None:
            runs = zip(amount.shares, (layer.metrics for layer in self.layers), strict=True)
            return amount.factors.value(amount.factors.over([*runs]))
        objective, pairs = amount.of_layer(self.known), zip(amount.shares, self.layers, strict=True)
        return sum(
            (share * objective.value(solution.metrics) for share, solution in pairs if share),
            Fraction(0),
        )


@dataclass(frozen=True)
class OpenBox:
    """Accelerators that are not excluded yet."""

    region: Region
    """Which these are; rules may exclude some."""
    lower_bounds: tuple[Fraction | None, ...]
    """Lower bounds of the objectives of all of them; None: nothing is known."""

    @property
    def spans(self) -> Mapping[str, tuple[int, int]]:
        """The least and largest value of every quantity."""
        return self.region.ranges

    @property
    def points(self) -> int:
        """The number of points, whatever rules exclude."""
        return self.region.count

    def within(self, space: HardwareSpace) -> HardwareSpace:
        """The space of the region's accelerators alone."""
        return space.only({q.name: q.values for q in self.region.quantities})


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


@dataclass(frozen=True, repr=False, eq=False)
class CodesignResult(NetworksAnswer):
    """The answer of `ithaca.codesign`: the best accelerator, or a front of them, with every layer's
    mapping, and what is proven over the whole space.

    Examples
    --------
    >>> sizes = {"i": 4, "j": 4, "k": 4}
    >>> r = ithaca.codesign("dmazerunner-memory", "mm", sizes=sizes, divisors_only=True)
    >>> r.value, r.status
    (Fraction(1883760, 1), 'optimal')
    """

    what = "a co-design"

    question: CodesignQuestion
    """The question."""
    best: HardwarePoint | None
    """The best accelerator, of one objective; of several, the first of the front."""
    front: tuple[HardwarePoint, ...]
    """Accelerators that none found dominates, by ascending objectives."""
    certificate: Certificate
    """The proof over the space, and of several objectives of the first of them: `optimal` says that
    the front is complete."""
    open: tuple[OpenBox, ...] = ()
    """Boxes that are not excluded yet, the most promising first; at most `SHOWN`."""
    counts: Counts = field(default_factory=Counts)
    """Counts of the search."""
    shortfalls: tuple[Shortfall, ...] = ()
    """If there is no such accelerator: limits that cannot be met, and their least."""
    contradictory: tuple[str, ...] | None = None
    """Limits that no accelerator keeps together, though all but any one of them; None where that is
    open, as of files."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""
    trail: tuple[str, ...] = ()
    """The steps of an explained search before the proof and why, line by line; files do not have
    them."""

    @property
    def value(self) -> Fraction | None:
        """The objective of the best accelerator, exactly; of several the first one's least; None
        where none was found."""
        return None if self.best is None else self.best.values[0]

    @property
    def layer_names(self) -> tuple[str, ...]:
        return tuple(map(self.question.shown_name, self.question.works))

    @property
    def share(self) -> Share:
        """The share of all workloads' multiply-accumulates that the layers are."""
        return self.question.share

    @property
    def basis(self) -> str:
        layers = (layer for accelerator in self.front for layer in accelerator.layers)
        return not_run(layer.problem.design for layer in layers) + self.share.words

    @property
    def complete(self) -> bool:
        """Whether everything is proven, and nothing that multiplies is left out."""
        return self.settled and self.share.whole

    @property
    def settled(self) -> bool:
        """Whether everything is proven: the optimum (of all objectives in order), the whole front,
        or that there is nothing."""
        proof = self.certificate
        return proof.settled and all(then.certificate.settled for then in proof.further)

    @property
    def headline(self) -> str:
        objectives = ", ".join(name_asked(objective.text) for objective in self.question.objectives)
        what = f"{self.question.space.name} for {', '.join(self.question.workloads)}: {objectives}"
        if len(self.question.objectives) > 1:
            many = counted(len(self.front), "point")
            return f"{what}: {many} of the front ({self.status}{self.basis})"
        own = as_asked(self.question.objectives[0].text, self.value)[1]
        value = "" if own is None else f" {number(own)}"
        return f"{what}{value} ({self.certificate.stated(self.basis)})"

    @property
    def status(self) -> str:
        """The status of the proof over the space: optimal (of several objectives the front is
        complete), feasible and so on."""
        return self.certificate.status.value

    @property
    def lower_bound(self) -> Fraction | None:
        """No accelerator of the space has a smaller objective; None where nothing is proven."""
        return self.certificate.lower_bound

    @property
    def hardware(self) -> dict[str, int | str]:
        """The quantities of the best accelerator, by name; empty where none was found."""
        return {} if self.best is None else self.question.space.fields(self.best.point)

    @property
    def architecture(self) -> Any:
        """The best accelerator as `ithaca.map` takes it; None where there is none, or it is no
        memory hierarchy."""
        return self.made("architecture")

    @cached_property
    def networks(self) -> tuple[NetworkResult, ...]:
        """The layers of every workload on the best accelerator, as `ithaca.network` answers; empty
        where none was found."""
        return () if self.best is None else tuple(self.made("networks"))

    @property
    def mapped(self) -> Mapping[str, Solution]:
        return {name: each for network in self.networks for name, each in network.mapped.items()}

    @property
    def loops(self) -> dict[str, str]:
        """The mapping of every layer on the best accelerator as a loop nest, by name."""
        return {name: text for network in self.networks for name, text in network.loops.items()}

    def network_of(self, layer: str | None) -> NetworkResult:
        """The workload on the best accelerator that has a layer, as ``LAYER`` or
        ``WORKLOAD:LAYER``; without one the first.

        Raises `InputError` if there is none.

        Examples
        --------
        >>> sizes = {"i": 4, "j": 4, "k": 4}
        >>> r = ithaca.codesign("dmazerunner-memory", "mm", sizes=sizes, divisors_only=True)
        >>> r.network_of(None).mode
        'per-layer'
        """
        if not self.networks:
            raise InputError(
                f"{self.source} has no accelerator; allowed: a result that has a best one"
            )
        workload, _, name = (layer or "").rpartition(":")
        own = [network for network in self.networks if workload in ("", network.network.name)]
        names = [(network, each.layer.name) for network in own for each in network.layers]
        matching = [network for network, each in names if layer is None or each == name]
        if not matching:
            known = among(layer, [each for _, each in names] or self.question.workloads)
            raise InputError(f"--layer is {quoted(layer)}{known}")
        return matching[0]

    @property
    def failure(self) -> str:
        if self.best is not None:
            return ""
        space, limits = self.question.space, self.question.limits
        metrics = space.metrics
        own = [
            f"{limit.metric} to {number(limit.bound)} {typed_unit(limit.metric, metrics)}".rstrip()
            for limit in limits
            if space.limits.get(limit.metric) == limit.bound
        ]
        inherited = f"; space {space.name} itself limits {', '.join(own)}" if own else ""
        if self.certificate.status is not Status.INFEASIBLE:
            return self.certificate.failure + inherited
        if not self.shortfalls and (len(limits) < 2 or self.contradictory == ()):
            return "infeasible: a layer runs on no accelerator of the space, whatever the limits"
        reasons = explain(self.shortfalls, 1, metrics)
        if reasons == [CONTRADICTION]:
            names = self.contradictory or [limit.metric for limit in limits]
            more = (
                "" if self.contradictory else ", perhaps not all of them, or a layer runs nowhere"
            )
            reasons = [contradiction(names) + more]
        elif len(reasons) == 1 and reasons[0].startswith(OPEN):
            names = self.contradictory or [limit.metric for limit in limits]
            reasons = [f"no accelerator meets the limits {' and '.join(names)} together", *reasons]
        why = "; ".join(reasons)
        return f"infeasible: {why}{inherited}"


#: Open boxes that a result lists.
SHOWN = 20
