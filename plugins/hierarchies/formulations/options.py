"""The options that questions about mappings onto memory hierarchies read."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ithaca.files.words import REPEATED
from ithaca.formulations.question_kind import RARE, Limits, Metrics, QuestionKind, Require

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
            help="fixed: levels of --arch keep all tensors they can; free: those that are best.",
        ),
    ] = "fixed"
    fanout: Annotated[
        str,
        Option(
            "--fanout",
            help="mesh: lanes fit all instances, as Timeloop checks; parent: "
            "also those inside each parent.",
        ),
    ] = "mesh"
    edition: Annotated[
        str,
        Option(
            "--edition",
            help="Model edition: timeloop, dmazerunner, explainable, intrinsic or uneven.",
        ),
    ] = "timeloop"
    nodes: Annotated[
        str,
        Option(
            "--nodes",
            rich_help_panel=RARE,
            help="Of edition uneven: free: tiles of any level may lie inside those of any "
            "other; levels: as the levels do.",
        ),
    ] = "free"
    drains: Annotated[
        str,
        Option(
            "--drains",
            rich_help_panel=RARE,
            help="Of edition uneven: charged: results that leave a level are read there; "
            "free: they are not, as in Timeloop.",
        ),
    ] = "charged"
    off_chip: Annotated[
        str,
        Option(
            "--off-chip",
            rich_help_panel=RARE,
            help="Of edition intrinsic: free: words come from off chip for nothing, as published; "
            "bus: they take cycles of its bus.",
        ),
    ] = "free"
    limit: Annotated[
        Limits,
        Option("--limit", help="Upper limits on metrics, e.g. energy=1e9,pes=128,DRAM.energy=2e8."),
        REPEATED,
    ] = None
    require: Require = None
    metric: Metrics = None
    divisors_only: Annotated[
        bool, Option("--divisors-only", help="Let factors divide the extents (no padding).")
    ] = False
    remainders: Annotated[
        bool,
        Option(
            "--remainders",
            rich_help_panel=RARE,
            help="Let last tiles be what is left, as in M=11,7, instead of padding them.",
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
            help="Say what is read of Timeloop's files before solving.",
        ),
    ] = False


KIND = QuestionKind(
    "memory hierarchies",
    HierarchyOptions,
    selector="--arch",
)
