"""`ithaca.timeloop_mapper`: what Timeloop's mapper does with its files, proven."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.live_line import note
from ithaca.commands.api.options import SearchOptions
from ithaca.commands.api.outputs import WRITTEN
from ithaca.commands.api.solving import answers
from ithaca.files.errors import InputError
from ithaca.files.words import REPEATED
from ithaca.files.writing import check_folder, document_text, write_folder
from ithaca.formulations import problem as problems
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import (
    MappedNest,
    format_obstacles,
    mapping_obstacles,
)
from ithaca.plugins.hierarchies.exports.timeloop.mapper import PREFIX, mapper_files
from ithaca.plugins.hierarchies.formulations.mapper_files import read_mapper_files
from ithaca.plugins.hierarchies.formulations.options import HierarchyOptions
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.solver.result import Result


@public
def timeloop_mapper(
    files: Annotated[
        str | PathLike[str] | Sequence[str | PathLike[str]],
        Argument(
            metavar="FILES",
            help="Files of Timeloop in any order: architecture, problem, constraints, mapper, ERT.",
        ),
        REPEATED,
    ],
    *,
    objective: Annotated[
        str | problems.Objective | None,
        Option(
            "--objective",
            help="Metric or expression to minimise. Default: the mapper's metrics, in order.",
        ),
    ] = None,
    output: Annotated[
        str | PathLike[str],
        Option(
            "-o", "--output", metavar="FOLDER", help="Folder for the four files that it writes."
        ),
        WRITTEN,
    ] = ".",
    search: SearchOptions,
) -> Result:
    """Do what Timeloop's mapper does with its files, and prove it: factors divide extents, levels
    keep what constraints leave open or not, and the mapper's metrics are minimised in order.

    Writes ``timeloop-mapper.map.yaml``, ``.map.txt`` and ``.stats.txt``, and the answer as
    ``.result.json``, which `ithaca.load` reads. Raises `InputError` if a
    file cannot be read, says what is not supported, or the tool could not read the mapping.

    Examples
    --------
    >>> ithaca.timeloop_mapper(["arch.yaml", "prob.yaml"]).value  # doctest: +SKIP
    Fraction(10392, 1)
    """
    paths = [files] if isinstance(files, str | PathLike) else files
    mapper = read_mapper_files(paths)
    check_folder(Path(output), [f"{PREFIX}.map.yaml"])
    if unable := next(format_obstacles(mapper.nest), None):
        raise InputError(f"Timeloop cannot express the mapping: {unable}, or ithaca map")
    options = HierarchyOptions(arch=mapper.architecture, bypass="free", divisors_only=True)
    question = MappingQuestion.read(options, objective or mapper.objective)
    rows = question.problems(mapper.nest)
    for line in question.remarks(mapper.nest):
        note(line)
    if mapper.searching:
        names = ", ".join(path.partition(": ")[2] for path in mapper.searching)
        note(f"a proof does not depend on {names}")
    (result,) = answers(question.place, [rows], search.options, search.workers)
    if result.best is not None and result.best.configuration is not None:
        mapped = MappedNest.of(result.best)
        if unable := next(mapping_obstacles(mapped), None):
            raise InputError(f"Timeloop cannot express the mapping: {unable}")
        answer = {f"{PREFIX}.result.json": document_text(result.document)}
        write_folder(Path(output), mapper_files(mapped) | answer)
    return result
