"""``ithaca network`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import nothing_found, print_document


def network(
    name: given.NetworkName,
    sizes: given.NetworkSizes = None,
    layers: given.Layers = None,
    mode: given.Mode = "per-layer",
    arrays: given.Arrays = None,
    minimise: given.Minimise = None,
    platform: given.Platform = "u250",
    dtype: given.DType = "fp32",
    limit: given.Limits = None,
    dataflow: given.Dataflow = None,
    permutation: given.Permutation = None,
    edition: given.Edition = "exact",
    objective: given.Objective = "latency",
    method: given.NetworkMethod = "exact",
    time_limit: given.NetworkTimeLimit = None,
    gap: given.ProblemGap = "0",
    threads: given.NetworkThreads = "1",
    scheduler: given.Scheduler = None,
    include_unbuildable: given.IncludeUnbuildable = False,
    min_lanes: given.MinLanes = "1",
    divisors_only: given.DivisorsOnly = False,
    seed: given.Seed = "0",
    results: given.Results = None,
    as_json: given.AsJson = False,
    output: given.Output = None,
    table: given.NetworkTable = None,
) -> None:
    """Solve every layer of a network, alone or on what layers share, and prove the total."""
    from ithaca.commands import network as command

    asked = command.read_command(
        name,
        sizes=sizes,
        layers=layers,
        mode_name=mode,
        arrays=arrays,
        minimise=minimise,
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
        method=method,
        time_limit=time_limit,
        gap=gap,
        seed=seed,
        threads=threads,
        scheduler=scheduler,
        results=results,
        output=output,
        table=table,
    )
    result = command.run(asked)
    command.write_files(result, asked)  # before anything is printed: a closed pipe must not cost the result
    if as_json:
        from ithaca.studies.network.documents import network_document

        print_document(network_document(result))
    else:
        from ithaca.commands.network_display import print_network

        print_network(result)
    command.report_failures(result)
    if not result.answered:
        nothing_found(command.explain_failure(result))
