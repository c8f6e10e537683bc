"""`ithaca.seed`: start populations for other search tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ithaca.commands.api.keywords import FamilyOptions, public
from ithaca.commands.api.live_line import note, tell
from ithaca.commands.api.opening import is_result, opened_layers
from ithaca.commands.api.options import (
    OBJECTIVE,
    Effort,
    Extents,
    LayerName,
    Objective,
    RandomSeed,
    Sizes,
)
from ithaca.commands.api.outputs import WRITTEN
from ithaca.commands.api.parsing import check_sizes, parse_extents
from ithaca.commands.api.points import points_of
from ithaca.commands.api.solving import answers
from ithaca.exports.layers import fresh_folder
from ithaca.files.answer import Wrote
from ithaca.files.clock import up
from ithaca.files.errors import InputError, NothingFoundError
from ithaca.files.messages import quoted
from ithaca.files.numbers import counted, number
from ithaca.files.signals import Interrupt
from ithaca.files.words import parse_choice, parse_integer
from ithaca.files.writing import check_writable, document_text, write_folder, write_text_atomically
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.formulations.problem import Problem
from ithaca.plugins.seeds.exports.diverse import SEARCHED, diverse_configurations
from ithaca.plugins.seeds.exports.for_nevergrad import nevergrad_candidates, nevergrad_text
from ithaca.plugins.seeds.exports.for_odyssey import odyssey_seeds, odyssey_text
from ithaca.plugins.seeds.exports.for_opentuner import opentuner_files
from ithaca.plugins.seeds.exports.for_optuna import optuna_study, optuna_text
from ithaca.plugins.seeds.exports.for_pymoo import pymoo_population, pymoo_text
from ithaca.plugins.seeds.exports.parameters import Seeds, parameter_space
from ithaca.results.files import result_document
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.result import Result
from ithaca.studies.network.parts import layer_result
from ithaca.studies.network.result import NetworkResult
from ithaca.workloads.nest import LoopNest

#: Tools whose seeds are one text file or a list, by name: the objects, and the text.
_TOOLS: Mapping[str, tuple[Callable[[Seeds], Any], Callable[[Seeds], str]]] = {
    "optuna": (optuna_study, optuna_text),
    "pymoo": (pymoo_population, pymoo_text),
    "nevergrad": (nevergrad_candidates, nevergrad_text),
    "odyssey": (odyssey_seeds, odyssey_text),
}

#: All of them: of OpenTuner files are many, and tables hold several designs.
TOOLS = ("optuna", "pymoo", "nevergrad", "opentuner", "odyssey", "csv")

#: More seeds than this are no start population any more.
MAX_COUNT = 10_000

#: Options that go with a result, too; all others it answers itself.
OF_RESULTS = frozenset(
    {
        "RESULT|WORKLOAD",
        "--to",
        "--output",
        "--count",
        "--dataflow",
        "--permutation",
        "--seed",
        "--layer",
        "--time-limit",
    }
)


def complete(start: str) -> tuple[str, ...]:
    """The tools, for shells."""
    return TOOLS


@public
def seed(
    source: Annotated[
        str | PathLike[str] | LoopNest | Result | NetworkResult,
        Argument(
            metavar="RESULT|WORKLOAD",
            help="A result file of solve or network, or a loop nest to solve.",
        ),
    ],
    to: Annotated[
        str,
        Option(
            "--to",
            "--for",
            metavar="TOOL",
            help="Tool to write for: optuna, pymoo, nevergrad, opentuner, odyssey or csv.",
        ),
    ],
    output: Annotated[
        str | Path | None,
        Option("-o", "--output", help="File to write; for opentuner, or a network, a folder."),
        WRITTEN,
    ] = None,
    *,
    layer: LayerName = None,
    count: Annotated[int, Option("--count", metavar="N", help="Number of seeds.")] = 10,
    sizes: Sizes = None,
    family: FamilyOptions,
    objective: Objective = OBJECTIVE,
    effort: Effort,
    seed: RandomSeed = 0,
    **extents: Extents,
) -> Any:
    """Find diverse, feasible configurations, a start population for another search tool.

    Without a file they are the tool's own objects: a study of optuna that has them enqueued, a list
    of nevergrad's candidates with their losses, a population of pymoo, dictionaries for OpenTuner
    and Odyssey, a table (csv) of pandas; of a network, by layer. With one, it is written, and the
    answer is a line on it. Raises `NothingFoundError` if there is no configuration to begin with.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> len(ithaca.seed(r, to="csv", count=3))
    3
    """
    wanted, first = parse_integer("--count", count, least=1), parse_integer("--seed", seed, least=0)
    parse_choice("--to", to, TOOLS)
    if wanted > MAX_COUNT:
        raise InputError(f"--count is {wanted}; allowed: at most {MAX_COUNT}")
    known: Result | NetworkResult | None = None
    if isinstance(source, Result | NetworkResult) or (
        not isinstance(source, LoopNest) and is_result(str(source))
    ):
        known = opened_layers(
            source if isinstance(source, Result | NetworkResult) else Path(source), layer
        )
    elif layer is not None:
        raise InputError(f"--layer is {quoted(layer)}; allowed with a network's result")
    budget = Budget(effort.options)
    if output is None:
        pass
    elif to != "opentuner" and not isinstance(known, NetworkResult):
        check_writable(output)
    elif Path(output).exists() and not Path(output).is_dir():
        what = (
            "OpenTuner reads one file per seed"
            if to == "opentuner"
            else "every layer gets a folder"
        )
        raise InputError(f"cannot write {output}: {what}; give the name of a folder")
    if known is not None:
        for option in sorted(
            ({*family.stated.values()} - OF_RESULTS) | ({"--sizes"} if extents else set())
        ):
            raise InputError(
                f"{option} cannot be given with a result, which states its own; "
                "allowed: --dataflow, --permutation, --seed, --time-limit"
            )
        if isinstance(known, NetworkResult):
            layers = dict[str, tuple[Result, _Grown]]()
            for left, each in zip(range(len(known.layers), 0, -1), known.layers, strict=True):
                name = each.layer.name
                alone = layer_result(known, each, name)
                origin = origin_of_result(alone, family.words)
                grown = _grown(origin, to, wanted, first, budget.share(left))
                layers[name] = alone, grown
                if output is not None:
                    tell(f"{name}: {grown.summary}")
            if output is not None:
                return _write_layers(layers, to, Path(output))
            return {name: grown.objects for name, (_, grown) in layers.items()}
        origin = origin_of_result(known, family.words)
    else:
        assert not isinstance(source, Result | NetworkResult)
        own = parse_extents(sizes, extents)
        nest = family.nest(source, own)
        question = family.question(source, objective)
        problems = question.problems(nest)
        check_sizes(source, nest, own)
        for line in question.remarks(nest):
            note(line)
        search = budget.part(SEARCHED)
        result = answers(question.place, [problems], search, effort.workers)[0]
        if result.best is None:
            raise NothingFoundError(result.failure)
        assert result.best.configuration is not None
        origin = Origin(result.best.problem, result.best.configuration)
    seeds = _grown(origin, to, wanted, first, budget.share())
    if output is None:
        return seeds.objects
    if to == "opentuner":
        write_folder(output, seeds.files)
    else:
        write_text_atomically(output, next(iter(seeds.files.values())))
    return Wrote(output, seeds.summary)


@dataclass(frozen=True)
class Origin:
    """The origin of seeds: a problem, and the configuration to begin with."""

    problem: Problem
    """The design, with limits and objective."""
    configuration: Configuration
    """The configuration to begin with."""
    others: tuple[tuple[Design, Configuration], ...] = ()
    """Configurations of other designs of the same result; only a table can hold them."""


def origin_of_result(result: Result, words: Mapping[str, Any]) -> Origin:
    """The best configuration of a result, among the designs that options ask for.

    Raises `InputError` if it holds no such configuration.
    """
    solutions = [s for s in result.solutions if s.configuration is not None]
    chosen = [s for s in solutions if not words or s.profile.meets(words)]
    if not chosen:
        held = "; ".join(dict.fromkeys(s.design for s in solutions)) or "none"
        raise InputError(
            f"{result.source} holds no configuration of the design asked for; it has: {held}"
        )
    best = min(chosen, key=lambda s: s.value or 0)
    assert best.configuration is not None
    others = tuple(
        (s.problem.design, s.configuration)
        for s in solutions
        if s.configuration and s.design != best.design
    )
    return Origin(best.problem, best.configuration, () if words else others)


@dataclass(frozen=True)
class _Grown:
    """Seeds grown for a tool."""

    tool: str
    seeds: Seeds
    others: Sequence[tuple[Design, Configuration]]
    """Configurations of other designs, of a table."""

    @property
    def summary(self) -> str:
        """The seeds in a line."""
        problem = self.seeds.space.problem
        what = name_asked(problem.objective.text)
        values = [
            as_asked(problem.objective.text, problem.value(configuration))[1]
            for configuration in self.seeds.configurations
        ]
        span = number(min(values))
        span += f" to {number(max(values))}" if max(values) > min(values) else ""
        total = len(values) + len(self.others)
        more = f" (and {len(self.others)} of other designs)" if self.others else ""
        design = problem.design.name + more
        return f"{total} seeds for {self.tool}, design {design}, {what} {span}"

    @property
    def objects(self) -> Any:
        """The seeds as objects of the tool."""
        if self.tool == "opentuner":
            return [*self.seeds.parameters]
        if self.tool != "csv":
            return _TOOLS[self.tool][0](self.seeds)
        import pandas as pd

        return pd.read_csv(StringIO(self._table))

    @property
    def files(self) -> Mapping[str, str]:
        """The seeds as files by name, a single one apart from OpenTuner's."""
        if self.tool == "opentuner":
            return opentuner_files(self.seeds)
        if self.tool == "csv":
            return {"seeds.csv": self._table}
        return {"seeds.json": _TOOLS[self.tool][1](self.seeds)}

    @property
    def _table(self) -> str:
        design = self.seeds.space.problem.design
        first, *rest = ((design, configuration) for configuration in self.seeds.configurations)
        return str(points_of(design.family).text([first, *self.others, *rest]))


