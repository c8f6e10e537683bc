"""The options that questions of systolic arrays read, and those that change the machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Annotated, Any

from typer import Option

from ithaca.files.messages import errors_at
from ithaca.files.words import REPEATED, parse_choice, parse_counts, parse_integer
from ithaca.formulations.data_types import DataType
from ithaca.formulations.formats import LISTED
from ithaca.formulations.machine import LETTERS, REGIMES, Machine, Sums
from ithaca.formulations.platform import Platform
from ithaca.formulations.question_kind import Formats, Limits, Metrics, QuestionKind, Require


def changed_machine(machine: Machine, changes: Mapping[str, Any]) -> Machine:
    """A machine with `machine_changes`."""
    with errors_at("--param"):
        return replace(machine, **changes)


def machine_changes(
    regime: str | None = None,
    param: Mapping[str, int] | Sequence[str] | None = None,
    fifo_depth: int | None = None,
    sums: str | None = None,
) -> dict[str, Any]:
    """The fields of a machine that options change.

    Parameters
    ----------
    regime : str, optional
        ``rtl`` or ``hls``, whose waits are taken.
    param : mapping of str to int or sequence of str, optional
        Waits by letter (cycles), such as ``d=1``.
    fifo_depth : int, optional
        Words that a FIFO holds.
    sums : str, optional
        Whether a PE adds its neighbour's sum ``first`` or ``last``.

    Raises
    ------
    InputError
        If an option has a value that is not allowed.
    """
    changes: dict[str, Any] = {}
    if regime is not None:
        waits = REGIMES[parse_choice("--regime", regime, list(REGIMES))]
        changes |= {name: getattr(waits, name) for name in LETTERS.values()}
    for letter, count in parse_counts("--param", param, "d=1,m=8").items():
        changes[LETTERS[parse_choice("--param", letter, list(LETTERS))]] = count
    if fifo_depth is not None:
        changes["fifo_depth"] = parse_integer("--fifo-depth", fifo_depth, least=1)
    if sums is not None:
        changes["sums"] = Sums(parse_choice("--sums", sums, [each.value for each in Sums]))
    return changes


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
        Option(
            "--platform",
            metavar="NAME|PATH",
            help="Platform (ithaca list platforms), or a path to a file of your own.",
        ),
    ] = "u250"
    dtype: Annotated[str | DataType, Option("--dtype", help=f"{LISTED}")] = "fp32"
    format: Formats = None
    accumulator: Annotated[
        int | None,
        Option(
            "--accumulator",
            metavar="16|32",
            help="Width of the accumulators in bits. Default: 32.",
        ),
    ] = None
    limit: Annotated[
        Limits,
        Option(
            "--limit",
            metavar="NAME=VALUE,...",
            help="Upper limits, e.g. dsp=8601,bram18k=50%,power=3W,bandwidth=none, "
            "in place of the platform's.",
        ),
        REPEATED,
    ] = None
    require: Require = None
    metric: Metrics = None
    dataflow: Annotated[
        str | Sequence[str] | None,
        Option(
            "--dataflow",
            metavar="LOOPS",
            help="Loops of the array's sides, e.g. i,j. Default: best.",
        ),
    ] = None
    permutation: Annotated[
        str | None,
        Option(
            "--permutation",
            metavar="TENSOR",
            help="Tensor whose reuse loops are innermost. Default: the best.",
        ),
    ] = None
    edition: Annotated[
        str | None,
        Option(
            "--edition",
            help=f"Model edition: {EDITIONS}. Default: {EDITION} (exact if "
            "--include-unbuildable is given).",
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
            help="Loops that run inside the PE, or none. Default: those of windows, such as a "
            "filter's.",
        ),
    ] = None
    simd: Annotated[
        str | None,
        Option(
            "--simd",
            metavar="LOOP",
            help="Which loop each PE vectorises. Default: a reduction loop.",
        ),
    ] = None
    block_sparse: Annotated[
        str | None,
        Option(
            "--block-sparse",
            metavar="X=N/V",
            help="N:V structured sparsity of tensor X along the SIMD loop, e.g. A=2/4.",
        ),
    ] = None
    min_lanes: Annotated[int, Option("--min-lanes", help="Fewest PEs along each space loop.")] = 1
    divisors_only: Annotated[
        bool,
        Option(
            "--divisors-only",
            help="Only array parts that divide the extents (no padding).",
        ),
    ] = False
    ports: Annotated[
        int | None,
        Option("--ports", help="Let a tensor use up to N memory channels. Default: 1."),
    ] = None
    no_host_serialize: Annotated[
        bool,
        Option(
            "--no-host-serialize",
            help="Keep tensors row-major in DRAM; each tile row costs a burst. Default: the host "
            "stores them in the order in which they are moved.",
        ),
    ] = False
    uram: Annotated[
        bool,
        Option("--uram", help="Allow URAM for the buffers of the modules that access DRAM."),
    ] = False
    two_level: Annotated[
        bool,
        Option(
            "--two-level",
            help="Add a second level of tiling, with a buffer next to DRAM (2-D arrays only).",
        ),
    ] = False
    double_buffer: Annotated[
        str | Sequence[str] | None,
        Option(
            "--double-buffer",
            metavar="TENSORS",
            help="Tensors whose buffers are doubled: all, none, names, or free (chosen by the "
            "search). Default: all.",
        ),
    ] = None
    regime: Annotated[
        str | None,
        Option(
            "--regime",
            metavar="rtl|hls",
            help="(cycle only) Timing of modules: rtl, or hls as Vitis HLS schedules loops. "
            "Default: the platform's.",
        ),
    ] = None
    sums: Annotated[
        str | None,
        Option(
            "--sums",
            metavar="first|last",
            help="(cycle only) When a PE adds the partial sum it receives: first (as AutoSA), or "
            "last.",
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
