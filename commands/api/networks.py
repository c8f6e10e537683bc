"""`ithaca.network`: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.answers import NetworkResult
from ithaca.commands.api.keywords import Given, public
from ithaca.commands.api.live_line import LiveLine, note
from ithaca.commands.api.mapping import Question, on_hierarchy, question_of
from ithaca.commands.api.options import (
    OBJECTIVE,
    REPEATED,
    Extents,
    HierarchyOptions,
    LayerPatterns,
    Objective,
    Results,
    Scheduler,
    SearchOptions,
    SteadyMethod,
    TargetedOptions,
)
from ithaca.commands.api.parsing import (
    parse_choice,
    parse_extents,
    parse_integer,
    parse_method,
    parse_steady_method,
    several,
)
from ithaca.commands.api.request import check_target, read, requested_limits, restricted_share
from ithaca.files.errors import InputError
from ithaca.files.signals import Interrupt
from ithaca.formulations.problem import Problem
from ithaca.formulations.question import Minimise
from ithaca.formulations.spatial.editions import INTRINSIC, TIMELOOP
from ithaca.solver.options import Budget
from ithaca.studies.best import without_restriction
from ithaca.studies.network.fused import solve_fused
from ithaca.studies.network.layers import solve_per_layer
from ithaca.studies.network.mapping_request import MappingRequest
from ithaca.studies.network.modes import MODES, ONE_SEARCH, SEVERAL_ARRAYS
from ithaca.studies.network.modes import mode as find_mode
from ithaca.studies.network.parts import PER_LAYER
from ithaca.studies.network.problems import NetworkRequest, only_layers
from ithaca.studies.network.runner import RunOptions, RunState, problem_store
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Network


@public
def network(
    name: Annotated[
        str | PathLike[str],
        Argument(
            metavar="NAME|FILE",
            help="A network that comes with Ithaca, or a file: .yaml, or a model as .onnx.",
        ),
    ],
    *,
    sizes: Annotated[
        dict[str, int] | Sequence[str] | None,
        Option("--sizes", "-s", help="Parameters of the network, e.g. batch=1,image=224."),
        REPEATED,
    ] = None,
    layers: LayerPatterns = None,
    mode: Annotated[
        str,
        Option(
            "--mode",
            help="What layers share: per-layer, shared-dataflow, shared-array or multi-array.",
        ),
    ] = "per-layer",
    arrays: Annotated[
        int | None, Option("--arrays", metavar="N", help="How many arrays share the budget.")
    ] = None,
    minimise: Annotated[
        str | None, Option("--minimise", help="Of several arrays: slowest, or total.")
    ] = None,
    fuse: Annotated[
        bool,
        Option(
            "--fuse",
            help="Keep on chip what one layer writes and the next reads, wherever that pays.",
        ),
    ] = False,
    problem: TargetedOptions,
    hierarchy: HierarchyOptions,
    objective: Objective = OBJECTIVE,
    method: SteadyMethod = None,
    search: SearchOptions,
    scheduler: Scheduler = None,
    results: Results = None,
    given: Given,
    **parameters: Extents,
) -> NetworkResult:
    """Solve every layer of a network, alone or on what layers share, and prove the total."""
    if on_hierarchy(given):
        asked = only_layers(
            find_network(str(name), parse_extents(sizes, parameters)), several(layers)
        )
        engine = parse_method(method or "auto")
        options = RunOptions(engine, search.options, search.workers, scheduler)
        question = question_of(hierarchy, problem, objective, given)
        if fuse and question.edition != TIMELOOP:
            raise InputError(
                f"--fuse does not go with edition {question.edition}; allowed: {TIMELOOP}"
            )
        return map_network(asked, question, options, results, fuse=fuse)
    if fuse and mode != PER_LAYER:
        raise InputError(f"--fuse does not go with --mode {mode}; allowed with: {PER_LAYER}")
    solve = solve_fused if fuse else find_mode(mode)
    engine = parse_steady_method(method, search.time_limit)
    options = RunOptions(engine, search.options, search.on(scheduler), scheduler)
    if mode in ONE_SEARCH:
        _check_one_search(mode, method, search.workers, scheduler, results)
    asked_of_all = read(problem, objective)
    asked_of_all["limits"] = requested_limits(asked_of_all["platform"], asked_of_all["limits"])
    count, what = _sharing(mode, arrays, minimise)
    request = NetworkRequest(**asked_of_all, arrays=count, minimise=what)
    asked = only_layers(find_network(str(name), parse_extents(sizes, parameters)), several(layers))
    for layer in asked.layers:
        try:
            check_target(request.space.target, layer.nest, request.data)
        except InputError as error:
            raise InputError(f"layer {layer.name}: {error}; --layers leaves layers out") from None
    with _running(options, results) as running:
        interrupt, budget = running.search.stop, Budget(running.search)
        assert interrupt is not None
        run = replace(running, search=restricted_share(budget.options, request.space))
        found = NetworkResult.of(solve(asked, request, run))
        if request.space.target is None or found.value is None or interrupt():
            return found
        free = solve(
            asked,
            replace(request, space=replace(request.space, target=None)),
            replace(run, search=budget.share()),
        )
        if free.total is None or interrupt():
            return found
        compared = without_restriction(found.value, free.total.value, free.total.certificate)
        return replace(found, unrestricted=compared)


@contextmanager
def _running(options: RunOptions, results: str | Path | None) -> Iterator[RunOptions]:
    """The same options with what keeps results, tells how far the run is, and stops it."""
    store = None if results is None else problem_store(Path(results), options, note)
    with Interrupt() as interrupt, LiveLine("deriving designs") as line:

        def report(state: RunState) -> None:
            failed = f" · {state.failed} failed" if state.failed else ""
            line.show(state.place + failed, state.progress, done=state.done, total=state.total)

        yield replace(
            options, search=replace(options.search, stop=interrupt), store=store, report=report
        )


def map_network(
    network: Network,
    asked: Question,
    options: RunOptions,
    results: str | Path | None = None,
    *,
    fuse: bool = False,
) -> NetworkResult:
    """Find the best mapping of every layer of a network onto a memory hierarchy, and prove the
    total."""
    posed = list[Problem]()
    if asked.edition == INTRINSIC:
        raise InputError(
            "--edition is intrinsic, of which layers have several designs; "
            "allowed: map, or codesign for networks"
        )
    for layer in network.layers:
        try:
            posed += asked.problems(layer.nest)
        except InputError as error:
            raise InputError(f"layer {layer.name}: {error}") from None
    asked.remark()
    first = posed[0]
    request = MappingRequest(
        asked.architecture,
        asked.edition,
        asked.options,
        first.limits,
        first.objective,
        tuple(posed),
    )
    with _running(options, results) as running:
        return NetworkResult.of(
            (solve_fused if fuse else solve_per_layer)(network, request, running)
        )


def _check_one_search(
    mode_name: str, method: str | None, threads: int, scheduler: str | None, results: object
) -> None:
    """Refuse options that a mode could only ignore."""
    given = {
        "--method": method not in (None, "exact"),
        "--threads": threads != 1,
        "--scheduler": scheduler is not None,
        "--results": results is not None,
    }
    for option, wanted in given.items():
        if wanted:
            raise InputError(
                f"{option} does not go with --mode {mode_name}, which is "
                "one exact search over all layers"
            )


def _sharing(mode_name: str, arrays: int | None, minimise: str | None) -> tuple[int, Minimise]:
    """How many arrays share the budget, and what of them is minimised."""
    if mode_name not in SEVERAL_ARRAYS:
        for option, text in (("--arrays", arrays), ("--minimise", minimise)):
            if text is not None:
                allowed = ", ".join(name for name in MODES if name in SEVERAL_ARRAYS)
                raise InputError(
                    f"{option} does not go with --mode {mode_name}; allowed with: {allowed}"
                )
        return 1, Minimise.TOTAL
    if arrays is None:
        raise InputError(f"--mode {mode_name} needs --arrays N, how many arrays share the budget")
    what = parse_choice(
        "--minimise", minimise or Minimise.SLOWEST.value, [m.value for m in Minimise]
    )
    return parse_integer("--arrays", arrays, least=1), Minimise(what)
