"""How options are declared: those that several commands share, once each, and what holds for all of them.

A command lists its options in its signature, with their defaults; a parameter that is a group (`SearchOptions`,
`ProblemOptions`) stands for all options of the group. `as_typed` makes a typer function of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from typer import Argument, Context, Option
from typer.models import ArgumentInfo

from ithaca.api.parsing import parse_integer, parse_search, parse_sizes
from ithaca.solver.options import SolveOptions
from ithaca.workloads.errors import InputError

if TYPE_CHECKING:
    from ithaca.api.request import Request

#: What is minimised unless the command line says otherwise.
OBJECTIVE = "latency"

#: Marks a file or folder that a command writes.
WRITTEN = "written"


class Given(frozenset[str]):
    """The options that were typed, such as ``--platform``."""


Workload = Annotated[str, Argument(help="Name of a loop nest (ithaca list workloads).")]
Sizes = Annotated[list[str] | None, Option("--sizes", "-s", help="Extents, e.g. i=1024,j=1024,k=1024.")]
DType = Annotated[str, Option("--dtype", help="fp32, int16 or int8.")]
Edition = Annotated[str, Option("--edition", help="Model edition: exact, or odyssey: the published estimator to the digit.")]
Objective = Annotated[str, Option("--objective", help="What to minimise: an expression over metrics.")]
Method = Annotated[str, Option("--method", help="auto, exact, cpsat, gp, nlp or evolve.")]
TimeLimit = Annotated[str | None, Option("--time-limit", metavar="S", help="Seconds for the whole run.")]
RandomSeed = Annotated[str, Option("--seed", metavar="N", help="Seed of the random numbers.")]
Results = Annotated[
    Path | None, Option("--results", metavar="DIR", help="Folder to keep results in; what it holds is not solved again.")
]
ResultFile = Annotated[Path, Argument(help="A result as written by solve -o.")]
Quick = Annotated[bool, Option("--quick", help="Leave out what has to be solved again.")]
AsJson = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]
Output = Annotated[Path | None, Option("-o", "--output", help="Write the result (JSON) to this file."), WRITTEN]


@dataclass(frozen=True)
class Effort:
    """How long to search, and how many at a time."""

    time_limit: TimeLimit = None
    threads: Annotated[
        str, Option("--threads", metavar="N", help="How many to solve at a time, beyond 1 in processes of their own.")
    ] = "1"

    @property
    def options(self) -> SolveOptions:
        """Read but for the threads."""
        return parse_search(self.time_limit)

    @property
    def workers(self) -> int:
        """The threads, read."""
        return parse_integer("--threads", self.threads, least=1)


@dataclass(frozen=True)
class SearchOptions(Effort):
    """How far to search."""

    gap: Annotated[
        str, Option("--gap", metavar="G", help="Relative gap at which a search counts as done; 0 asks for a proof.")
    ] = "0"
    seed: Annotated[str, Option("--seed", metavar="N", help="Seed of randomised methods; the exact engine needs none.")] = "0"

    @property
    def options(self) -> SolveOptions:
        """Read but for the threads."""
        return parse_search(self.time_limit, self.gap, self.seed)


@dataclass(frozen=True)
class ProblemOptions:
    """The options of all commands that pose problems."""

    platform: Annotated[str, Option("--platform", help="Name of a platform, or a path to a file of your own.")] = "u250"
    dtype: DType = "fp32"
    limit: Annotated[
        list[str] | None,
        Option("--limit", help="Upper limits, e.g. dsp=8601,latency*dsp<=1e9; they replace the platform's."),
    ] = None
    dataflow: Annotated[str | None, Option("--dataflow", help="Loops mapped to space, e.g. i,j; default: the best.")] = None
    permutation: Annotated[
        str | None, Option("--permutation", help="Tensor whose reuse loops are innermost; default: the best.")
    ] = None
    edition: Edition = "exact"
    include_unbuildable: Annotated[
        bool, Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")
    ] = False
    min_lanes: Annotated[str, Option("--min-lanes", metavar="N", help="Fewest PEs along each space loop.")] = "1"
    divisors_only: Annotated[
        bool, Option("--divisors-only", help="Let array partitioning factors divide the extents (no padding).")
    ] = False

    def read(self, objective: str) -> dict[str, Any]:
        """What they say and the objective, as `Request` and networks' requests take it."""
        from ithaca.api.request import read

        return read(self, objective)

    def request(
        self, workload: str, sizes: Sequence[str] | None = None, objective: str = OBJECTIVE, descriptor: Path | None = None
    ) -> Request:
        """What is asked of a workload. Raises `InputError` if something does not fit."""
        from ithaca.api.request import Request
        from ithaca.workloads.library import workload as find_workload

        return Request(find_workload(workload, parse_sizes(sizes or [])), **self.read(objective), descriptor=descriptor)


