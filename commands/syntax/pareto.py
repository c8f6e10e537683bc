"""``ithaca pareto`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found, print_document


def pareto(
    workload: given.Workload,
    objectives: given.Objectives,
    sizes: given.Sizes = None,
    platform: given.Platform = "u250",
    dtype: given.DType = "fp32",
    limit: given.StudyLimits = None,
    dataflow: given.Dataflow = None,
    permutation: given.Permutation = None,
    edition: given.Edition = "exact",
    method: given.ProvingMethod = "exact",
    time_limit: given.FrontTimeLimit = None,
    max_points: given.MaxPoints = None,
    threads: given.Threads = "1",
    include_unbuildable: given.IncludeUnbuildable = False,
    min_lanes: given.MinLanes = "1",
    divisors_only: given.DivisorsOnly = False,
    results: given.Results = None,
    plot: given.FrontPlot = None,
    as_json: given.AsJson = False,
    output: given.FrontOutput = None,
) -> None:
    """Compute the Pareto front of several objectives, every point proven."""
    from ithaca.commands import options as parse
    from ithaca.commands import pareto as command
    from ithaca.commands.request import read_request

    engine = parse.parse_proving_method(method)
    search = parse.parse_search(time_limit)
    most = None if max_points is None else parse.parse_integer("--max-points", max_points, least=1)
    workers = parse.parse_integer("--threads", threads, least=1)
    minimised = command.parse_objectives(objectives)
    command.check_files(minimised, plot, output)
    request = read_request(
        workload,
        sizes=sizes,
        platform=platform,
        dtype=dtype,
        limit=limit,
        dataflow=dataflow,
        permutation=permutation,
        edition=edition,
        objective=minimised[0].text,
        include_unbuildable=include_unbuildable,
        min_lanes=min_lanes,
        divisors_only=divisors_only,
    )
    front = command.run(request, minimised, search, most, method=engine, threads=workers, results=results)
    if as_json:
        from ithaca.studies.documents import front_document

        print_document(front_document(front, command.provenance(request)))
    else:
        command.print_front(front, request)
    command.write_files(front, request, plot, output)
    if not front.points:
        nothing_found(command.explain_failure(front))
