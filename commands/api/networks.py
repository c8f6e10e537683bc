"""`ithaca.network`: every layer of a network solved, alone or on arrays that layers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Annotated

from typer import Argument, Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import LiveLine, note, searching
from ithaca.commands.api.network_options import NetworkOptions, parse_steady_method
from ithaca.commands.api.options import (
    OBJECTIVE,
    Extents,
    Keeping,
    Objective,
    Scheduler,
    SearchOptions,
    SteadyMethod,
)
from ithaca.commands.api.parsing import parse_extents, parse_method
from ithaca.files.errors import InputError
from ithaca.files.words import REPEATED
from ithaca.studies.network.asking import NetworkQuestion
from ithaca.studies.network.result import PER_LAYER, NetworkResult
from ithaca.studies.network.runner import NetworkProgress, RunOptions, conditions
from ithaca.workloads.networks.find import network_files


@public
def network(
    name: Annotated[
        str | PathLike[str] | Sequence[str | PathLike[str]],
        Argument(
            metavar="NAME|FILE",
            help=f"A network that comes with Ithaca, or a file: {network_files()}. "
            "Several share one machine, each as NAME or NAME@PHASE,SIZE=N:RUNS.",
        ),
        REPEATED,
    ],
    *,
    sizes: Annotated[
        dict[str, int] | Sequence[str] | None,
        Option(
            "--sizes",
            "-s",
            metavar="NAME=N,...",
            help="Parameters of the network, e.g. batch=1,image=224.",
        ),
        REPEATED,
    ] = None,
    weights: Annotated[
        str | Sequence[int] | None,
        Option(
            "--weights",
            metavar="N,...",
            help="How often each of several networks runs, e.g. 1,16; else each states its RUNS.",
        ),
    ] = None,
    shared: NetworkOptions,
    all_designs: Annotated[
        bool,
        Option(
            "--all-designs",
            help="Prove the optimum of every design, not of the best alone.",
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
    """Solve all layers of a network, alone or together, and prove the total.

    Examples
    --------
    >>> ithaca.network("vgg16", layers=["fc8"], dataflow="i,j", divisors_only=True).total.value
    Fraction(256683, 1)
    """
    kind = family.kind()
    engine = parse_method(method or "auto")
    if kind.steady:
        engine = parse_steady_method(method, search.time_limit)
    if all_designs and (shared.mode != PER_LAYER or shared.fuse):
        other = f"--mode {shared.mode}" if shared.mode != PER_LAYER else "--fuse"
        raise InputError(f"--all-designs does not go with {other}; allowed: --mode {PER_LAYER}")
    options = RunOptions(engine, search.options, search.on(scheduler), scheduler)
    options = replace(options, best_only=not all_designs)
    shared.check_mode(shared.mode, method, keeping)
    question = shared.question(family, objective)
    extents = parse_extents(sizes, shared.sizes | parameters)
    network = shared.network(name, extents, formats=family.words.get("format"), weights=weights)
    for line in (*network.remarks, *question.remarks(None)):
        note(line)
    with running_networks(options, keeping) as run:
        return NetworkQuestion(network, question, shared.mode, shared.fuse).answer(run)


@contextmanager
def running_networks(options: RunOptions, keeping: Keeping) -> Iterator[RunOptions]:
    """Options with what keeps results, tells how far the run is, and stops it."""
    with (
        keeping.store(options.search, conditions(options)) as store,
        searching("deriving designs", options.search) as (search, line),
    ):
        yield replace(options, search=search, store=store, report=progress_on(line))


def progress_on(line: LiveLine) -> Callable[[NetworkProgress], None]:
    """A function that shows the progress of a run on a line."""

    def report(state: NetworkProgress) -> None:
        failed = f" · {state.failed} failed" if state.failed else ""
        line.show(state.place + failed, state.progress, done=state.done, total=state.total)

    return report
