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
from ithaca.commands.api.options import LayerName
from ithaca.commands.api.points import EvaluatedPoints, checked, evaluated, points_of
from ithaca.exports.programs.solved import SolvedModel, is_solution
from ithaca.files.answer import Answer
from ithaca.files.csv_text import Rows
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.registry import Registry
from ithaca.formulations.data_types import DTYPES, DataType
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
            help="CSV with one configuration a row (of a graph: its parameters), a result of "
            "solve -o (JSON), or with --arch a mapping of Timeloop's (.yaml, .map.txt); with a "
            "result a solution of its program by another solver (.sol).",
        ),
    ] = None,
    dtype: Annotated[
        str | DataType | None,
        Option("--dtype", help=f"{DTYPES}; default: the result's, of a CSV fp32."),
    ] = None,
    edition: Annotated[
        str | None,
        Option(
            "--edition",
            help="Model edition of a CSV: exact, cycle or odyssey (default: as "
            "points say); with --arch those of map.",
        ),
    ] = None,
    arch: Annotated[
        str | Path | None,
        Option(
            "--arch",
            help="Memory hierarchy (ithaca list architectures; or Timeloop's file, "
            "or folder) that --points map onto.",
        ),
    ] = None,
    sums: Annotated[
        str | None,
        Option(
            "--sums",
            help="Of a CSV of the cycle edition: a PE adds its "
            "neighbour's sum first (AutoSA) or last.",
        ),
    ] = None,
    platform: Annotated[
        str | PathLike[str] | Platform | None,
        Option(
            "--platform",
            help="Of a CSV: the platform, by name or file, whose clock, energies, machine and "
            "memory ports hold; default: as columns say, else those of U250 without its memory.",
        ),
    ] = None,
    accumulator: Annotated[
        int | None,
        Option("--accumulator", help="Of a CSV: bits of a sum of hardware, 16 or 32; default: 32."),
    ] = None,
) -> EvaluatedPoints:
    """Compute all metrics of given configurations afresh, by the exact reference."""
    device = {"--platform": platform, "--accumulator": accumulator}
    further = {"--dtype": dtype, "--edition": edition, "--sums": sums} | device
    stated, others = {"--points": points} | further, {"--layer": layer, "--arch": arch} | further
    for evaluation in EVALUATIONS.values():
        if (own := evaluation(source, points, others)) is not None:
            return own
    if arch is None and source is not None:
        if isinstance(source, Answer) or (
            not isinstance(source, LoopNest) and is_result(str(source))
        ):
            for option, text in stated.items():
                if text is not None and not (option == "--points" and is_solution(text)):
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
            return EvaluatedPoints(tuple(name for name, _ in read), checked(read))
        if layer is not None:
            raise InputError(f"--layer is {quoted(layer)}; allowed with a network's result")
    if arch is not None and (other := [name for name, value in device.items() if value]):
        raise InputError(
            f"{other[0]} cannot be given with --arch, which states its hardware; allowed with "
            "systolic arrays"
        )
    family = family_of_options({} if arch is None else {"arch": "--arch"})
    answer: EvaluatedPoints = points_of(family).read(
        source,
        points,
        arch=arch,
        dtype=dtype,
        edition=edition,
        sums=sums,
        **{option.removeprefix("--"): value for option, value in device.items() if value},
    )
    return answer
