"""Questions about systolic arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ithaca.files.errors import InputError
from ithaca.files.registry import Registry
from ithaca.files.words import parse_choice, parse_integer, parse_loops
from ithaca.formulations import platform as platforms
from ithaca.formulations.data_types import ACCUMULATORS, DataType, data_type
from ithaca.formulations.design import Metric
from ithaca.formulations.formats import FORMATS, PUBLISHED, multiplied, number_format
from ithaca.formulations.machine import Sums
from ithaca.formulations.platform_files import platform_names, read_platform
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.formulations.question import LayerProblems, Question, Variable
from ithaca.formulations.systolic.buffering import ALL, parse_double_buffer
from ithaca.formulations.systolic.choice import choose_designs, hanging_text
from ithaca.formulations.systolic.dataflows import dataflows, find_dataflow, loop_order
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign
from ithaca.formulations.systolic.metrics import METRICS, parse_limit, parse_objective
from ithaca.formulations.systolic.options import (
    EDITION,
    UNBUILDABLE_EDITION,
    ArrayOptions,
    changed_machine,
    machine_changes,
)
from ithaca.formulations.systolic.ports import memory_ports, with_channels
from ithaca.formulations.systolic.systolic_array import SERIALIZED, Edition, SystolicArray
from ithaca.formulations.target import Target
from ithaca.formulations.technology import Technology
from ithaca.workloads.nest import LoopNest, Stored

if TYPE_CHECKING:
    from ithaca.workloads.networks.network import Network

#: What reads the array of a question's descriptor.
DESCRIBED: Registry[Callable[..., SystolicArray]] = Registry("described arrays")


@dataclass(frozen=True, kw_only=True)
class ArrayQuestion(Question):
    """A question about systolic arrays."""

    data: DataType
    """The type of all tensors, but of those whose formats nests state."""
    platform: platforms.Platform
    """The device."""
    edition: Edition = Edition.EXACT
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
    machine: Mapping[str, Any] = field(default_factory=dict)
    """Changes of the platform's machine, by field."""
    uram: bool = False
    """Whether buffers inside DRAM modules are of URAM."""

    metrics = METRICS

    multiplies = "systolic arrays"

    @classmethod
    def read(cls, options: ArrayOptions, objective: str | Objective | None = None) -> Self:
        edition = read_edition(
            options.edition or (UNBUILDABLE_EDITION if options.include_unbuildable else EDITION)
        )
        for option, value in (("--regime", options.regime), ("--sums", options.sums)):
            if value is not None and edition is not Edition.CYCLE:
                raise InputError(
                    f"{option} does not go with --edition {edition.value}; allowed: --edition cycle"
                )
        data, platform = _data_type(options), read_platform(options.platform)
        minimised, bounds, own = cls.stated(options, objective)
        return cls(
            edition=edition,
            data=data,
            platform=platform,
            machine=machine_changes(options.regime, sums=options.sums),
            bounds=bounds,
            own=own,
            objective=minimised,
            dataflow=parse_loops(options.dataflow),
            permutation=options.permutation,
            include_unbuildable=options.include_unbuildable,
            space=SpaceOptions(
                parse_integer("--min-lanes", options.min_lanes, least=1),
                options.divisors_only,
                target=read_target(options.target),
                ports=memory_ports(platform, options.ports, edition),
                host_serialize=not options.no_host_serialize,
                two_level=_two_level(options, edition),
                double_buffer=parse_double_buffer(options.double_buffer),
            ),
            uram=options.uram,
        )

    @classmethod
    def minimised(cls, objective: str | Objective | None) -> Objective:
        if isinstance(objective, Objective):
            return objective
        return parse_objective(objective or cls.usual)

    @classmethod
    def named(cls, option: str, nest: LoopNest | None = None) -> Sequence[str]:
        if nest is not None:
            return {
                "dataflow": [",".join(loops) for loops in dataflows(nest)],
                "permutation": [access.tensor for access in nest.accesses],
            }.get(option, ())
        return {
            "platform": platform_names(),
            "dtype": tuple(FORMATS),
            "edition": tuple(edition.value for edition in Edition),
        }.get(option, ())

    def designs(self, nest: LoopNest, memory: Stored = ()) -> tuple[SystolicDesign, ...]:
        if (own := self.of(nest)) is not self:
            return own.designs(nest)
        technology = self.technology
        return tuple(
            SystolicDesign(nest, array, self.data, self.space, technology)
            for array in self._arrays(nest, technology.machine.sums)
        )

    def _arrays(self, nest: LoopNest, sums: Sums) -> tuple[SystolicArray, ...]:
        """The arrays to solve, if the target, the descriptor and the other options agree."""
        target = self.space.target
        if target is not None:
            from ithaca.formulations.systolic.target import data_obstacles, nest_obstacles

            if reasons := (*data_obstacles(self.data, nest), *nest_obstacles(nest)):
                raise InputError(
                    f"--for {target.value}: {target.title} cannot build {nest.name}: "
                    f"{'; '.join(reasons)}"
                )
        if self.descriptor is not None:
            if not DESCRIBED:
                raise InputError(
                    f"--descriptor is {str(self.descriptor)!r}, and no plug-in that is installed "
                    "reads descriptions; allowed: --dataflow"
                )
            return (next(iter(DESCRIBED.values()))(self, nest),)
        return choose_designs(
            nest,
            self.edition,
            self.dataflow,
            self.permutation,
            include_unbuildable=self.include_unbuildable,
            target=target,
            sums=sums,
            dram=self.space.dram,
            double_buffer=self.space.double_buffer,
        )

    def problems(self, nest: LoopNest, memory: Stored = ()) -> tuple[Problem, ...]:
        limits = self.of(nest).limits
        problems = [Problem(design, limits, self.objective) for design in self.designs(nest)]
        for problem in problems if self.own else ():
            self.check_own(problem.design)
        for problem in problems if any(limit.required for limit in limits) else ():
            problem.check_names()
        return tuple(problems)

    def pose(self, network: Network) -> tuple[LayerProblems, ...]:
        layers = super().pose(network)
        layers[0].problems[0].symbolic()  # refuses a metric that the platform does not know
        return layers

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The platform's limits, replaced or extended by those given."""
        if self.bounds.get("uram") is not None and not self.uram:
            raise InputError("limit 'uram': no design takes any uram; allowed: with --uram")
        if self.uram and "uram" not in self.platform.resources:
            name = self.platform.name
            raise InputError(f"--uram: {name} states no uram; allowed: a platform that does")
        bounds = self.platform.bounds(self.bounds).items()
        return tuple(
            parse_limit(name, bound)
            for name, bound in bounds
            if name in self.bounds
            or (name in METRICS and METRICS[name].where(self.technology, self.counted))
        )

    @property
    def unrestricted(self) -> Self | None:
        if self.space.target is None:
            return None
        return replace(self, space=replace(self.space, target=None))

    def on(self, platform: platforms.Platform) -> Self:
        """The question of another platform."""
        most = None if self.space.ports is None else self.space.ports.most
        ports = memory_ports(platform, most, self.edition)
        return replace(self, platform=platform, space=replace(self.space, ports=ports))

    def of(self, nest: LoopNest) -> Self:
        """The question about a nest, with the formats that it states of its tensors.

        Raises `InputError` if the platform is of hardware that lacks them.
        """
        data = self.data.of(nest)
        if not data.plain and self.platform.technology.machine.fitted_fifos:
            raise InputError(
                f"format {nest.labels.get('format', data.name)} does not go with --platform "
                f"{self.platform.name}, whose hardware has one type of all tensors; allowed: "
                f"{', '.join(PUBLISHED)}"
            )
        if data == self.data:
            return self
        device = self.platform  # files state its technology with the energies of the type
        if device.own_energies and device.technology == self.data.energies(device.technology):
            device = replace(device, technology=data.energies(device.technology))
        return replace(self, data=data, platform=device)

    def passes(self, before: LoopNest, after: LoopNest) -> bool:
        """Whether both layers read one format: sums are rounded to it before they are kept."""
        forms = (self.data.of(nest).format_of(nest.inputs[0].tensor) for nest in (before, after))
        return next(forms) == next(forms)

    @property
    def unfused(self) -> str:
        options = "--ports, --no-host-serialize, --two-level; allowed: without them"
        return "" if self.space.dram == SERIALIZED else options

    # -- words -------------------------------------------------------------------------

    @property
    def counted(self) -> DataType:
        """The data type as the edition counts it."""
        counts = self.edition is Edition.CYCLE or not self.data.plain
        return self.data.built if counts else self.data

    @property
    def technology(self) -> Technology:
        """Clock of the platform, and energies of its own or of the data type."""
        own = with_channels(self.data.on(self.platform), self.platform, self.space.ports)
        return replace(own, machine=changed_machine(own.machine, self.machine), uram=self.uram)

    @property
    def facts(self) -> dict[str, str]:
        return {
            "dtype": self.data.name,
            "platform": self.platform.name,
            "edition": self.edition.value,
            **({} if self.space.target is None else {"for": self.space.target.value}),
            **({} if self.space.ports is None else {"ports": str(self.space.ports.most)}),
            **({} if self.space.host_serialize else {"host-serialize": "no"}),
            **({"uram": "yes"} if self.uram else {}),
            **({"tiles": "two levels"} if self.space.two_level else {}),
            **({"double-buffer": doubled} if (doubled := self.space.double_buffer) != ALL else {}),
        }

    def remarks(self, nest: LoopNest | None) -> Iterator[str]:
        """Lines that name the designs that can be built but are not solved, as they may hang."""
        if nest is not None and self.edition is Edition.CYCLE and self.dataflow is None:
            solved = self._arrays(nest, self.technology.machine.sums)
            if left_out := [a for a in self._arrays(nest, Sums.LAST) if a not in solved]:
                yield f"left out: {hanging_text(left_out)}"

    # -- studies -----------------------------------------------------------------------

    def vocabulary(self, nest: LoopNest) -> Mapping[str, Metric]:
        return METRICS

    @property
    def variables(self) -> Mapping[str, Variable]:
        def of(name: str, read: Any, label: Any) -> Variable:
            return Variable(read, lambda question, value: replace(question, **{name: value}), label)

        return {
            "platform": Variable(
                lambda _, text: read_platform(text), type(self).on, lambda p: p.name
            ),
            "dtype": of("data", lambda _, text: read_data_type(text), lambda data: data.name),
            "edition": of("edition", lambda _, text: read_edition(text), lambda e: e.value),
            "objective": of("objective", lambda _, text: self.minimised(text), lambda o: o.text),
            "dataflow": of(
                "dataflow",
                lambda nest, loops: find_dataflow(nest, parse_loops(loops) or ()),
                ",".join,
            ),
            "permutation": of(
                "permutation", lambda nest, text: loop_order(nest, text) and text, str
            ),
            "for": Variable(
                lambda _, text: read_target(None if text == NO_TARGET else text),
                lambda question, value: replace(
                    question, space=replace(question.space, target=value)
                ),
                lambda target: NO_TARGET if target is None else target.value,
                "compiler that builds it",
            ),
            "host-serialize": Variable(
                lambda _, text: parse_choice("host-serialize", text, tuple(YES_OR_NO)),
                lambda question, value: replace(
                    question, space=replace(question.space, host_serialize=YES_OR_NO[value])
                ),
                str,
                "whether the host lays data out in DRAM",
            ),
            "double-buffer": Variable(
                lambda _, text: parse_double_buffer(text),
                lambda question, value: replace(
                    question, space=replace(question.space, double_buffer=value)
                ),
                str,
                "tensors whose buffers are doubled",
            ),
        }


