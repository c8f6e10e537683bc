"""Programs as files: of Pyomo's writers for other solvers, in Python, and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ithaca.exports.configuration import Tool
from ithaca.exports.programs.formulas import functions_text, latex_text
from ithaca.exports.programs.integer import integer_model, set_configuration
from ithaca.exports.templates import templates_of
from ithaca.formulations.problem import Problem
from ithaca.formulations.pyomo_model import Model
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest

#: Name of the files of a program, without what follows the point.
STEM = "model"


@dataclass(frozen=True)
class Program:
    """The problem of a solution, to be exported."""

    solution: Solution

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.solution.problem

    @property
    def nest(self) -> LoopNest:
        """The loop nest that is its work."""
        nest = self.solution.profile.nest
        assert nest is not None
        return nest

    @property
    def name(self) -> str:
        """The name of the design."""
        return self.problem.design.name

    @property
    def edition(self) -> str:
        """The model edition of its metrics."""
        return str(self.solution.profile.attributes["edition"])

    @property
    def metrics(self) -> Mapping[str, Fraction]:
        """The metrics of its best configuration."""
        return self.solution.metrics

    @property
    def description(self) -> str:
        """A short description of what is exported."""
        return f"the program of design {self.name}"


def program_texts(solution: Solution, ending: str) -> dict[str, str]:
    """A program as one of Pyomo's writers states it, with files of names where it has such;
    variables begin with the solution where the format says values.

    Parameters
    ----------
    solution : Solution
        The solution of its problem.
    ending : str
        The ending of the file's name: ``nl``, ``gms``, ``bar``, or ``lp`` and ``mps``, which are
        linear.
    """
    model = integer_model(solution.problem, linear=ending in ("lp", "mps"), metrics=())
    if solution.configuration is not None:
        set_configuration(model, solution.configuration)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{STEM}.{ending}")
        model.write(str(path), io_options={"symbolic_solver_labels": True})
        return {each.name: each.read_text() for each in sorted(Path(folder).iterdir())}


def pyomo_text(problem: Problem) -> str:
    """A Python program that builds the model in Pyomo by itself."""
    import pyomo.environ as pyo

    model = integer_model(problem)
    parts = {each.name: each for each in model.component_objects((pyo.Var, pyo.Expression))}
    name = re.compile(rf"\b({'|'.join(sorted(parts, key=len, reverse=True))})\b(?:\[([^\]]*)\])?")

    def spell(expression: Any) -> str:
        """An expression of Pyomo, whose text is Python but for what its names are."""

        def known(match: re.Match[str]) -> str:
            own = (match[2] or "").strip("'")  # Pyomo quotes owners with a point
            owner = "" if match[2] is None else f'["{own}"]'
            return f"m.{match[1]}{owner}"

        return name.sub(known, str(expression))

    return templates_of("ithaca.exports")(
        "programs/pyomo.py.txt",
        design=problem.design.name,
        text=problem.objective.text,
        components=[*_components(model, pyo, spell)],
        objective=spell(model.objective.expr),
    )


def _components(model: Model, pyo: Any, spell: Callable[[Any], str]) -> Any:
    """Lines that make the variables and expressions of a model, then its constraints."""
    for each in model.component_objects((pyo.Var, pyo.Expression), descend_into=False):
        kind = each.ctype.__name__
        owners = [*each] if each.is_indexed() else []
        if kind == "Expression":
            yield f"m.{each.name} = pyo.Expression({owners or ''})"
        else:
            domain = next(iter(each.values())).domain.name
            yield f"m.{each.name} = pyo.Var({f'{owners}, ' if owners else ''}domain=pyo.{domain})"
        for data in each.values():
            place = spell(data.name)
            if kind == "Expression":
                yield f"{place}.set_value({spell(data.expr)})"
            else:
                yield f"{place}.setlb({data.lb})"
                yield f"{place}.setub({data.ub})"
    for each in model.component_objects(pyo.Constraint):
        yield f"m.{each.name} = pyo.Constraint(pyo.Any)"
        for key, data in each.items():
            bounds = f"{data.lower}, {spell(data.body)}, {data.upper}"
            yield f"m.{each.name}.add({key!r}, ({bounds}))"


def _folder(files: Callable[[Solution], Mapping[str, str]], program: Program) -> dict[str, str]:
    """The files of a program with a page on them."""
    own, design = dict(files(program.solution)), program.problem.design
    readme = templates_of("ithaca.exports")(
        "programs/readme.md.txt",
        program=program,
        files=[*own],
        text=program.problem.objective.text,
        value=program.solution.value,
        proof=program.solution.certificate.status.value,
        quantities=[*design.space.quantities],
    )
    return own | {"README.md": readme}


def program_tool(files: Callable[[Solution], Mapping[str, str]]) -> Tool:
    """A tool that writes the program of a design to files.

    Parameters
    ----------
    files : callable
        Contents by name, of a configuration or of a design without one.
    """
    return Tool(
        "no program states",
        nest_obstacles=lambda nest: (),
        obstacles=lambda program: (),
        files=partial(_folder, files),
        configured=Program,
    )


PYOMO = program_tool(lambda solution: {f"{STEM}.py": pyomo_text(solution.problem)})
NL = program_tool(lambda solution: program_texts(solution, "nl"))
LP = program_tool(lambda solution: program_texts(solution, "lp"))
MPS = program_tool(lambda solution: program_texts(solution, "mps"))
GAMS = program_tool(lambda solution: program_texts(solution, "gms"))
BAR = program_tool(lambda solution: program_texts(solution, "bar"))
LATEX = program_tool(lambda solution: {f"{STEM}.tex": latex_text(solution.problem)})
PYTHON = program_tool(lambda solution: {f"{STEM}.py": functions_text(solution.problem)})
