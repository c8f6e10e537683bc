"""Loop nests: extents, affine accesses, one accumulating statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ithaca.workloads.affine import Access
from ithaca.workloads.errors import InputError

#: Largest extent of a loop. Candidate tables grow as N·log N; at 65,536 a solve stays below
#: 2 GiB of memory and about a minute per design.
MAX_EXTENT = 65_536


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A perfectly nested rectangular loop nest with one accumulating statement.

    The statement is ``output += Π inputs``. Which loops are parallel, which reduce, and
    which dependences there are follows from the accesses (see `ithaca.workloads.dependences`).

    Attributes
    ----------
    name : str
        Name of the workload.
    extents : tuple of (str, int)
        Loop names and trip counts, outermost first.
    output : Access
        The accumulated array reference.
    inputs : tuple of Access
        The read-only array references.
    untiled : frozenset of str
        Loops that are not tiled but run inside the PE (a convolution's p, q).
    simd : str
        The band loop that is vectorised inside a PE.
    """

    name: str
    extents: tuple[tuple[str, int], ...]
    output: Access
    inputs: tuple[Access, ...]
    simd: str
    untiled: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        names = self.loops
        if len(set(names)) != len(names):
            raise InputError(f"workload {self.name}: loops {list(names)} repeat a name")
        for loop, extent in self.extents:
            check_extent(loop, extent)
        for access in (self.output, *self.inputs):
            for loop in sorted(access.loops):
                if loop not in names:
                    raise InputError(f"workload {self.name}: {access} uses unknown loop '{loop}'; loops: {', '.join(names)}")
        arrays = [access.array for access in (self.output, *self.inputs)]
        if len(set(arrays)) != len(arrays):
            raise InputError(f"workload {self.name}: arrays {arrays} repeat a name")
        if self.simd not in self.band:
            raise InputError(
                f"workload {self.name}: SIMD loop '{self.simd}' must be one of the band loops {', '.join(self.band)}"
            )
        if not self.reduction_loops:
            raise InputError(f"workload {self.name}: no reduction loop (every loop indexes {self.output})")

    @property
    def loops(self) -> tuple[str, ...]:
        """All loop names, outermost first."""
        return tuple(name for name, _ in self.extents)

    @property
    def sizes(self) -> dict[str, int]:
        """Extent of each loop (iterations)."""
        return dict(self.extents)

    @property
    def band(self) -> tuple[str, ...]:
        """The tiled loops, outermost first."""
        return tuple(name for name in self.loops if name not in self.untiled)

    @property
    def parallel_loops(self) -> tuple[str, ...]:
        """Loops that index the output: their iterations are independent."""
        return tuple(name for name in self.loops if self.output.indexed_by(name))

    @property
    def reduction_loops(self) -> tuple[str, ...]:
        """Loops that do not index the output: they accumulate into it."""
        return tuple(name for name in self.loops if not self.output.indexed_by(name))

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All references, inputs first, then the output."""
        return (*self.inputs, self.output)

    @property
    def operations(self) -> int:
        """Multiply-accumulate operations of the nest."""
        total = 1
        for _, extent in self.extents:
            total *= extent
        return total

    def with_sizes(self, sizes: Mapping[str, int]) -> LoopNest:
        """Return the nest with some extents replaced.

        Raises
        ------
        InputError
            If a name is no loop of the nest or an extent is out of range.
        """
        for loop in sizes:
            if loop not in self.loops:
                raise InputError(f"unknown loop '{loop}' in sizes: {self.name} has loops {', '.join(self.loops)}")
        return replace(self, extents=tuple((name, sizes.get(name, n)) for name, n in self.extents))

    def __str__(self) -> str:
        return f"{self.output} += " + " * ".join(str(access) for access in self.inputs)


def check_extent(loop: str, extent: int) -> None:
    """Raise `InputError` unless ``extent`` is an integer in 1 … `MAX_EXTENT`."""
    if isinstance(extent, bool) or not isinstance(extent, int) or not 1 <= extent <= MAX_EXTENT:
        raise InputError(f"size of loop '{loop}' is {extent}; allowed: an integer from 1 to {MAX_EXTENT}")
