"""`ithaca.evaluate`: all metrics of given configurations, computed afresh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ithaca.commands.api.keywords import family_of_options, public
from ithaca.commands.api.opening import is_result, opened_layers, solutions_of
from ithaca.commands.api.options import LayerName, TimeLimit
from ithaca.commands.api.parsing import parse_search
from ithaca.commands.api.points import EvaluatedPoints, checked_points, evaluated, points_of
from ithaca.exports.programs.solved import SolvedModel, is_solution
from ithaca.files.answer import Answer
from ithaca.files.clock import all_or_nothing
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.registry import Registry
from ithaca.files.words import Rows
from ithaca.formulations.data_types import DataType
from ithaca.formulations.formats import LISTED
from ithaca.formulations.platform import Platform
from ithaca.solver.result import Result
from ithaca.workloads.nest import LoopNest

#: Evaluations of what is no loop nest or answer: of a source, its points and further options; each
#: is None of a source that it does not know.
EVALUATIONS: Registry[Callable[[Any, Any, Mapping[str, object]], EvaluatedPoints | None]]
EVALUATIONS = Registry("evaluations")


@public
def evaluate(
    source: Annotated[
        str | PathLike[str] | LoopNest | Answer | Mapping[str, Any] | object | None,
        Argument(
            metavar="[WORKLOAD|RESULT|GRAPH]",
            help="A loop nest (ithaca list workloads); a result, with all it states; or a flow "
            "graph of components (.yaml).",
        ),
    ] = None,
    *,
    layer: LayerName = None,
    points: Annotated[
        str | Path | Result | Rows | SolvedModel | None,
        Option(
            "--points",
            help="CSV with one configuration a row (of a graph: its parameters), a result "
            "file of solve, or with --arch a mapping of Timeloop's (.yaml, .map.txt); with a "
            "result a solution of its program by another solver (.sol).",
        ),
    ] = None,
    dtype: Annotated[
        str | DataType | None,
        Option("--dtype", help=f"Data type: {LISTED} Default: the result's; fp32 for a CSV file."),
    ] = None,
    edition: Annotated[
        str | None,
        Option(
            "--edition",
            help="Model edition of a CSV: exact, cycle or odyssey; with --arch those of map. "
            "Default: as points say.",
        ),
    ] = None,
    arch: Annotated[
        str | Path | None,
        Option(
            "--arch",
            metavar="NAME|PATH",
            help="Memory hierarchy (ithaca list architectures), or a path to Timeloop's, that "
            "--points map onto.",
        ),
    ] = None,
    sums: Annotated[
        str | None,
        Option(
            "--sums",
            metavar="first|last",
            help="(CSV of the cycle edition only) When a PE adds the partial sum it receives: "
            "first (as AutoSA), or last.",
        ),
    ] = None,
    platform: Annotated[
        str | PathLike[str] | Platform | None,
        Option(
            "--platform",
            help="(CSV only) Platform whose clock, energies and memory ports are used. Default: "
            "what the columns state, else U250 without its memory.",
        ),
    ] = None,
    accumulator: Annotated[
        int | None,
        Option(
            "--accumulator",
            metavar="16|32",
            help="(CSV only) Width of the accumulators in bits. Default: 32.",
        ),
    ] = None,
    compare: Annotated[
        str | PathLike[str] | None,
        Option(
            "--compare",
            metavar="FILE",
            help="With one mapping: the statistics that Timeloop printed of it (.stats.txt). "
            "Differences are listed, and the exit status is 1.",
        ),
    ] = None,
    time_limit: TimeLimit = None,
) -> EvaluatedPoints:
    """Compute all metrics of given configurations afresh, by the exact reference.

    Where time is over before that, the answer has those that were evaluated (its `complete` is
    false); `NothingFoundError` is raised if there are none.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> ithaca.evaluate(r)
    <Points: mm: 1 configuration evaluated>
    """
    parse_search(time_limit)
    device = {"--platform": platform, "--accumulator": accumulator}
    further = {"--dtype": dtype, "--edition": edition, "--sums": sums, **device}
    with all_or_nothing("any configuration was evaluated"):
        answer = _evaluated(source, points, {"--layer": layer, "--arch": arch, **further})
    return answer if compare is None else answer.compared(str(compare))


def _evaluated(source: Any, points: Any, options: Mapping[str, Any]) -> EvaluatedPoints:
    """Points of a source, with further options by their names."""
    layer, arch = options["--layer"], options["--arch"]
    for evaluation in EVALUATIONS.values():
        if (own := evaluation(source, points, options)) is not None:
            return own
    if arch is None and source is not None:
        if isinstance(source, Answer) or (
            not isinstance(source, LoopNest) and is_result(str(source))
        ):
            for option, text in {"--points": points, **options}.items():
                known = option == "--layer" or (option == "--points" and is_solution(text))
                if text is not None and not known:
                    raise InputError(
                        f"{option} cannot be given with a result, which states "
                        "its own; allowed with a workload"
                    )
            opened = opened_layers(source if isinstance(source, Answer) else str(source), layer)
            solutions = solutions_of(opened)
            if points is None:
                return evaluated(solutions)
            from ithaca.exports.programs.solutions import configurations_of

            of_programs = configurations_of(points, [each.problem for _, each in solutions])
            read = [
                (name, replace(each, configuration=configuration))
                for name, each in solutions
                for design, configuration in of_programs
                if design == each.problem.design
            ]
            return checked_points(read)
        if layer is not None:
            raise InputError(f"--layer is {quoted(layer)}; allowed with a network's result")
    device = {name: options[name] for name in ("--platform", "--accumulator") if options[name]}
    if arch is not None and (other := [*device]):
        raise InputError(
            f"{other[0]} cannot be given with --arch, which states its hardware; allowed with "
            "systolic arrays"
        )
    family = family_of_options({} if arch is None else {"arch": "--arch"})
    answer: EvaluatedPoints = points_of(family).read(
        source,
        points,
        arch=arch,
        dtype=options["--dtype"],
        edition=options["--edition"],
        sums=options["--sums"],
        **{option.removeprefix("--"): value for option, value in device.items()},
    )
    return answer
