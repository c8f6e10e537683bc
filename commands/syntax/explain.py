"""``ithaca explain`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import print_document
from ithaca.workloads.errors import InputError


def explain(
    file: given.ResultFile,
    design: given.Design = None,
    quick: given.Quick = False,
    time_limit: given.StudyTimeLimit = None,
    as_json: given.AsJson = False,
) -> None:
    """Explain a result: what limits it, what it could reach, and what to change first."""
    from ithaca.commands.explain import explain_result, parse_design
    from ithaca.commands.explain_words import statements
    from ithaca.commands.options import parse_search

    if quick and time_limit is not None:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    asked, search = parse_design(design), parse_search(time_limit)
    result, explanation = explain_result(file, asked, None if quick else search)
    lines = statements(result, explanation)
    if as_json:
        from ithaca.studies.explanation.documents import explanation_document

        print_document(explanation_document(result, explanation) | {"statements": lines})
    else:
        print("\n".join(lines))
