"""`ithaca.network`: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, searching
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    Fuse,
    Keeping,
    LayerPatterns,
    Objective,
    Scheduler,
    SearchOptions,
    SteadyMethod,
)
from ithaca.commands.api.parsing import parse_extents, parse_method, parse_steady_method
from ithaca.commands.api.solving import COMPARING
from ithaca.files.errors import InputError
from ithaca.files.words import REPEATED, parse_choice, parse_integer, several
from ithaca.formulations.families import profile_of
from ithaca.formulations.question import Minimise, Question
from ithaca.solver.options import Budget
from ithaca.studies.best import without_restriction
from ithaca.studies.network.array_modes import ARRAY_MODES
from ithaca.studies.network.modes import MODES, SolveNetwork
from ithaca.studies.network.modes import mode as find_mode
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.result import PER_LAYER, NetworkResult
from ithaca.studies.network.runner import NetworkProgress, RunOptions, conditions
from ithaca.studies.network.runs import with_layers_run
from ithaca.studies.runs import RUNNING, kept_share
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import Network


@public
def network(
    name: Annotated[
        str | PathLike[str],
        Argument(
            metavar="NAME|FILE",
            help="A network that comes with Ithaca, or a file: .yaml, a model as .onnx or its "
            "config.json, or a table of layers (.csv, .m).",
        ),
    ],
    *,
    sizes: Annotated[
        dict[str, int] | Sequence[str] | None,
        Option("--sizes", "-s", help="Parameters of the network, e.g. batch=1,image=224."),
        REPEATED,
    ] = None,
    phase: Annotated[
        str | None,
        Option("--phase", help="Phase of a model: decode, or prefill; the first by default."),
    ] = None,
    batch: Annotated[
        int | None, Option("--batch", metavar="N", help="Sequences or images side by side.")
    ] = None,
    tokens: Annotated[
        int | None, Option("--tokens", metavar="N", help="New positions of each sequence.")
    ] = None,
    context: Annotated[
        int | None,
        Option("--context", metavar="N", help="Positions attended to, new ones among them."),
    ] = None,
    experts: Annotated[
        str | None,
        Option(
            "--experts",
            metavar="ROWS",
            help="How rows spread over experts: uniform, skewed, or rows of each, as 9,5,2.",
        ),
    ] = None,
    elementwise: Annotated[
        bool,
        Option("--elementwise", help="Of a model: softmax, norms and the like are layers, too."),
    ] = False,
    layers: LayerPatterns = None,
    mode: Annotated[
        str,
        Option(
            "--mode",
            help=f"What layers share: {' or '.join((', '.join([*MODES][:-1]), [*MODES][-1]))}.",
        ),
    ] = "per-layer",
    arrays: Annotated[
        int | None, Option("--arrays", metavar="N", help="How many arrays share the budget.")
    ] = None,
    minimise: Annotated[
        str | None, Option("--minimise", help="Of several arrays: slowest, or total.")
    ] = None,
    fuse: Fuse = False,
    all_designs: Annotated[
        bool,
        Option(
            "--all-designs",
            help="Prove the optimum of every design of a layer; default: of the best, and that no "
            "other is better.",
        ),
    ] = False,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    method: SteadyMethod = None,
    search: SearchOptions,
    scheduler: Scheduler = None,
    keeping: Keeping,
    **parameters: Extents,
) -> NetworkResult:
    """Solve all layers of a network, alone or together, and prove the total."""
    kind = family.kind()
    solve = find_mode(mode, fuse=fuse)
    engine = parse_method(method or "auto")
    if kind.steady:
        engine = parse_steady_method(method, search.time_limit)
    if all_designs and (mode != PER_LAYER or fuse):
        other = f"--mode {mode}" if mode != PER_LAYER else "--fuse"
        raise InputError(f"--all-designs does not go with {other}; allowed: --mode {PER_LAYER}")
    options = RunOptions(engine, search.options, search.on(scheduler), scheduler)
    options = replace(options, best_only=not all_designs)
    if mode in ARRAY_MODES:
        _check_one_search(mode, method, keeping.results)
    count, what = _sharing(mode, arrays, minimise)
    question = family.question(None, objective, arrays=count, minimise=what)
    if fuse and question.unfused:
        raise InputError(f"--fuse does not go with {question.unfused}")
    if elementwise and question.multiplies:
        raise InputError(
            f"--elementwise does not go with {question.multiplies}, which run products with a "
            "reduction; allowed with --arch"
        )
    stated = {"batch": batch, "tokens": tokens, "context": context}
    parameters |= {size: value for size, value in stated.items() if value is not None}
    all_sizes = parse_extents(sizes, parameters)
    whole = find_network(
        str(name), all_sizes, phase=phase, experts=experts, elementwise=elementwise
    )
    layered = only_layers(whole, several(layers))
    for line in (*layered.remarks, *question.remarks(None)):
        note(line)
    with _running(options, keeping) as running:
        budget = Budget(running.search)
        share = RUNNING if _are_run(layered, question, running) else 0
        run = replace(running, search=kept_share(running.search, share))
        return with_layers_run(_solved(solve, layered, question, run), budget)


def _solved(
    solve: SolveNetwork, network: Network, question: Question, running: RunOptions
) -> NetworkResult:
    """The answer by the closed form, beside that without a restriction."""
    budget, free = Budget(running.search), question.unrestricted
    run = replace(running, search=kept_share(budget.options, COMPARING if free is not None else 0))
    answer = solve(network, question, run)
    if free is None or answer.value is None or running.search.stopped:
        return answer
    other = solve(network, free, replace(run, search=budget.share()))
    if other.total is None or running.search.stopped:
        return answer
    compared = without_restriction(answer.value, other.total.value, other.total.certificate)
    return replace(answer, unrestricted=compared)


def _are_run(network: Network, question: Question, options: RunOptions) -> bool:
    """Whether layers are run after the search, of which the time is limited."""
    if options.search.time_limit is None:
        return False
    problems = question.pose(replace(network, layers=network.layers[:1]))[0].problems
    return any(profile_of(problem.design).runs for problem in problems)


@contextmanager
def _running(options: RunOptions, keeping: Keeping) -> Iterator[RunOptions]:
    """Options with what keeps results, tells how far the run is, and stops it."""
    with (
        keeping.store(options.search, conditions(options)) as store,
        searching("deriving designs", options.search) as (search, line),
    ):

        def report(state: NetworkProgress) -> None:
            failed = f" · {state.failed} failed" if state.failed else ""
            line.show(state.place + failed, state.progress, done=state.done, total=state.total)

        yield replace(options, search=search, store=store, report=report)


def _check_one_search(mode_name: str, method: str | None, results: object) -> None:
    """Refuse options that a mode could only ignore."""
    used = {
        "--method": method not in (None, "exact"),
        "--results": results is not None,
    }
    for option, wanted in used.items():
        if wanted:
            raise InputError(
                f"{option} does not go with --mode {mode_name}, which is "
                "one exact search over all layers"
            )


def _sharing(mode_name: str, arrays: int | None, minimise: str | None) -> tuple[int, Minimise]:
    """The number of arrays that share the budget, and the metric of theirs that is minimised."""
    own = ARRAY_MODES.get(mode_name)
    if own is None or not own.several:
        for option, text in (("--arrays", arrays), ("--minimise", minimise)):
            if text is not None:
                allowed = ", ".join(name for name, each in ARRAY_MODES.items() if each.several)
                raise InputError(
                    f"{option} does not go with --mode {mode_name}; "
                    f"allowed{' with' * bool(allowed)}: {allowed or f'without {option}'}"
                )
        return 1, Minimise.TOTAL
    if arrays is None:
        raise InputError(f"--mode {mode_name} needs --arrays N, how many arrays share the budget")
    what = parse_choice(
        "--minimise", minimise or Minimise.SLOWEST.value, [m.value for m in Minimise]
    )
    return parse_integer("--arrays", arrays, least=1), Minimise(what)
