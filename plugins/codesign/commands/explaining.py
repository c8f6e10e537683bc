"""`ithaca.explain` and `ithaca.report` of a co-design."""

from __future__ import annotations

from functools import partial
from typing import Any

from ithaca.commands.api.explaining import change_statements, proof_of_changes
from ithaca.commands.api.live_line import searching
from ithaca.files.writing import SCHEMA
from ithaca.plugins.codesign.exports.report import codesign_page
from ithaca.plugins.codesign.results.explanation import changes, statements
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign
from ithaca.plugins.codesign.studies.layer_cache import LayerCache
from ithaca.plugins.codesign.studies.question import CodesignQuestion
from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.results.explanation import document_of_changes
from ithaca.solver.options import Budget, SolveOptions


def explain_codesign(
    result: CodesignResult, options: SolveOptions | None
) -> tuple[list[str], dict[str, Any]]:
    """Explain an accelerator, or a front, as statements and as a document; without options not what
    to change."""
    tried = None
    if options is not None and result.best is not None and len(result.front) == 1:
        bank = LayerCache(result.question.space.accelerator)
        with searching("searching accelerators", options) as (stoppable, line):
            budget = Budget(stoppable)

            def solve(question: CodesignQuestion) -> CodesignResult:
                report = partial(line.show, question.space.name)
                return codesign(question, CodesignOptions(budget.share(), report=report), bank)

            tried = changes(result, solve)
    lines = [*statements(result)]
    if result.best is None:
        lines.append(f"No accelerator: {result.failure}.")
    elif len(result.question.objectives) == 1:
        proof = proof_of_changes(result, settled=True)
        objective = result.question.objectives[0].text
        lines += change_statements(objective, tried, "the space allows", proof)
    document = {
        "schema": SCHEMA,
        "study": "explain",
        "space": result.question.space.name,
        "hardware": result.hardware,
    }
    return lines, document | document_of_changes(tried)


def report_codesign(result: CodesignResult, options: SolveOptions | None) -> str:
    """The page of a co-design; without options not what to change."""
    return codesign_page(result, explain_codesign(result, options)[0])
