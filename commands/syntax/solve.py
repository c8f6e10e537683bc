"""``ithaca solve`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found, print_document


def solve(
    workload: given.Workload,
    sizes: given.Sizes = None,
    platform: given.Platform = "u250",
    dtype: given.DType = "fp32",
    limit: given.Limits = None,
    dataflow: given.Dataflow = None,
    permutation: given.Permutation = None,
    edition: given.Edition = "exact",
    descriptor: given.Descriptor = None,
    objective: given.Objective = "latency",
    method: given.Method = "auto",
    prove_with: given.ProveWith = None,
    time_limit: given.TimeLimit = None,
    gap: given.Gap = "0",
    threads: given.Threads = "1",
    include_unbuildable: given.IncludeUnbuildable = False,
    min_lanes: given.MinLanes = "1",
    divisors_only: given.DivisorsOnly = False,
    start: given.Start = None,
    seed: given.Seed = "0",
    as_json: given.AsJson = False,
    output: given.Output = None,
) -> None:
    """Find the best configuration of a workload, and prove it."""
    from ithaca.commands import options as parse
    from ithaca.commands import solve as command
    from ithaca.commands.request import read_request
    from ithaca.solver.result import result_document

    engine, second = parse.parse_method(method), None
    if prove_with is not None:
        engine, second = parse.parse_provers(prove_with)
    search = parse.parse_search(time_limit, gap, seed)
    workers = parse.parse_integer("--threads", threads, least=1)
    if output is not None:
        from ithaca.workloads.writing import check_writable

        check_writable(output)
    request = read_request(
        workload,
        sizes=sizes,
        platform=platform,
        dtype=dtype,
        limit=limit,
        dataflow=dataflow,
        permutation=permutation,
        edition=edition,
        descriptor=descriptor,
        objective=objective,
        include_unbuildable=include_unbuildable,
        min_lanes=min_lanes,
        divisors_only=divisors_only,
    )
    known = {}
    if start is not None:
        from ithaca.commands.warm_start import known_tilings

        known = known_tilings(start, request.nest)
    result = command.run(request, search, workers, known, engine, second)
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        command.write_result(result, output)
    if as_json:
        print_document(result_document(result))
    else:
        from ithaca.commands.display import print_result

        print_result(result)
    if result.best is None:
        nothing_found(command.explain_failure(result))
