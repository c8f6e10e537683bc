"""`ithaca.model`: the program of a design, in Pyomo."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.options import OBJECTIVE, Extents, Objective, Sizes, Workload
from ithaca.commands.api.parsing import check_sizes, parse_extents
from ithaca.exports.programs.integer import integer_model
from ithaca.files.errors import InputError
from ithaca.solver.nlp.program import NonlinearProgram, quantity_ranges


@public
def model(
    workload: Workload,
    *,
    sizes: Sizes = None,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    linear: Annotated[
        bool, Option("--linear", help="State products linearly, for solvers of MILP.")
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
    """
    own = parse_extents(sizes, extents)
    nest = family.nest(workload, own)
    problems = family.question(workload, objective).problems(nest)
    check_sizes(workload, nest, own)
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
    return NonlinearProgram(problem, ranges).model
