"""The options that questions about mappings onto memory hierarchies read."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ithaca.files.words import REPEATED
from ithaca.formulations.question_kind import RARE, Formats, Limits, Metrics, QuestionKind, Require

if TYPE_CHECKING:
    from ithaca.plugins.hierarchies.formulations.architecture import Architecture


@dataclass(frozen=True)
class HierarchyOptions:
    """The memory hierarchy to map onto, and which mappings are allowed."""

    arch: Annotated[
        str | PathLike[str] | Architecture | None,
        Option(
            "--arch",
            metavar="NAME|PATH",
            help="A memory hierarchy (ithaca list architectures), or a path to Timeloop's.",
        ),
    ] = None
    format: Formats = None
    constraints: Annotated[
        str | Path | None,
        Option(
            "--constraints", metavar="FILE", help="Timeloop's constraints on mappings onto --arch."
        ),
    ] = None
    bypass: Annotated[
        str,
        Option(
            "--bypass",
            metavar="fixed|free",
            help="fixed: levels of --arch keep all tensors they can; free: those that are best.",
        ),
    ] = "fixed"
    fanout: Annotated[
        str,
        Option(
            "--fanout",
            metavar="mesh|parent",
            help="mesh: parallel lanes fit all instances of a level, as Timeloop checks; parent: "
            "also those inside each parent.",
            rich_help_panel=RARE,
        ),
    ] = "mesh"
    edition: Annotated[
        str,
        Option(
            "--edition",
            metavar="NAME",
            help="Model edition: timeloop, dmazerunner, explainable, intrinsic or uneven.",
        ),
    ] = "timeloop"
    nodes: Annotated[
        str,
        Option(
            "--nodes",
            rich_help_panel=RARE,
            metavar="free|levels",
            help="(uneven only) free: storage nodes in any order; levels: in the order of the "
            "hierarchy.",
        ),
    ] = "free"
    drains: Annotated[
        str,
        Option(
            "--drains",
            rich_help_panel=RARE,
            metavar="charged|free",
            help="(uneven only) Whether reading results out of a level costs a read: charged, or "
            "free as in Timeloop.",
        ),
    ] = "charged"
    off_chip: Annotated[
        str,
        Option(
            "--off-chip",
            rich_help_panel=RARE,
            metavar="free|bus",
            help="(intrinsic only) free: off-chip words cost no cycles, as published; bus: they "
            "take cycles of the bus.",
        ),
    ] = "free"
    limit: Annotated[
        Limits,
        Option(
            "--limit",
            metavar="NAME=VALUE,...",
            help="Upper limits on metrics, e.g. energy=1e9,pes=128,DRAM.energy=2e8.",
        ),
        REPEATED,
    ] = None
    require: Require = None
    metric: Metrics = None
    divisors_only: Annotated[
        bool, Option("--divisors-only", help="Only factors that divide the extents (no padding).")
    ] = False
    remainders: Annotated[
        bool,
        Option(
            "--remainders",
            rich_help_panel=RARE,
            help="Allow a smaller last tile (18 = 11 + 7) instead of padding.",
        ),
    ] = False
    strict: Annotated[
        bool,
        Option(
            "--strict",
            rich_help_panel=RARE,
            help="Refuse fields of Timeloop's files that nothing reads.",
        ),
    ] = False
    explain_files: Annotated[
        bool,
        Option(
            "--explain-files",
            rich_help_panel=RARE,
            help="List what is read from Timeloop's files before solving.",
        ),
    ] = False


KIND = QuestionKind(
    "memory hierarchies",
    HierarchyOptions,
    selector="--arch",
)
