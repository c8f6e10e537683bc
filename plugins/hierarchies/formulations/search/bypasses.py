"""The stage where levels choose what they keep: one stage for every choice, under one cutoff."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ithaca.formulations.algebra.rounding import least_double
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.formulations.stage import Block, Candidates, Cutoff, Stage
from ithaca.plugins.hierarchies.formulations.search.option_table import (
    OptionTable,
    option_tables,
)
from ithaca.plugins.hierarchies.formulations.search.stage import TimeloopStage

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace


class BypassStage:
    """A problem whose levels choose which of their tensors pass by; rows are those of the choices'
    stages, with its number."""

    def __init__(self, design: MappingSpace, problem: Problem) -> None:
        self.design = design
        self.choices = [replace(problem, design=fixed) for fixed in _choices(design)]
        self._bits = len(_open(design))
        self._stages: dict[int, Stage] = {}
        self._let_go: Fraction | float = np.inf  #: The least that stages left out that are no more

    def _stage(self, choice: int) -> Stage:
        if choice not in self._stages:
            stage = self._made(choice)
            if isinstance(stage, TimeloopStage):
                stage.boxes_first, stage.shared = True, lambda _: self._tables
            self._stages[choice] = stage
        return self._stages[choice]

    def _made(self, choice: int) -> Stage:
        problem = self.choices[choice]
        stage = problem.design.stage(problem)
        assert stage is not None  # as of the first
        return stage

    @cached_property
    def _tables(self) -> tuple[OptionTable, ...] | None:
        """The options of every loop in any choice: the first choice keeps all, the last one least.

        Between them tiles that fit are more where less is kept, and what costs is less.
        """
        fullest, emptiest = self._made(0), self._made(len(self.choices) - 1)
        assert isinstance(fullest, TimeloopStage)
        assert isinstance(emptiest, TimeloopStage)
        return option_tables(emptiest, fullest.hierarchy)

    @property
    def least(self) -> float:
        """No lower bound: those of the choices differ too much for one of all."""
        return -np.inf

    @property
    def dropped(self) -> Fraction | float:
        """The least that any choice has left out."""
        return min([self._let_go, *(stage.dropped for stage in self._stages.values())])

    def _finished(self, choice: int) -> None:
        """Let go of a stage none of whose rows is left to complete."""
        self._let_go = min(self._let_go, self._stages.pop(choice).dropped)

    def _free(self, choice: int, configuration: Configuration | None) -> Configuration | None:
        """A configuration of a choice as one of the whole design."""
        if configuration is None:
            return None
        fixed = cast("MappingSpace", self.choices[choice].design)
        return self.design.configuration(fixed.mapping(configuration))

    def incumbents(self, cutoff: Cutoff, *, hurried: bool = False) -> Candidates:
        """The first incumbents of the choice that keeps all, unless something is known, and of
        those that differ from the best so far in one tensor."""
        values: dict[int, Fraction | None] = {}
        known = cutoff()

        def tried(choice: int) -> Candidates:
            values[choice] = None
            for configuration in self._stage(choice).incumbents(
                lambda: values[best] if values[choice] is None else values[choice], hurried=hurried
            ):
                if configuration is not None:
                    value = self.choices[choice].value(configuration)
                    known = values[choice]
                    values[choice] = value if known is None else min(value, known)
                yield self._free(choice, configuration)

        best = 0
        if known is None:
            yield from tried(best)
        else:
            values[best] = known
        improving = True
        while improving:
            improving = False
            for bit in range(self._bits):
                choice = best ^ (1 << bit)
                if choice not in values:
                    yield from tried(choice)
                    value, known = values[choice], values[best]
                    if value is not None and (known is None or value < known):
                        best, improving = choice, True

    def blocks(self, cutoff: Cutoff) -> Iterator[Block]:
        """The rows of all choices, those with the least bound first."""
        begun: list[tuple[float, int]] = []
        for choice in range(len(self.choices)):
            first = next(self._stage(choice).blocks(cutoff))  # a bound of everything, and no rows
            if first.rest < least_double(cutoff()):
                begun.append((first.rest, choice))
            self._finished(choice)  # the tables of all together take much memory
            yield Block.empty(-np.inf)
        begun.sort(reverse=True)
        while begun:
            least, choice = begun.pop()
            if not least < least_double(cutoff()):
                break
            after, rows = begun[-1][0] if begun else np.inf, 0
            for block in self._stage(choice).blocks(cutoff):
                rows += block.bounds.size
                yield Block(_numbered(choice, block.rows), block.bounds, min(block.rest, after))
            if not rows:
                self._finished(choice)
        yield Block.empty(np.inf)

    def complete(self, rows: NDArray[Any], cutoff: Cutoff) -> Candidates:
        """The best completions of rows, choice by choice."""
        for choice in np.unique(rows[:, 0]).tolist():
            for configuration in self._stage(choice).complete(
                rows[rows[:, 0] == choice, 1:], cutoff
            ):
                yield self._free(choice, configuration)


def _numbered(choice: int, rows: NDArray[Any]) -> NDArray[Any]:
    if not rows.size:
        return rows
    return np.column_stack([np.full(len(rows), choice), rows])


def _choices(design: MappingSpace) -> Iterator[MappingSpace]:
    """The designs that keep what may be kept, and less of it: a number has a bit for every tensor
    that passes by a level."""
    levels = design.architecture.levels
    options = replace(design.options, free_bypass=False)
    open_ = _open(design)
    for number in range(1 << len(open_)):
        keeps = {level.name: set(design.keeps(place)) for place, level in enumerate(levels)}
        for bit, (place, tensor) in enumerate(open_):
            if number >> bit & 1:
                keeps[levels[place].name].discard(tensor)
        fixed = {name: frozenset(tensors) for name, tensors in keeps.items()}
        yield replace(design, architecture=design.architecture.keeping(fixed), options=options)


def _open(design: MappingSpace) -> list[tuple[int, str]]:
    """The tensors that levels choose about."""
    return [
        (k, tensor)
        for k in range(len(design.architecture.levels))
        for tensor in sorted(design.may_bypass(k))
    ]
