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
            help="(--to rtl only) Accumulator width: 16 or 32 bits. Default: the result's.",
        ),
    ] = None
    memory: Annotated[
        str | None,
        Option(
            "--memory",
            help="Tensors come, with --to rtl, as stream (AXI4-Stream, default) or "
            "from memory: axi4 (AXI4 masters).",
        ),
    ] = None
