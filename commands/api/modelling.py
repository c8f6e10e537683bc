"""`ithaca.model`, the program of a design in Pyomo, and `ithaca.programs`, those of all designs as
files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.exporting import MADE, tool_for
from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.options import OBJECTIVE, Extents, Objective, Sizes, TimeLimit, Workload
from ithaca.commands.api.outputs import WRITTEN
from ithaca.commands.api.parsing import check_sizes, parse_extents, parse_search
from ithaca.exports.layers import fresh_folder
from ithaca.exports.programs import FORMATS
from ithaca.exports.programs.integer import integer_model
from ithaca.files.answer import Wrote
from ithaca.files.clock import StoppedError, all_or_nothing, poll
from ithaca.files.errors import InputError
from ithaca.files.numbers import counted
from ithaca.files.words import parse_choice
from ithaca.files.writing import write_folder
from ithaca.formulations.problem import Problem
from ithaca.formulations.pyomo_model import design_model
from ithaca.solver.combination import quantity_ranges
from ithaca.solver.portfolio import not_solved


@public
def model(
    workload: Workload,
    *,
    sizes: Sizes = None,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    linear: Annotated[
        bool, Option("--linear", help="Linearise products, for MILP solvers.")
    ] = False,
    relaxed: Annotated[
        bool,
        Option("--relaxed", help="The smooth program in logarithms, ceilings relaxed, instead."),
    ] = False,
    **extents: Extents,
) -> Any:
    """Make the program of a design as a Pyomo model: its quantities as integer variables, metrics
    as expressions, limits as constraints.

    The question must have one design. A model with values, such as a solver leaves, is a start of
    `ithaca.solve`, and one of the points of `ithaca.evaluate`.

    Examples
    --------
    >>> program = ithaca.model("mm", i=4, j=4, k=4, dataflow="i,j")
    >>> type(program).__name__
    'ConcreteModel'
    """
    problems = _problems(workload, sizes, family, objective, extents)
    if len(problems) > 1:
        names = ", ".join(problem.design.name for problem in problems)
        raise InputError(
            f"--dataflow: there are {len(problems)} designs, {names}; allowed: one, by --dataflow "
            "and --permutation"
        )
    (problem,) = problems
    if not relaxed:
        return integer_model(problem, linear=linear)
    if linear:
        raise InputError("--linear does not go with --relaxed; allowed: one of them")
    if (ranges := quantity_ranges(problem)) is None:
        raise InputError("--relaxed: no configuration meets the limits; allowed: limits that can")
    return design_model(replace(problem, design=problem.design.smoother), ranges)


@public
def programs(
    workload: Workload,
    to: Annotated[str, Option("--to", help=f"Format: {', '.join(FORMATS)}.")],
    output: Annotated[
        str | Path, Option("-o", "--output", metavar="FOLDER", help="Folder to write."), WRITTEN
    ],
    *,
    sizes: Sizes = None,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    time_limit: TimeLimit = None,
    **extents: Extents,
) -> Wrote:
    """Write the programs of all designs of a question, unsolved, each to a folder of its own.

    What another solver finds for one is a start of `ithaca.solve` (``start="solution.sol"``), which
    proves whether it is the best. Raises `NothingFoundError` if time was over before all were made.

    Examples
    --------
    >>> ithaca.programs("mm", to="nl", output="programs", i=4, j=4, k=4, dataflow="i,j")
    'wrote programs: the 1 program of the question, unsolved'
    """
    parse_search(time_limit)
    name = parse_choice("--to", to, FORMATS)
    files, folders = dict[str, str](), list[str]()
    with all_or_nothing(MADE):
        problems = _problems(workload, sizes, family, objective, extents)
        tool = tool_for(name, problems[0].design, nearest=False)
        for number, problem in enumerate(problems):
            folders.append(fresh_folder(problem.design.name, folders))
            try:
                poll()
                own = tool.files(tool.configured(not_solved(problem)))
            except StoppedError:
                made = f"{number} of {counted(len(problems), 'program')}"
                raise StoppedError(f"{made}, none is written") from None
            files |= {f"{folders[-1]}/{path}": text for path, text in own.items()}
    write_folder(output, files)
    return Wrote(output, f"the {counted(len(problems), 'program')} of the question, unsolved")


def _problems(
    workload: Any, sizes: Any, family: FamilyOptions, objective: Any, extents: Any
) -> tuple[Problem, ...]:
    """The problems of a question, one per design."""
    own = parse_extents(sizes, extents)
    nest = family.nest(workload, own)
    problems = family.question(workload, objective).problems(nest)
    check_sizes(workload, nest, own)
    return tuple(problems)
