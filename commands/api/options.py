"""The options that several functions and commands share, declared once each (see
`ithaca.commands.api.keywords`).

Their types are those of Python; all but flags may be words, too, as the command line passes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ithaca.commands.api.live_line import note
from ithaca.commands.api.parsing import parse_search
from ithaca.files.answer import Answer
from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.registry import Registry
from ithaca.files.words import REPEATED, parse_integer
from ithaca.formulations import problem as problems
from ithaca.solver.options import SolveOptions
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    from ithaca.studies.store import Store

#: What is minimised, unless a family says otherwise.
OBJECTIVE = "latency"


#: The names of engines, for help, but for that which few need.
METHODS = ", ".join(name for name in Registry[object]("engines") if name != "enumeration")


Workload = Annotated[
    str | PathLike[str] | LoopNest,
    Argument(
        help="Name of a loop nest (ithaca list workloads), its file, "
        "or 'C[i,j] += A[i,k] * B[k,j]'."
    ),
]
Sizes = Annotated[
    Mapping[str, int] | Sequence[str] | None,
    Option(
        "--sizes", "-s", metavar="LOOP=N,...", help="Extents of loops, e.g. i=1024,j=1024,k=1024."
    ),
    REPEATED,
]
Extents = Annotated[int, "by name"]
Objective = Annotated[
    str | problems.Objective,
    Option("--objective", help="Metric or expression to minimise; throughput is maximised."),
]
Method = Annotated[str, Option("--method", help=f"Search method: {METHODS}.")]
SteadyMethod = Annotated[
    str | None,
    Option(
        "--method",
        help=f"Search method: {METHODS}. Default: exact (under a time limit auto).",
    ),
]
ProveWith = Annotated[
    str | Sequence[str] | None,
    Option(
        "--prove-with",
        metavar="A,B",
        help="Two engines to prove with, e.g. exact,enumeration; they must agree.",
    ),
]
TimeLimit = Annotated[
    float | None,
    Option("--time-limit", metavar="TIME", help="Time for the whole run: seconds, or 10m, 2h."),
]
RandomSeed = Annotated[int, Option("--seed", help="Seed of the random numbers.")]
LayerPatterns = Annotated[
    Sequence[str] | None,
    Option(
        "--layers",
        metavar="PATTERN",
        help="Only layers of this name or kernel, e.g. conv2d or 'conv3_*' (repeatable).",
    ),
    REPEATED,
]
Fuse = Annotated[
    bool,
    Option("--fuse", help="Keep tensors between layers on chip wherever that pays."),
]
Scheduler = Annotated[
    str | None,
    Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Dask scheduler to solve on, e.g. tcp://host:8786; local starts one here.",
    ),
]
ResultFile = Annotated[str | Path | Answer, Argument(metavar="FILE", help="A result file.")]
LayerName = Annotated[
    str | None, Option("--layer", metavar="NAME", help="Only this layer of a network's result.")
]
Quick = Annotated[bool, Option("--quick", help="Skip what would need further solving.")]
Loops = Annotated[bool, Option("--loops", help="Print the mapping as a loop nest, too.")]


@dataclass(frozen=True)
class Effort:
    """Options of how long to search, and how many problems at a time."""

    time_limit: TimeLimit = None
    threads: Annotated[
        int,
        Option("--threads", help="Number of parallel worker processes."),
    ] = 1

    @property
    def options(self) -> SolveOptions:
        """Read but for the threads."""
        return parse_search(self.time_limit)

    @property
    def workers(self) -> int:
        """The number of threads as an integer, at least 1."""
        return parse_integer("--threads", self.threads, least=1)

    def on(self, scheduler: str | None) -> int:
        """The threads, where there may be a scheduler. Raises `InputError` if they contradict
        it."""
        if scheduler not in (None, "local") and self.workers != 1:
            what = f"--threads does not go with --scheduler {quoted(scheduler)}"
            raise InputError(f"{what}; allowed: 1, as its workers decide how many are solved")
        return self.workers


@dataclass(frozen=True)
class SearchOptions(Effort):
    """Options of how far to search."""

    gap: Annotated[
        float,
        Option(
            "--gap",
            metavar="G",
            help="Stop at this relative gap, e.g. 1%; 0 asks for a proof.",
        ),
    ] = 0
    seed: RandomSeed = 0

    @property
    def options(self) -> SolveOptions:
        """Read but for the threads."""
        return parse_search(self.time_limit, self.gap, self.seed)


@dataclass(frozen=True)
class Keeping:
    """Options of where results are kept, and of which of them are believed."""

    results: Annotated[
        str | Path | None,
        Option(
            "--results",
            metavar="FOLDER",
            help="Folder that keeps results; those in it are not solved again.",
        ),
    ] = None
    recheck: Annotated[
        int | str | None,
        Option(
            "--recheck",
            metavar="N|all",
            help="Prove the first N kept results (or all) again before using them.",
        ),
    ] = None
    trust_results: Annotated[
        bool,
        Option(
            "--trust-results",
            help="Use kept results that were made elsewhere or changed, and believe their proofs.",
        ),
    ] = False

    @contextmanager
    def store(
        self, search: SolveOptions, conditions: Sequence[str | int] = ()
    ) -> Iterator[Store | None]:
        """The folder as a store, and in the end a line on what became of its files; None without a
        folder.

        Raises `InputError` if an option needs one, or it cannot be used.
        """
        recheck = inf if self.recheck == "all" else 0.0
        if self.recheck not in (None, "all"):
            try:
                recheck = parse_integer("--recheck", self.recheck, least=1)
            except InputError as error:
                raise InputError(f"{error}, or all") from None
        if self.results is None:
            for option, value in (("--recheck", recheck), ("--trust-results", self.trust_results)):
                if value:
                    raise InputError(
                        f"{option} needs --results FOLDER, the folder that it speaks of"
                    )
            yield None
            return
        from ithaca.studies.store import Store, Trust

        trust = Trust(self.trust_results, recheck, search)
        with Store(Path(self.results), note, conditions, trust) as store:
            yield store
