"""The options of exports as hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Option


@dataclass(frozen=True)
class HardwareOptions:
    """The options of exports as hardware."""

    accumulator: Annotated[
        int | None,
        Option(
            "--accumulator",
            metavar="16|32",
            help="(--to rtl only) Width of the accumulators in bits. Default: the result's.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        Option(
            "--memory",
            metavar="stream|axi4",
            rich_help_panel="Question",
            help="(--to rtl only) How tensors come: as streams (AXI4-Stream), or from memory by "
            "AXI4 masters. Default: stream.",
        ),
    ] = None
