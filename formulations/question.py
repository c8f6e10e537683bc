"""Questions about workloads: a question of each family is read from options, and poses problems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from math import ceil, inf
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.algebra.array_types import Floats
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.goals import is_requirement, parse_requirements, read_limited
from ithaca.formulations.platform import Bound, Share
from ithaca.formulations.problem import Limit, Objective, Problem, read_objective
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.workloads.library import read_nest
from ithaca.workloads.nest import LoopNest, Stored

if TYPE_CHECKING:
    from ithaca.workloads.networks.network import Layer, Network


class Minimise(Enum):
    """The goal of a pipeline of arrays."""

    SLOWEST = "slowest"
    """The stage that takes longest: it sets the rate of a stream of inputs."""
    TOTAL = "total"
    """All stages one after the other: the time of one input."""

    @property
    def joined(self) -> Callable[[Floats, Floats], Floats]:
        """The function that joins the values of two parts of a pipeline."""
        return np.maximum if self is Minimise.SLOWEST else np.add

    @property
    def nothing(self) -> float:
        """The value of a pipeline without stages."""
        return -inf if self is Minimise.SLOWEST else 0.0


@dataclass(frozen=True, slots=True)
class Variable:
    """An option of a question that studies may vary, beside sizes and limits."""

    read: Callable[[LoopNest, Any], Any]
    """Reads a value for a nest; an `InputError` if it is none."""
    change: Callable[[Any, Any], Any]
    """Puts a value into a question."""
    label: Callable[[Any], str] = str
    """How a value is shown."""
    meaning: str = ""
    """The meaning; empty: its name says that."""


def in_shares(amount: Fraction, size: Fraction | None) -> Fraction:
    """The whole shares of some size that hold an amount; the amount where it has no shares."""
    return amount if size is None else ceil(amount / size) * size


@dataclass(frozen=True)
class LayerProblems:
    """A layer, and its problem under each design, in the order of the designs."""

    layer: Layer
    problems: tuple[Problem, ...]


@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """A question about any workload; `designs` alone must be stated."""

    objective: Objective
    """The objective, which is minimised."""
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    """Upper limits on metrics, and on expressions over them, as they were given."""
    own: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Expressions of metrics of one's own, by name: objective and bounds have what they stand
    for."""
    layers: tuple[Problem, ...] = ()
    """The problems of a network's layers, where they are known as such; else its nests pose
    them."""

    places: ClassVar[str] = "platforms"
    """The things that designs are for, in the plural."""
    metrics: ClassVar[Mapping[str, Metric]] = {}
    """Metrics that all its designs have."""
    directed: ClassVar[Mapping[str, Metric]] = {}
    """Metrics of which more is better, where they are known before a design is."""
    usual: ClassVar[str] = "latency"
    """The objective unless something else is asked for."""
    steady: ClassVar[bool] = True
    """Whether networks are solved by the engine that answers the same in every run."""
    arrays: int = 1
    """How many arrays share a budget."""
    minimise: Minimise = Minimise.TOTAL
    """The aggregate over several arrays that is minimised: the slowest, or the total."""
    shares: Mapping[str, Fraction] = field(default_factory=dict)
    """Sizes of what arrays take whole shares of: DSP blocks, block RAM and bandwidth."""

    # -- reading -----------------------------------------------------------------------

    @classmethod
    def nest(cls, workload: str | PathLike[str] | LoopNest, sizes: Mapping[str, int]) -> LoopNest:
        """The loop nest of a workload."""
        return read_nest(workload, sizes)

    @classmethod
    def read(cls, options: Any, objective: str | Objective | None = None) -> Self:
        """The question that options state. Raises `InputError` if they cannot."""
        objective, bounds, own = cls.stated(options, objective)
        return cls(objective=objective, bounds=bounds, own=own)

    @classmethod
    def stated(
        cls, options: Any, objective: str | Objective | None
    ) -> tuple[Objective, dict[str, Bound], dict[str, str]]:
        """The objective, the limits and requirements, and the metrics of one's own that options
        state."""
        limited, required, own = options.limit, options.require, dict[str, str]()
        if options.metric:
            from ithaca.formulations.own_metrics import check_names, parse_metrics, spelled_out

            own = parse_metrics(options.metric)
            check_names(own, cls.metrics)
            limited, required, objective = (
                spelled_out(words, own) for words in (limited, required, objective)
            )
        bounds: dict[str, Bound] = {**parse_requirements(required)}
        if limited:
            from ithaca.formulations.limits import parse_limits

            bounds = {**parse_limits(limited, cls.metrics), **bounds}
        return cls.minimised(objective), bounds, own

    @classmethod
    def minimised(cls, objective: str | Objective | None) -> Objective:
        """An objective, its words, or the usual one."""
        if isinstance(objective, Objective):
            return objective
        return read_objective(objective or cls.usual, "--objective", None, cls.directed)

    @classmethod
    def named(cls, option: str, nest: LoopNest | None = None) -> Sequence[str]:
        """The values of an option that have names, perhaps those of a nest."""
        return ()

    # -- posing ------------------------------------------------------------------------

    @abstractmethod
    def designs(self, nest: LoopNest, memory: Stored = ()) -> Sequence[Design]:
        """The designs for a nest, whose tensors may have extents in ``memory`` of their own.

        Raises `InputError` if there are none.
        """

    def problems(self, nest: LoopNest, memory: Stored = ()) -> tuple[Problem, ...]:
        """One problem for each design. Raises `InputError` if it lacks a metric."""
        return tuple(self.problem(design) for design in self.designs(nest, memory))

    def problem(self, design: Design) -> Problem:
        """The problem that a design poses."""
        self.check_own(design)
        for name in self.bounds:
            required = is_requirement(name)
            plain = "." not in name and not required
            known = design.vocabulary if plain else design.names
            read_limited(name, "--require" if required else "--limit", known)
        read_objective(self.objective.text, "--objective", design.names)
        return Problem(design, self.limits, self.objective)

    def check_own(self, design: Design) -> None:
        """Refuse metrics of one's own that have the name of another of the design's, or use one
        that it does not have: also those that nothing uses."""
        if self.own:
            from ithaca.formulations.own_metrics import check_expressions, check_names

            check_names(self.own, design.names)
            check_expressions(self.own, design.names)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits of every problem."""
        limits = []
        for name, bound in self.bounds.items():
            if bound is None or isinstance(bound, Share):
                raise InputError(
                    f"--limit: '{name}' is no number; allowed: one, as "
                    f"{self.places} have none of their own"
                )
            limits.append(Limit(name, bound))
        return tuple(limits)

    def pose(self, network: Network) -> tuple[LayerProblems, ...]:
        """The problems of every layer. Raises `InputError` if one has none."""
        if self.layers:
            pairs = zip(network.layers, self.layers, strict=True)
            return tuple(LayerProblems(layer, (problem,)) for layer, problem in pairs)
        layers = []
        for layer in network.layers:
            try:
                layers.append(LayerProblems(layer, self.problems(layer.nest)))
            except InputError as error:
                raise InputError(
                    f"layer {layer.name}: {error}; --layers leaves layers out"
                ) from None
        return tuple(layers)

    def minimising(self, objective: Objective) -> Self:
        """The question with another objective."""
        layers = tuple(replace(problem, objective=objective) for problem in self.layers)
        return replace(self, objective=objective, layers=layers)

    @property
    def unrestricted(self) -> Self | None:
        """The question without restriction to what can be built; None where nothing is left out for
        that."""
        return None

    def of(self, nest: LoopNest) -> Self:
        """The question about a nest, with what that states, such as formats of its tensors."""
        return self

    def passes(self, before: LoopNest, after: LoopNest) -> bool:
        """Whether what a layer writes can stay on chip as the next one reads it: of one format."""
        output, image = before.output.tensor, after.inputs[0].tensor
        return dict(before.formats).get(output) == dict(after.formats).get(image)

    @property
    def unfused(self) -> str:
        """The reason why nothing that layers hand on may stay on chip; empty where it may."""
        return ""

    #: Hardware that runs nothing but products with sums; empty for others.
    multiplies: ClassVar[str] = ""

    # -- words -------------------------------------------------------------------------

    @property
    def technology(self) -> Technology:
        """The clock and energies of the hardware."""
        return DEFAULT_TECHNOLOGY

    @property
    def facts(self) -> Mapping[str, str]:
        """The terms of the question beside the nest, by name, for the attributes of a Dataset:
        ``platform`` or ``arch``, ``edition``, perhaps ``dtype`` and ``for``."""
        return {"edition": "exact"}

    @property
    def place(self) -> str:
        """The name of the device or architecture."""
        return self.facts.get("platform") or self.facts.get("arch", "")

    @property
    def label(self) -> str:
        """A word for what runs, such as its data type."""
        return self.facts.get("dtype", "mapped")

    @property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """Terms with values that say what runs."""
        return (("data type", self.label),) if "dtype" in self.facts else ()

    @property
    def model(self) -> str:
        """The name of the model's edition, one of the facts of the question."""
        return self.facts["edition"]

    def remarks(self, nest: LoopNest | None) -> Iterable[str]:
        """Lines to print before a nest is solved, or whatever nest."""
        return ()

    # -- studies -----------------------------------------------------------------------

    def vocabulary(self, nest: LoopNest) -> Mapping[str, Metric]:
        """The metrics that its objectives and limits may speak of."""
        return self.designs(nest)[0].vocabulary

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The options that studies may vary, by name."""
        return {}

    @property
    def figures(self) -> Mapping[str, Metric]:
        """Figures of its hardware that studies may vary, by name."""
        return {}

    def with_figure(self, name: str, value: Fraction | None) -> Self:
        """The question with another value of a figure of the hardware; None lifts the figure."""
        raise KeyError(name)
