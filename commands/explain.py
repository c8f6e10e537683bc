"""``ithaca explain``: what limits a result, and what to change first."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from ithaca.api.keywords import Given
from ithaca.api.options import AsJson, Quick, ResultFile, TimeLimit
from ithaca.api.parsing import parse_search
from ithaca.commands.outcome import print_document, say
from ithaca.solver.options import SolveOptions
from ithaca.workloads.errors import InputError


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
    from ithaca.commands.explain_words import explain_result, statements
    from ithaca.studies.explanation import explanation_document

    search = parse_changes(time_limit, given, quick=quick)
    result, explanation = explain_result(file, design, search)
    lines = statements(result, explanation)
    if as_json:
        print_document(explanation_document(result, explanation) | {"statements": lines})
    else:
        say("\n".join(lines))


def parse_changes(time_limit: float | None, given: Given, *, quick: bool) -> SolveOptions | None:
    """How far to search for what to change first; None if that is to be left out."""
    if quick and "--time-limit" in given:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    search = parse_search(time_limit)
    return None if quick else search
