"""The profile of mappings, for people and studies, whatever the edition; and that of the edition
``timeloop``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from ithaca.files.numbers import number, percent, rounded
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.family import Baselines, Breakdown, Profile, Remarks, Remedies
from ithaca.formulations.problem import Limit
from ithaca.plugins.hierarchies.formulations.architecture import Level
from ithaca.plugins.hierarchies.formulations.baselines import dataflows
from ithaca.plugins.hierarchies.formulations.constraints import NONE
from ithaca.plugins.hierarchies.formulations.cosa import programmed
from ithaca.plugins.hierarchies.formulations.design import SpatialDesign
from ithaca.plugins.hierarchies.formulations.drawing import costs, loop_lines, statements
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingSpace
from ithaca.plugins.hierarchies.formulations.remedies import remedies
from ithaca.plugins.hierarchies.formulations.variation import figures, with_figure
from ithaca.workloads.nest import LoopNest

#: The designs of an edition.
M = TypeVar("M", bound=MappingDesign)
S = TypeVar("S", bound=MappingSpace)


#: What the words of a breakdown mean.
WORDS = (
    "words: reads, fills (from the level around it) and updates (results from inside) are words "
    "of one instance; energies are those of all instances",
)


class MappingProfile(Profile[M]):
    """A nest that is mapped onto an architecture."""

    @property
    def attributes(self) -> Mapping[str, str | float]:
        return {
            "workload": self.design.nest.name,
            "sizes": self.design.nest.shown_sizes,
            "architecture": self.design.architecture.name,
            "design": self.design.name,
            "edition": self.design.edition,
        }

    def multipliers(self, metrics: Mapping[str, Fraction]) -> Fraction:
        return Fraction(self.design.architecture.compute.instances)

    @property
    def nest(self) -> LoopNest:
        return self.design.nest

    @property
    def figures(self) -> Mapping[str, Metric]:
        return figures(self.design.architecture)

    def with_figure(self, name: str, value: Fraction | None) -> Design:
        design: Any = self.design
        changed: Design = replace(
            design, architecture=with_figure(design.architecture, name, value)
        )
        return changed

    @property
    def title(self) -> str:
        nest = self.design.nest
        return f"{nest.name} ({nest.shown_sizes}), {self.design.edition} model edition"

    def breakdown(
        self, configuration: Mapping[str, int], metrics: Mapping[str, Fraction]
    ) -> Breakdown | None:
        """The words that each level moves of each tensor, with cycles and energy."""
        rows, levels = [], self.design.architecture.levels
        priced = any(f"{level.name}.energy" in metrics for level in levels)
        for level in levels:
            first = True
            for tensor in (access.tensor for access in self.design.nest.accesses):
                counts = {
                    what: metrics.get(f"{level.name}.{tensor}.{what}")
                    for what in ("capacity", "reads", "fills", "updates")
                }
                if counts["reads"] is None:
                    continue
                energy, whole = metrics.get(f"{level.name}.energy"), metrics.get("energy")
                share = percent(energy / whole) if energy is not None and whole else ""
                row = [("level", level.name if first else ""), ("tensor", tensor)]
                row += [
                    ("held" if what == "capacity" else what, number(count))
                    for what, count in counts.items()
                ]
                if priced:
                    own = "–" if energy is None else rounded(energy / 10**6)
                    row.append(("energy (µJ)", own if first else ""))
                    row.append(("share", share if first else ""))
                row.append(("cycles", number(metrics[f"{level.name}.cycles"]) if first else ""))
                rows.append(tuple(row))
                first = False
        return Breakdown(tuple(rows), frozenset({"level", "tensor"}), WORDS) if rows else None


class StorageProfile(MappingProfile[S]):
    """Mappings in which every level costs energy and cycles."""

    @property
    def enlarged(self) -> Mapping[str, Design]:
        """Twice the words, or twice the bandwidth, of one level."""
        designs: dict[str, Design] = {}
        levels = self.design.architecture.levels
        for place, level in enumerate(levels):
            rates = {
                name: getattr(level, name)
                for name in ("read_bandwidth", "write_bandwidth", "shared_bandwidth")
            }
            wider = {name: 2 * rate for name, rate in rates.items() if rate is not None}
            more: dict[str, Level] = {}
            if level.words is not None:
                words = 2 * level.words
                more[f"give {level.name} twice the words ({words:,}, energies as they are)"] = (
                    replace(level, words=words)
                )
            if wider:
                more[f"give {level.name} twice the bandwidth"] = replace(level, **wider)
            for what, own in more.items():
                changed = replace(
                    self.design.architecture, levels=(*levels[:place], own, *levels[place + 1 :])
                )
                designs[what] = replace(self.design, architecture=changed)
        return designs

    def remarks(self, configuration: Mapping[str, int], limits: Sequence[Limit]) -> Remarks:
        """Remarks on what binds, where the energy goes, how many multipliers work, and what is
        padded."""
        pes, remarks = (
            self.design.metrics(configuration, FRACTION, ["pes"])["pes"],
            costs(self.design, configuration),
        )
        more = statements(
            self.design.nest, self.design.architecture, self.design.mapping(configuration), pes
        )
        return replace(remarks, statements=(*remarks.statements, *more))


class TimeloopProfile(StorageProfile[SpatialDesign]):
    """Mappings as Timeloop prints them."""

    @property
    def restricting(self) -> Mapping[str, bool]:
        """The restrictions of mappings beside capacities and meshes."""
        options, own = self.design.options, self.design.constraints
        return {
            "--constraints": own != NONE,
            "--divisors-only": options.divisors_only,
            "--fanout": options.within_parent,
        }

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        """The mapping as Timeloop prints it."""
        metrics = self.design.metrics(configuration, FRACTION)
        return tuple(
            loop_lines(
                self.design.nest,
                self.design.architecture,
                self.design.mapping(configuration),
                metrics,
            )
        )

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        return remedies(
            self.design.nest, self.design.architecture, self.design.mapping(configuration)
        )

    def baselines(self) -> Baselines:
        """CoSA's program and dataflows that are fixed beforehand, where no other constraints are
        asked for."""
        if self.design.constraints != NONE or self.design.options.free_bypass:
            return {}
        fixed = {
            name: [(replace(self.design, constraints=constraints), ())]
            for name, constraints in dataflows(self.design.nest, self.design.architecture).items()
        }
        return {
            "cosa": (
                (replace(self.design, constraints=constraints), ())
                for constraints in programmed(self.design)
            ),
            **fixed,
        }
