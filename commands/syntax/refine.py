"""``ithaca refine`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found, print_document


def refine(
    file: given.ResultFile,
    samples: given.Samples = None,
    time_limit: given.TimeLimit = None,
    seed: given.RandomSeed = "0",
    as_json: given.AsJson = False,
    output: given.Output = None,
) -> None:
    """Improve the configurations of a result by evolution; what is proven optimal stays as it is."""
    from ithaca.commands import options as parse
    from ithaca.commands.refine import refine_result
    from ithaca.commands.solve import explain_failure, write_result
    from ithaca.solver.evolution.engine import SAMPLES
    from ithaca.solver.result import result_document

    search = parse.parse_search(time_limit, seed=seed)
    budget = SAMPLES if samples is None else parse.parse_integer("--samples", samples, least=1)
    if output is not None:
        from ithaca.workloads.writing import check_writable

        check_writable(output)
    result = refine_result(file, search, budget)
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        write_result(result, output)
    if as_json:
        print_document(result_document(result))
    else:
        from ithaca.commands.display import print_result

        print_result(result)
    if result.best is None:
        nothing_found(explain_failure(result))
