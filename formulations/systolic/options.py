"""The options that questions of systolic arrays read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Annotated

from typer import Option

from ithaca.files.words import REPEATED
from ithaca.formulations.data_types import DTYPES, DataType
from ithaca.formulations.platform import Platform
from ithaca.formulations.question_kind import Limits, Metrics, QuestionKind, Require

#: The model edition, unless options say otherwise, and that of what cannot be built, of which that
#: one says nothing.
EDITION, UNBUILDABLE_EDITION = "cycle", "exact"

EDITIONS = (
    "cycle (modules word by word), exact (modules at their rates) or "
    "odyssey (as published, to the digit)"
)


@dataclass(frozen=True)
class ArrayOptions:
    """The options that questions of systolic arrays read."""

    platform: Annotated[
        str | PathLike[str] | Platform,
        Option("--platform", help="Name of a platform, or a path to a file of your own."),
    ] = "u250"
    dtype: Annotated[str | DataType, Option("--dtype", help=f"{DTYPES}.")] = "fp32"
    accumulator: Annotated[
        int | None,
        Option("--accumulator", help="Bits of a sum of hardware: 16 or 32; default: 32."),
    ] = None
    limit: Annotated[
        Limits,
        Option(
            "--limit",
            help="Upper limits, e.g. dsp=8601,bram18k=50%,power=3W,bandwidth=none; "
            "they replace the platform's.",
        ),
        REPEATED,
    ] = None
    require: Require = None
    metric: Metrics = None
    dataflow: Annotated[
        str | Sequence[str] | None,
        Option("--dataflow", help="Loops mapped to space, e.g. i,j; default: the best."),
    ] = None
    permutation: Annotated[
        str | None,
        Option("--permutation", help="Tensor whose reuse loops are innermost; default: the best."),
    ] = None
    edition: Annotated[
        str | None,
        Option(
            "--edition",
            help=f"Model edition: {EDITIONS}; default: {EDITION}, with "
            "--include-unbuildable exact.",
        ),
    ] = None
    include_unbuildable: Annotated[
        bool, Option("--include-unbuildable", help="Consider designs that HLS cannot build, too.")
    ] = False
    untiled: Annotated[
        str | Sequence[str] | None,
        Option(
            "--untiled",
            metavar="LOOPS",
            help="Loops that run inside the PE, or none; default: windows, such as a filter's.",
        ),
    ] = None
    simd: Annotated[
        str | None,
        Option(
            "--simd",
            metavar="LOOP",
            help="The loop that is vectorised, one: a PE has one vector; default: a reduction.",
        ),
    ] = None
    block_sparse: Annotated[
        str | None,
        Option(
            "--block-sparse",
            metavar="X=N/V",
            help="Of each V neighbours of tensor X along the SIMD loop, N are not zero, and "
            "stored.",
        ),
    ] = None
    min_lanes: Annotated[
        int, Option("--min-lanes", metavar="N", help="Fewest PEs along each space loop.")
    ] = 1
    divisors_only: Annotated[
        bool,
        Option(
            "--divisors-only",
            help="Let array partitioning factors divide the extents (no padding).",
        ),
    ] = False
    ports: Annotated[
        int | None,
        Option(
            "--ports",
            metavar="N",
            help="Spread a tensor over up to N memory ports, each a channel of the platform's "
            "memory; default: one of each tensor.",
        ),
    ] = None
    no_host_serialize: Annotated[
        bool,
        Option(
            "--no-host-serialize",
            help="Let data lie in DRAM as programs have them, every row of a tile a burst; "
            "default: the host lays them out in the order in which they are moved.",
        ),
    ] = False
    uram: Annotated[
        bool,
        Option("--uram", help="Let buffers inside DRAM modules be of URAM; default: block RAM."),
    ] = False
    two_level: Annotated[
        bool,
        Option(
            "--two-level",
            help="Tile the tiles again: modules beside DRAM have buffers of outer tiles, "
            "of arrays with two parallel space loops.",
        ),
    ] = False
    regime: Annotated[
        str | None,
        Option(
            "--regime",
            help="Of edition cycle: rtl, or hls as synthesis times loops; default: the platform's.",
        ),
    ] = None
    sums: Annotated[
        str | None,
        Option(
            "--sums",
            help="Of the cycle edition: a PE adds its neighbour's sum first (AutoSA) or last.",
        ),
    ] = None
    target: Annotated[
        str | None,
        Option(
            "--for", metavar="COMPILER", help="Consider only what this compiler builds: autosa."
        ),
    ] = None
    """The compiler that answers are for."""


KIND = QuestionKind(
    "systolic arrays",
    ArrayOptions,
    alone=frozenset({"descriptor", "mode", "arrays", "minimise"}),
)