def as_typed(command: Callable[..., object]) -> Callable[..., object]:
    """A command as typer takes it.

    Groups are taken apart into their options. A path may not be empty, and no two files to write may be one.
    """
    hints, declared, groups = get_type_hints(command, include_extras=True), [], {}
    for parameter in signature(command).parameters.values():
        hint = hints[parameter.name]
        if is_dataclass(hint):
            groups[parameter.name] = [field.name for field in fields(hint)]
            own = get_type_hints(hint, include_extras=True)
            declared += [(field.name, own[field.name], field.default) for field in fields(hint)]
        elif hint is not Given:
            declared.append((parameter.name, hint, parameter.default))
    spelled = {name: _spelled(name, hint) for name, hint, _ in declared}
    paths = [name for name, hint, _ in declared if _is_path(hint)]
    written = [name for name, hint, _ in declared if WRITTEN in get_args(hint)]

    @wraps(command)
    def run(context: Context, **words: Any) -> object:
        for name in paths:
            if words[name] is not None:
                words[name] = _path(spelled[name], words[name])
        _refuse_one_file({spelled[name]: words[name] for name in written if words[name] is not None})
        typed = [name for name in words if str(getattr(context.get_parameter_source(name), "name", "")) == "COMMANDLINE"]
        for name, hint in hints.items():
            if hint is Given:
                words[name] = Given(spelled[each] for each in typed)
            elif name in groups:
                words[name] = hint(**{each: words.pop(each) for each in groups[name]})
        return command(**words)

    parameters = [Parameter("context", Parameter.KEYWORD_ONLY, annotation=Context)]
    parameters += [Parameter(n, Parameter.KEYWORD_ONLY, default=d, annotation=_typed(hint)) for n, hint, d in declared]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _info(hint: Any) -> Any:
    """The typer declaration in an annotation."""
    return get_args(hint)[1]


def _is_path(hint: Any) -> bool:
    kind = get_args(hint)[0]
    return kind is Path or Path in get_args(kind)


def _spelled(name: str, hint: Any) -> str:
    """How a parameter is written, as error messages say it."""
    info = _info(hint)
    if isinstance(info, ArgumentInfo):
        return str(info.metavar or name).upper()
    return next(word for word in map(str, (info.default, *(info.param_decls or ()))) if word.startswith("--"))


def _typed(hint: Any) -> Any:
    """An annotation for typer, which would make the current folder of an empty path."""
    if not _is_path(hint):
        return hint
    info = copy(_info(hint))
    if not isinstance(info, ArgumentInfo):
        info.metavar = info.metavar or "PATH"
    return Annotated[str if get_args(hint)[0] is Path else str | None, info]


def _path(option: str, text: str) -> Path:
    if not text:
        raise InputError(f"{option} is empty; allowed: the name of a file or folder")
    return Path(text)


def _refuse_one_file(written: dict[str, Path]) -> None:
    """Refuse that one file written replaces another; devices and pipes take several."""
    places: dict[Path, str] = {}
    for option, path in written.items():
        place = Path(os.path.realpath(path))
        if place in places and (path.is_file() or not path.exists()):
            raise InputError(f"{option} is '{path}', like {places[place]}; allowed: another file")
        places[place] = option
