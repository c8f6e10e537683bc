"""Programs as CP-SAT takes them."""

from __future__ import annotations

from fractions import Fraction

from ithaca.exports.configuration import OTHERS, Tool
from ithaca.exports.programs.folder import STEM, program_tool
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.solver.solution import Solution


def cpsat_text(solution: Solution) -> str:
    """A program as CP-SAT takes it, as text of its protocol buffer: minimised is the objective, or
    of one that is a quotient a/b, where v is its known value, a - v*b, which is 0 at the least.

    Raises `InputError` if no value of a quotient is known.
    """
    from ortools.sat.python import cp_model

    from ithaca.plugins.cpsat.solver.model import build_integer_model

    built = build_integer_model(solution.problem)
    if built is None:  # an axis has no rows
        empty = cp_model.CpModel()
        empty.add_bool_or([])
        return str(empty.proto)
    value = Fraction(0) if built.objective.under.is_constant else solution.value
    if value is None:
        raise InputError(
            f"objective {quoted(solution.problem.objective.text)} is a quotient, which CP-SAT "
            "minimises from a known value alone; allowed: ithaca export of a result, or another "
            "format"
        )
    aim = built.aim(value, at_most=False)
    stated = built.model.proto.objective
    stated.scaling_factor, stated.offset = float(aim.step), float(aim.constant / aim.step)
    return str(built.model.proto)


CPSAT = program_tool(lambda solution: {f"{STEM}.pbtxt": cpsat_text(solution)})


def for_family(family: str) -> Tool | None:
    """The tool for families whose programs are written for other solvers, too."""
    return CPSAT if f"{family} pyomo" in OTHERS else None
