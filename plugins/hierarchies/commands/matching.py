"""`ithaca.match`: which loops of a computation may run on an intrinsic, and what each choice
costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from typer import Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.options import Extents, Sizes, Workload
from ithaca.commands.api.parsing import check_sizes, parse_extents
from ithaca.files.answer import Answer
from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.files.numbers import counted
from ithaca.files.words import REPEATED, parse_counts
from ithaca.files.writing import SCHEMA
from ithaca.formulations.documents import Document, Number
from ithaca.formulations.schema import NestDocument
from ithaca.plugins.hierarchies.formulations.intrinsics import OWN, find_intrinsic
from ithaca.plugins.hierarchies.formulations.matching import (
    Computation,
    Match,
    MatchingRule,
    MatchTiling,
    computation,
)
from ithaca.plugins.hierarchies.formulations.matching_model import matches
from ithaca.results.schema import FirstPart
from ithaca.results.view import Block, Fact, View, tabled
from ithaca.workloads.library import read_nest, workload_document
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    import xarray as xr

STUDY = "match"


@dataclass(frozen=True, repr=False)
class Matches(Answer):
    """The answer of `ithaca.match`: all legal choices, and those that only the published count
    has.

    Examples
    --------
    >>> matches = ithaca.match("mm", intrinsic="gemm", i=64, j=64, k=64)
    >>> matches
    <Matches: mm (i=64, j=64, k=64) on gemm: 1 choice>
    """

    again = "all found again"

    nest: LoopNest
    """The nest to compute."""
    intrinsic: Computation
    """The computation of the tensor unit, with its sizes."""
    choices: tuple[Match, ...]
    """Every legal one: stage by stage, fewest calls first."""
    refused: tuple[Match, ...]
    """Matches that `MatchingRule.PUBLISHED` counts, too; `Match.broken` says why they are
    refused."""
    tile: Mapping[str, int] = field(default_factory=dict)
    """Iterations of sub-problems, by loop; none: one sub-problem."""

    @property
    def headline(self) -> str:
        nest, choices = self.nest, counted(len(self.choices), "choice")
        return f"{nest.name} ({nest.shown_sizes}) on {self.intrinsic.name}: {choices}"

    @property
    def failure(self) -> str:
        known = (
            f"no match: {self.nest} cannot run on {self.intrinsic}; "
            "--partial lets loops of that be idle"
        )
        return "" if self.choices else known

    @property
    def view(self) -> View:
        return tuple(_view(self))

    @property
    def leaves(self) -> tuple[int, int]:
        """Leaves of the trees of the computation and of the intrinsic."""
        return len(computation(self.nest).leaves), len(self.intrinsic.leaves)

    def tiled(self, match: Match) -> MatchTiling:
        """A choice in sub-problems, as they were asked for.

        Examples
        --------
        >>> matches = ithaca.match("mm", intrinsic="gemm", i=64, j=64, k=64)
        >>> matches.tiled(matches.choices[0])
        MatchTiling(match=<Match C[i][j] += A[i][k] * B[j][k]: {'i': 'i', 'j': 'j', 'k': 'k'}>,
        sizes=(('i', 64), ('j', 64), ('k', 64)))
        """
        own = {loop: size for loop, size in self.tile.items() if loop in match.computation.loops}
        return match.tiled(own) if self.tile else match.whole

    @property
    def document(self) -> dict[str, Any]:
        fields = {
            "schema": SCHEMA,
            "study": STUDY,
            "workload": workload_document(self.nest),
            "intrinsic": {
                "name": self.intrinsic.name,
                "statement": str(self.intrinsic),
                "sizes": self.intrinsic.sizes,
            },
            "tile": dict(self.tile),
            "leaves": self.leaves[0],
            "sets_of_leaves": comb(*self.leaves),
            "choices": [self._fields(match) for match in self.choices],
            "published": len(self.choices) + len(self.refused),
            "refused": [{**self._fields(match), "because": match.broken} for match in self.refused],
        }
        return MatchDocument.model_validate(fields).as_json()

    def _fields(self, match: Match) -> dict[str, Any]:
        run = self.tiled(match)
        return {
            "stage": str(match.computation),
            "loops": match.binding,
            "operands": match.operands,
            "idle": dict(match.idle),
            "padded": match.padded,
            "calls": run.calls,
            **({"subproblems": run.subproblems, "calls_each": run.calls_each} if self.tile else {}),
            "redundant": run.redundant,
            "runs": match.runs,
        }

    def to_xarray(self) -> xr.Dataset:
        """A row for each choice: the loop bound to each of the intrinsic's (empty: none), and its
        costs.

        Examples
        --------
        >>> matches = ithaca.match("mm", intrinsic="gemm", i=64, j=64, k=64)
        >>> dict(matches.to_xarray().sizes)
        {'choice': 1}
        """
        import xarray as xr

        rows = [self._fields(match) for match in self.choices]
        columns: dict[str, Any] = {"stage": ("choice", [row["stage"] for row in rows])}
        for index in self.intrinsic.loops:
            columns[f"loops.{index}"] = "choice", [row["loops"].get(index, "") for row in rows]
        for name in ("calls", "subproblems", "calls_each", "redundant", "runs"):
            if any(name in row for row in rows):
                columns[name] = "choice", [float(row[name]) for row in rows]
        return xr.Dataset(columns, {"choice": range(1, len(rows) + 1)}, {"title": self.headline})


def _view(matches: Matches) -> Iterator[Block]:
    """The choices, and what the published count has beyond them."""
    intrinsic, (leaves, taken) = matches.intrinsic, matches.leaves
    sizes = ", ".join(f"{loop}={n}" for loop, n in intrinsic.extents)
    yield f"{matches.nest.name} ({matches.nest.shown_sizes}): {matches.nest}"
    yield f"on {intrinsic.name} ({sizes}): {intrinsic}"
    published = (
        f", {len(matches.choices) + len(matches.refused)} by the published count"
        if matches.refused
        else ""
    )
    sets = counted(matches.document["sets_of_leaves"], "set")
    leaves_told = (
        f"{taken} of {leaves} leaves: {sets}"
        if taken <= leaves
        else f"{leaves} leaves, of the intrinsic {taken}"
    )
    yield f"{leaves_told}; {counted(len(matches.choices), 'legal choice')}{published}"
    if matches.choices:
        rows = [_cells(place, each, matches) for place, each in enumerate(matches.choices, 1)]
        yield tabled(rows, {"stage", "operands"})
        yield Fact(
            "words",
            "redundant: share of the calls' work that pads; runs: runs of "
            "consecutive words that a call touches",
        )
    for each in matches.refused:
        yield Fact("refused", f"{_loops(each)}: {each.broken}")


def _loops(match: Match) -> str:
    return ", ".join(f"{index}={loop}" for index, loop in match.binding.items())


def _cells(place: int, match: Match, matches: Matches) -> list[tuple[str, str]]:
    """The cells of a choice's row in the table, as pairs of column and text."""
    run, sizes = matches.tiled(match), match.computation.sizes
    cells = [("", str(place))]
    if (
        len({each.computation for each in matches.choices}) > 1
        or match.computation.output != matches.nest.output
    ):
        cells.append(("stage", str(match.computation)))
    for index, _ in matches.intrinsic.extents:
        loop = match.binding.get(index)
        padded = (
            "" if loop is None or match.padded[loop] == sizes[loop] else f" → {match.padded[loop]}"
        )
        cells.append((index, "idle" if loop is None else f"{loop} {sizes[loop]}{padded}"))
    cells.append(
        ("operands", ", ".join(f"{theirs}={ours}" for theirs, ours in match.operands.items()))
    )
    if matches.tile:
        cells += [("sub-problems", f"{run.subproblems:,}"), ("calls each", f"{run.calls_each:,}")]
    return [
        *cells,
        ("calls", f"{run.calls:,}"),
        ("redundant", f"{float(100 * run.redundant):.2f} %"),
        ("runs", f"{match.runs:,}"),
    ]


