"""``ithaca seed`` as one types it."""

from __future__ import annotations

from pathlib import Path

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found


def seed(
    source: given.ResultOrWorkload,
    tool: given.Tool,
    output: given.SeedOutput,
    count: given.Count = "10",
    sizes: given.Sizes = None,
    platform: given.GivenPlatform = None,
    dtype: given.GivenDType = None,
    limit: given.SeedLimits = None,
    dataflow: given.SeedDataflow = None,
    permutation: given.SeedPermutation = None,
    edition: given.GivenEdition = None,
    objective: given.GivenObjective = None,
    time_limit: given.SeedTimeLimit = None,
    threads: given.GivenThreads = None,
    include_unbuildable: given.IncludeUnbuildable = False,
    min_lanes: given.GivenMinLanes = None,
    divisors_only: given.DivisorsOnly = False,
    random_seed: given.RandomSeed = "0",
) -> None:
    """Write diverse, feasible configurations as a start population for another search tool."""
    from ithaca.commands import options as parse
    from ithaca.commands.seed import Order, is_result, origin_of_result, origin_of_solution, refuse_options, write_seeds

    order = Order(
        tool, parse.parse_integer("--count", count, least=1), parse.parse_integer("--seed", random_seed, least=0), output
    )
    if is_result(source):
        refuse_options(
            {
                "--sizes": sizes,
                "--platform": platform,
                "--dtype": dtype,
                "--limit": limit,
                "--edition": edition,
                "--objective": objective,
                "--time-limit": time_limit,
                "--threads": threads,
                "--include-unbuildable": include_unbuildable,
                "--min-lanes": min_lanes,
                "--divisors-only": divisors_only,
            }
        )
        origin = origin_of_result(Path(source), parse.parse_loops(dataflow), permutation)
    else:
        from ithaca.commands import solve
        from ithaca.commands.request import read_request

        search = parse.parse_search(time_limit)
        workers = 1 if threads is None else parse.parse_integer("--threads", threads, least=1)
        request = read_request(
            source,
            sizes=sizes,
            platform=platform,
            dtype=dtype,
            limit=limit,
            dataflow=dataflow,
            permutation=permutation,
            edition=edition,
            objective=objective,
            include_unbuildable=include_unbuildable,
            min_lanes=min_lanes,
            divisors_only=divisors_only,
        )
        result = solve.run(request, search, workers, {})
        if result.best is None:
            nothing_found(solve.explain_failure(result))
        origin = origin_of_solution(result.best)
    print(write_seeds(origin, order))
