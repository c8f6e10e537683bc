"""`ithaca.map`: the proven-best mapping of a problem onto a memory hierarchy."""

from __future__ import annotations

from functools import partial
from os import PathLike
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import note
from ithaca.commands.api.normalising import is_normalised, normalised, of_designs
from ithaca.commands.api.options import (
    Extents,
    Method,
    Objective,
    ProveWith,
    SearchOptions,
    Sizes,
)
from ithaca.commands.api.parsing import check_sizes, parse_engines, parse_extents
from ithaca.commands.api.solving import Start, answers, read_start, starts_of
from ithaca.files.errors import InputError
from ithaca.formulations.own_metrics import parse_metrics, spelled_out
from ithaca.plugins.hierarchies.commands.layers import MappedLayers
from ithaca.plugins.hierarchies.formulations.options import HierarchyOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.solver.options import Budget
from ithaca.solver.result import Result
from ithaca.workloads.formats import with_formats
from ithaca.workloads.layer_files import read_layers
from ithaca.workloads.library import read_nest
from ithaca.workloads.nest import LoopNest

#: What is minimised unless something else is asked for, as Timeloop's mapper does.
OBJECTIVE = "edp"


@public
def map(
    workload: Annotated[
        str | PathLike[str] | LoopNest | None,
        Argument(
            metavar="[WORKLOAD]",
            help="A loop nest (ithaca list workloads), or Timeloop's problem file.",
        ),
    ] = None,
    *,
    problem: Annotated[
        str | PathLike[str] | LoopNest | None,
        Option("--problem", metavar="WORKLOAD", help="The workload, as an option."),
    ] = None,
    problems: Annotated[
        str | PathLike[str] | None,
        Option(
            "--problems",
            metavar="CSV",
            help="Layers, one a row: columns kind (conv, dw, gemm), extents, stride, tensors.",
        ),
    ] = None,
    sizes: Sizes = None,
    hierarchy: HierarchyOptions,
    objective: Objective = OBJECTIVE,
    method: Method = "auto",
    prove_with: ProveWith = None,
    search: SearchOptions,
    start: Start = None,
    **extents: Extents,
) -> Result | MappedLayers:
    """Find the best mapping of a problem, or of every layer of a file, onto a memory hierarchy, and
    prove it.

    Examples
    --------
    >>> r = ithaca.map("mm", arch="simple", i=4, j=4, k=4, objective="energy", divisors_only=True)
    >>> r.status, r.value
    ('optimal', Fraction(10392, 1))
    """
    if workload is not None and problem is not None:
        raise InputError("--problem is given beside a workload; allowed: one of them")
    problem = workload if problem is None else problem
    if problem is None and problems is None:
        raise InputError(
            "workload is missing; allowed: Timeloop's problem file, or a "
            "loop nest (ithaca list workloads)"
        )
    engine, second = parse_engines(method, prove_with)
    own, options = parse_extents(sizes, extents), search.options
    formatted = partial(with_formats, words=hierarchy.format or None, where="--format")
    if is_normalised(objective) and problem is not None and problems is None:
        words, budget, nest = str(objective), Budget(options), formatted(read_nest(problem, own))
        if hierarchy.metric:
            words = spelled_out(words, parse_metrics(hierarchy.metric))
        optimum = of_designs(
            lambda text: MappingQuestion.read(hierarchy, text).problems(nest), engine
        )
        objective = normalised(words, optimum, budget)
        options = budget.share()
    question = MappingQuestion.read(hierarchy, objective)
    known, name = read_start(start)
    solved = partial(
        answers,
        question.place,
        options=options,
        threads=search.workers,
        method=engine,
        prove_again_with=second,
    )
    if problem is None or problems is not None:
        if problem is not None or sizes or extents or start is not None:
            raise InputError(
                "--problems is given beside another problem, its sizes or --start; allowed: one "
                "of them"
            )
        layers = read_layers(str(problems))
        rows = [question.problems(formatted(row.nest), row.stored) for row in layers]
        return MappedLayers(solved(rows))
    nest = formatted(read_nest(problem, own))
    rows = [question.problems(nest)]
    check_sizes(problem, nest, own)
    for line in question.remarks(nest):
        note(line)
    starts = None if known is None else starts_of(known, rows[0], nest, name)
    return solved(rows, starts=starts)[0]
