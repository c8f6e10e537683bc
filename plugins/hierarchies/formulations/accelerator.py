"""Memory hierarchies as accelerators to choose from: an architecture with free figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor
from pathlib import Path
from typing import Any, ClassVar, Literal

from ithaca.files.beside import beside
from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse
from ithaca.files.reading import is_there
from ithaca.files.timeloop_files import load_timeloop
from ithaca.files.timeloop_yaml import TAGS
from ithaca.formulations.algebra.expression import Constant, Expression, as_expression
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.data_models import built
from ithaca.formulations.design import Metric
from ithaca.formulations.hardware.accelerator import Accelerator, Trend, Work
from ithaca.formulations.hardware.kind import About, AcceleratorKind, Figure
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.hierarchies.formulations.architecture import Architecture, Level
from ithaca.plugins.hierarchies.formulations.architecture_files import architecture_of
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.hierarchies.formulations.documents import (
    ArchitectureDocument,
)
from ithaca.plugins.hierarchies.formulations.editions import EDITIONS, INTRINSIC, TIMELOOP, Setting
from ithaca.plugins.hierarchies.formulations.energy_files import (
    access_energies,
    areas,
    compute_energy,
    energy_tables,
)
from ithaca.plugins.hierarchies.formulations.family import MappingSpaceDocument
from ithaca.plugins.hierarchies.formulations.library import (
    architecture_names,
    find_architecture,
    fitted,
)
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.published.explainable.design import (
    ExplainableDesign,
    least_of,
)
from ithaca.plugins.hierarchies.formulations.question import MappingQuestion
from ithaca.plugins.hierarchies.formulations.variation import WHOLE, WORD_BITS, with_figures


@dataclass(frozen=True)
class HierarchyAccelerator(Accelerator):
    """An architecture and how layers are mapped onto it (see
    `ithaca.formulations.hardware.accelerator.Accelerator`)."""

    family: ClassVar[str] = "spatial"
    architecture: Architecture
    """The architecture, with the figures that stay."""
    edition: str = TIMELOOP
    """Edition of the model."""
    options: MappingOptions = field(default_factory=MappingOptions)
    """Which mappings are allowed."""

    def __post_init__(self) -> None:
        if self.options.remainders:  # a mesh where there was none makes tiles inside it whole
            raise InputError("remainders is true; allowed in hardware spaces: false")

    def dividing(self) -> HierarchyAccelerator:
        return replace(self, options=replace(self.options, divisors_only=True))

    def stages(self, work: Work) -> tuple[Work, ...]:
        nests = EDITIONS[self.edition].stages(self.architecture, work.nest)
        if len(nests) == 1:
            return (work,)
        return tuple(
            replace(work, name=f"{work.name}.{n}", nest=nest) for n, nest in enumerate(nests, 1)
        )

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics of every layer."""
        return {metric.name: metric for metric in EDITIONS[self.edition].metrics(self.architecture)}

    @cached_property
    def trends(self) -> Mapping[str, Trend]:
        """The effect of more of each figure in the edition."""
        moves = EDITIONS[self.edition].trends(self.architecture)
        more = ("tensorized.bus_bits", "tensorized.burst_bytes") if self.options.off_chip else ()
        return {**moves, **dict.fromkeys(more, Trend.HELPS)}

    def names(self, figure: str) -> tuple[str, ...]:
        known = self.architecture.tensorized
        chosen = known is not None and figure == "tensorized.dataflow"
        return tuple(dict(known.dataflows)) if known is not None and chosen else ()

    def architecture_with(self, figures: Mapping[str, Fraction]) -> Architecture:
        """The architecture with other figures, without fractions of words and instances, as bounds
        over boxes may have.

        Raises `InputError` if one cannot have its value.
        """
        return _architecture_with(self.architecture, tuple(figures.items()))

    def problems(
        self, work: Work, figures: Mapping[str, Fraction], objective: Objective
    ) -> tuple[Problem, ...]:
        """The mappings of a layer, of each way to run it.

        Parameters
        ----------
        work : Work
            The layer.
        figures : mapping of str to Fraction
            Figures of the architecture by name, such as ``GLB.words``, in its units.
        objective : Objective
            What is minimised of a run.
        """
        if work.nest.formats and WORD_BITS.name in figures:  # wider words hold more such values
            raise InputError(
                f"figures.{WORD_BITS.name} is beside format {work.nest.labels['format']} of "
                f"{work.name}; allowed: one of them"
            )
        architecture = fitted(self.architecture_with(figures), work.nest)
        constraints = read_constraints(None, architecture, work.nest)
        architecture = replace(architecture, entries=())
        setting = Setting(
            architecture, work.nest, self.edition, self.options, constraints, work.stored
        )
        return tuple(Problem(design, (), objective) for design in setting.designs)

    def floors(
        self, problems: Sequence[Problem], figures: Mapping[str, Fraction], objective: Objective
    ) -> Sequence[Fraction | float] | None:
        layers = [p.design for p in problems if isinstance(p.design, ExplainableDesign)]
        return least_of(layers, self.architecture_with(figures), objective) if layers else None

    def roofs(self, work: Work, spans: Mapping[str, Interval]) -> Mapping[str, Fraction]:
        """In edition `intrinsic`, whose meshes are enumerated, a multiplier does an iteration a
        cycle at most, padded ones beside them."""
        if self.edition != INTRINSIC:
            return {}
        compute, most = self.architecture.compute, 1
        for name, size in (("mesh_x", compute.mesh_x), ("mesh_y", compute.mesh_y)):
            span = spans.get(f"{compute.name}.{name}")
            most *= size if span is None else floor(span.high)
        return {"latency": Fraction(work.nest.operations, most)}


