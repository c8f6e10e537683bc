"""`ithaca.map`: the proven-best mapping of a problem onto a memory hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Annotated, ClassVar

from typer import Option

from ithaca.commands.api.answers import Result
from ithaca.commands.api.keywords import Given, public
from ithaca.commands.api.live_line import LiveLine, note
from ithaca.commands.api.mapped_layers import MappedLayers
from ithaca.commands.api.options import (
    REPEATED,
    Extents,
    HierarchyOptions,
    Method,
    Objective,
    ProblemOptions,
    SearchOptions,
    Sizes,
)
from ithaca.commands.api.parsing import parse_choice, parse_engines, parse_extents, parse_limits
from ithaca.commands.api.request import Request, nest_provenance, read_nest, request_of_array
from ithaca.files.errors import InputError
from ithaca.files.signals import Interrupt
from ithaca.formulations import problem as problems
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.families import profile_of
from ithaca.formulations.platform import Bound, Share
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.constraints import NONE, read_constraints
from ithaca.formulations.spatial.editions import EDITIONS, TIMELOOP, Setting
from ithaca.formulations.spatial.library import (
    architecture_names,
    find_architecture,
    fitted,
    keeps_of,
    namesake,
)
from ithaca.formulations.spatial.mapping_design import mapping_design
from ithaca.formulations.spatial.mapping_space import MappingOptions
from ithaca.formulations.target import Target
from ithaca.solver.engines import Method as Engine
from ithaca.solver.options import Budget, SolveOptions
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.solution import best_solution
from ithaca.solver.verification import prove_again
from ithaca.workloads.layer_files import read_layers
from ithaca.workloads.nest import LoopNest, Stored

#: What is minimised unless something else is asked for, as Timeloop's mapper does.
OBJECTIVE = "edp"

Limits = Mapping[str, float | str | None] | Sequence[str] | None


@dataclass(frozen=True)
class Question:
    """What is asked of mappings of any nest onto an architecture."""

    architecture: Architecture
    """As it is written: tensors by role, perhaps."""
    edition: str
    """Edition of the model."""
    options: MappingOptions
    """Which mappings are allowed."""
    objective: str | problems.Objective
    """What is minimised."""
    limits: Mapping[str, Bound]
    """Upper limits."""
    constraints: str | Path | None = None
    """A constraints file."""
    of_library: bool = True
    """Whether the architecture is one that comes with Ithaca, or was made in Python."""
    like: str | None = None
    """The library's architecture that says what levels keep, as the file does not."""

    def remark(self) -> None:
        """Say on stderr what a file of Timeloop's leaves open and is taken to mean."""
        if self.of_library or self.edition != TIMELOOP or len(self.architecture.levels) == 1:
            return
        silent = all(level.keeps is None for level in self.architecture.levels)
        if (
            (silent or self.like is not None)
            and self.constraints is None
            and not self.options.free_bypass
        ):
            say = (
                "--constraints fixes what passes by, --bypass free leaves "
                "it open, as timeloop-mapper does"
            )
            what = f"{self.architecture.name} does not say which tensors its levels keep"
            taken = (
                "every level keeps every tensor"
                if self.like is None
                else f"they keep what they keep in Ithaca's {self.like}"
            )
            note(f"{what}, so {taken}; {say}")

    def designs(self, nest: LoopNest, memory: Stored = ()) -> tuple[Design, ...]:
        """The mappings of a nest, of each way to run it; its tensors may have extents in ``memory``
        of their own.

        Raises `InputError` if nest, architecture and constraints do not fit each other.
        """
        architecture, asked = fitted(self.architecture, nest), NONE
        if self.constraints is not None:
            asked = read_constraints(Path(self.constraints), architecture, nest)
        found = Setting(architecture, nest, self.edition, self.options, asked, memory).designs
        if self.edition == TIMELOOP and not self.options.free_bypass:
            _check_room(found[0], nest)
        return found

    def problems(self, nest: LoopNest, memory: Stored = ()) -> tuple[Problem, ...]:
        """The problems that these pose."""
        return tuple(self.problem(design) for design in self.designs(nest, memory))

    def problem(self, design: Design) -> Problem:
        """The problem that a design poses. Raises `InputError` if it lacks a metric."""
        known = design.vocabulary
        objective = self.objective
        text = objective.text if isinstance(objective, problems.Objective) else objective
        limits = []
        for name, bound in self.limits.items():
            parse_expression(name, where="--limit", allowed=known)
            if bound is None or isinstance(bound, Share):
                raise InputError(
                    f"--limit: '{name}' is no number; allowed: one, as "
                    "architectures have none of their own"
                )
            limits.append(Limit(name, bound))
        expression = parse_expression(text, where="--objective", allowed=known)
        return Problem(design, tuple(limits), problems.Objective(text, expression))


