"""Questions about mappings onto memory hierarchies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Self

from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.words import parse_choice
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.question import LayerProblems, Question, Variable
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.conflicts import conflict
from ithaca.plugins.hierarchies.formulations.constraint_files import read_constraints
from ithaca.plugins.hierarchies.formulations.editions import (
    EDITIONS,
    INTRINSIC,
    TIMELOOP,
    UNEVEN,
    Setting,
)
from ithaca.plugins.hierarchies.formulations.entry_lines import with_line
from ithaca.plugins.hierarchies.formulations.library import (
    architecture_names,
    described,
    find_architecture,
    fitted,
    keeps_of,
    namesake,
)
from ithaca.plugins.hierarchies.formulations.mapping_design import MappingDesign
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions, MappingSpace
from ithaca.plugins.hierarchies.formulations.metrics import PES, WHOLE
from ithaca.plugins.hierarchies.formulations.options import HierarchyOptions
from ithaca.plugins.hierarchies.formulations.variation import figures, with_figure
from ithaca.plugins.hierarchies.formulations.widths import units
from ithaca.workloads.formats import NONE
from ithaca.workloads.nest import LoopNest, Stored
from ithaca.workloads.networks.network import Network

#: Most fields that a remark names.
NAMED = 100


@dataclass(frozen=True, kw_only=True)
class MappingQuestion(Question):
    """A question about mappings of any nest onto an architecture."""

    architecture: Architecture
    """As it is written: tensors by role, perhaps."""
    edition: str
    """Edition of the model."""
    space: MappingOptions
    """Which mappings are allowed."""
    constraints: str | Path | None = None
    """A constraints file."""
    of_library: bool = True
    """Whether the architecture is one that comes with Ithaca, or was made in Python."""
    like: str | None = None
    """The library's architecture that says what levels keep, as the file does not."""
    strict: bool = False
    """Whether fields of files that nothing reads are refused."""
    explain_files: bool = False
    """Whether remarks say what is read."""
    formats: str = ""
    """Formats of tensors as they were stated, for remarks."""

    places = "architectures"
    metrics = MappingProxyType(WHOLE)
    directed = MappingProxyType({PES.name: PES})
    usual = "edp"
    steady = False

    @classmethod
    def read(cls, options: HierarchyOptions, objective: str | Objective | None = None) -> Self:
        arch = options.arch
        if arch is None:
            raise InputError(
                "--arch is missing; allowed: the name of a memory hierarchy, or "
                "a path (ithaca list architectures)"
            )
        architecture_named = (
            arch if isinstance(arch, Architecture) else find_architecture(str(arch))
        )
        space = MappingOptions(
            options.divisors_only,
            parse_choice("--bypass", options.bypass, ("fixed", "free")) == "free",
            parse_choice("--fanout", options.fanout, ("mesh", "parent")) == "parent",
            parse_choice("--nodes", options.nodes, ("free", "levels")) == "levels",
            parse_choice("--drains", options.drains, ("charged", "free")) == "free",
            parse_choice("--off-chip", options.off_chip, ("free", "bus")) == "bus",
            options.remainders,
        )
        edition = read_edition(options.edition)
        of_library = isinstance(arch, Architecture) or str(arch) in architecture_names()
        open_ = of_library or space.free_bypass or options.constraints is not None
        like = None if open_ else namesake(architecture_named)
        minimised, bounds, own = cls.stated(options, objective)
        return cls(
            architecture=architecture_named.keeping(keeps_of(like)),
            edition=edition,
            space=space,
            objective=minimised,
            bounds=bounds,
            own=own,
            constraints=options.constraints,
            of_library=of_library,
            like=None if like is None else like.name,
            strict=options.strict,
            explain_files=options.explain_files,
            formats=_text(options.format),
        )

    @classmethod
    def of_layers(
        cls,
        architecture: Architecture,
        edition: str,
        space: MappingOptions,
        layers: tuple[Problem, ...],
    ) -> Self:
        """The question that layers were mapped for, whose problems are known.

        Parameters
        ----------
        architecture : Architecture
            The memory hierarchy.
        edition : str
            The edition of the model.
        space : MappingOptions
            Which mappings were allowed.
        layers : tuple of Problem
            The problems; their objective and limits are those of the question.
        """
        return cls(
            architecture=architecture,
            edition=edition,
            space=space,
            objective=layers[0].objective,
            bounds={limit.metric: limit.bound for limit in layers[0].limits},
            layers=layers,
        )

    @classmethod
    def named(cls, option: str, nest: LoopNest | None = None) -> Sequence[str]:
        return architecture_names() if option == "arch" else ()

    def designs(self, nest: LoopNest, memory: Stored = ()) -> tuple[MappingDesign, ...]:
        architecture = fitted(self.architecture, nest, dense=self.edition != TIMELOOP)
        constraints = read_constraints(self.constraints, architecture, nest)
        unread = [*_unread(architecture, nest), *constraints.unread]
        if self.strict and unread:
            raise refuse(unread[0], "nothing reads it; allowed: without --strict, or without it")
        architecture = replace(architecture, entries=())
        designs = Setting(architecture, nest, self.edition, self.space, constraints, memory).designs
        if isinstance(first := designs[0], MappingSpace):
            if not self.space.free_bypass:
                _check_room(first, nest)
            if line := conflict(first):
                for place in {entry.where for entry in first.constraints.factors}:
                    line = line.replace(f"({place})", f"({with_line(place)})")
                raise refuse(f"no mapping onto {architecture.name}", line)
        return designs

    def problem(self, design: Design) -> Problem:
        """The problem of a design. Raises `InputError` if it needs energies that nothing says."""
        text = " ".join([self.objective.text, *map(str, self.bounds)])
        names = re.findall(r"[A-Za-z_][\w.]*", text)
        used = [name for name in names if name.rpartition(".")[2] in ("energy", "edp")]
        if self.architecture.unpriced and used:
            parts = ", ".join(self.architecture.unpriced)
            raise InputError(
                f"{self.architecture.name}: nothing says the energies of {parts}, on which "
                f"{used[0]} depends; allowed: an ERT in its file or in ert.yaml beside it (ithaca "
                "estimate writes one), attributes such as read_energy, write_energy and energy, "
                "or --objective latency"
            )
        return super().problem(design)

    def pose(self, network: Network) -> tuple[LayerProblems, ...]:
        if self.edition == INTRINSIC and not self.layers:
            raise InputError(
                "--edition is intrinsic, of which layers have several designs; "
                "allowed: map, or codesign for networks"
            )
        return super().pose(network)

    @property
    def unfused(self) -> str:
        able = (TIMELOOP, UNEVEN)
        return "" if self.edition in able else f"edition {self.edition}; allowed: {', '.join(able)}"

    # -- words -------------------------------------------------------------------------

    @property
    def facts(self) -> dict[str, str]:
        return {"arch": self.architecture.name, "edition": self.edition}

    def remarks(self, nest: LoopNest | None) -> Iterator[str]:
        """Lines on what files of Timeloop's leave open and are taken to mean, and what is not
        read."""
        if self.explain_files:
            yield from described(self.architecture)
        typed = self.formats if nest is None else nest.labels.get("format", "")
        if typed not in ("", NONE):
            yield (
                f"format {typed}: words hold as many values as fit them whole; "
                f"multiply-accumulates and leakage cost what {self.architecture.name} states"
            )
        unread = [*_unread(self.architecture, nest)]
        if nest is not None:
            unread += read_constraints(
                self.constraints, fitted(self.architecture, nest, dense=False), nest
            ).unread
        by_file: dict[str, list[str]] = {}
        for path in unread:
            file, _, place = path.partition(": ")
            by_file.setdefault(file, []).append(place)
        for file, places in by_file.items():
            more = f", and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
            yield f"{file}: nothing here depends on {', '.join(places[:NAMED])}{more}"
        levels = self.edition in (TIMELOOP, UNEVEN)
        if self.of_library or not levels or len(self.architecture.levels) == 1:
            return
        silent = all(level.keeps is None for level in self.architecture.levels)
        if (
            (silent or self.like is not None)
            and self.constraints is None
            and not self.space.free_bypass
        ):
            taken = (
                "every level keeps every tensor"
                if self.like is None
                else f"they keep what they keep in Ithaca's {self.like}"
            )
            yield (
                f"{self.place} does not say which tensors its levels keep, so {taken}; "
                "--constraints fixes what passes by, --bypass free leaves "
                "it open, as timeloop-mapper does"
            )

    # -- studies -----------------------------------------------------------------------

    @property
    def variables(self) -> Mapping[str, Variable]:
        return {
            "arch": Variable(
                lambda _, text: find_architecture(str(text)),
                lambda question, value: replace(question, architecture=value),
                lambda architecture: architecture.name,
            ),
            "edition": Variable(
                lambda _, text: read_edition(text),
                lambda question, value: replace(question, edition=value),
            ),
            "objective": Variable(
                lambda _, text: self.minimised(text),
                lambda question, value: replace(question, objective=value),
                lambda objective: objective.text,
            ),
        }

    @property
    def figures(self) -> Mapping[str, Metric]:
        return figures(self.architecture)

    def with_figure(self, name: str, value: Fraction | None) -> Self:
        return replace(self, architecture=with_figure(self.architecture, name, value))


