"""The command line of Ithaca. It parses, calls, and prints; nothing else.

Each command imports what it needs when it runs, so that ``ithaca --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ithaca.workloads.errors import DisagreementError, InputError

BAD_INPUT = 2
NOTHING_FOUND = 1

app = typer.Typer(
    name="ithaca",
    help="Find the best hardware configuration for a tensor program, with a proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
listing = typer.Typer(help="List workloads, platforms, or the designs of a workload.", no_args_is_help=True)
app.add_typer(listing, name="list")

Workload = Annotated[str, typer.Argument(help="Name of a loop nest (ithaca list workloads).")]
Sizes = Annotated[list[str] | None, typer.Option("--sizes", "-s", help="Extents, e.g. i=1024,j=1024,k=1024.")]
PlatformName = Annotated[str, typer.Option("--platform", help="Name of a platform, or a path to a file of your own.")]
TypeName = Annotated[str, typer.Option("--dtype", help="fp32, int16 or int8.")]
EditionName = Annotated[str, typer.Option("--edition", help="exact, or odyssey: the published estimator to the digit.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


@app.command()
def solve(
    workload: Workload,
    sizes: Sizes = None,
    platform: PlatformName = "u250",
    dtype: TypeName = "fp32",
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", help="Upper limits, e.g. dsp=8601,latency*dsp<=1e9; they replace the platform's."),
    ] = None,
    dataflow: Annotated[str | None, typer.Option(help="Loops mapped to space, e.g. i,j; default: all.")] = None,
    permutation: Annotated[str | None, typer.Option(help="Array whose reuse loops are innermost; default: all.")] = None,
    edition: EditionName = "exact",
    descriptor: Annotated[Path | None, typer.Option(help="Published design description (JSON) to solve.")] = None,
    objective: Annotated[str, typer.Option(help="What to minimise: an expression over metrics.")] = "latency",
    method: Annotated[str, typer.Option(help="auto, exact, cpsat or gp.")] = "auto",
    prove_with: Annotated[
        str | None, typer.Option(metavar="A,B", help="Two engines to prove with, e.g. exact,cpsat; they must agree.")
    ] = None,
    time_limit: Annotated[str | None, typer.Option(metavar="S", help="Seconds for all designs together.")] = None,
    gap: Annotated[
        str, typer.Option(metavar="G", help="Relative gap at which a design counts as done; 0 asks for a proof.")
    ] = "0",
    threads: Annotated[str, typer.Option(metavar="N", help="Designs solved at a time.")] = "1",
    include_unbuildable: Annotated[
        bool, typer.Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")
    ] = False,
    min_lanes: Annotated[str, typer.Option(metavar="N", help="Fewest PEs along each space loop.")] = "1",
    divisors_only: Annotated[
        bool, typer.Option("--divisors-only", help="Let array partitioning factors divide the extents (no padding).")
    ] = False,
    start: Annotated[Path | None, typer.Option(help="A result whose configurations to improve on.")] = None,
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of randomised methods; the exact engine needs none.")] = "0",
    as_json: AsJson = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the result (JSON) to this file.")] = None,
) -> None:
    """Find the best configuration of a workload, and prove it."""
    from ithaca.commands import options as parse
    from ithaca.commands.solve import Request, run
    from ithaca.formulations.data_types import data_type
    from ithaca.formulations.objectives import parse_objective
    from ithaca.formulations.platform_files import load_platform
    from ithaca.formulations.problem import SpaceOptions
    from ithaca.solver.options import SolveOptions
    from ithaca.solver.result import result_document
    from ithaca.workloads.library import workload as find_workload

    engine, second = parse.parse_method(method), None
    if prove_with is not None:
        engine, second = parse.parse_provers(prove_with)
    seconds = None if time_limit is None else parse.parse_number("--time-limit", time_limit, positive=True)
    options = SolveOptions(seconds, parse.parse_number("--gap", gap))
    workers = parse.parse_integer("--threads", threads, least=1)
    parse.parse_integer("--seed", seed, least=0)
    if output is not None:
        from ithaca.exports.files import check_writable

        check_writable(output)
    request = Request(
        nest=find_workload(workload, parse.parse_sizes(sizes or [])),
        data=data_type(dtype),
        platform=load_platform(platform),
        limits=parse.parse_limits(limit or []),
        objective=parse_objective(objective),
        edition=parse.parse_edition(edition),
        dataflow=parse.parse_loops(dataflow),
        permutation=permutation,
        descriptor=descriptor,
        include_unbuildable=include_unbuildable,
        space=SpaceOptions(parse.parse_integer("--min-lanes", min_lanes, least=1), divisors_only),
    )
    known = {}
    if start is not None:
        from ithaca.commands.warm_start import known_tilings

        known = known_tilings(start, request.nest)
    result = run(request, options, workers, known, engine, second)
    if output is not None:  # before anything is printed: a closed pipe must not cost the result
        from ithaca.exports.files import write_text_atomically
        from ithaca.formulations.json_numbers import document_text

        write_text_atomically(output, document_text(result_document(result)))
        print(f"wrote {output}", file=sys.stderr)
    if as_json:
        _print_json(result_document(result))
    else:
        from ithaca.commands.display import print_result

        print_result(result)
    if result.best is None:
        _explain_failure(result)
        raise typer.Exit(NOTHING_FOUND)


def _explain_failure(result: Any) -> None:
    """One line on stderr: why there is no answer."""
    from ithaca.commands.display import explain_infeasibility
    from ithaca.solver.certificate import Status

    if all(s.certificate.status is Status.INFEASIBLE for s in result.designs):
        print("infeasible: " + "; ".join(explain_infeasibility(result.designs)), file=sys.stderr)
    else:
        print("nothing found before the search ended; allow more time with --time-limit", file=sys.stderr)


@app.command()
def whatif(
    workload: Workload,
    sizes: Sizes = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="What to vary: a size (i=256,512), a limit (dsp=2000,4000), platform, dtype, edition, objective, "
            "permutation (A,C) or dataflow (i,j:i,k). Several make a grid."
        ),
    ] = None,
    marginal: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="Prove what each limit is worth, raised by so much.")
    ] = None,
    platform: Annotated[str | None, typer.Option(help="Name of a platform, or a path; default: u250.")] = None,
    dtype: Annotated[str | None, typer.Option(help="fp32 (default), int16 or int8.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option("--limit", help="Upper limits, e.g. dsp=8601; they replace the platform's.")
    ] = None,
    dataflow: Annotated[str | None, typer.Option(help="Loops mapped to space, e.g. i,j; default: all.")] = None,
    permutation: Annotated[str | None, typer.Option(help="Array whose reuse loops are innermost; default: all.")] = None,
    edition: Annotated[str | None, typer.Option(help="exact (default) or odyssey.")] = None,
    objective: Annotated[str | None, typer.Option(help="What to minimise; default: latency.")] = None,
    time_limit: Annotated[str | None, typer.Option(metavar="S", help="Seconds for each point.")] = None,
    gap: Annotated[str, typer.Option(metavar="G", help="Relative gap at which a point counts as done.")] = "0",
    threads: Annotated[str, typer.Option(metavar="N", help="Designs solved at a time.")] = "1",
    include_unbuildable: Annotated[
        bool, typer.Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")
    ] = False,
    min_lanes: Annotated[str, typer.Option(metavar="N", help="Fewest PEs along each space loop.")] = "1",
    divisors_only: Annotated[
        bool, typer.Option("--divisors-only", help="Let array partitioning factors divide the extents (no padding).")
    ] = False,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to keep results in; what it holds is not solved again.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Plot to .png, .svg, .pdf or .html (one or two --vary).")] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the study as NetCDF (.nc).")] = None,
) -> None:
    """Prove the best configuration over a grid of sizes, limits, platforms and so on."""
    from ithaca.commands import options as parse
    from ithaca.commands import whatif as command
    from ithaca.commands.solve import Request
    from ithaca.formulations.data_types import data_type
    from ithaca.formulations.objectives import parse_objective
    from ithaca.formulations.platform_files import load_platform
    from ithaca.formulations.problem import SpaceOptions
    from ithaca.solver.options import SolveOptions
    from ithaca.workloads.library import workload as find_workload

    extents, limits = parse.parse_sizes(sizes or []), parse.parse_limits(limit or [])
    seconds = None if time_limit is None else parse.parse_number("--time-limit", time_limit, positive=True)
    options = SolveOptions(seconds, parse.parse_number("--gap", gap))
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
    request = Request(
        nest=find_workload(workload, extents),
        data=data_type(dtype or "fp32"),
        platform=load_platform(platform or "u250"),
        limits=limits,
        objective=parse_objective(objective or "latency"),
        edition=parse.parse_edition(edition or "exact"),
        dataflow=parse.parse_loops(dataflow),
        permutation=permutation,
        include_unbuildable=include_unbuildable,
        space=SpaceOptions(parse.parse_integer("--min-lanes", min_lanes, least=1), divisors_only),
    )
    given = {*extents, *limits, *(name for name, value in named.items() if value is not None)}
    asked = command.plan(request, vary or [], given, percent, results, plot, output)
    study = command.run(asked, options, workers)
    if as_json:
        from ithaca.studies.documents import study_document

        _print_json(study_document(study))
    else:
        command.print_study(study)
    command.write_files(study, asked)
    if all(point.answer.value is None for point in study.points.values()):
        print(command.explain_failure(study), file=sys.stderr)
        raise typer.Exit(NOTHING_FOUND)


@app.command()
def pareto(
    workload: Workload,
    objectives: Annotated[str, typer.Option(help="What to minimise: two or more expressions, e.g. latency,dsp.")],
    sizes: Sizes = None,
    platform: PlatformName = "u250",
    dtype: TypeName = "fp32",
    limit: Annotated[
        list[str] | None, typer.Option("--limit", help="Upper limits, e.g. dsp=8601; they replace the platform's.")
    ] = None,
    dataflow: Annotated[str | None, typer.Option(help="Loops mapped to space, e.g. i,j; default: all.")] = None,
    permutation: Annotated[str | None, typer.Option(help="Array whose reuse loops are innermost; default: all.")] = None,
    edition: EditionName = "exact",
    time_limit: Annotated[str | None, typer.Option(metavar="S", help="Seconds for the whole front.")] = None,
    max_points: Annotated[str | None, typer.Option(metavar="N", help="End after so many points.")] = None,
    include_unbuildable: Annotated[
        bool, typer.Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")
    ] = False,
    min_lanes: Annotated[str, typer.Option(metavar="N", help="Fewest PEs along each space loop.")] = "1",
    divisors_only: Annotated[
        bool, typer.Option("--divisors-only", help="Let array partitioning factors divide the extents (no padding).")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Plot to .png, .svg, .pdf or .html (two or three objectives).")] = None,
    as_json: AsJson = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the front as NetCDF (.nc).")] = None,
) -> None:
    """Compute the Pareto front of several objectives, every point proven."""
    from ithaca.commands import options as parse
    from ithaca.commands import pareto as command
    from ithaca.commands.solve import Request
    from ithaca.formulations.data_types import data_type
    from ithaca.formulations.objectives import parse_objective
    from ithaca.formulations.platform_files import load_platform
    from ithaca.formulations.problem import SpaceOptions
    from ithaca.solver.options import SolveOptions
    from ithaca.workloads.library import workload as find_workload

    seconds = None if time_limit is None else parse.parse_number("--time-limit", time_limit, positive=True)
    most = None if max_points is None else parse.parse_integer("--max-points", max_points, least=1)
    minimised = command.parse_objectives(objectives)
    command.check_files(minimised, plot, output)
    request = Request(
        nest=find_workload(workload, parse.parse_sizes(sizes or [])),
        data=data_type(dtype),
        platform=load_platform(platform),
        limits=parse.parse_limits(limit or []),
        objective=parse_objective(minimised[0].text),
        edition=parse.parse_edition(edition),
        dataflow=parse.parse_loops(dataflow),
        permutation=permutation,
        include_unbuildable=include_unbuildable,
        space=SpaceOptions(parse.parse_integer("--min-lanes", min_lanes, least=1), divisors_only),
    )
    front = command.run(request, minimised, SolveOptions(seconds), most)
    if as_json:
        from ithaca.studies.documents import front_document

        _print_json(front_document(front, command.provenance(request)))
    else:
        command.print_front(front, request)
    command.write_files(front, request, plot, output)
    if not front.points:
        print(command.explain_failure(front), file=sys.stderr)
        raise typer.Exit(NOTHING_FOUND)


@app.command()
def evaluate(
    workload: Workload,
    points: Annotated[Path, typer.Option(help="CSV with one configuration a row, or a result of solve -o (JSON).")],
    dtype: TypeName = "fp32",
    as_json: AsJson = False,
) -> None:
    """Compute all metrics of given configurations afresh, by the exact reference."""
    from ithaca.commands.evaluate import evaluate_file, print_points
    from ithaca.formulations.data_types import data_type
    from ithaca.workloads.library import workload as find_workload

    document = evaluate_file(find_workload(workload), points, data_type(dtype))
    if as_json:
        _print_json(document)
    else:
        print_points(document)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A result as written by solve -o.")],
    time_limit: Annotated[str | None, typer.Option(metavar="S", help="Seconds for each design.")] = None,
) -> None:
    """Check a result anew: every value by the exact reference, every proof by another engine."""
    from ithaca.commands.options import parse_number
    from ithaca.commands.verify import verify_result

    seconds = None if time_limit is None else parse_number("--time-limit", time_limit, positive=True)
    if not verify_result(file, seconds):
        raise typer.Exit(NOTHING_FOUND)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A result as written by solve -o.")],
    to: Annotated[str, typer.Option(help="Target: autosa.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write.")],
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Export the proven-best buildable configuration if this one is not.")
    ] = False,
) -> None:
    """Export the best configuration of a result for another tool."""
    from ithaca.commands.export import export_result

    print(export_result(file, to, output, nearest=nearest))


@app.command()
def seed(
    source: Annotated[
        str, typer.Argument(metavar="RESULT|WORKLOAD", help="A result of solve -o (JSON), or a loop nest to solve.")
    ],
    tool: Annotated[str, typer.Option("--for", metavar="TOOL", help="optuna, pymoo, nevergrad, opentuner, odyssey or csv.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write; for opentuner a folder.")],
    count: Annotated[str, typer.Option(metavar="N", help="How many seeds.")] = "10",
    sizes: Sizes = None,
    platform: Annotated[str | None, typer.Option(help="Name of a platform, or a path to a file of your own.")] = None,
    dtype: Annotated[str | None, typer.Option(help="fp32, int16 or int8.")] = None,
    limit: Annotated[list[str] | None, typer.Option("--limit", help="Upper limits, as in solve.")] = None,
    dataflow: Annotated[str | None, typer.Option(help="Loops mapped to space, e.g. i,j; default: the best.")] = None,
    permutation: Annotated[str | None, typer.Option(help="Array whose reuse loops are innermost; default: the best.")] = None,
    edition: Annotated[str | None, typer.Option(help="exact or odyssey.")] = None,
    objective: Annotated[str | None, typer.Option(help="What to minimise: an expression over metrics.")] = None,
    time_limit: Annotated[str | None, typer.Option(metavar="S", help="Seconds for solving a workload first.")] = None,
    threads: Annotated[str | None, typer.Option(metavar="N", help="Designs solved at a time.")] = None,
    include_unbuildable: Annotated[
        bool, typer.Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")
    ] = False,
    min_lanes: Annotated[str | None, typer.Option(metavar="N", help="Fewest PEs along each space loop.")] = None,
    divisors_only: Annotated[
        bool, typer.Option("--divisors-only", help="Let array partitioning factors divide the extents (no padding).")
    ] = False,
    random_seed: Annotated[str, typer.Option("--seed", metavar="N", help="Seed of the random numbers.")] = "0",
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
        from ithaca.commands.solve import Request, run
        from ithaca.formulations.data_types import data_type
        from ithaca.formulations.objectives import parse_objective
        from ithaca.formulations.platform_files import load_platform
        from ithaca.formulations.problem import SpaceOptions
        from ithaca.solver.options import SolveOptions
        from ithaca.workloads.library import workload as find_workload

        seconds = None if time_limit is None else parse.parse_number("--time-limit", time_limit, positive=True)
        workers = parse.parse_integer("--threads", threads or "1", least=1)
        request = Request(
            nest=find_workload(source, parse.parse_sizes(sizes or [])),
            data=data_type(dtype or "fp32"),
            platform=load_platform(platform or "u250"),
            limits=parse.parse_limits(limit or []),
            objective=parse_objective(objective or "latency"),
            edition=parse.parse_edition(edition or "exact"),
            dataflow=parse.parse_loops(dataflow),
            permutation=permutation,
            include_unbuildable=include_unbuildable,
            space=SpaceOptions(parse.parse_integer("--min-lanes", min_lanes or "1", least=1), divisors_only),
        )
        result = run(request, SolveOptions(seconds), workers, {})
        if result.best is None:
            _explain_failure(result)
            raise typer.Exit(NOTHING_FOUND)
        origin = origin_of_solution(result.best)
    print(write_seeds(origin, order))


@listing.command("workloads")
def list_workloads() -> None:
    """Loop nests that come with Ithaca."""
    from ithaca.commands.listing import print_workloads

    print_workloads()


@listing.command("platforms")
def list_platforms() -> None:
    """Devices that come with Ithaca."""
    from ithaca.commands.listing import print_platforms

    print_platforms()


@listing.command("designs")
def list_designs(workload: Workload, edition: EditionName = "exact", dtype: TypeName = "fp32", as_json: AsJson = False) -> None:
    """Every dataflow and permutation of a workload, with its modules and formulas."""
    from ithaca.commands.listing import designs_document, print_designs
    from ithaca.commands.options import parse_edition
    from ithaca.formulations.data_types import data_type
    from ithaca.workloads.library import workload as find_workload

    arguments = find_workload(workload), parse_edition(edition), data_type(dtype)
    if as_json:
        _print_json(designs_document(*arguments))
    else:
        print_designs(*arguments)


def _version(value: bool) -> None:
    if value:
        from ithaca import __version__

        print(f"ithaca {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None: ...


def _print_json(document: dict[str, Any]) -> None:
    from ithaca.formulations.json_numbers import document_text

    print(document_text(document), end="")


def main() -> None:
    """Entry point: exit status 0 answer found, 1 nothing found, 2 bad input (one line on stderr)."""
    if sys.stdout is None:
        print("ithaca: standard output is closed", file=sys.stderr)
        sys.exit(BAD_INPUT)
    if sys.argv[1:] in ([], ["list"]):
        sys.argv.append("--help")
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        status = _refuse(str(error))
    except KeyboardInterrupt:
        status = _refuse("interrupted")
    except BrokenPipeError:
        status = _refuse("standard output was closed before everything was printed", broken_output=True)
    except OSError as error:
        where = f" '{error.filename}'" if error.filename else ""
        status = _refuse(f"{error.strerror or error}{where}", broken_output=error.filename is None)
    except DisagreementError as error:
        status = _refuse(f"DISAGREEMENT: {error}")
    except MemoryError:
        status = _refuse("out of memory; smaller extents need less")
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        status = _refuse(message())
    sys.exit(status if isinstance(status, int) else 0)


def _refuse(message: str, *, broken_output: bool = False) -> int:
    line = " ".join(message.split())
    if broken_output:
        # what is still buffered can go nowhere; keep the interpreter from trying at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if line:
        print(f"ithaca: {line}", file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    main()