#: How no compiler is written where compilers are varied, and what is so or not.
NO_TARGET = "none"
YES_OR_NO = {"yes": True, "no": False}


# -- words of options ------------------------------------------------------------------


def read_data_type(data: str | DataType) -> DataType:
    """A data type, or the name of one."""
    return data.published if isinstance(data, DataType) else data_type(data)


def _data_type(options: ArrayOptions) -> DataType:
    """The data type of options: where those of weights and of activations are stated, the one that
    both are multiplied in."""
    data, bits = read_data_type(options.dtype), options.accumulator
    if not options.format:
        return data if bits is None else data.accumulating(bits)
    from ithaca.workloads.formats import ACTIVATIONS, SUMS, WEIGHTS, parse_formats

    formats = parse_formats(options.format, "--format")
    if SUMS in formats and bits is not None:
        raise InputError(
            f"--accumulator {bits} does not go with --format S={formats[SUMS]}; "
            "allowed: one of them"
        )
    if {ACTIVATIONS, WEIGHTS} <= formats.keys():
        both = (
            number_format(formats[kind], f"format of {kind}") for kind in (WEIGHTS, ACTIVATIONS)
        )
        data = replace(data, format=multiplied(tuple(both)))
    if bits is None:
        return data
    allowed = map(str, ACCUMULATORS)  # as far as products of the formats allow it
    return replace(data, accumulator_bits=int(parse_choice("--accumulator", bits, [*allowed])))


def read_edition(name: object) -> Edition:
    """Look up a model edition."""
    return Edition(parse_choice("--edition", name, [e.value for e in Edition]))


def read_target(name: str | None) -> Target | None:
    """Look up a compiler that ``--for`` names; None for none."""
    targets = [target.value for target in Target]
    return None if name is None else Target(parse_choice("--for", name, targets))


def _two_level(options: ArrayOptions, edition: Edition) -> bool:
    """Whether tiles are tiled again."""
    if not options.two_level:
        return False
    from ithaca.formulations.systolic.two_level import checked

    return checked(options.two_level, edition, options.ports)
