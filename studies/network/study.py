"""What-if studies of networks: the proven total over a grid of questions.

Every point is a question about a network, and so is every limit that is raised; each is answered as
`ithaca.network` answers it. Layers that several points have in common, under the same limits, are
solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ithaca.formulations.problem import Limit
from ithaca.solver.certificate import OWN
from ithaca.solver.options import Budget
from ithaca.studies.grid import Cell, Index, StudyAxis, indices, visits
from ithaca.studies.marginal import Marginal, distinct_limits, raisable_limits, raised_limit
from ithaca.studies.network.asking import NetworkQuestion
from ithaca.studies.network.result import ARRAY_MODES, NetworkResult
from ithaca.studies.network.runner import NetworkProgress, RunOptions
from ithaca.studies.points import GridAnswer, places_text
from ithaca.studies.store import Shared
from ithaca.workloads.formats import network_formats

#: The axis of devices, of which prices may be stated.
PLATFORM = "platform"


@dataclass(frozen=True)
class NetworkPoint:
    """One point of a study of a network."""

    answer: NetworkResult
    """The network's answer there."""
    marginals: tuple[Marginal[NetworkResult], ...] = ()
    """The marginal value of each limit there, if that was wanted."""

    def __repr__(self) -> str:
        return f"<NetworkPoint {self.answer!r}>"