def _write_layers(layers: Mapping[str, tuple[Result, _Grown]], tool: str, output: Path) -> Wrote:
    """A folder for every layer: its seeds, and the result that they were grown from."""
    files: dict[str, str] = {}
    folders: list[str] = []
    for name, (alone, grown) in layers.items():
        folders.append(fresh_folder(name, folders))
        kept = document_text(result_document(alone))
        own = {**grown.files, "result.json": kept}
        files |= {f"{folders[-1]}/{file}": text for file, text in own.items()}
    write_folder(output, files)
    many = counted(len(folders), "layer")
    return Wrote(output, f"seeds for {tool} of {many}, each in a folder with its result")


def _grown(origin: Origin, tool: str, count: int, seed: int, options: SolveOptions) -> _Grown:
    """Grow seeds.

    Parameters
    ----------
    origin : Origin
        The configurations that seeds are grown from.
    tool : str
        What takes them.
    count : int
        How many are wanted.
    seed : int
        Fixes what chance decides.
    options : SolveOptions
        How long to search for more of them.
    """
    within = Budget(options)
    with Interrupt() as interrupt:
        stop = replace(options, stop=interrupt)
        others = origin.others[: count - 1] if tool == "csv" else ()
        own = count - len(others)
        configurations = diverse_configurations(
            origin.problem, own, seed, stop, known=(origin.configuration,)
        )
    total = len(configurations) + len(others)
    if total < count:
        why = "no more feasible configurations were found"
        if interrupt() or within.up or up():
            why = "interrupted" if interrupt() else "time was over"
        tell(f"only {total} of {count} seeds: {why}")
    return _Grown(tool, Seeds(parameter_space(origin.problem), configurations), others)