def _check_room(design: Design, nest: LoopNest) -> None:
    """Refuse levels in which not even a word of every tensor has room: no mapping fits."""
    found = mapping_design(design)
    keeps = found.mapping(dict.fromkeys(found.space.quantities, 1)).keeps
    for level in found.architecture.levels:
        kept = [access.tensor for access in nest.accesses if access.tensor in keeps[level.name]]
        if level.words is not None and level.usable(level.words) < len(kept):
            usable, needed = (
                level.usable(level.words),
                f"a word of each tensor that it keeps, {', '.join(kept)}",
            )
            what = (
                f"{level.name} has room for {usable} words; allowed: at least {len(kept)}, {needed}"
            )
            raise InputError(f"{found.architecture.name}: {what} (see --constraints and --bypass)")


@dataclass(frozen=True)
class MappedRequest(Question):
    """What is asked of the mappings of one nest; studies vary its fields."""

    nest: LoopNest = field(kw_only=True)
    """The nest."""

    several: ClassVar[str] = "several architectures"
    target: ClassVar[Target | None] = None

    @property
    def title(self) -> str:
        """Workload, edition and architecture in one line."""
        return f"{profile_of(self.designs(self.nest)[0]).title}, on {self.architecture.name}"

    @property
    def vocabulary(self) -> Mapping[str, Metric]:
        """The metrics of all mappings."""
        return self.designs(self.nest)[0].vocabulary

    def timed(self, regime: str | None, sums: str | None) -> MappedRequest:
        """The same: options of machines go with arrays alone."""
        return self

    @property
    def posed(self) -> tuple[Problem, ...]:
        """What is to be solved. Raises `InputError` if nest, architecture, constraints and metrics
        do not fit each other."""
        return self.problems(self.nest)

    @property
    def provenance(self) -> dict[str, str]:
        """What is asked, for the attributes of a Dataset."""
        return nest_provenance(self.nest) | {
            "arch": self.architecture.name,
            "edition": self.edition,
        }


def request_of(
    workload: str | PathLike[str] | LoopNest,
    sizes: Mapping[str, int],
    asked: ProblemOptions,
    hierarchy: HierarchyOptions,
    objective: str | problems.Objective,
    given: Given,
) -> Request | MappedRequest:
    """What the options of a command for arrays and architectures alike ask of a workload."""
    if not on_hierarchy(given):
        return request_of_array(asked, workload, sizes, objective)
    question = question_of(hierarchy, asked, objective, given)
    known = {each.name: getattr(question, each.name) for each in fields(question)}
    return MappedRequest(**known, nest=read_nest(workload, sizes))


def read_edition(given: str) -> str:
    """The name of an edition of the model. Raises `InputError` if it is none."""
    return parse_choice("--edition", given, tuple(EDITIONS))


def question(
    hierarchy: HierarchyOptions,
    edition: str,
    objective: str | problems.Objective,
    limit: Limits,
    *,
    divisors_only: bool,
) -> Question:
    """What options ask. Raises `InputError` if there is no architecture."""
    given = hierarchy.arch
    if given is None:
        raise InputError(
            "--arch is missing; allowed: the name of a memory hierarchy, or "
            "a path (ithaca list architectures)"
        )
    found = given if isinstance(given, Architecture) else find_architecture(str(given))
    options = MappingOptions(
        divisors_only,
        parse_choice("--bypass", hierarchy.bypass, ("fixed", "free")) == "free",
        parse_choice("--fanout", hierarchy.fanout, ("mesh", "parent")) == "parent",
    )
    named = read_edition(edition)
    of_library = isinstance(given, Architecture) or str(given) in architecture_names()
    open_ = of_library or options.free_bypass or hierarchy.constraints is not None
    like = None if open_ else namesake(found)
    return Question(
        found.keeping(keeps_of(like)),
        named,
        options,
        objective,
        parse_limits(limit or []),
        hierarchy.constraints,
        of_library,
        None if like is None else like.name,
    )


#: Options that go with --arch alone, and those that speak of arrays.
OF_HIERARCHIES = frozenset({"--arch", "--constraints", "--bypass", "--fanout"})
OF_ARRAYS = frozenset(
    {
        "--platform",
        "--dtype",
        "--dataflow",
        "--permutation",
        "--include-unbuildable",
        "--min-lanes",
        "--regime",
        "--sums",
    }
    | {"--for", "--descriptor", "--start", "--mode", "--arrays", "--minimise"}
)


