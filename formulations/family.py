"""A family of accelerators: everything that people and files ask of its designs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.problem import Limit
from ithaca.formulations.space import Role

if TYPE_CHECKING:
    from ithaca.formulations.hardware.remedies import Remedy
    from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True, slots=True)
class Remarks:
    """Statements of a family about a configuration."""

    statements: tuple[str, ...] = ()
    """In words, each ``Term: statement.``."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The remarks ready for JSON."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A table of what an accelerator's parts take and do."""

    rows: tuple[tuple[tuple[str, str], ...], ...]
    """Heading and cell of every column, row by row."""
    left: frozenset[str]
    """Headings of columns of names."""
    words: tuple[str, ...]
    """The meaning of its words, in lines."""


#: The designs of a family.
D = TypeVar("D", bound=Design)


#: Figures of hardware to raise, by the part of a metric that binds.
Remedies = Mapping[str, "tuple[Remedy, ...]"]

#: Designs with limits, by the name of the method that keeps to them.
Baselines = Mapping[str, Iterable[tuple[Design, tuple[Limit, ...]]]]


class Profile(ABC, Generic[D]):
    """Facts of a design for people and studies; everything but `attributes` has a default."""

    def __init__(self, design: D) -> None:
        self.design = design

    def native(self, configuration: Mapping[str, int]) -> Any:
        """A configuration as the family's own type; by default as it is."""
        return configuration

    @property
    @abstractmethod
    def attributes(self) -> Mapping[str, str | float]:
        """Attributes of a design, recorded beside what was computed of it."""

    @property
    def title(self) -> str:
        """A line that names the work and the kind of design."""
        return ", ".join(f"{name} {value}" for name, value in self.attributes.items())

    @property
    def heading(self) -> tuple[tuple[str, str], ...]:
        """The parts of the title as terms with their values."""
        return tuple((name, str(value)) for name, value in self.attributes.items())

    @property
    def obstacle(self) -> str | None:
        """The reason why a design cannot be built; None where it can."""
        return None

    def answers_to(self, text: str) -> bool:
        """Whether what a user wrote names this design."""
        return text.strip() == self.design.name

    def meets(self, words: Mapping[str, Any]) -> bool:
        """Whether the design is what options of its question ask for."""
        return False

    def remarks(self, configuration: Mapping[str, int], limits: Sequence[Limit]) -> Remarks:
        """Remarks on a configuration beside its metrics and its use of limits."""
        return Remarks()

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        """A configuration as a loop nest, in lines; none where there is nothing to show."""
        return ()

    def breakdown(
        self, configuration: Mapping[str, int], metrics: Mapping[str, Fraction]
    ) -> Breakdown | None:
        """The costs and activity of each part of the accelerator in the run of a configuration with
        such metrics; None where they are not known."""
        return None

    def multipliers(self, metrics: Mapping[str, Fraction]) -> Fraction | None:
        """The multiply-accumulate units of its hardware, whether they work or not; None where it
        has none."""
        return metrics.get("comp")

    @property
    def runs(self) -> bool:
        """Whether its hardware takes the cycles that simulation counts, so that answers are run."""
        return False

    @property
    def timed(self) -> frozenset[str]:
        """The metrics that follow from the cycles of a run; where answers are run only."""
        return frozenset()

    def run(self, configuration: Mapping[str, int], checkpoint: Callable[[], None]) -> int | None:
        """The cycles of a run of a configuration, word by word; None where it waits for ever.

        Where answers are run only. Raises `InputError` where it is too large.

        Parameters
        ----------
        configuration : mapping of str to int
            Value of each quantity.
        checkpoint : callable
            Called after so many words; what it raises ends the run.
        """
        raise NotImplementedError

    def metrics_of_run(
        self, configuration: Mapping[str, int], cycles: int
    ) -> Mapping[str, Fraction]:
        """The metrics of a configuration that takes so many cycles; where answers are run only."""
        raise NotImplementedError

    @property
    def nest(self) -> LoopNest | None:
        """The loop nest that is its work; None where that is none."""
        return None

    @property
    def figures(self) -> Mapping[str, Metric]:
        """The figures of its hardware that studies vary, by name."""
        return {}

    def with_figure(self, name: str, value: Fraction | None) -> Design:
        """The design with another value of one of its figures; None lifts it."""
        raise KeyError(name)

    @property
    def fixed_hardware(self) -> Mapping[str, int]:
        """The hardware as far as that was given, by the name of the quantity."""
        return {}

    @property
    def options(self) -> Mapping[str, Any]:
        """Values that a question which begins with it takes over, by option."""
        return {}

    def meaning(self, quantity: str) -> tuple[str, str]:
        """Unit and meaning of a quantity."""
        return "", quantity

    @property
    def parameters(self) -> Mapping[str, str]:
        """The quantities that search tools choose, by their names there; those of an axis in the
        order they are decided."""
        return {
            quantity.name.replace(".", "_"): quantity.name for quantity in self.design.space.free
        }

    @property
    def landscape(self) -> tuple[str, str] | None:
        """The two free quantities that a map of the surroundings of a configuration shows best;
        None where it has fewer."""
        names = [
            quantity.name for quantity in self.design.space.free if quantity.role is not Role.PORT
        ]
        return (names[0], names[1]) if len(names) > 1 else None

    @property
    def relaxable(self) -> str:
        """The options that are in force and may have left no configuration at all, in words."""
        return " or ".join(name for name, active in self.restricting.items() if active)

    @property
    def restricting(self) -> Mapping[str, bool]:
        """Options that may leave no configuration, by name, and whether they are in force."""
        return {}

    @property
    def innate(self) -> str:
        """The property that allows nothing better where no limit binds."""
        return "the design space allows"

    # -- other designs -----------------------------------------------------------------

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """Figures of its hardware to raise where a part of its metrics binds, by the part's
        name."""
        return {}

    @property
    def enlarged(self) -> Mapping[str, Design]:
        """Designs of the same work on hardware that has more of one thing, by what is changed:
        ``give GLB twice the words, 2,048``."""
        return {}

    def baselines(self) -> Baselines:
        """Parts of a design's space that published methods keep to, by name: designs and limits,
        the first that is not empty."""
        return {}


