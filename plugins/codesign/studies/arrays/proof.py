"""Whether arrays for a network can do better than a value: an argument of its own, which knows of
no search for the best.

It begins with what `Stages` knows of bounds, and ends when no plan is left that would do better, or
one stands whose stages, each layer alone on its array, fit together.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf

from ithaca.formulations.algebra.rounding import cutoff
from ithaca.plugins.codesign.studies.arrays.alone import LayersAlone
from ithaca.plugins.codesign.studies.arrays.plans import PlannedStage, best_plan
from ithaca.plugins.codesign.studies.arrays.stages import AtBest, Shares, Stages


class Proof(Stages):
    """A proof that no arrays do better than a value; parameters as of `Stages`."""

    def holds(self, target: Fraction | None) -> bool:
        """Whether no arrays take less than a target is proven; None: that there are no arrays.

        Raises `StoppedError` if the options say to stop.
        """
        # on a grid, all that is above the step before is no better
        self._top = (
            inf if target is None else cutoff(target - self._step) if self._step else float(target)
        )
        self._bound_choices([LayersAlone(layers) for layers in self.designs])
        cuts = (
            combinations(range(len(self.sequence) + 1), 2)
            if self.arrays > 1
            else [(0, len(self.sequence))]
        )
        stages = {cut: self._options_of(*cut, self._top) for cut in cuts}
        while plan := best_plan(
            stages, len(self.sequence), self.arrays, self._budget, self.minimise, self._top
        ):
            if not (again := self._divide(plan, stages)):
                again = [(part.first, part.end) for part in plan.parts]
                if not self._solved(plan, self._top)[1]:
                    return False
            stages |= {cut: self._options_of(*cut, self._top) for cut in again}
        return True

    def _best(self, part: PlannedStage, room: Shares, top: float) -> AtBest | None:
        # one layer alone has ports as it likes; several share them
        several = len(set(self.sequence[part.first : part.end])) > 1
        return self._at_best(part.first, part.end, part.choice, room, top, ports=several)
