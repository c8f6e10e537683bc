"""``ithaca explain``: what limits a result, and what to change first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.explain_words import statements
from ithaca.commands.live_line import LiveLine
from ithaca.commands.options import AsJson, Given, Quick, ResultFile, TimeLimit
from ithaca.commands.outcome import print_document, say
from ithaca.commands.parsing import parse_search
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.files import load_result
from ithaca.results.result import Result
from ithaca.results.solution import Solution
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.progress import Progress
from ithaca.studies.best import solve_best
from ithaca.studies.explanation import RAISES, Explanation, chosen_solutions, explanation_document
from ithaca.studies.explanation import explain as explain_solutions
from ithaca.studies.marginal import distinct_limits
from ithaca.workloads.errors import InputError
from ithaca.workloads.signals import Interrupt


def explain(
    *,
    file: ResultFile,
    design: Annotated[
        str | None,
        Option("--design", metavar="'LOOPS ARRAY'", help="Dataflow and permutation, e.g. 'i,j C'; default: the best."),
    ] = None,
    quick: Quick = False,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    given: Given,
) -> None:
    """``ithaca explain``."""
    search = parse_changes(time_limit, given, quick=quick)
    result, explanation = explain_result(file, design, search)
    lines = statements(result, explanation)
    if as_json:
        print_document(explanation_document(result, explanation) | {"statements": lines})
    else:
        say("\n".join(lines))


def parse_changes(time_limit: str | None, given: Given, *, quick: bool) -> SolveOptions | None:
    """How far to search for what to change first; None if that is to be left out."""
    if quick and "--time-limit" in given:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    search = parse_search(time_limit)
    return None if quick else search


def explain_result(path: Path, design: str | None, options: SolveOptions | None) -> tuple[Result, Explanation]:
    """Explain a configuration of a result, the best unless a design is named; without options, not what to change first.

    Raises `InputError` if the file is no result, or does not have the design.
    """
    result = load_result(path)
    try:
        solutions = chosen_solutions(result, design)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if options is None:
        return result, explain_solutions(result, solutions, None)
    with Interrupt() as interrupt, LiveLine("building problems") as line:
        budget = Budget(replace(options, stop=interrupt))
        # raised limits, no limits, and once more should the result not be proven
        count, solved = len(RAISES) * len(distinct_limits(result.limits)) + 2, 0

        def solve(problems: Sequence[Problem], starts: Sequence[Configuration | None]) -> Solution:
            nonlocal solved
            solved += 1

            def report(name: str, progress: Progress) -> None:
                line.show(f"solve {solved} of at most {count} · {name}", progress)

            return solve_best(problems, budget.share(max(count - solved + 1, 1)), starts=starts, report=report)

        return result, explain_solutions(result, solutions, solve)
