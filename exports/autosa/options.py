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
            metavar="hls|tapa",
            help="(--to autosa only) Back end: HLS C, or tasks of TAPA. Default: hls.",
        ),
    ] = None
