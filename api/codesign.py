"""`ithaca.codesign`: the best accelerator of a hardware space for some workloads, proven over the whole space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ithaca.api.codesign_result import CodesignResult
from ithaca.api.fronts import split_objectives
from ithaca.api.keywords import public
from ithaca.api.live_line import LiveLine
from ithaca.api.mapping import OBJECTIVE, Limits
from ithaca.api.options import REPEATED, LayerPatterns, Results, Scheduler, SearchOptions
from ithaca.api.parsing import parse_limits, several
from ithaca.formulations.hardware.files import find_space
from ithaca.formulations.hardware.space import HardwareSpace
from ithaca.formulations.spatial.accelerator import HierarchyAccelerator
from ithaca.studies.codesign import codesign as searches
from ithaca.studies.codesign.question import Question, make_question
from ithaca.studies.codesign.workloads import Workload, find_workloads
from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted
from ithaca.workloads.signals import Interrupt


@public
def codesign(
    space: Annotated[
        str | PathLike[str] | HardwareSpace,
        Argument(metavar="SPACE|FILE", help="A hardware space that comes with Ithaca (ithaca list spaces), or a file: .yaml."),
    ],
    *,
    workload: Annotated[
        Workload | Sequence[Workload] | Mapping[Any, float | str] | None,
        Option(
            "--workload",
            "-w",
            metavar="NAME[:WEIGHT]",
            help="A network, a file of layers, or a loop nest, and what it counts; may be repeated. Default: the space's own.",
        ),
        REPEATED,
    ] = None,
    layers: LayerPatterns = None,
    objective: Annotated[
        str | None, Option("--objective", help="What to minimise: an expression over metrics of layers and of the hardware.")
    ] = None,
    objectives: Annotated[
        str | Sequence[str] | None,
        Option("--objectives", help="For the front of several: two or more expressions, e.g. latency,energy,area."),
    ] = None,
    limit: Annotated[
        Limits,
        Option("--limit", help="Upper limits on the hardware, or on totals of each workload, e.g. area=75,latency=2e7."),
        REPEATED,
    ] = None,
    divisors_only: Annotated[bool, Option("--divisors-only", help="Let factors divide the extents (no padding).")] = False,
    search: SearchOptions,
    scheduler: Scheduler = None,
    results: Results = None,
) -> CodesignResult:
    """Choose an accelerator and every layer's mapping together, and prove that no other of the space is better."""
    found = space if isinstance(space, HardwareSpace) else find_space(str(space))
    if divisors_only:
        found = _without_padding(found)
    own = _beside(space, found.workloads) if workload is None else workload
    named = [own] if not isinstance(own, Sequence | Mapping) or isinstance(own, str) else own
    question = make_question(
        found, find_workloads(named, several(layers)), _minimised(found, objective, objectives), _limits(found, limit)
    )
    folder = None if results is None else Path(results)
    options = searches.CodesignOptions(search.options, threads=search.on(scheduler), scheduler=scheduler, results=folder)
    return solve(question, options)


def solve(question: Question, options: searches.CodesignOptions) -> CodesignResult:
    """Answer a question; Ctrl-C ends with what is known."""
    with Interrupt() as interrupt, LiveLine(f"choosing among {question.space.box.count:,} accelerators") as line:
        run = replace(
            options,
            search=replace(options.search, stop=interrupt),
            report=lambda progress: line.show(question.space.name, progress),
        )
        return CodesignResult.of(searches.codesign(question, run))


def _beside(space: object, workloads: Sequence[str]) -> tuple[str, ...]:
    """Workloads that a space names; files stand beside that of the space."""
    beside = Path(str(space)).parent
    return tuple(str(beside / name) if (beside / name).is_file() else name for name in workloads)


def _without_padding(space: HardwareSpace) -> HardwareSpace:
    accelerator = space.accelerator
    if not isinstance(accelerator, HierarchyAccelerator):
        raise InputError(f"--divisors-only does not go with space {space.name}; allowed: spaces of memory hierarchies")
    return replace(space, accelerator=replace(accelerator, options=replace(accelerator.options, divisors_only=True)))


def _minimised(space: HardwareSpace, one: str | None, several: str | Sequence[str] | None) -> tuple[str, ...]:
    """The objectives asked for, or else the space's own."""
    if several is None:
        return (one or space.objective or OBJECTIVE,)
    if one is not None:
        raise InputError("--objective and --objectives are given; allowed: one of them")
    texts = split_objectives(several)
    if len(texts) < 2:
        raise InputError(f"--objectives is {quoted(','.join(texts))}; allowed: two or more, e.g. latency,area")
    return tuple(texts)


def _limits(space: HardwareSpace, given: Limits) -> dict[str, Fraction]:
    """The space's limits with those given in their place; ``none`` drops one."""
    found: dict[str, Fraction] = dict(space.limits)
    for name, bound in parse_limits(given or []).items():
        if bound is None:
            found.pop(name, None)
        elif isinstance(bound, Fraction):
            found[name] = bound
        else:
            raise InputError(f"--limit: {quoted(name)} is a share; allowed: a number, as spaces have no totals to share")
    return found
