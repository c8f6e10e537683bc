"""``ithaca whatif`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found, print_document


def whatif(
    workload: given.Workload,
    sizes: given.Sizes = None,
    vary: given.Vary = None,
    marginal: given.Marginal = None,
    platform: given.FixedPlatform = None,
    dtype: given.FixedDType = None,
    limit: given.StudyLimits = None,
    dataflow: given.Dataflow = None,
    permutation: given.Permutation = None,
    edition: given.FixedEdition = None,
    objective: given.FixedObjective = None,
    method: given.Method = "exact",
    time_limit: given.StudyTimeLimit = None,
    gap: given.PointGap = "0",
    threads: given.Threads = "1",
    include_unbuildable: given.IncludeUnbuildable = False,
    min_lanes: given.MinLanes = "1",
    divisors_only: given.DivisorsOnly = False,
    results: given.Results = None,
    plot: given.StudyPlot = None,
    as_json: given.AsJson = False,
    output: given.StudyOutput = None,
) -> None:
    """Prove the best configuration over a grid of sizes, limits, platforms and so on."""
    from ithaca.commands import options as parse
    from ithaca.commands import whatif as command
    from ithaca.commands.request import read_request

    engine = parse.parse_method(method)
    search = parse.parse_search(time_limit, gap)
    workers = parse.parse_integer("--threads", threads, least=1)
    percent = None if marginal is None else parse.parse_number("--marginal", marginal, positive=True)
    named = {
        "platform": platform,
        "dtype": dtype,
        "edition": edition,
        "objective": objective,
        "dataflow": dataflow,
        "permutation": permutation,
    }
    request = read_request(
        workload,
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
    fixed = {*parse.parse_sizes(sizes or []), *request.limits, *(name for name, value in named.items() if value is not None)}
    asked = command.plan(request, vary or [], fixed, percent, results, plot, output)
    study = command.run(asked, search, workers, engine)
    if as_json:
        from ithaca.studies.documents import study_document

        print_document(study_document(study))
    else:
        command.print_study(study)
    command.write_files(study, asked)
    if all(point.answer.value is None for point in study.points.values()):
        nothing_found(command.explain_failure(study))
