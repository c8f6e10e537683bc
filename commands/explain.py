"""``ithaca explain``: what limits a result, and what to change first."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from ithaca.api.keywords import Given
from ithaca.api.options import AsJson, LayerName, Loops, Quick, ResultFile, TimeLimit
from ithaca.api.parsing import parse_search
from ithaca.commands.outcome import check_loops, print_document, say
from ithaca.solver.options import SolveOptions
from ithaca.workloads.errors import InputError


def explain(
    *,
    file: ResultFile,
    layer: LayerName = None,
    design: Annotated[
        str | None,
        Option("--design", metavar="'LOOPS ARRAY'", help="Dataflow and permutation, e.g. 'i,j C'; default: the best."),
    ] = None,
    quick: Quick = False,
    time_limit: TimeLimit = None,
    loops: Loops = False,
    as_json: AsJson = False,
    given: Given,
) -> None:
    """``ithaca explain``."""
    from ithaca.commands.display import loop_nest
    from ithaca.commands.explain_words import explain_result, statements
    from ithaca.commands.network_display import layer_loops
    from ithaca.studies.explanation import explanation_document
    from ithaca.studies.network.explanation import explain_network, network_explanation_document, network_statements
    from ithaca.studies.network.loading import load_answer
    from ithaca.studies.network.result import NetworkResult

    check_loops(loops=loops, as_json=as_json)
    search, found = parse_changes(time_limit, given, quick=quick), load_answer(file, layer)
    if isinstance(found, NetworkResult):
        for option in sorted(given & {"--design", "--time-limit", "--quick"}):
            raise InputError(f"{option} does not go with the result of a whole network; allowed: with --layer NAME")
        explained = explain_network(found)
        lines, document = [*network_statements(found, explained)], network_explanation_document(found, explained)
        shown = layer_loops(found)
    else:
        try:
            explanation = explain_result(found, design, search)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None
        lines, document = statements(found, explanation), explanation_document(found, explanation)
        best = explanation.solution
        shown = [] if best is None else [loop_nest(best.problem.design, best.configuration)]
    if as_json:
        print_document(document | {"statements": lines})
    else:
        say("\n".join(lines))
        if loops:
            say("\n".join(shown))


def parse_changes(time_limit: float | None, given: Given, *, quick: bool) -> SolveOptions | None:
    """How far to search for what to change first; None if that is to be left out."""
    if quick and "--time-limit" in given:
        raise InputError("--time-limit cannot be given with --quick, which solves nothing")
    search = parse_search(time_limit)
    return None if quick else search
