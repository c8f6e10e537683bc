"""Runs of layers in order, of which some read just what the one before wrote, and the best choice
of what they keep or pass on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from operator import add
from typing import Any

from ithaca.studies.network.result import Edge
from ithaca.workloads.nest import LoopNest, Sizes
from ithaca.workloads.networks.network import LayerRun

#: A variant of a run: its nest, the tensors that it finds or leaves on chip, with their words, and
#: what it shares with others that it passes tiles of these to.
Variant = tuple[LoopNest, Sizes, Any]

#: The first and the last of runs that pass tiles on.
Span = tuple[int, int]

#: The objectives of a variant in order, or its lower bound, and what decides between equals; None
#: if it cannot be run.
Costs = Mapping[Variant, tuple[Fraction, ...] | None]


#: Sums over runs, by run whether its input is kept, and the runs that pass tiles on.
Choice = tuple[tuple[Fraction, ...], tuple[bool, ...], tuple[Span, ...]]


@dataclass(frozen=True)
class RunChain:
    """Runs in order, and which of them may find their input on chip."""

    runs: tuple[LayerRun, ...]
    may_keep: tuple[bool, ...]
    """By run: whether its input may be kept."""

    def variant(self, number: int, *, kept_before: bool, left: bool) -> Variant:
        """A run that finds its input on chip, or leaves its output there.

        Parameters
        ----------
        number : int
            The place of the run in the chain.
        kept_before : bool
            Whether the run before leaves its output on chip.
        left : bool
            Whether this one does.

        Returns
        -------
        Variant
            Its nest, and the tensors that stay on chip with the words of each.
        """
        run, kept = self.runs[number], []
        if kept_before:
            kept.append((run.nest.inputs[0].tensor, self._words[number - 1]))
        if left:
            kept.append((run.nest.output.tensor, self._words[number]))
        return run.nest, tuple(kept), None

    @cached_property
    def _words(self) -> tuple[int, ...]:
        """Words that each run writes: asked for each of its variants, again and again."""
        return tuple(run.written_words for run in self.runs)

    @property
    def choices(self) -> list[tuple[int, bool, bool]]:
        """Number of a run, and whether input and output are kept: all that may be."""
        options = []
        for number, may in enumerate(self.may_keep):
            after = number + 1 < len(self.runs) and self.may_keep[number + 1]
            options += [
                (number, a, b) for a in (False, True)[: 1 + may] for b in (False, True)[: 1 + after]
            ]
        return options

    def chosen(self, kept: Sequence[bool]) -> list[Variant]:
        """The variant of every run, given whose inputs are kept."""
        pairs = enumerate(zip(kept, (*kept[1:], False), strict=True))
        return [
            self.variant(number, kept_before=kept_before, left=left)
            for number, (kept_before, left) in pairs
        ]

    def where(self, possible: Callable[[Variant], bool]) -> RunChain:
        """The chain without kept inputs that have no place in their producer or consumer."""
        ends = [
            (
                self.variant(n, kept_before=True, left=False),
                self.variant(n - 1, kept_before=False, left=True),
            )
            for n in range(len(self.runs))
        ]
        return replace(
            self,
            may_keep=tuple(
                may and all(map(possible, e)) for may, e in zip(self.may_keep, ends, strict=True)
            ),
        )

    @property
    def order(self) -> tuple[LayerRun, ...]:
        """The runs as those of a network of these alone."""
        return tuple(
            replace(run, follows=may) for run, may in zip(self.runs, self.may_keep, strict=True)
        )

    def roomless(self, costs: Costs) -> set[str]:
        """The consumers of what cannot stay, as no variant of one of the two can be run with it."""
        able: set[tuple[int, str]] = set()
        for at, kept_before, left in self.choices:
            if costs[self.variant(at, kept_before=kept_before, left=left)] is not None:
                able |= {(at, end) for end, on in (("input", kept_before), ("output", left)) if on}
        tight = [
            n
            for n, may in enumerate(self.may_keep)
            if may and not {(n, "input"), (n - 1, "output")} <= able
        ]
        return {self.runs[n].source for n in tight}

    def edges(self, kept: Sequence[bool], tiles: Mapping[int, int]) -> tuple[Edge, ...]:
        """The edges that may stay on chip, each with whether it does; of tiles the words are known
        by the run that reads them."""
        return tuple(
            Edge(before.source, run.source, before.written_words, kept[n], tile=tiles.get(n, 0))
            for n, (before, run) in enumerate(zip(self.runs, self.runs[1:], strict=False), start=1)
            if self.may_keep[n]
        )

    def tiles(self, kept: Mapping[int, Sizes]) -> dict[int, int]:
        """Words that are passed on at a time, by the run that reads them, where some runs keep
        what is given."""
        read = {n: self.runs[n].nest.inputs[0].tensor for n in kept}
        return {n: dict(own)[read[n]] for n, own in kept.items() if read[n] in dict(own)}

    @property
    def spans(self) -> list[Span]:
        """Runs, two at least, of which each but the first may find its input on chip."""
        ends = [(a, b) for a in range(len(self.runs)) for b in range(a + 1, len(self.runs))]
        return [(a, b) for a, b in ends if all(self.may_keep[a + 1 : b + 1])]

    def part(self, span: Span) -> RunChain:
        """The chain of some of the runs alone."""
        some = slice(span[0], span[1] + 1)
        return RunChain(self.runs[some], (False, *self.may_keep[some][1:]))

    def best(self, costs: Costs, tiled: Mapping[Span, tuple[Fraction, ...]]) -> Choice | None:
        """The least sums over the runs, compared one after the other; None if they cannot be run.
        Of runs that pass tiles on the sums are given."""
        # what is known of the first runs, by how many they are and whether the next finds its
        # input on chip
        states: dict[tuple[int, bool], Choice] = {(0, False): ((), (), ())}

        def reach(state: tuple[int, bool], sums: Sequence[Fraction], more: Choice) -> None:
            before, kept, spans = more
            added = tuple(map(add, before or [Fraction(0)] * len(sums), sums))
            choice = added, kept, spans
            states[state] = min(states.get(state, choice), choice)

        choices = groupby(self.choices, key=lambda choice: choice[0])
        for at, own_choices in choices:
            for _, kept_before, left in own_choices:
                own = costs[self.variant(at, kept_before=kept_before, left=left)]
                if own is not None and (at, kept_before) in states:
                    sums, kept, spans = states[at, kept_before]
                    more = [self.runs[at].count * amount for amount in own]
                    reach((at + 1, left), more, (sums, (*kept, kept_before), spans))
            for (first, last), amounts in tiled.items():
                if first == at and (at, False) in states:
                    sums, kept, spans = states[at, False]
                    within = (*kept, False, *(True,) * (last - first))
                    reach((last + 1, False), amounts, (sums, within, (*spans, (first, last))))
        return states.get((len(self.runs), False))
