"""Pareto fronts of networks: the sums of their layers' fronts.

Layers run one after the other, each within all limits, so a network's objectives are sums over
layers, or, of hardware that is taken, the most of any layer. Both never fall where that of a layer
grows. So every point of the network's front is made of points of the layers' fronts: all sums of
these are formed, layer by layer, and those that others dominate are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from math import lcm

from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.formulations.directions import name_asked
from ithaca.formulations.problem import Objective
from ithaca.formulations.question import Question
from ithaca.solver.certificate import OWN, Status
from ithaca.solver.options import Budget
from ithaca.solver.progress import Progress
from ithaca.studies.front import Front, FrontReport, pareto_front
from ithaca.studies.network.runner import NetworkProgress, RunOptions
from ithaca.studies.network.totals import ADDITIVE, adds_up
from ithaca.studies.points import PointAnswer, stated_terms
from ithaca.studies.region import Labelled, undominated
from ithaca.studies.store import Store
from ithaca.workloads.formats import network_formats
from ithaca.workloads.networks.network import Layer, Network, share_of
from ithaca.workloads.networks.share import Share

#: Hardware that layers take one after the other: a network takes the most that one of them does.
TAKEN = ("dsp", "bram18k", "uram", "lut", "lutram", "ff", "pes", "area")

#: Most sums that are kept from one layer to the next; more are thinned, and the front is partial.
MOST_SUMS = 20_000

#: Sums that are compared at once: all pairs of two layers' points may be more than memory holds.
BATCH = 100_000


@dataclass(frozen=True)
class LayerFront:
    """A layer and its front."""

    layer: Layer
    """The layer, with its count."""
    front: Front
    """The front of one run."""


@dataclass(frozen=True)
class NetworkFrontPoint:
    """A point of a network's front."""

    values: tuple[Fraction, ...]
    """The objectives over the network."""
    choice: tuple[int, ...]
    """By layer the number of the point of its front that it runs (from 0)."""


