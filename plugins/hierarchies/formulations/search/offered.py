"""The choice of the stage for a problem of mappings, if there is one for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.stage import Stage
from ithaca.plugins.hierarchies.formulations.search.bypasses import BypassStage
from ithaca.plugins.hierarchies.formulations.search.stage import TimeloopStage
from ithaca.plugins.hierarchies.formulations.widths import units

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.architecture import Architecture
    from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace

#: How metrics end that say what a level holds of a tensor.
HELD = ".capacity"


def stage_of(design: MappingSpace, problem: Problem) -> Stage | None:
    """The stage of a problem; None where objective or limits may fall as a metric grows, or count
    what the search does not."""
    if problem.falling:
        return None
    if design.options.free_bypass:
        return (
            None
            if any("." in name for name in problem.used_metrics)
            else BypassStage(design, problem)
        )
    held = [limit for limit in problem.limits if limit.metric.endswith(HELD)]
    others = replace(problem, limits=tuple(limit for limit in problem.limits if limit not in held))
    unlike = any(not units(level, design.nest).plain for level in design.architecture.levels)
    if any(name.endswith(HELD) for name in others.used_metrics) or any(
        limit.bound < 1 or unlike for limit in held
    ):
        return None
    return TimeloopStage(design, others, partial(_limited, design, held))


def _limited(design: MappingSpace, held: Sequence[Limit]) -> Architecture:
    """The architecture of a design with limits on what levels hold of tensors: capacities like its
    own."""
    keeps = {
        level.name: design.keeps(place) for place, level in enumerate(design.architecture.levels)
    }
    levels = []
    for level in design.architecture.keeping(keeps).levels:
        names = {f"{level.name}.{tensor}{HELD}": tensor for tensor in design.tensors}
        parts = (
            (names[x.metric], ceil(int(x.bound) * level.buffering))
            for x in held
            if x.metric in names
        )
        levels.append(replace(level, tensor_words=(*level.tensor_words, *parts)))
    return replace(design.architecture, levels=tuple(levels))
