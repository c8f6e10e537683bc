"""The parameters of the design that a result file holds: what a tool's script starts from."""

from __future__ import annotations

from pathlib import Path

from ithaca.exports.seeds.parameters import ParameterSpace, parameter_space
from ithaca.formulations.problem import Problem
from ithaca.solver.loaded_result import LoadedResult, LoadedSolution
from ithaca.solver.result_files import load_result
from ithaca.workloads.errors import InputError


def result_space(path: Path | str) -> ParameterSpace:
    """The parameters of a result's best design, with the limits and objective it was solved for.

    Raises
    ------
    InputError
        If the file is no result, or holds no configuration.
    """
    result = load_result(Path(path))
    if result.best is None:
        raise InputError(f"{path} holds no configuration")
    return parameter_space(solution_problem(result, result.best))


def solution_problem(result: LoadedResult, solution: LoadedSolution) -> Problem:
    """The problem that a solution of a result answers."""
    return result.problem(solution.array)