@lru_cache(1024)  # layers are asked for one after the other, on the same figures
def _architecture_with(
    architecture: Architecture, figures: tuple[tuple[str, Fraction], ...]
) -> Architecture:
    whole = (
        (name, Fraction(floor(value)) if name.rpartition(".")[2] in WHOLE else value)
        for name, value in figures
    )
    return with_figures(architecture, dict(whole))


class HierarchyDocument(MappingSpaceDocument):
    """The accelerator of a hardware space that is a memory hierarchy."""

    family: Literal["spatial"] = "spatial"
    architecture: Any
    edition: str = TIMELOOP


class Hierarchies(AcceleratorKind):
    """The kind of accelerator that is a memory hierarchy (see
    `ithaca.formulations.hardware.kind.AcceleratorKind`)."""

    unnamed = True

    document = HierarchyDocument
    tags = TAGS

    def read(self, document: HierarchyDocument, where: object) -> HierarchyAccelerator:
        """The architecture is a name, a path (from the space's folder, too), or a document of
        Timeloop's or Ithaca's."""
        if document.edition not in EDITIONS:
            raise refuse(
                where, f"edition is {quoted(document.edition)}{among(document.edition, EDITIONS)}"
            )
        options = MappingOptions(
            **{each.name: getattr(document, each.name) for each in fields(MappingOptions)}
        )
        return HierarchyAccelerator(
            _architecture(document.architecture, where), document.edition, options
        )

    def fields(self, accelerator: HierarchyAccelerator) -> dict[str, Any]:
        architecture = ArchitectureDocument.model_validate(
            accelerator.architecture, from_attributes=True
        )
        own = {"architecture": architecture.as_json(), "edition": accelerator.edition}
        stated: dict[str, Any] = HierarchyDocument(**own, **asdict(accelerator.options)).as_json()
        return stated

    def completed(
        self, accelerator: HierarchyAccelerator, figures: Mapping[str, Figure]
    ) -> tuple[HierarchyAccelerator, Mapping[str, Figure]]:
        """The accelerator with energies of accesses that the architecture tabulates by capacity,
        and its figures.

        Raises `InputError` if a mesh is given and so is one around it: more instances around would
        leave fewer inside each.
        """
        parts = [part.name for part in accelerator.architecture.parts]
        for place, part in enumerate(parts):
            for along in ("x", "y"):
                around = [f"{p}.{n}_{along}" for p in parts[:place] for n in ("mesh", "fanout")]
                if f"{part}.mesh_{along}" in figures and (
                    other := next((n for n in around if n in figures), None)
                ):
                    raise InputError(
                        f"figures.{part}.mesh_{along} is beside {other}; "
                        f"allowed: {part}.fanout_{along}"
                    )
        bursts, known = accelerator.architecture.bursts, dict(figures)
        for level, sizes in () if bursts is None else bursts.energies:
            words, energy = figures.get(f"{level}.words"), f"{level}.read_energy"
            if words is not None and energy not in figures and energy in accelerator.trends:
                by_words = {Fraction(size): pj for size, pj in sizes}
                keys = words.table or tuple((key, key) for key in by_words)
                table = tuple((key, by_words[n]) for key, n in keys if n in by_words)
                known[energy] = Figure(words.expression, table, words.others)
        return accelerator, known

    def energies(self, accelerator: HierarchyAccelerator, path: Path) -> Mapping[str, Fraction]:
        """The energies in an Accelergy table that the edition reads."""
        architecture, values = accelerator.architecture, dict[str, Fraction | None]()
        for name, actions in energy_tables(_accelergy(path, "ERT"), path).items():
            if name == architecture.compute.name:
                values[f"{name}.energy"] = compute_energy(actions)
            else:
                values |= {
                    f"{name}.{of}{'_energy' * (of != 'leak')}": pj
                    for of, pj in access_energies(actions).items()
                }
        known = {
            name: pj for name, pj in values.items() if pj is not None and name in accelerator.trends
        }
        if not known:
            raise refuse(
                path,
                "ERT has no energy of "
                f"{', '.join(part.name for part in architecture.parts)}; allowed: some",
            )
        return known

    def areas(self, accelerator: HierarchyAccelerator, path: Path) -> Mapping[str, Fraction]:
        parts = [part.name for part in accelerator.architecture.parts]
        values = {
            name: area
            for name, area in areas(_accelergy(path, "ART"), path).items()
            if name in parts
        }
        if not values:
            raise refuse(path, f"ART has no area of {', '.join(parts)}; allowed: some")
        return values

    def check(self, accelerator: HierarchyAccelerator, figure: str, value: Fraction) -> None:
        with_figures(accelerator.architecture, {figure: value})

    def sized(
        self, accelerator: HierarchyAccelerator, figures: Mapping[str, Expression]
    ) -> Mapping[str, Expression]:
        """A PE is an instance of the outermost level that has several, with what is inside; words
        come from around it."""
        architecture, one = accelerator.architecture, Constant(Fraction(1))
        x: Expression = one
        y: Expression = one
        pes: Expression | None = None
        private: Expression = Constant(Fraction(0))
        shared, read, around = private, None, (1, 1)
        for part in architecture.parts:
            x = _along(f"{part.name}.{{}}_x", figures, x, part.mesh_x // around[0])
            y = _along(f"{part.name}.{{}}_y", figures, y, part.mesh_y // around[1])
            around = (part.mesh_x, part.mesh_y)
            pes = x * y if pes is None and x * y != one else pes
            if isinstance(part, Level):
                held = _bytes(part, figures)
                if pes is not None:
                    private = private + held * x * y / pes
                else:
                    shared, read = (
                        shared + held,
                        figures.get(f"{part.name}.read_bandwidth", part.read_bandwidth),
                    )
        pes = x * y if pes is None else pes
        sizes = {"pes": pes, "lanes": x * y / pes, "private_bytes": private, "shared_bytes": shared}
        return sizes if read is None else sizes | {"bandwidth": as_expression(read)}

    def alone(
        self, accelerator: HierarchyAccelerator, figures: Mapping[str, Fraction], about: About
    ) -> Architecture:
        own = accelerator.architecture_with(figures)
        return replace(own, name=about.name, description=about.text, source=about.source)

    def request(
        self, accelerator: HierarchyAccelerator, alone: Architecture, problems: tuple[Problem, ...]
    ) -> MappingQuestion:
        edition, options = accelerator.edition, accelerator.options
        return replace(MappingQuestion.of_layers(alone, edition, options, problems), bounds={})


HIERARCHIES = Hierarchies()


def _accelergy(path: Path, what: str) -> Any:
    """The tables of a file of Accelergy's."""
    document = load_timeloop(path)
    if not isinstance(document, dict) or document.keys() != {what}:
        raise refuse(path, f"has not the field '{what}' alone; allowed: a file of Accelergy's")
    return document[what]


def _along(
    name: str, figures: Mapping[str, Expression], outer: Expression, inside: int
) -> Expression:
    """Instances along a direction."""
    mesh = figures.get(name.format("mesh"))
    return outer * figures.get(name.format("fanout"), inside) if mesh is None else mesh


def _bytes(level: Level, figures: Mapping[str, Expression]) -> Expression:
    """Bytes of an instance; of what is outside the chip, which has no capacity, none."""
    words = figures.get(f"{level.name}.words")
    if words is None:
        return Constant(
            Fraction(
                ((level.words or 0) + sum(n for _, n in level.tensor_words)) * level.word_bits, 8
            )
        )
    return words * figures.get(WORD_BITS.name, level.word_bits) / 8


def _architecture(source: Any, where: object) -> Architecture:
    if isinstance(source, str):
        if source in architecture_names():
            return find_architecture(source)
        file = beside(Path(str(where)), source)
        named = is_there(file) or Path(source).suffix or "/" in source
        return find_architecture(str(file) if named else source)
    if isinstance(source, dict) and "levels" in source:
        read = validated(ArchitectureDocument, source, f"{where}: architecture")
        try:
            return built(Architecture, read)
        except InputError as error:
            raise refuse(where, f"architecture: {error}") from None
    document = (
        source
        if isinstance(source, dict) and "architecture" in source
        else {"architecture": source}
    )
    return architecture_of(document, None, Path(str(where)).stem, where)