def _text(formats: Mapping[str, str] | Sequence[str] | None) -> str:
    """Formats of tensors in one line, such as W=int4,A=int8."""
    if isinstance(formats, Mapping):
        formats = [f"{name}={form}" for name, form in formats.items()]
    return ",".join([formats] if isinstance(formats, str) else formats or ())


def read_edition(edition: str) -> str:
    """The name of an edition of the model. Raises `InputError` if it is none."""
    return parse_choice("--edition", edition, tuple(EDITIONS))


def _unread(architecture: Architecture, nest: LoopNest | None) -> Iterator[str]:
    """Paths of what nothing depends on: on densities something does where tensors are sparse."""
    yield from architecture.unread
    for path in () if nest is None else nest.unread:
        if not (architecture.sparse and path.endswith(("densities", "commonDensity"))):
            yield path


def _check_room(design: MappingSpace, nest: LoopNest) -> None:
    """Refuse levels in which not even a word of every tensor has room: no mapping fits."""
    for place, level in enumerate(design.architecture.levels):
        keeps = design.keeps(place)  # all are fixed
        kept = [access.tensor for access in nest.accesses if access.tensor in keeps]
        least = sum(units(level, nest).words(tensor, 1) for tensor in kept)
        if level.words is not None and level.usable(level.words) < least:
            usable, needed = (
                level.usable(level.words),
                f"a value of each tensor that it keeps, {', '.join(kept)}",
            )
            what = f"{level.name} has room for {usable} words; allowed: at least {least}, {needed}"
            raise InputError(f"{design.architecture.name}: {what} (see --constraints and --bypass)")
