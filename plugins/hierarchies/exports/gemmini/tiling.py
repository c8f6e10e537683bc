"""Products of matrices of Gemmini's: the product that a layer in calls is, and the sizes of its
tiles.

Facts are those of the released library (github.com/ucb-bar/gemmini-rocc-tests, ``gemmini.h``):
``tiled_matmul`` computes C (I × J) = A (I × K) · B (K × J) + D in tiles of whole blocks, DIM × DIM;
of A and B they lie in the scratchpad, of C and D in the accumulators, a block in DIM rows.
Weight-stationary products use half of both at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest, PlacedTensor

#: Bits of a sum in the accumulators.
SUM_BITS = 32


@dataclass(frozen=True)
class Matrix:
    """A tensor as a matrix."""

    placed: PlacedTensor
    row: int
    """Words from a row to the next; 0 where there is one."""
    column: int
    """Words from a column to the next; 0 where there is one."""

    @property
    def across(self) -> bool:
        """Whether the matrix lies column by column."""
        return self.column > 1

    @property
    def stride(self) -> int:
        """Words from one line in memory to the next."""
        return max(self.row, self.column, 1)


@dataclass(frozen=True)
class CallProduct:
    """A layer in calls as products of matrices, one for every iteration of the loops that no call
    has."""

    called: CalledNest

    @property
    def dim(self) -> int:
        """Blocks are DIM × DIM."""
        return self.called.design.architecture.compute.mesh_x

    @property
    def flow(self) -> str:
        """The stationary operand of the array, by its sides: ``weight`` or ``output``."""
        return "weight" if "k" in self.called.array.sides else "output"

    @cached_property
    def loops(self) -> Mapping[str, str]:
        """The loop of the intrinsic that is Gemmini's I, J or K: its results lie row by row."""
        rows, columns = (self._step(self.called.operands[-1], p) for p in "ij")
        return dict(zip("IJK", "jik" if columns > 1 >= rows else "ijk", strict=True))

    @cached_property
    def matrices(self) -> Mapping[str, Matrix]:
        """Gemmini's A, B and C."""
        i, j, k = self.loops.values()
        left, right, result = self.called.operands
        if i == "j":
            left, right = right, left
        sides = {"A": (left, i, k), "B": (right, k, j), "C": (result, i, j)}
        return {
            name: Matrix(placed, self._step(placed, row), self._step(placed, column))
            for name, (placed, row, column) in sides.items()
        }

    def _step(self, placed: PlacedTensor, p: str) -> int:
        q = self.called.binding.get(p)
        return 0 if q is None or self.called.nest.sizes[q] == 1 else placed.steps[q]

    @property
    def tiles(self) -> dict[str, int]:
        """Blocks of a tile along I, J and K."""
        return {name: -(-self.called.tile[p] // self.dim) for name, p in self.loops.items()}

    @property
    def rows(self) -> tuple[int, int]:
        """Rows of the scratchpad and of the accumulators, which local memory stands for."""
        _, scratchpad, local = self.called.design.architecture.levels
        sums = (local.words or 0) * local.word_bits // SUM_BITS
        return (scratchpad.words or 0) // self.dim, sums // self.dim

    def obstacles(self) -> Iterator[str]:
        """Every reason, in plain words, why Gemmini does not run the layer so."""
        array, compute = self.called.array, self.called.design.architecture.compute
        if (array.computes.name, len(array.sides), compute.mesh_y) != ("gemm", 2, self.dim):
            yield (
                f"the array runs {array.computes.name} on {compute.mesh_x} × {compute.mesh_y} PEs "
                f"along {' and '.join(array.sides)}; allowed: gemm along two loops, on a square"
            )
            return
        for each in self.matrices.values():
            if not 0 <= min(each.row, each.column) <= 1:
                yield (
                    f"{each.placed.access}: neighbours in a matrix are {each.row} and "
                    f"{each.column} words apart; allowed: 1, along rows or columns"
                )
        across = [str(each.placed.access) for each in self.matrices.values() if each.across]
        if len(across) > (self.flow == "weight"):
            yield (
                f"{' and '.join(across)} lies column by column; allowed: one input that does, "
                "where the array holds an input"
            )
        yield from self._of_tiles()

    def _of_tiles(self) -> Iterator[str]:
        i, j, k = self.tiles.values()
        needs = ("scratchpad", (i + j) * k), ("accumulators", i * j)
        for (what, blocks), there in zip(needs, self.rows, strict=True):
            usable = there // 2 if self.flow == "weight" else there
            if blocks * self.dim > usable:
                yield (
                    f"tiles of {i}, {j} and {k} blocks fill {blocks * self.dim:,} rows of the "
                    f"{what}; allowed: {usable:,} of {there:,}, {self.flow}-stationary"
                )