class Family(ABC, Generic[D]):
    """A family of designs: how they and their configurations are written, read and named.

    A design names its family by its ``family``. Fields of the models are fields of every result of
    the family; the configuration is the field ``tiling``.
    """

    document: ClassVar[str]
    """The name of its results where documents are listed."""
    head: Any
    """Model of what was asked, with the fields ``platform`` and ``objective`` of
    `ithaca.formulations.schema`."""
    choice: Any
    """Model of which design a solution is of."""
    tiling: Any
    """Type of a configuration in documents: a model, or what pydantic can validate."""

    @abstractmethod
    def head_fields(self, design: D) -> Mapping[str, Any]:
        """The head's fields beside platform and objective, for any design of a result."""

    def choice_fields(self, design: D) -> Mapping[str, Any]:
        """The fields of a document that identify a design."""
        return {}

    def restriction_fields(self, designs: Sequence[D]) -> Mapping[str, Any]:
        """The restriction that a question made, as the head states it, so that these designs are
        all that it allows; nothing where no question has just these."""
        return {}

    def unrestricted(self, designs: Sequence[D]) -> Sequence[D]:
        """The designs of the same question, where configurations need not be such as a compiler
        builds."""
        return designs

    def tiling_fields(self, design: D, configuration: Configuration) -> Any:
        """A configuration as documents state it."""
        return dict(configuration)

    def detail_fields(
        self, design: D, configuration: Configuration
    ) -> Mapping[str, Mapping[str, Fraction]]:
        """Figures that documents state beside the metrics, by the exact reference."""
        return {}

    @abstractmethod
    def setting(self, head: Any) -> Any:
        """The setting that all designs of a result share, read from its head; an `InputError`
        begins with the field."""

    @abstractmethod
    def vocabulary(self, setting: Any) -> Mapping[str, Metric]:
        """The metrics that objectives and limits may speak of."""

    def names(self, setting: Any) -> Collection[str]:
        """All that objectives and limits may speak of."""
        return self.vocabulary(setting)

    @abstractmethod
    def design(self, setting: Any, choice: Any) -> D:
        """The design that a document states; an `InputError` if there is none."""

    def configuration(self, design: D, tiling: Any) -> Configuration:
        """The configuration that a document states, legal or not; an `InputError` begins with the
        field."""
        return Configuration(tiling)

    @property
    def inputs(self) -> Mapping[str, Callable[[], dict[str, Any]]]:
        """JSON schemas of the files that people write of such designs alone, by kind."""
        return {}

    def unmet(self, design: D) -> str:
        """Words about a configuration that breaks the design's own conditions."""
        return ""

    @abstractmethod
    def profile(self, design: D) -> Profile[D]:
        """The profile of a design, for people and studies."""