@public
def match(
    workload: Workload,
    *,
    intrinsic: Annotated[
        str,
        Option(
            "--intrinsic",
            help="Tensor unit: gemm, gemv, dot, conv2d, or your own: 'l[i,j] += m[i,k] * n[k,j]'.",
        ),
    ] = "gemm",
    intrinsic_sizes: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--intrinsic-sizes",
            help="Extents of the unit's own loops in one call, e.g. i=16,j=16,k=16.",
        ),
        REPEATED,
    ] = None,
    tile: Annotated[
        Mapping[str, int] | Sequence[str] | None,
        Option(
            "--tile",
            help="Run in sub-problems of so many iterations, e.g. "
            "r=32,o=32; other loops: of one call.",
        ),
        REPEATED,
    ] = None,
    partial: Annotated[
        bool,
        Option(
            "--partial",
            help="If nothing matches, leave as few of the unit's loops idle as possible.",
        ),
    ] = False,
    sizes: Sizes = None,
    **extents: Extents,
) -> Matches:
    """List every legal way to run a workload on an intrinsic.

    Each choice binds loops of the workload to all loops of the intrinsic; the list is complete.

    Examples
    --------
    >>> ithaca.match("mm", intrinsic="gemm", i=64, j=64, k=64)
    <Matches: mm (i=64, j=64, k=64) on gemm: 1 choice>
    """
    own = parse_extents(sizes, extents)
    nest = read_nest(workload, own)
    unit = find_intrinsic(
        intrinsic, parse_counts("--intrinsic-sizes", intrinsic_sizes, "i=16,j=16,k=16")
    )
    answer = find_matches(nest, unit, parse_counts("--tile", tile, "i=32,j=32"), partial=partial)
    check_sizes(workload, nest, own)
    return answer


