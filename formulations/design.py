"""The interface of a design, of any family, to engines, studies and peers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import INTERVAL, NumbersByName, NumberSystem
from ithaca.formulations.space import Space
from ithaca.workloads.nest import Sizes

if TYPE_CHECKING:
    from ithaca.formulations.configuration import Configuration
    from ithaca.formulations.stage import Stage


#: Metrics, and the numbers inside them that have names.
MetricsAndParts = tuple[dict[str, Any], NumbersByName]


@dataclass(frozen=True, slots=True)
class Metric:
    """A named metric of a family."""

    name: str
    """Name in objectives, limits and results."""
    unit: str
    """Its unit."""
    meaning: str
    """One line for users."""
    most: bool = field(default=False, kw_only=True)
    """Whether more of it is better."""
    scarce: bool = field(default=False, kw_only=True)
    """Whether a limit that does not say which way is an upper one all the same, as of PEs."""


class Known(dict[str, Any]):
    """Metrics of a configuration; everything else that has a name is there when asked for."""

    def __init__(self, metrics: NumbersByName, *at: Any) -> None:
        """``at``: the design, the values of its quantities, and their number system."""
        super().__init__(metrics)
        self._at = at

    def __missing__(self, name: str) -> Any:
        design, values, numbers = self._at
        return design.lookup(values, numbers, {name})[name]


class _Names(Collection[str]):
    """All names of a design; metrics are looked up first, as its space may be dear."""

    def __init__(self, design: Design) -> None:
        self._design = design

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and not self._design.unknown({name})

    def __iter__(self) -> Iterator[str]:
        design = self._design
        return iter(dict.fromkeys((*design.vocabulary, *design.space.quantities, *design._inner)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Design(ABC):
    """Hardware with its free factors: what one problem chooses among.

    A family's designs are frozen dataclasses; equal ones are the same hardware for the same work.
    The cost model is plain arithmetic, generic in its number system: everything else (bounds,
    integer models, reference) follows from `metrics`.
    """

    family: ClassVar[str]
    """The family it belongs to, as documents name it."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that tells it from the other designs of its family for the same work."""

    @property
    @abstractmethod
    def space(self) -> Space:
        """The space of the design's legal configurations."""

    @property
    @abstractmethod
    def vocabulary(self) -> Mapping[str, Metric]:
        """The metrics it has, by name; the first is the objective unless another is asked for."""

    @abstractmethod
    def metrics(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The metrics of a configuration, or of many, in any number system.

        Parameters
        ----------
        values : Mapping of str to number
            Values of the quantities.
        numbers : NumberSystem
            The number system.
        names : Collection of str, optional
            The metrics that are wanted; by default all.

        Returns
        -------
        dict
            Values by metric.
        """

    def inner(self, values: NumbersByName, numbers: NumberSystem) -> NumbersByName:
        """The numbers that have a name beside metrics and quantities; by default the details, as
        ``words.A``."""
        details = self.details(values, numbers).items()
        return {f"{kind}.{name}": x for kind, each in details for name, x in each.items()}

    def lookup(
        self, values: NumbersByName, numbers: NumberSystem, names: Collection[str]
    ) -> dict[str, Any]:
        """The numbers that objectives and limits speak of: metrics, quantities and what is inside.

        Parameters
        ----------
        values : Mapping of str to number
            Values of the quantities.
        numbers : NumberSystem
            The number system.
        names : Collection of str
            Names of all that is wanted, which the design has.
        """
        if not (others := {*names} - self.vocabulary.keys()):
            return self.metrics(values, numbers, names)
        known = {name: values[name] for name in others & self.space.quantities.keys()}
        if inside := (others - known.keys()) & self._inner:
            inner = self.inner(values, numbers)
            known |= {name: inner[name] for name in inside}
        # what is none of these may be a metric that says why it is not known
        return {**self.metrics(values, numbers, {*names} - known.keys()), **known}

    @cached_property
    def intervals(self) -> Mapping[str, Interval]:
        """Every quantity's range over the whole space (or a little more)."""
        return {
            name: Interval(Fraction(low), Fraction(high))
            for name, (low, high) in self.space.ranges.items()
        }

    def in_symbols(self, names: frozenset[str]) -> Mapping[str, Any]:
        """Look up numbers, and perhaps more, in symbols: once, for all problems of the design."""
        return self._looked_up(names, SYMBOLIC)

    def in_ranges(self, names: frozenset[str]) -> Mapping[str, Any]:
        """Look up numbers, and perhaps more, in intervals over the whole space: once, for all
        problems of the design."""
        return self._looked_up(names, INTERVAL)

    def _looked_up(self, names: frozenset[str], numbers: NumberSystem) -> Mapping[str, Any]:
        known: dict[str, Any] = vars(self).setdefault(f"known {numbers.name}", {})
        if left := names - known.keys():
            values = Symbols() if numbers is SYMBOLIC else self.intervals
            known |= self.lookup(values, numbers, left)
        return known

    def unknown(self, names: Collection[str]) -> Collection[str]:
        """The names among some that mean nothing here."""
        left = {*names} - self.vocabulary.keys()
        left = left and left - self.space.quantities.keys()
        return left and left - self._inner

    @property
    def names(self) -> Collection[str]:
        """All names that objectives and limits may use."""
        return _Names(self)

    @cached_property
    def _inner(self) -> frozenset[str]:
        """The names of numbers inside."""
        names = self.inner(Symbols(), SYMBOLIC).keys()
        return frozenset(names - self.vocabulary.keys() - self.space.quantities.keys())

    def most(self, metric: str) -> Fraction | None:
        """A proven upper bound of a metric over all configurations; None where none is known."""
        return None

    def least(self, limits: Sequence[Any]) -> Mapping[str, Fraction]:
        """Roofs: proven lower bounds of metrics over all configurations within limits, at once;
        none of a metric left out."""
        return {}

    def needed(self, metric: str, value: Fraction) -> Mapping[str, int]:
        """Hardware quantities with the least of each that a configuration has of which a metric is
        at most a value; those left out may be anything."""
        return {}

    def conditions(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[tuple[Any, Fraction], ...]:
        """Conditions that a configuration must meet beside the space's rules: numbers with the
        bounds that they must not exceed."""
        return ()

    def stage(self, problem: Any) -> Stage | None:
        """The search in stages of a `Problem` of this design; None where bounds of `metrics` do."""
        return None

    def among(self, falling: Collection[str]) -> str:
        """The configurations in words among which optima are proven, where the space leaves out
        what may pay with such an objective or limits.

        ``falling`` are the metrics that these may fall with. Empty: an optimum of the space is one
        of everything.
        """
        return ""

    @property
    def rank(self) -> int:
        """The order in which rival designs are searched where time is short: the most promising one
        has the least rank."""
        return 0

    @property
    def narrower(self) -> tuple[Design, ...]:
        """Parts of its space that options narrow it to, the narrowest first: the best of them is
        where to begin."""
        return ()

    def translated(self, design: Design, configuration: Configuration) -> Configuration | None:
        """The configuration here of one of a design like this one, such as a baseline; None if
        there is none here."""
        return self.space.adopted(configuration)

    def details(self, values: NumbersByName, numbers: NumberSystem) -> Mapping[str, NumbersByName]:
        """Numbers beside the metrics that the family reports, by kind and name: ``{"words":
        {tensor: words}}``, say."""
        return {}

    def parts(self, values: NumbersByName, numbers: NumberSystem) -> MetricsAndParts:
        """All metrics, and by name the numbers inside them that people know, from one run of the
        model: the same objects.

        They are the parts of bottleneck trees (`ithaca.formulations.bottleneck`). The name of a
        part of a part begins with it.
        """
        metrics = self.metrics(values, numbers)
        return metrics, metrics

    def preferences(
        self, values: NumbersByName, numbers: NumberSystem
    ) -> tuple[Any | None, ...] | None:
        """Numbers, smaller ones better, that choose among configurations of equal objective, one
        after the other.

        A number is None where the design cannot say it: of several designs those are preferred that
        can. None instead of numbers: any of these configurations is as good an answer.
        """
        return None

    @property
    def smoother(self) -> Design:
        """A design with this space whose metrics stand for this one's where heuristics need them
        smooth; by default itself."""
        return self

    @property
    def kept(self) -> Sizes:
        """The tensors of its work that stay on chip from, or for, what runs before or after it;
        with the words of each."""
        return ()

    @property
    def shared(self) -> Any:
        """The loops that it shares with what it passes tiles to, or takes them from; None: none."""
        return None

    def keeping(self, kept: Sizes) -> Design | None:
        """The design with tensors that stay on chip; None if it has no place for them, whatever
        their size."""
        return None


def design_name(dataflow: Sequence[str], permutation: str, single: Sequence[str] = ()) -> str:
    """Dataflow, permutation and tensors of single buffers, e.g. ``[i,j] C`` or ``[i,j] C single
    A,B``.

    Parameters
    ----------
    dataflow : sequence of str
        The loops mapped to space.
    permutation : str
        The tensor whose reuse loops are innermost.
    single : sequence of str, optional
        The tensors that have single buffers.
    """
    buffers = f" single {','.join(single)}" if single else ""
    return f"[{','.join(dataflow)}] {permutation}{buffers}"