@dataclass(frozen=True, repr=False, eq=False)
class NetworkStudy(GridAnswer):
    """The answer of `ithaca.whatif` about a network: its total at every point of a grid.

    Examples
    --------
    >>> question = {"layers": ["fc8"], "dataflow": "i,j", "divisors_only": True}
    >>> study = ithaca.whatif("vgg16", vary="dsp=100,1000", **question)
    >>> list(study.to_dataframe()["value"])
    [257027.0, 256683.0]
    """

    axes: tuple[StudyAxis, ...]
    """The quantities that were varied."""
    points: Mapping[Index, NetworkPoint]
    """Every point of the grid, in its order."""
    prices: Mapping[str, Fraction] = field(default_factory=dict)
    """Prices that the user stated, by device, in a unit of the user's."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def first(self) -> NetworkResult:
        """The answer of the first point."""
        return next(iter(self.points.values())).answer

    @property
    def complete(self) -> bool:
        """Whether every network was solved as far as it was wanted."""
        return all(answer.finished for answer in self.parts.values())

    @property
    def provenance(self) -> Mapping[str, str]:
        """The fixed parts of the question, for people: network, sizes, platform and so on."""
        result = self.first
        sizes = ", ".join(f"{name}={size}" for name, size in result.network.parameters)
        known = {"network": result.network.name, "sizes": sizes, **result.request.facts}
        known["formats"] = network_formats(result.network)
        known |= {"mode": result.mode, "objective": result.request.objective.text}
        if result.network.run is not None:
            known["phase"] = result.network.run.phase
        axes = {axis.name for axis in self.axes}
        if axes & {name for name, _ in result.network.parameters} or "phase" in axes:
            known["sizes"] = ", ".join(
                f"{name}={size}"
                for name, size in result.network.parameters
                if all((name, size) in p.answer.network.parameters for p in self.points.values())
            )
        return {name: text for name, text in known.items() if text and name not in axes}

    @property
    def title(self) -> str:
        fixed = self.provenance
        stated = "; ".join(fixed[name] for name in ("sizes", "formats") if name in fixed)
        sizes = f" ({stated})" if stated else ""
        words = (fixed.get(name, "") for name in ("phase", "dtype"))
        what = " ".join(filter(None, (f"{fixed['network']}{sizes}", *words)))
        on = fixed.get(
            PLATFORM, fixed.get("arch", places_text(self.axes, self.first.request.places))
        )
        edition = f"{fixed['edition']} model edition" if "edition" in fixed else "several editions"
        return f"{what}, {on}, {edition}, {fixed.get('mode', 'several modes')}"

    @property
    def objective(self) -> str:
        texts = {point.answer.request.objective.text for point in self.points.values()}
        return texts.pop() if len(texts) == 1 else "objective"

    @property
    def cells(self) -> Mapping[Index, Cell]:
        """Value, proof and place of every point."""
        return {
            index: Cell(own.value, own.certificate, own.request.place, own.basis)
            for index, point in self.points.items()
            for own in (point.answer,)
        }

    @property
    def parts(self) -> Mapping[str, NetworkResult]:
        known: dict[str, NetworkResult] = {}
        for index, point in self.points.items():
            place = ", ".join(f"{name} {label}" for name, label in self.labels(index).items())
            known[place or "point"] = point.answer
            for marginal in point.marginals:
                raised = f"{marginal.limit.metric} raised"
                known[f"{place}, {raised}" if place else raised] = marginal.after
        return known

    @property
    def failure(self) -> str:
        """The reason why no point has an answer, in one line; empty where one has."""
        reasons = [point.answer.failure for point in self.points.values()]
        return reasons[0] if all(reasons) else ""

    @property
    def statements(self) -> tuple[str, ...]:
        """Statements, one a line: the best points along the axes, the worth of limits, and the
        reasons of infeasible points."""
        return tuple(self.made("statements"))


def run_network_study(
    axes: Sequence[StudyAxis],
    pose: Callable[[Mapping[str, Any]], NetworkQuestion],
    options: RunOptions,
    *,
    percent: Fraction | None = None,
    prices: Mapping[str, Fraction] | None = None,
) -> NetworkStudy:
    """Answer every question of a grid, and again with each limit raised by itself.

    All questions are stated, and so checked, before the first is answered. Every answer gets an
    equal share of the time that is left.

    Parameters
    ----------
    axes : Sequence of StudyAxis
        The axes; none: a single point.
    pose : callable
        States the question of a point from its values by axis name.
    options : RunOptions
        How to run it; the time limit is for the whole study.
    percent : Fraction, optional
        By how much limits are raised for their marginal values (%); None: none are computed.
    prices : mapping of str to Fraction, optional
        Prices of devices, recorded with the study.

    Returns
    -------
    NetworkStudy
        Every point with its answer.
    """
    questions = {
        index: pose({axis.name: axis.values[i] for axis, i in zip(axes, index, strict=True)})
        for index in indices(axes)
    }
    raisable = {index: _raisable(own) if percent else () for index, own in questions.items()}
    left = sum(1 + len(limits) for limits in raisable.values())
    budget, shared = Budget(options.search), Shared(options.store)
    total = left

    def answer(own: NetworkQuestion, place: str) -> NetworkResult:
        nonlocal left
        search = budget.share(left)
        left -= 1

        def report(state: NetworkProgress) -> None:
            assert options.report is not None
            head = f"{total - left} of {total}: {place} · " if total > 1 else ""
            options.report(replace(state, place=f"{head}{state.place}"))

        hear = None if options.report is None else report
        return own.answer(replace(options, search=search, store=shared, report=hear))

    done: dict[Index, NetworkPoint] = {}
    for index in visits(axes):
        own, labels = questions[index], zip(axes, index, strict=True)
        place = " ".join(f"{axis.name}={axis.labels[i]}" for axis, i in labels)
        result, marginals = answer(own, place), []
        for limit in raisable[index]:
            if percent is None or result.failure:
                left -= 1
                continue
            raised = raised_limit(limit, percent)
            bounds = {**own.question.bounds, raised.metric: raised.bound}
            more = replace(own, question=replace(own.question, bounds=bounds))
            after = answer(more, f"{place} {limit.metric} +{float(percent):g} %".strip())
            marginals.append(Marginal(limit, raised, result, after))
        done[index] = NetworkPoint(result, tuple(marginals))
    points = {index: done[index] for index in indices(axes)}
    return NetworkStudy(tuple(axes), points, prices or {})


def _raisable(own: NetworkQuestion) -> tuple[Limit, ...]:
    """The limits that may bind: those that some configuration of a layer exceeds; of layers that
    share a budget all."""
    if own.mode in ARRAY_MODES:
        return tuple(distinct_limits([x for x in own.question.limits if not x.required]))
    parts = own.question.pose(own.network)
    every = [limit for part in parts for limit in raisable_limits(part.problems)]
    able = {limit.metric for limit in every}
    return tuple(x for x in distinct_limits(own.question.limits) if x.metric in able)