@dataclass(frozen=True, repr=False, eq=False)
class NetworkFront(PointAnswer):
    """The answer of `ithaca.pareto` about a network: the front of its totals.

    Examples
    --------
    >>> question = {"layers": ["fc8"], "dataflow": "i,j", "divisors_only": True}
    >>> front = ithaca.pareto("vgg16", objectives="latency,dsp", limit="dsp=30", **question)
    >>> front.complete, len(front.points)
    (True, 4)
    """

    network: Network
    """The network, with the layers that were asked for."""
    objectives: tuple[Objective, ...]
    """The objectives, which are minimised."""
    layers: tuple[LayerFront, ...]
    """The fronts of its layers, in order."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @cached_property
    def _sums(self) -> tuple[tuple[NetworkFrontPoint, ...], bool]:
        return sums_of_fronts(self.layers, self.objectives)

    @property
    def points(self) -> tuple[NetworkFrontPoint, ...]:
        """The points, by ascending first objective."""
        return self._sums[0]

    @property
    def thinned(self) -> bool:
        """Whether sums were left out as there were too many."""
        return self._sums[1]

    @property
    def unfinished(self) -> str | None:
        """The reason why further points may exist; None if the front is proven complete."""
        for each in self.layers:
            if each.front.unfinished is not None:
                return f"{each.layer.name}: {each.front.unfinished}"
        return f"more than {MOST_SUMS:,} sums were thinned" if self.thinned else None

    @property
    def complete(self) -> bool:
        """Whether it is proven that no other vector of objectives is on the front."""
        return self.unfinished is None

    @property
    def among(self) -> str:
        """The configurations in words among which all is proven; empty: among everything."""
        return next((each.front.among for each in self.layers if each.front.among), "")

    @property
    def share(self) -> Share:
        """The share of the network's multiply-accumulates that the layers are."""
        return share_of(self.network.operations, self.network.unsupported)

    @property
    def provenance(self) -> Mapping[str, str]:
        """The terms of the question, for people: network, sizes, platform and so on."""
        own = {"workload", "statement", "sizes", "title", "format"}
        facts = self.layers[0].front.provenance
        sizes = ", ".join(f"{name}={size}" for name, size in self.network.parameters)
        phase = "" if self.network.run is None else self.network.run.phase
        known = {"network": self.network.name, "sizes": sizes, "phase": phase}
        known["formats"] = network_formats(self.network)
        known |= {name: text for name, text in facts.items() if name not in own}
        return {name: text for name, text in known.items() if text}

    @property
    def title(self) -> str:
        """The title for people: the question of the front."""
        fixed = self.provenance
        stated = "; ".join(fixed[name] for name in ("sizes", "formats") if name in fixed)
        sizes = f" ({stated})" if stated else ""
        words = (fixed.get(name, "") for name in ("phase", "dtype"))
        what = " ".join(filter(None, (f"{fixed['network']}{sizes}", *words)))
        return f"{what}, {fixed.get('platform', fixed.get('arch', ''))}, per-layer"

    @property
    def basis(self) -> str:
        words: list[str] = [each.front.basis for each in self.layers]
        return max(words, key=len) + self.share.words

    @property
    def headline(self) -> str:
        many = f"{counted(len(self.points), 'point')} ({self.status}{self.basis})"
        return f"Pareto front of {self.title}: {many}"

    @property
    def status(self) -> str:
        """Optimal if the front is proven complete, feasible if points are known that may be on it;
        infeasible or unknown without points."""
        if self.points:
            status = Status.OPTIMAL if self.complete else Status.FEASIBLE
        else:
            none = any(each.front.status == Status.INFEASIBLE.value for each in self.layers)
            status = Status.INFEASIBLE if none else Status.UNKNOWN
        return status.value

    @property
    def failure(self) -> str:
        for each in self.layers:
            if each.front.failure:
                return f"{each.layer.name}: {each.front.failure}"
        return ""

    @property
    def parts(self) -> Mapping[str, Front]:
        return {each.layer.name: each.front for each in self.layers}

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements, one a line: the points, and the price of one objective in terms of
        another."""
        return tuple(self.made("statements"))


def check_sums(objectives: Sequence[Objective]) -> None:
    """Refuse objectives that are neither sums over layers nor the most that a layer takes."""
    for objective in objectives:
        if not (adds_up(objective) or objective.text.strip() in TAKEN):
            raise InputError(
                f"--objectives: '{name_asked(objective.text)}' is no sum over layers; allowed with "
                f"networks: sums, multiples, max and min of {', '.join(ADDITIVE)}; and the most "
                f"that a layer takes of {', '.join(TAKEN)}"
            )


def network_front(
    network: Network,
    question: Question,
    objectives: Sequence[Objective],
    options: RunOptions,
    store: Store | None = None,
) -> NetworkFront:
    """Compute the front of a network, layer by layer.

    Parameters
    ----------
    network : Network
        The network.
    question : Question
        What is asked of every layer.
    objectives : Sequence of Objective
        What is minimised.
    options : RunOptions
        How to run it; each layer gets an equal share of the time that is left.
    store : Store, optional
        Keeps proofs as they are found, and supplies those found before.

    Raises
    ------
    InputError
        If an objective has no meaning over layers.
    """
    check_sums(objectives)
    parts, budget = question.pose(network), Budget(options.search)
    layers: list[LayerFront] = []
    for place, part in enumerate(parts):
        name, tell = part.layer.name, options.report
        front = pareto_front(
            part.problems,
            objectives,
            budget.share(len(parts) - place),
            method=options.method,
            threads=options.threads,
            store=store,
            report=None if tell is None else _heard_of(tell, name, place, len(parts)),
            provenance=stated_terms(question, part.layer.nest),
        )
        layers.append(LayerFront(part.layer, front))
    return NetworkFront(network, tuple(objectives), tuple(layers))


def _heard_of(
    report: Callable[[NetworkProgress], None], layer: str, done: int, total: int
) -> FrontReport:
    """A function that passes on the progress of a layer's front."""

    def tell(count: int, design: str, progress: Progress) -> None:
        place = f"{layer} · {counted(count, 'point')} · {design}"
        report(NetworkProgress(done, total, 0, place, progress))

    return tell


def sums_of_fronts(
    layers: Sequence[LayerFront], objectives: Sequence[Objective]
) -> tuple[tuple[NetworkFrontPoint, ...], bool]:
    """The points over all layers that no other dominates, and whether sums were thinned.

    Parameters
    ----------
    layers : Sequence of LayerFront
        The fronts of the layers.
    objectives : Sequence of Objective
        What is minimised: sums over layers, or the most of any.
    """
    added, thinned = [adds_up(objective) for objective in objectives], False
    scales = [
        lcm(*(p.values[n].denominator for each in layers for p in each.front.points))
        for n in range(len(objectives))
    ]
    sums: list[Labelled] = [((0,) * len(objectives), ())]
    for each in layers:
        own = [
            tuple(
                int(value * scale) * (each.layer.count if adds else 1)
                for value, scale, adds in zip(point.values, scales, added, strict=True)
            )
            for point in each.front.points
        ]
        further: Iterator[Labelled] = (
            (
                tuple(
                    a + b if adds else max(a, b)
                    for a, b, adds in zip(values, more, added, strict=True)
                ),
                (*choice, number),
            )
            for values, choice in sums
            for number, more in enumerate(own)
        )
        sums = []
        while batch := list(islice(further, BATCH)):
            sums = undominated(chain(sums, batch))
        if len(sums) > MOST_SUMS:
            thinned, step = True, -(-len(sums) // MOST_SUMS)
            sums = [*sums[:-1:step], sums[-1]]
    points = (
        NetworkFrontPoint(
            tuple(Fraction(v, scale) for v, scale in zip(values, scales, strict=True)), choice
        )
        for values, choice in sums
    )
    return tuple(points), thinned
