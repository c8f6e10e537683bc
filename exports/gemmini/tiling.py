"""What of a layer in calls a product of matrices of Gemmini's is, and the sizes of its tiles.

Facts are those of the released library (github.com/ucb-bar/gemmini-rocc-tests, ``gemmini.h``):
``tiled_matmul`` computes C (I × J) = A (I × K) · B (K × J) + D in tiles of whole blocks, DIM × DIM;
of A and B they lie in the scratchpad, of C and D in the accumulators, a block in DIM rows.
Weight-stationary products use half of both at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ithaca.exports.configuration import block_obstacles
from ithaca.exports.instructions.called import CalledNest, Placed
from ithaca.exports.instructions.folder import obstacles as of_calls

#: Bytes of a sum in the accumulators.
SUM_BYTES = 4

#: Gemmini's counters of blocks are of 16 bits.
MOST_BLOCKS = 65_535


@dataclass(frozen=True)
class Product:
    """A layer in calls as products of matrices, one for every iteration of the loops that no call
    has; refused ones have `obstacles`."""

    called: CalledNest

    @property
    def dim(self) -> int:
        """Blocks are DIM × DIM."""
        return self.called.design.architecture.compute.mesh_x

    @property
    def weight_stationary(self) -> bool:
        """Whether the array holds an input, as its sides say."""
        return "k" in self.called.array.sides

    @cached_property
    def exchanged(self) -> bool:
        """Whether Gemmini's rows are the intrinsic's columns: results then lie column by column."""
        rows, columns = (self._step(self.called.operands[-1], p) for p in "ij")
        return columns > 1 >= rows

    @property
    def loops(self) -> Mapping[str, str]:
        """The loop of the intrinsic that is Gemmini's I, J or K."""
        return dict(zip("IJK", "jik" if self.exchanged else "ijk", strict=True))

    @property
    def matrices(self) -> Mapping[str, tuple[Placed, str, str]]:
        """Gemmini's A, B and C, with what runs along rows and columns."""
        left, right, result = self.called.operands
        if self.exchanged:
            left, right = right, left
        return {"A": (left, "I", "K"), "B": (right, "K", "J"), "C": (result, "I", "J")}

    def _step(self, operand: Placed, p: str) -> int:
        """Words from one iteration of a loop of the intrinsic to the next; 0 where it has one."""
        q = self.called.binding.get(p)
        return 0 if q is None or self.called.nest.sizes[q] == 1 else operand.steps[q]

    def steps(self, matrix: str) -> tuple[int, int]:
        """Words from a row to the next, and from a column."""
        operand, row, column = self.matrices[matrix]
        return self._step(operand, self.loops[row]), self._step(operand, self.loops[column])

    def transposed(self, matrix: str) -> bool:
        """Whether a matrix lies column by column."""
        return self.steps(matrix)[1] > 1

    def stride(self, matrix: str) -> int:
        """Words from one line of a matrix in memory to the next."""
        return max(*self.steps(matrix), 1)

    @property
    def extents(self) -> dict[str, int]:
        """Of I, J and K."""
        known = dict(self.called.design.work.extents)
        return {name: known.get(p, 1) for name, p in self.loops.items()}

    @property
    def tiles(self) -> dict[str, int]:
        """Blocks of a tile along I, J and K."""
        return {name: -(-self.called.tile[p] // self.dim) for name, p in self.loops.items()}

    @property
    def rows(self) -> tuple[int, int]:
        """Rows of the scratchpad and of the accumulators."""
        _, scratchpad, local = self.called.design.architecture.levels
        assert scratchpad.words is not None
        assert local.words is not None
        sums = local.words * local.word_bits // (8 * SUM_BYTES)
        return scratchpad.words // self.dim, sums // self.dim

    def obstacles(self) -> Iterator[str]:
        """Every reason, in plain words, why Gemmini does not run the layer so."""
        called, compute = self.called, self.called.design.architecture.compute
        yield from (*block_obstacles(called.nest), *of_calls(called))
        if called.computes.name != "gemm" or compute.mesh_x != compute.mesh_y:
            yield (
                f"the array runs {called.computes.name} on {compute.mesh_x} × {compute.mesh_y} PEs; "
                "allowed: gemm on as many columns as rows"
            )
            return
        if len(set(called.array.sides)) < 2:
            yield f"loop {called.array.sides[0]} lies along the whole array; allowed: two loops"
            return
        if not called.matched:
            return
        yield from self._of_memory()
        yield from self._of_tiles()

    def _of_memory(self) -> Iterator[str]:
        for name, (operand, *_) in self.matrices.items():
            steps = self.steps(name)
            if min(steps) < 0 or min(steps) > 1:
                yield (
                    f"{operand.access}: neighbours in a matrix are {steps[0]} and {steps[1]} words "
                    "apart; allowed: 1, along rows or columns"
                )
        across = [name for name in "ABC" if self.transposed(name)]
        if across and (not self.weight_stationary or len(across) > 1):
            names = " and ".join(str(self.matrices[name][0].access) for name in across)
            yield (
                f"{names} lies column by column; allowed: one input that does, where the array "
                "holds an input"
            )

    def _of_tiles(self) -> Iterator[str]:
        half = 2 if self.weight_stationary else 1
        i, j, k = (self.tiles[name] for name in "IJK")
        flow = "weight" if self.weight_stationary else "output"
        for what, needed, there in zip(
            ("the scratchpad", "the accumulators"),
            ((i + j) * k * self.dim, i * j * self.dim),
            self.rows,
            strict=True,
        ):
            if needed > there // half:
                yield (
                    f"tiles of {i}, {j} and {k} blocks fill {needed:,} rows of {what}; allowed: "
                    f"{there // half:,} of {there:,}, {flow}-stationary"
                )
        if max(i, j, k) > MOST_BLOCKS:
            yield f"tiles of {i}, {j} and {k} blocks; allowed: up to {MOST_BLOCKS:,}"
