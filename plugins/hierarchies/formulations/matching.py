"""Matching the loops of a computation to an intrinsic: the tree of a computation, the bindings of a
match, and its costs.

Trees and the two steps of matching follow HASCO (Xiao et al., ISCA 2021). A tree has a sum over the
reduction loops at its root, below it a product of loads, below each load its subscripts; its leaves
are the occurrences of loops in these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import prod

from ithaca.files.errors import InputError
from ithaca.files.messages import among
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest, Sizes


@dataclass(frozen=True, slots=True)
class Leaf:
    """A loop where it occurs in a subscript of an input."""

    load: int
    """Number of the input."""
    dimension: int
    """Number of its subscript."""
    loop: str
    """The loop."""
    coefficient: int = 1
    """The factor of the loop there."""


class Operation(Enum):
    """Inner nodes of a tree, as the lowest common ancestors of two leaves."""

    TIMES = "×"
    """The leaves belong to different loads."""
    LOAD = "load"
    """Loops in different subscripts of one load."""
    PLUS = "+"
    """Loops that are added in one subscript."""


@dataclass(frozen=True)
class Computation:
    """``output += Π inputs`` over all iterations of some loops: a nest, stage or intrinsic."""

    name: str
    """Name of the workload or intrinsic."""
    output: Access
    """The access that is accumulated."""
    inputs: tuple[Access, ...]
    """The accesses that are read."""
    extents: Sizes
    """Loops and their iterations, outermost first."""

    @property
    def sizes(self) -> dict[str, int]:
        """Extent of each loop (iterations)."""
        return dict(self.extents)

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the loops, outermost first."""
        return tuple(name for name, _ in self.extents)

    @property
    def operations(self) -> int:
        """Iterations: multiply-accumulates, whatever the number of factors."""
        return prod(self.sizes.values())

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of its tree, as they are written."""
        subscripts = [
            (n, d, s) for n, access in enumerate(self.inputs) for d, s in enumerate(access)
        ]
        return tuple(
            Leaf(n, d, loop, c) for n, d, subscript in subscripts for loop, c in subscript.terms
        )

    def summed(self, loop: str) -> bool:
        """Whether the sum at the root is over a loop, which then does not index the output."""
        return not self.output.indexed_by(loop)

    def __str__(self) -> str:
        return f"{self.output} += " + " * ".join(map(str, self.inputs))


def meeting(first: Leaf, second: Leaf) -> Operation:
    """The lowest common ancestor of two leaves of a tree."""
    if first.load != second.load:
        return Operation.TIMES
    return Operation.LOAD if first.dimension != second.dimension else Operation.PLUS


class MatchingRule(Enum):
    """The extent to which the structure of trees must agree."""

    PUBLISHED = "published"
    """A load stands for its subscripts: what is added in one of them counts as apart. HASCO's count
    of 2-D convolution."""
    CONSISTENT = "consistent"
    """Sums in subscripts are operations like any other, and their loops' coefficients have the same
    ratio."""

    def allows(self, first: Leaf, second: Leaf, one: Leaf, other: Leaf) -> bool:
        """Whether two leaves of an intrinsic may be two of a computation.

        Parameters
        ----------
        first, second : Leaf
            Those of the intrinsic.
        one, other : Leaf
            Those of the computation: ``first`` would be ``one``, ``second`` ``other``.

        Returns
        -------
        bool
            Whether they may.
        """
        ours, theirs = meeting(first, second), meeting(one, other)
        if (ours is Operation.TIMES) != (theirs is Operation.TIMES):
            return False
        if self is MatchingRule.PUBLISHED or ours is theirs is not Operation.PLUS:
            return True
        return (
            ours is theirs
            and first.coefficient * other.coefficient == second.coefficient * one.coefficient
        )


@dataclass(frozen=True)
class Match:
    """Loops of a computation bound to those of an intrinsic: each call runs as many iterations of
    them as the intrinsic has."""

    computation: Computation
    """The nest, or a stage of it."""
    intrinsic: Computation
    """The computation of a call, with its sizes."""
    loops: tuple[str, ...]
    """The loop bound to each of the intrinsic's, in its order."""
    loads: tuple[int, ...]
    """The number of the input that each of the intrinsic's stands for."""
    leaves: tuple[int, ...]
    """The number of the leaf that each of the intrinsic's stands for."""
    idle: Sizes = ()
    """Further loops of the intrinsic, with sizes, of which one iteration works."""

    def __repr__(self) -> str:
        return f"<Match {self.computation}: {self.binding}>"

    @property
    def binding(self) -> Mapping[str, str]:
        """Loop of the computation by loop of the intrinsic."""
        return dict(zip(self.intrinsic.loops, self.loops, strict=True))

    @property
    def spans(self) -> Mapping[str, int]:
        """Iterations that a call runs, by bound loop."""
        return {self.binding[name]: size for name, size in self.intrinsic.extents}

    @property
    def operands(self) -> Mapping[str, str]:
        """Tensor of the computation by tensor of the intrinsic, the output last."""
        inputs = {
            a.tensor: self.computation.inputs[n].tensor
            for a, n in zip(self.intrinsic.inputs, self.loads, strict=True)
        }
        return inputs | {self.intrinsic.output.tensor: self.computation.output.tensor}

    @property
    def padded(self) -> Mapping[str, int]:
        """Iterations of each bound loop that calls run, the idle ones at its end too:
        ``d·ceil(n/d)``."""
        sizes = self.computation.sizes
        return {loop: d * -(-sizes[loop] // d) for loop, d in self.spans.items()}

    @property
    def whole(self) -> MatchTiling:
        """The calls of a match for the whole computation at once."""
        return MatchTiling(self, self.computation.extents)

    @property
    def operations(self) -> int:
        """Multiply-accumulates of a call, idle ones too."""
        return self.intrinsic.operations * prod(size for _, size in self.idle)

    @property
    def runs(self) -> int:
        """The number of runs of consecutive words that a call reads and writes (boxes of tensors
        that are stored row by row)."""
        tensors = (*self.computation.inputs, self.computation.output)
        return sum(_runs(access, self.computation.sizes, self.spans) for access in tensors)

    @property
    def broken(self) -> str:
        """The reason why `MatchingRule.CONSISTENT` refuses the match; empty if it does not."""
        pairs = combinations(range(len(self.leaves)), 2)
        for first, second in pairs:
            ours = [self.intrinsic.leaves[n] for n in (first, second)]
            theirs = [self.computation.leaves[self.leaves[n]] for n in (first, second)]
            if not MatchingRule.CONSISTENT.allows(*ours, *theirs):
                tree, (one, other) = (
                    (self.computation, theirs)
                    if meeting(*theirs) is Operation.PLUS
                    else (self.intrinsic, ours)
                )
                at = (
                    f"{tree.inputs[one.load].tensor}'s subscript "
                    f"{tree.inputs[one.load].subscripts[one.dimension]}"
                )
                same = meeting(*ours) is meeting(*theirs)
                return f"{one.loop} and {other.loop} are added in {at}" + (
                    ", in another ratio" if same else ""
                )
        return ""

    def tiled(self, tile: Mapping[str, int]) -> MatchTiling:
        """The calls of a match where sub-problems of so many iterations are run one after the
        other.

        Loops that are not named have tiles of one call. Raises `InputError` if a name is no loop,
        or a size is none of one.
        """
        extents = self.computation.sizes
        for loop, size in tile.items():
            if loop not in extents:
                raise InputError(
                    f"tile of '{loop}': no loop of {self.computation}{among(loop, extents)}"
                )
            if not 1 <= size <= extents[loop]:
                raise InputError(
                    f"tile of '{loop}' is {size}; allowed: 1 to its extent, {extents[loop]}"
                )
        return MatchTiling(
            self,
            tuple(
                (loop, tile.get(loop, min(n, self.spans.get(loop, 1))))
                for loop, n in extents.items()
            ),
        )


@dataclass(frozen=True)
class MatchTiling:
    """A match run as sub-problems; each pads its own loops, the last along a loop only what is left
    of it."""

    match: Match
    """The match that runs on the intrinsic."""
    sizes: Sizes
    """Iterations of each loop in a sub-problem."""

    @property
    def subproblems(self) -> int:
        """The number of sub-problems."""
        extents = self.match.computation.sizes
        return prod(-(-extents[loop] // f) for loop, f in self.sizes)

    @property
    def calls_each(self) -> int:
        """Calls of a sub-problem that is not cut off."""
        return prod(-(-f // self.match.spans.get(loop, 1)) for loop, f in self.sizes)

    @property
    def calls(self) -> int:
        """Calls of all sub-problems."""
        total = 1
        for loop, f in self.sizes:
            n, d = self.match.computation.sizes[loop], self.match.spans.get(loop, 1)
            total *= n // f * -(-f // d) + -(-(n % f) // d)
        return total

    @property
    def redundant(self) -> Fraction:
        """Share of the calls' work that pads."""
        return 1 - Fraction(self.match.computation.operations, self.calls * self.match.operations)


def _runs(access: Access, extents: Mapping[str, int], spans: Mapping[str, int]) -> int:
    tile = [
        1 + sum(abs(c) * (min(spans.get(x, 1), extents[x]) - 1) for x, c in s.terms) for s in access
    ]
    whole = [1 + sum(abs(c) * (extents[x] - 1) for x, c in s.terms) for s in access]
    parts = max(
        (n for n, (part, full) in enumerate(zip(tile, whole, strict=True)) if part < full),
        default=0,
    )
    return prod(tile[:parts])


def without(intrinsic: Computation, idle: Collection[str]) -> Computation:
    """An intrinsic in one iteration of some of its loops."""

    def access(whole: Access) -> Access:
        subscripts = (
            Affine(tuple(t for t in s.terms if t[0] not in idle), s.constant) for s in whole
        )
        return Access(whole.tensor, tuple(subscripts))

    extents = tuple((loop, size) for loop, size in intrinsic.extents if loop not in idle)
    return Computation(
        intrinsic.name, access(intrinsic.output), tuple(map(access, intrinsic.inputs)), extents
    )


def computation(nest: LoopNest) -> Computation:
    """The computation of a nest."""
    return Computation(nest.name, nest.output, nest.inputs, nest.extents)


def stages(whole: Computation, factors: int) -> tuple[Computation, ...]:
    """A product of many factors as a sequence of products of so many, multiplied as they are
    written.

    Each stage but the last sums over the loops that nothing after it knows, into an intermediate
    tensor of the others.
    """
    rest, steps, taken = (
        list(whole.inputs),
        [],
        {access.tensor for access in (whole.output, *whole.inputs)},
    )
    while len(rest) > factors:
        inputs, rest = tuple(rest[:factors]), rest[factors:]
        later = {loop for access in (whole.output, *rest) for loop in access.loops}
        kept = [
            loop
            for loop in whole.loops
            if loop in later and any(access.indexed_by(loop) for access in inputs)
        ]
        name = next(name for n in range(len(taken) + 1) if (name := f"T{n + 1}") not in taken)
        taken.add(name)
        output = Access(name, tuple(Affine(((loop, 1),)) for loop in kept) or (Affine(()),))
        steps.append(_stage(whole, output, inputs))
        rest.insert(0, output)
    return (*steps, _stage(whole, whole.output, tuple(rest)))


def staged(nest: LoopNest, factors: int) -> tuple[LoopNest, ...]:
    """A nest of more factors as those of its `stages`, to be run one after the other."""
    if len(nest.inputs) <= factors:
        return (nest,)
    return tuple(
        LoopNest(nest.name, stage.extents, stage.output, stage.inputs, simd="")
        for stage in stages(computation(nest), factors)
    )


def _stage(whole: Computation, output: Access, inputs: Sequence[Access]) -> Computation:
    used = {loop for access in (output, *inputs) for loop in access.loops}
    return Computation(
        whole.name,
        output,
        tuple(inputs),
        tuple((loop, n) for loop, n in whole.extents if loop in used),
    )