def find_matches(
    nest: LoopNest, intrinsic: Computation, tile: Mapping[str, int], *, partial: bool
) -> Matches:
    """The matches of a nest with an intrinsic, and the choices among them.

    Parameters
    ----------
    nest : LoopNest
        The loops that calls are to cover.
    intrinsic : Computation
        What a call computes.
    tile : mapping of str to int
        Iterations of sub-problems, by loop; none: one sub-problem.
    partial : bool
        Whether loops of the intrinsic may be idle.

    Raises
    ------
    InputError
        If a loop is unknown, or a size of a sub-problem not allowed.
    """
    for loop in tile:
        if loop not in nest.loops:
            raise InputError(
                f"--tile: unknown loop {quoted(loop)} of {nest.name}{among(loop, nest.loops)}"
            )
    whole = computation(nest)
    choices = matches(whole, intrinsic, partial=partial)
    refused = tuple(
        each for each in matches(whole, intrinsic, MatchingRule.PUBLISHED) if each.broken
    )
    answer = Matches(nest, intrinsic, choices, refused, tile)
    for each in choices:
        answer.tiled(each)  # refuse sizes that are none
    return answer


class IntrinsicDocument(Document):
    """The computation of an intrinsic: its name, statement and sizes."""

    name: str
    statement: str
    sizes: dict[str, int]


class MatchEntryDocument(Document):
    """A match: loops by those of the intrinsic, tensors likewise, and what it costs."""

    stage: str
    loops: dict[str, str]
    operands: dict[str, str]
    idle: dict[str, int] = Field(default_factory=dict)
    padded: dict[str, int]
    calls: int
    subproblems: int | None = None
    calls_each: int | None = None
    redundant: Number
    runs: int
    because: str = ""


class MatchDocument(FirstPart):
    """Every match, and those that the published count has beyond them."""

    study: Literal["match"]
    workload: NestDocument
    intrinsic: IntrinsicDocument
    tile: dict[str, int] = Field(default_factory=dict)
    leaves: int
    sets_of_leaves: int
    choices: list[MatchEntryDocument]
    published: int
    refused: list[MatchEntryDocument]


def read_matches(document: Any, where: str | PathLike[str] | Path) -> Matches:
    """The matches that a document states, all found again. Raises `InputError` if these are
    others."""
    read = validated(MatchDocument, document, where)
    with errors_at(where):
        text = read.intrinsic.statement if read.intrinsic.name == OWN else read.intrinsic.name
        unit = find_intrinsic(text, read.intrinsic.sizes)
        answer = find_matches(
            read.workload.nest(),
            unit,
            read.tile,
            partial=any(choice.idle for choice in read.choices),
        )
    for name, value in answer.document.items():
        if document.get(name) != value:
            raise refuse(
                where,
                f"{name} is not what is found anew; allowed: a file as ithaca match -o writes it",
            )
    return answer