def on_hierarchy(given: Given) -> bool:
    """Whether what is asked is to run on a memory hierarchy. Raises `InputError` if options
    contradict each other in that."""
    if "--arch" in given:
        if other := min(given & OF_ARRAYS, default=None):
            raise InputError(
                f"{other} does not go with --arch; allowed: without it, "
                "as it speaks of systolic arrays"
            )
    elif other := min(given & OF_HIERARCHIES, default=None):
        raise InputError(f"{other} goes with --arch only; allowed: with it")
    return "--arch" in given


def question_of(
    hierarchy: HierarchyOptions,
    asked: ProblemOptions,
    objective: str | problems.Objective,
    given: Given,
) -> Question:
    """What the options of a command for arrays and architectures alike ask."""
    text = objective if "--objective" in given else OBJECTIVE
    return question(
        hierarchy, asked.edition or TIMELOOP, text, asked.limit, divisors_only=asked.divisors_only
    )


def solve_nest(
    nest: LoopNest,
    asked: Question,
    options: SolveOptions,
    engine: Engine = Engine.AUTO,
    second: Engine | None = None,
) -> Result:
    """The best mapping of a nest."""
    posed = asked.problems(nest)
    asked.remark()
    return solve_mappings([posed], asked.architecture.name, options, engine, second)[0]


def solve_mappings(
    posed: Sequence[Sequence[Problem]],
    architecture: str,
    options: SolveOptions,
    engine: Engine = Engine.AUTO,
    second: Engine | None = None,
) -> tuple[Result, ...]:
    """Search the mappings of several nests within one time limit, some of each before proofs;
    Ctrl-C ends with what is known.

    Raises `DisagreementError` if the two engines contradict each other.
    """
    problems = [problem for designs in posed for problem in designs]
    rivals = [place for place, designs in enumerate(posed) for _ in designs]
    with (
        Interrupt() as interrupt,
        LiveLine("laying out loops", [problem.design.name for problem in problems]) as line,
    ):
        bounded = Budget(replace(options, stop=interrupt)).share()
        found = solve_designs(
            problems,
            bounded,
            method=engine,
            rivals=rivals,
            report=line.report,
            finished=line.finished,
        )
        if second is not None:
            found = tuple(prove_again(solution, second, bounded) for solution in found)
    own = [
        [s for s, rival in zip(found, rivals, strict=True) if rival == place]
        for place in range(len(posed))
    ]
    return tuple(Result(architecture, best_solution(each), tuple(each)) for each in own)


@public
def map(
    problem: Annotated[
        str | PathLike[str] | LoopNest | None,
        Option(
            "--problem",
            metavar="FILE|NAME",
            help="Timeloop's problem file, or a loop nest (ithaca list workloads).",
        ),
    ] = None,
    *,
    problems: Annotated[
        str | PathLike[str] | None,
        Option(
            "--problems",
            metavar="CSV",
            help="Layers, one a row: columns kind (conv, dw, gemm), extents, stride, tensors.",
        ),
    ] = None,
    sizes: Sizes = None,
    hierarchy: HierarchyOptions,
    edition: Annotated[
        str,
        Option("--edition", help="Model edition: timeloop, dmazerunner, explainable or intrinsic."),
    ] = TIMELOOP,
    objective: Objective = OBJECTIVE,
    limit: Annotated[
        Limits,
        Option("--limit", help="Upper limits on metrics, e.g. energy=1e9,pes=128,DRAM.energy=2e8."),
        REPEATED,
    ] = None,
    divisors_only: Annotated[
        bool, Option("--divisors-only", help="Let factors divide the extents (no padding).")
    ] = False,
    method: Method = "auto",
    prove_with: Annotated[
        str | Sequence[str] | None,
        Option(
            "--prove-with",
            metavar="A,B",
            help="Two engines to prove with, e.g. staged,cpsat; they must agree.",
        ),
    ] = None,
    search: SearchOptions,
    **extents: Extents,
) -> Result | MappedLayers:
    """Find the best mapping of a problem, or of every layer of a file, onto a memory hierarchy, and
    prove it."""
    if problem is None and problems is None:
        raise InputError(
            "--problem is missing; allowed: Timeloop's problem file, or a "
            "loop nest (ithaca list workloads)"
        )
    engine, second = parse_engines(method, prove_with)
    asked = question(hierarchy, edition, objective, limit, divisors_only=divisors_only)
    if problem is None or problems is not None:
        if problem is not None or sizes or extents:
            raise InputError(
                "--problems is given beside another problem or its sizes; allowed: one of them"
            )
        posed = [asked.problems(row.nest, row.stored) for row in read_layers(str(problems))]
        return MappedLayers(
            solve_mappings(posed, asked.architecture.name, search.options, engine, second)
        )
    return solve_nest(
        read_nest(problem, parse_extents(sizes, extents)),
        asked,
        search.options,
        engine,
        second,
    )
