"""What is asked to be solved: read from options, turned into problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from ithaca.commands.api.live_line import note
from ithaca.commands.api.options import (
    EDITION,
    OBJECTIVE,
    UNBUILDABLE_EDITION,
    ProblemOptions,
    TargetedOptions,
)
from ithaca.commands.api.parsing import (
    parse_choice,
    parse_counts,
    parse_edition,
    parse_integer,
    parse_limits,
    parse_loops,
    parse_sizes,
    parse_target,
)
from ithaca.exports.autosa.requirements import data_obstacles, design_obstacles, nest_obstacles
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.data_types import DataType, data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.machine import LETTERS, REGIMES, Machine, Sums
from ithaca.formulations.platform import Bound, Platform
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.systolic.derivation import choose_designs, hanging_text
from ithaca.formulations.systolic.design import SpaceOptions, systolic_problem
from ithaca.formulations.systolic.metrics import METRICS, parse_limit, parse_objective
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.formulations.target import Target
from ithaca.solver.options import SolveOptions
from ithaca.workloads.kernel_files import statement_nest
from ithaca.workloads.library import workload as find_workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import is_statement

#: Share of a time limit that is kept to find out what a restriction to what a compiler builds
#: costs.
COMPARING = 0.2


@dataclass(frozen=True)
class Request:
    """What is asked to be solved."""

    nest: LoopNest
    """Workload, data type and device."""
    data: DataType
    platform: Platform
    limits: Mapping[str, Bound]
    """Limits that replace or extend the platform's."""
    objective: Objective
    """What to minimise."""
    edition: Edition
    """Statement of the cost model."""
    dataflow: tuple[str, ...] | None = None
    """The dataflow; None for all."""
    permutation: str | None = None
    """The permutation; None for all."""
    descriptor: str | Path | None = None
    """A published description to solve instead of derived designs."""
    include_unbuildable: bool = False
    """Whether to consider designs that HLS cannot build."""
    space: SpaceOptions = field(default_factory=SpaceOptions)
    """Restrictions of the design space."""

    several: ClassVar[str] = "several platforms"
    vocabulary: ClassVar[Mapping[str, Metric]] = METRICS

    @property
    def target(self) -> Target | None:
        """The compiler that answers are for."""
        return self.space.target

    @property
    def title(self) -> str:
        """Workload, data type, platform and edition in one line."""
        what = f"{self.nest.name} ({self.nest.shown_sizes}) {self.data.name}, {self.platform.name}"
        return (
            f"{what}, {self.edition.value} model "
            f"edition{'' if self.target is None else f', for {self.target.title}'}"
        )

    def timed(self, regime: str | None, sums: str | None) -> Request:
        """The same on a machine as options say."""
        return replace(self, platform=timed(self.platform, Edition.CYCLE, regime, sums))

    @property
    def posed(self) -> tuple[Problem, ...]:
        """One problem per requested design."""
        limits, technology = (
            requested_limits(self.platform, self.limits),
            self.data.on(self.platform),
        )
        return tuple(
            systolic_problem(
                self.nest, array, self.data, limits, self.objective, self.space, technology
            )
            for array in requested_designs(self)
        )

    def remark(self) -> None:
        """Say which designs that can be built are not solved, as they may hang."""
        if self.edition is Edition.CYCLE and self.dataflow is None:
            solved = requested_designs(self)
            machine = replace(self.platform.technology.machine, sums=Sums.LAST)
            technology = replace(self.platform.technology, machine=machine)
            every = requested_designs(
                replace(self, platform=replace(self.platform, technology=technology))
            )
            if left_out := [array for array in every if array not in solved]:
                note(f"left out: {hanging_text(left_out)}")

    @property
    def provenance(self) -> dict[str, str]:
        """What is asked, for the attributes of a Dataset."""
        return nest_provenance(self.nest) | {
            "dtype": self.data.name,
            "platform": self.platform.name,
            "edition": self.edition.value,
            **({} if self.target is None else {"for": self.target.value}),
        }


def nest_provenance(nest: LoopNest) -> dict[str, str]:
    """What is asked of a nest, whatever it runs on."""
    sizes = ",".join(f"{loop}={n}" for loop, n in nest.sizes.items())
    return {"workload": nest.name, "statement": str(nest), "sizes": sizes}


def read_nest(
    workload: str | PathLike[str] | LoopNest, sizes: Mapping[str, int] | Sequence[str] | None = None
) -> LoopNest:
    """The loop nest that a name, a statement, an einsum or a path says, or that is given, with
    extents and parameters."""
    numbers = parse_sizes(sizes or {})
    if isinstance(workload, LoopNest):
        return workload.with_sizes(numbers)
    text = str(workload)
    return statement_nest(text, numbers) if is_statement(text) else find_workload(text, numbers)


def read_platform(given: str | PathLike[str] | Platform) -> Platform:
    """A platform, or the name or path of one."""
    return given if isinstance(given, Platform) else load_platform(str(given))


def read_data_type(given: str | DataType) -> DataType:
    """A data type, or the name of one."""
    return given if isinstance(given, DataType) else data_type(given)


def read_objective(given: str | Objective) -> Objective:
    """An objective, or the words of one."""
    return given if isinstance(given, Objective) else parse_objective(given)


