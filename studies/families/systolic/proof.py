"""Whether arrays for a network can do better than a value: an argument of its own, which knows of
no search for the best.

A stage on some lanes and SIMD factor is first what its layers' bounds say. Where a plan of such
stages would do better and fit the budget, they are solved with all of the block RAM, then with a
block less than that took, and so on, until what is left does no better: what a stage is within any
room, whatever its partners take. Nothing does better if at last no plan is left.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np

from ithaca.formulations.algebra.rounding import below, cutoff, sum_below
from ithaca.studies.families.systolic.alone import LayersAlone
from ithaca.studies.families.systolic.plans import Options, best_plan
from ithaca.studies.families.systolic.stages import Stages


class Proof(Stages):
    """That no arrays do better than a value; parameters as of `Stages`."""

    def holds(self, target: Fraction | None) -> bool:
        """Whether no arrays take less than a target is proven; None: that there are no arrays.

        Raises `StoppedError` if the options say to stop.
        """
        # on a grid, all that is above the step before is no better
        self._top = (
            inf if target is None else cutoff(target - self._step) if self._step else float(target)
        )
        self._bound_choices([LayersAlone(layers) for layers in self.designs])
        #: By stage and choice: block RAM, and what the stage takes at least with that and up to
        #: what it took before.
        self._corners: dict[tuple[int, int], dict[int, list[tuple[int, Fraction]]]] = {}
        cuts = (
            combinations(range(len(self.sequence) + 1), 2)
            if self.arrays > 1
            else [(0, len(self.sequence))]
        )
        stages = {cut: self._options(*cut) for cut in cuts}
        while plan := best_plan(
            stages, len(self.sequence), self.arrays, self._budget, self.minimise, self._top
        ):
            fresh = [
                p for p in plan.parts if p.choice not in self._corners.get((p.first, p.end), ())
            ]
            if not fresh:
                return False
            for part in fresh:
                corners, room, several = (
                    [],
                    self._memory,
                    len(set(self.sequence[part.first : part.end])) > 1,
                )
                # one layer alone has ports as it likes; several share them
                while best := self._at_best(
                    part.first, part.end, part.choice, room, self._top, ports=several
                ):
                    if best.bram18k > room:  # it is not limited
                        break
                    corners.append((best.bram18k, best.value))
                    room = best.bram18k - 1
                self._corners.setdefault((part.first, part.end), {})[part.choice] = corners
                stages[part.first, part.end] = self._options(part.first, part.end)
        return True

    def _options(self, first: int, end: int) -> Options:
        """The options of a stage in plans that do better."""
        layers, counts = self._members(first, end)
        known = self._corners.get((first, end), {})
        times = sum_below(counts[:, None] * self._bounds[layers])
        open_ = times < self._top
        open_[list(known)] = False
        choices = np.flatnonzero(open_)
        solved = (
            np.array([(used, below(v), c) for c, corners in known.items() for used, v in corners])
            .reshape(-1, 3)
            .T
        )
        every = np.concatenate([choices, solved[2].astype(np.int64)])
        used = np.concatenate([self._bram18k[layers][:, choices].max(axis=0), solved[0]])
        return Options(
            self._dsp[every], used, np.concatenate([times[choices], solved[1]]), every
        ).front
