"""Branch and bound over boxes of hardware, best first, one layer at a time.

A box is bounded by what is known of its layers: bounds of the box that it was split from, until a
layer is solved on the box's own best figures. It is dropped as soon as the sum reaches what is
known, so most boxes are closed after few layers. A box whose layers are all solved is split; one of
a single accelerator is evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import inf

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.region import Region
from ithaca.plugins.codesign.studies.boxes import HardwareBounds, Kept, trimmed
from ithaca.plugins.codesign.studies.candidates import Candidates
from ithaca.plugins.codesign.studies.layer_cache import (
    Ask,
    Bound,
    CachedRun,
    LayerAnswer,
    LayerCache,
    total,
)
from ithaca.plugins.codesign.studies.points import certified, combined
from ithaca.plugins.codesign.studies.question import Amount, CodesignQuestion
from ithaca.plugins.codesign.studies.result import (
    SHOWN,
    CodesignResult,
    Counts,
    HardwarePoint,
    OpenBox,
)
from ithaca.plugins.codesign.studies.within_limits import begin, limits_note, weigh
from ithaca.solver.best_first import BestFirst
from ithaca.solver.conclusion import conclude
from ithaca.solver.executor import Executor, InProcess
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress, Report

METHOD = "boxes"

#: Layers per worker that are solved before the search goes on.
AHEAD = 2

#: Boxes up to which bounds come before accelerators, as long as that takes less than half of the
#: time.
BOUNDED = 4096


@dataclass
class _OpenNode:
    """A box, and what is known of the amounts over it."""

    box: Region
    bounds: list[list[Bound]]
    """By amount and layer; of the hardware alone a single one."""
    kept: Kept
    """Rules and limits of the hardware that some accelerator may break."""
    figures: dict[str, Fraction] | None = None
    """The best of the box, once that is needed."""
    left: list[tuple[int, int]] = field(default_factory=list)
    """Amounts and layers not solved on these figures yet."""
    narrowed: bool = False
    """Whether what is no better than what was found was left out of it."""


class BoxSearch:
    """One search; it may be interrupted, and goes on where it was."""

    def __init__(
        self,
        question: CodesignQuestion,
        bank: LayerCache,
        options: SolveOptions | None = None,
        report: Report | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.question, self.bank, self.report = question, bank, report
        self._executor = executor or InProcess()
        self._budget = Budget(options or SolveOptions())
        self._half = Budget(self._budget.part(0.5))
        self._open: BestFirst[tuple[Bound, ...], _OpenNode] = BestFirst()
        self._stuck: list[_OpenNode] = []
        self._current: _OpenNode | None = None
        self._boxes = self._excluded = self._evaluated = 0
        self._whole = True
        self._several = len(question.objectives) > 1
        unknown = [
            [-inf] * (len(question.works) if amount.shares else 1) for amount in question.amounts
        ]
        self._hardware = HardwareBounds(question)
        self._candidates = Candidates(
            question, bank, self._hardware, self._budget, self._executor, self._tell
        )
        self._enter(self._candidates.whole, unknown, self._hardware.all)

    # -- boxes -------------------------------------------------------------------------

    @property
    def points(self) -> list[HardwarePoint]:
        """The accelerators found that no other one dominates, by ascending objectives."""
        return self._candidates.points

    @property
    def boxes(self) -> int:
        """Boxes that were looked at."""
        return self._boxes

    def take(self, point: Configuration) -> None:
        """Evaluate an accelerator, its layers as the first amount of runs likes them; ignored if
        the space has none such."""
        values = {quantity.name: quantity.values for quantity in self.question.space.quantities}
        if (
            point.keys() == values.keys()
            and all(value in values[name] for name, value in point.items())
            and self._candidates.keeps(point)
        ):
            weigh(self._candidates, point)

    def run(self) -> CodesignResult:
        """Search until everything is proven, or the options say to stop; the whole space is bounded
        in any case."""
        while self._open and (not self._budget.over or self._whole) and not self._near_enough():
            self._whole = False
            _, self._current = self._open.pop()
            if not self._closed(self._current):
                self._advance(self._current)
            self._current = None
            self._tell()
        return self._result()

    def _enter(self, box: Region, bounds: Sequence[Sequence[Bound]], kept: Kept) -> None:
        """Take a box among those that are open, without values at its ends that break rules or
        limits of the hardware."""
        self._boxes += 1
        shrunk, kept = self._hardware.shrunk(box, kept)
        if shrunk is None:
            self._excluded += 1
            return
        node = _OpenNode(shrunk, self._hardware.inherited(bounds, shrunk, kept), kept)
        if not self._closed(node):
            self._push(node)

    def _push(self, node: _OpenNode) -> None:
        self._open.push(self._totals(node)[: len(self.question.objectives)], node)

    def _totals(self, node: _OpenNode) -> tuple[Bound, ...]:
        """Bounds of all amounts."""
        pairs = zip(self.question.amounts, node.bounds, strict=True)
        return tuple(
            total(amount.shares, bounds) if amount.shares else bounds[0] for amount, bounds in pairs
        )

    def _closed(self, node: _OpenNode) -> bool:
        """Whether no accelerator of a box can keep the limits, and improve on what is known."""
        totals, objectives = self._totals(node), len(self.question.objectives)
        if any(known == inf for known in totals):
            return True
        limits = zip(self.question.limited, totals[objectives:], strict=True)
        if any(amount.bound is not None and known > amount.bound for amount, known in limits):
            return True
        return any(
            all(f <= b for f, b in zip(self._goal(p), totals, strict=False)) for p in self.points
        )

    def _goal(self, point: HardwarePoint) -> tuple[Fraction, ...]:
        """Values that accelerators have to be below to be of interest beside one that was found."""
        if self._several:
            return point.values
        return (point.values[0] - Fraction(self._budget.options.gap) * abs(point.values[0]),)

    def _cutoff(self, node: _OpenNode, amount: int, layer: int) -> Fraction | None:
        """The bound of a layer that would close a box; None if there is no such."""
        question, totals = self.question, self._totals(node)
        if amount >= len(question.objectives):
            return None
        others = [
            f
            for f in map(self._goal, self.points)
            if all(f[j] <= totals[j] for j in range(len(f)) if j != amount)
        ]
        shares, bounds = list(question.amounts[amount].shares), list(node.bounds[amount])
        share, shares[layer] = shares[layer], Fraction(0)
        rest = total(shares, bounds)
        if not others or not share or not isinstance(rest, Fraction):
            return None
        return (min(f[amount] for f in others) - rest) / share

    def _advance(self, node: _OpenNode) -> None:
        """Solve layers of a box until it is closed, another one is more promising, or all are
        solved."""
        if node.figures is None and not self._prepare(node):
            if self._closed(node):
                return
            names = [quantity.name for quantity in self.question.space.quantities]
            mixed = [name for name in names if name in self.question.enumerated]
            self._split(node, next(name for name in mixed if len(node.box.values(name)) > 1))
            return
        if self._closed(node):
            return
        early = not self.points and self._boxes <= BOUNDED and not self._half.over
        if (self.points or early) and self._behind(node):
            self._push(node)
            return
        if not self.points and not begin(self._candidates, node.box, node.kept):
            self._candidates.probe(node.box, node.kept, first=True)
        self._narrow(node)
        if self._split_first(node):
            return
        while node.left:
            if self._closed(node):
                return
            if self._behind(node) or self._budget.over:
                self._push(node)
                return
            amount, layer = node.left.pop(0)
            node.bounds[amount][layer] = max(
                node.bounds[amount][layer], self._solve(node, amount, layer).bound
            )
        if self._closed(node):
            return
        point = node.box.point
        if point is None:
            self._candidates.probe(node.box, node.kept)
            if not self._closed(node):
                self._split(node, self._hardware.widest(node.box))
        elif not self._evaluate(point, node):
            self._stuck.append(node)

    def _behind(self, node: _OpenNode) -> bool:
        """Whether another box is more promising."""
        objectives = len(self.question.objectives)
        return bool(self._open) and self._totals(node)[:objectives] > self._open.least

    def _split_first(self, node: _OpenNode) -> bool:
        """Split a box that solving its layers would hardly close; where bounds that take no search
        then rise most, or may rise further on.

        How far these are from what is proven shows at the best accelerator found.
        """
        amount, least = self.question.amounts[0], self._totals(node)[0]
        if (
            self._several
            or not self.points
            or not amount.shares
            or node.box.point is not None
            or self._closed(node)
        ):
            return False
        (goal,), best = self._goal(self.points[0]), self.points[0]
        if goal - least <= 2 * (best.values[0] - self._candidates.floor(best.point)):
            return False
        if self._behind(node):
            self._push(node)
            return True
        name = self._candidates.floors.sharpest(node.box, node.bounds[0], goal)
        if name is not None:
            self._split(node, name)
        return name is not None

    def _order(self, node: _OpenNode) -> list[tuple[int, int]]:
        """Layers of every amount, those that count most first."""
        pairs: list[tuple[int, int]] = []
        for place, amount in enumerate(self.question.amounts):
            counted = [layer for layer, share in enumerate(amount.shares) if share]

            def weight(layer: int, place: int = place, amount: Amount = amount) -> float:
                known = node.bounds[place][layer]
                work = self.question.works[layer].nest.operations if known == -inf else known
                return -float(amount.shares[layer]) * float(work)

            pairs += [(place, layer) for layer in sorted(counted, key=weight)]
        return pairs

    def _solve(self, node: _OpenNode, amount: int, layer: int) -> LayerAnswer:
        """A layer's optimum on the best figures of a box, or the bound that closes the box."""
        run, cutoff = self._layer_run(node, amount, layer), self._cutoff(node, amount, layer)
        floor = node.bounds[amount][layer]
        if self._executor.width > 1 and self.bank.tried_value(run, floor) != floor:
            self._solve_ahead(node, (amount, layer))
        return self.bank.best(
            run, self._candidates.options, cutoff, lambda progress: self._tell(), floor
        )

    def _layer_run(self, node: _OpenNode, amount: int, layer: int) -> CachedRun:
        """A layer on the best figures of a box, as an amount counts it."""
        assert node.figures is not None
        question = self.question
        objective = question.amounts[amount].of_layer(question.best_costs(amount, node.box))
        return self.bank.run(question.works[layer], node.figures, objective)

    def _solve_ahead(self, node: _OpenNode, first: tuple[int, int]) -> None:
        """Solve what is wanted next, and what the most promising boxes will probably want, all
        workers at once."""
        wanted: list[tuple[Ask, Fraction | None]] = []
        most = AHEAD * self._executor.width
        nodes = [node, *self._open.first(most)]
        for each in nodes:
            # boxes themselves are prepared when their turn comes, with what is known then
            ready = (
                each
                if each.figures is not None
                else replace(each, bounds=[list(known) for known in each.bounds])
            )
            if ready.figures is None and not self._prepare(ready):
                continue
            for amount, layer in [first, *ready.left] if each is node else ready.left:
                run = self._layer_run(ready, amount, layer)
                wanted.append((run.ask, run.target(self._cutoff(ready, amount, layer))))
                if len(wanted) == 1 and self.bank.serves(*wanted[0]):
                    return
            if len(wanted) >= most:
                break
        self._candidates.solve_together(wanted[:most])

    def _prepare(self, node: _OpenNode) -> bool:
        """Set a box's best figures and the layers to solve; whether they are defined."""
        for place, amount in enumerate(self.question.amounts):
            if amount.shares:
                floors = self._candidates.floors.at(node.box, place)
                node.bounds[place] = [*map(max, node.bounds[place], floors)]
        if any(len(node.box.values(name)) > 1 for name in self.question.enumerated):
            return False
        node.figures = self.question.space.best(node.box)
        node.left = self._order(node)
        return True

    def _narrow(self, node: _OpenNode) -> None:
        """Leave out of a box what is no better than what was found: once, when its turn comes,
        whatever is solved ahead."""
        if node.narrowed or self._several or not self.points or not self.question.amounts[0].shares:
            return
        node.narrowed, (goal,) = True, self._goal(self.points[0])
        over, names = self._candidates.floors.over, [q.name for q in node.box.quantities]
        left = trimmed(node.box, names, lambda part: over(part, node.bounds[0]) >= goal)
        box = self._hardware.shrunk(left, node.kept)[0]
        if box is None:
            node.bounds[0] = [inf] * len(node.bounds[0])
        elif box != node.box:
            node.box = box
            self._prepare(node)

    def _split(self, node: _OpenNode, name: str) -> None:
        for half in node.box.split(name):
            self._enter(half, node.bounds, node.kept)

    # -- accelerators ------------------------------------------------------------------

    def _evaluate(self, point: Configuration, node: _OpenNode) -> bool:
        """Take the best mappings of an accelerator whose layers are all solved; whether that
        settles it."""
        question, space = self.question, self.question.space
        figures, costs = space.at(point), space.cost(point)
        every = [place for place, amount in enumerate(question.amounts) if amount.shares]
        answers: dict[int, dict[int, LayerAnswer]] = {}
        for place in every:
            objective = question.amounts[place].of_layer(space.known(point))
            counted = [layer for layer, share in enumerate(question.amounts[place].shares) if share]
            answers[place] = {
                n: self.bank.answer(self.bank.run(question.works[n], figures, objective))
                for n in counted
            }
        for place in every:
            # a layer that one amount does not count is run as another one likes it
            of = [
                next(answers[p][n] for p in (place, *every) if n in answers[p])
                for n in range(len(question.works))
            ]
            if all(answer.solution is not None for answer in of):
                own = tuple(answer.solution for answer in of if answer.solution is not None)
                self._candidates.offer(HardwarePoint(point, costs, (), own))
        if not all(answer.exact for each in answers.values() for answer in each.values()):
            return self._closed(node)
        self._evaluated += 1
        if self._closed(node):
            return True
        mappings = combined(question, self.bank, point, lambda: self._candidates.options)
        for layers in mappings or ():
            self._candidates.offer(HardwarePoint(point, costs, (), tuple(layers)))
        return mappings is not None

    # -- what comes of it --------------------------------------------------------------

    def floor(self) -> Fraction | None:
        """A bound of the first objective over all accelerators that takes no search; None if there
        is none."""
        if self._open:
            _, node = self._open.pop()
            self._prepare(node)
            self._push(node)
        return self.lower_bound

    @property
    def lower_bound(self) -> Fraction | None:
        """No accelerator has a smaller first objective; None if nothing is known."""
        nodes = self._stuck if self._current is None else [*self._stuck, self._current]
        open_ = [self._totals(node)[0] for node in nodes]
        open_ += [self._open.least[0]] if self._open else []
        least = min([*open_, *(self._goal(point)[0] for point in self.points)], default=inf)
        return Fraction(least) if -inf < least < inf else None

    def _near_enough(self) -> bool:
        if self._several or not self.points or not self._budget.options.gap:
            return False
        return self._budget.options.gap_is_met(self.points[0].values[0], self.lower_bound)

    def _tell(self) -> None:
        if self.report is not None:
            value = self.points[0].values[0] if self.points else None
            self.report(Progress(value, self.lower_bound, self._boxes, self._budget.spent))

    def _result(self) -> CodesignResult:
        open_ = [
            node
            for node in (*self._open.first(len(self._open)), *self._stuck)
            if not self._closed(node)
        ]
        value, bound = self.points[0].values[0] if self.points else None, self.lower_bound
        complete = not open_ and (self._several or not self.points or bound == value)
        spent, options = self._budget.spent, self._budget.options
        method = METHOD + limits_note(self.question)
        certify = partial(
            conclude, value, options=options, method=method, nodes=self._boxes, seconds=spent
        )
        certificate = certify(lower_bound=bound, complete=complete)
        if (
            self._several and open_ and certificate.status.proven
        ):  # the least of the first objective, but not the whole front
            certificate = replace(certify(lower_bound=None), lower_bound=bound, gap=certificate.gap)
        certificate = certificate.within(self.question.among, self.question.feasible_among)
        whole, layers = self.question.space.box.count, len(self.bank.asks)
        counts = Counts(whole, self._boxes, self._excluded, self._evaluated, layers)
        boxes = tuple(self._open_box(node) for node in open_[:SHOWN])
        front = tuple(
            certified(self.question, self.bank, point, proven=complete) for point in self.points
        )
        return CodesignResult(
            self.question, front[0] if front else None, front, certificate, boxes, counts
        )

    def _open_box(self, node: _OpenNode) -> OpenBox:
        totals = self._totals(node)[: len(self.question.objectives)]
        return OpenBox(node.box, tuple(b if isinstance(b, Fraction) else None for b in totals))