def read(options: ProblemOptions, objective: str | Objective) -> dict[str, Any]:
    """What options and an objective say, as `Request` and networks' requests take it."""
    edition = parse_edition(
        options.edition or (UNBUILDABLE_EDITION if options.include_unbuildable else EDITION)
    )
    return {
        "data": read_data_type(options.dtype),
        "platform": timed(read_platform(options.platform), edition, options.regime, options.sums),
        "limits": parse_limits(options.limit or []),
        "objective": read_objective(objective),
        "edition": edition,
        "dataflow": parse_loops(options.dataflow),
        "permutation": options.permutation,
        "include_unbuildable": options.include_unbuildable,
        "space": SpaceOptions(
            parse_integer("--min-lanes", options.min_lanes, least=1),
            options.divisors_only,
            target=parse_target(options.target) if isinstance(options, TargetedOptions) else None,
        ),
    }


def request_of_array(
    options: ProblemOptions,
    workload: str | PathLike[str] | LoopNest,
    sizes: Mapping[str, int] | Sequence[str] | None = None,
    objective: str | Objective = OBJECTIVE,
    descriptor: str | Path | None = None,
) -> Request:
    """What is asked of a workload. Raises `InputError` if something does not fit."""
    return Request(read_nest(workload, sizes), **read(options, objective), descriptor=descriptor)


def timed(platform: Platform, edition: Edition, regime: str | None, sums: str | None) -> Platform:
    """A platform with its machine as options say."""
    for option, given in (("--regime", regime), ("--sums", sums)):
        if given is not None and edition is not Edition.CYCLE:
            raise InputError(
                f"{option} does not go with --edition {edition.value}; allowed: --edition cycle"
            )
    machine = changed_machine(platform.technology.machine, machine_changes(regime, sums=sums))
    return replace(platform, technology=replace(platform.technology, machine=machine))


def changed_machine(machine: Machine, changes: Mapping[str, Any]) -> Machine:
    """A machine with `machine_changes`."""
    try:
        return replace(machine, **changes)
    except InputError as error:
        raise InputError(f"--param: {error}") from None


def machine_changes(
    regime: str | None = None,
    param: Mapping[str, int] | Sequence[str] | None = None,
    fifo_depth: int | None = None,
    sums: str | None = None,
) -> dict[str, Any]:
    """What options change of a machine, by its fields."""
    changes: dict[str, Any] = {}
    if regime is not None:
        given = REGIMES[parse_choice("--regime", regime, list(REGIMES))]
        changes |= {name: getattr(given, name) for name in LETTERS.values()}
    for letter, count in parse_counts("--param", param, "d=1,m=8").items():
        changes[LETTERS[parse_choice("--param", letter, list(LETTERS))]] = count
    if fifo_depth is not None:
        changes["fifo_depth"] = parse_integer("--fifo-depth", fifo_depth, least=1)
    if sums is not None:
        changes["sums"] = Sums(parse_choice("--sums", sums, [each.value for each in Sums]))
    return changes


def restricted_share(options: SolveOptions, space: SpaceOptions) -> SolveOptions:
    """How far to search; where a compiler restricts the space, with time left to find out what that
    costs."""
    limit = options.time_limit
    return (
        options
        if space.target is None or limit is None
        else replace(options, time_limit=limit * (1 - COMPARING))
    )


def requested_designs(request: Request) -> tuple[SystolicArray, ...]:
    """The designs to solve.

    Raises `InputError` if none is left, the descriptor and the other options contradict each other,
    or the target can build nothing for the workload.
    """
    check_target(request.space.target, request.nest, request.data)
    if request.descriptor is not None:
        return (_described_design(request),)
    return choose_designs(
        request.nest,
        request.edition,
        request.dataflow,
        request.permutation,
        include_unbuildable=request.include_unbuildable,
        target=request.space.target,
        sums=request.platform.technology.machine.sums,
    )


def check_target(target: Target | None, nest: LoopNest, data: DataType) -> None:
    """Raises `InputError` if there is a target that can build nothing for a workload and a data
    type."""
    if target is not None and (reasons := (*data_obstacles(data), *nest_obstacles(nest))):
        raise InputError(
            f"--for {target.value}: {target.title} cannot build {nest.name}: {'; '.join(reasons)}"
        )


def _described_design(request: Request) -> SystolicArray:
    from ithaca.formulations.systolic.descriptors import load_descriptor

    assert request.descriptor is not None
    if request.edition is not Edition.ODYSSEY:
        raise InputError(
            "--descriptor: published descriptions carry the omissions of --edition "
            "odyssey; allowed: that edition only"
        )
    array = load_descriptor(Path(request.descriptor), request.nest)
    for option, asked, found in (
        ("--dataflow", request.dataflow and set(request.dataflow), set(array.dataflow)),
        ("--permutation", request.permutation, array.permutation),
    ):
        if asked is not None and asked != found:
            raise InputError(
                f"{option} does not match the descriptor, which describes {array.name}"
            )
    target = request.space.target
    if target is not None and (reasons := design_obstacles(request.nest, array)):
        raise InputError(
            f"--for {target.value}: {target.title} cannot build the "
            f"descriptor's design: {'; '.join(reasons)}"
        )
    return array


def requested_limits(platform: Platform, given: Mapping[str, Bound]) -> tuple[Limit, ...]:
    """The platform's limits, replaced or extended by those given."""
    for name, bound in given.items():
        if bound is not None and name in platform.resources and name not in METRICS:
            raise InputError(
                f"limit {quoted(name)}: no design takes any {name}; allowed: "
                f"limits on {', '.join(METRICS)}"
            )
    bounds = platform.bounds(given).items()
    return tuple(
        parse_limit(name, bound) for name, bound in bounds if name in METRICS or name in given
    )
