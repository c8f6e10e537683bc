"""The options of exports to AutoSA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Option


@dataclass(frozen=True)
class AutosaOptions:
    """The options of exports to AutoSA."""

    target: Annotated[
        str | None,
        Option(
            "--target",
            help="Back end, with --to autosa: hls (HLS C, default) or tapa (tasks of TAPA).",
        ),
    ] = None
