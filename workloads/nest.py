"""Loop nests: extents, affine accesses, one accumulating statement; and their footprints, the
elements of each tensor that a nest touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import gcd, prod
from typing import TYPE_CHECKING, NoReturn

from ithaca.files.errors import InputError
from ithaca.files.messages import among, meant, quoted
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.sparsity import BlockSparsity
from ithaca.workloads.statement import apart, names_in, parse_statement

if TYPE_CHECKING:
    from ithaca.workloads.densities import Density


#: Largest extent of a loop, and largest stride: vocabularies and point clouds fit, and products of
#: a few extents stay exact where searches count in doubles.
MAX_EXTENT = 1 << 20

#: Whole numbers by name: extents of loops, words of tensors.
Sizes = tuple[tuple[str, int], ...]

#: Extents of tensors in memory, outermost first, by name.
Stored = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A perfectly nested rectangular loop nest with one accumulating statement.

    The statement is ``output += Π inputs``. Which loops are parallel, which reduce, and
    which dependences there are follows from the accesses (see `ithaca.workloads.dependences`).

    Examples
    --------
    >>> nest = ithaca.nest("C[i][j] += A[i][k] * B[k][j]", i=4, j=4, k=4)
    >>> nest.loops, nest.operations
    (('i', 'j', 'k'), 64)
    """

    name: str
    extents: Sizes
    """Loop names and trip counts, outermost first."""
    output: Access
    """The accumulated reference. Each of its subscripts is a loop of its own or a constant, so that
    different tiles never write the same element."""
    inputs: tuple[Access, ...]
    """The read-only references, at least two."""
    simd: str
    """The band loop that is vectorised inside a PE: a reduction, whose products one accumulator
    sums up, or a parallel loop, with an accumulator per lane. Empty where there is none, as
    systolic arrays need."""
    untiled: frozenset[str] = frozenset()
    """Loops that are not tiled but run inside the PE (a convolution's p, q)."""
    parameters: Sizes = ()
    """Numbers that the template uses by name, such as a stride."""
    template: str = ""
    """The statement with parameters by name; empty where there are none."""
    sparse: BlockSparsity | None = None
    """The tensor that is stored in blocks of a few values along the SIMD loop; None where all are
    dense."""
    formats: tuple[tuple[str, str], ...] = ()
    """The names of number formats by tensor, of those that have one of their own."""
    description: str = field(default="", compare=False)
    """One line for users; it tells no nests apart."""
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Fields of its file that nothing here depends on, by path."""
    densities: tuple[tuple[str, Density], ...] | str = ()
    """How many words of tensors are not zero, where it is said, or why that is not modelled."""

    def __repr__(self) -> str:
        return f"<LoopNest {self.name}: {self}, {self.shown_sizes}>"

    def __post_init__(self) -> None:
        self._check_names()
        for loop, extent in self.extents:
            check_size(f"size of loop '{loop}'", extent)
        self._check_arrays()
        self._check_loops()
        if self.simd and self.simd not in self.band:
            self._refuse(f"SIMD loop '{self.simd}' is no band loop{among(self.simd, self.band)}")
        if self.sparse is not None:
            self._check_blocks(self.sparse)

    def _check_names(self) -> None:
        tensors = [access.tensor for access in (self.output, *self.inputs)]
        if len(set(self.loops)) != len(self.loops):
            self._refuse(f"loops {list(self.loops)} repeat a name; allowed: names that differ")
        if self.output.tensor in tensors[1:]:
            name = self.output.tensor
            self._refuse(
                f"{name} is written and read, so its dependences are not "
                "uniform; allowed: other inputs"
            )
        if len(set(tensors)) != len(tensors):
            self._refuse(f"tensors {tensors} repeat a name; allowed: every tensor once")

    def _check_arrays(self) -> None:
        for access in (self.output, *self.inputs):
            for loop in sorted(access.loops):
                if loop not in self.loops:
                    self._refuse(f"{access} uses unknown loop '{loop}'{among(loop, self.loops)}")
        if not self.inputs:
            self._refuse(f"the statement reads {len(self.inputs)} array; allowed: at least one")
        subscripted: set[str] = set()
        for subscript in self.output:
            # a sum makes tiles overlap, a stride or a loop in two subscripts leaves gaps in them
            if (
                len(subscript.terms) > 1
                or any(c != 1 for _, c in subscript.terms)
                or subscripted & set(subscript.loops)
            ):
                self._refuse(
                    f"subscript {subscript} of {self.output}, which is written; "
                    "allowed: one loop or a constant"
                )
            subscripted.update(subscript.loops)
        for access in self.inputs:
            if access.tensor in (f"{self.output.tensor}_1", f"{self.output.tensor}_drain"):
                self._refuse(
                    f"array '{access.tensor}' has the name of a module of "
                    f"{self.output.tensor}; allowed: another name"
                )

    def _check_loops(self) -> None:
        for loop in sorted(self.untiled):
            if loop not in self.loops:
                self._refuse(f"unknown untiled loop '{loop}'{among(loop, self.loops)}")
        if not self.band:
            self._refuse(f"no loop is tiled; allowed: at least one of {', '.join(self.loops)}")
        for loop in self.loops:
            if not any(access.indexed_by(loop) for access in self.accesses):
                self._refuse(f"loop '{loop}' indexes no array; allowed: loops that do")

    def _check_blocks(self, sparse: BlockSparsity) -> None:
        """Blocks lie along the last dimension of a tensor that is read, which the SIMD loop counts
        and the products of which it sums up."""
        tensors = [access.tensor for access in self.inputs]
        if sparse.tensor not in tensors:
            self._refuse(
                f"block sparsity {sparse}: {sparse.tensor} is no tensor that is read"
                f"{among(sparse.tensor, tensors)}"
            )
        access = self.inputs[tensors.index(sparse.tensor)]
        if self.simd not in self.reduction_loops or access.subscripts[-1].terms != (
            (self.simd, 1),
        ):
            self._refuse(
                f"block sparsity {sparse}: the SIMD loop {quoted(self.simd)} is no reduction that "
                f"is the last subscript of {access}; allowed: a SIMD loop that is"
            )
        if self.sizes[self.simd] % sparse.block:
            self._refuse(
                f"block sparsity {sparse}: blocks of {sparse.block} do not divide loop "
                f"{self.simd} of {self.sizes[self.simd]}; allowed: multiples"
            )

    def _refuse(self, complaint: str) -> NoReturn:
        raise InputError(f"workload {self.name}: {complaint}")

    @property
    def loops(self) -> tuple[str, ...]:
        """All loop names, outermost first."""
        return tuple(name for name, _ in self.extents)

    @property
    def sizes(self) -> dict[str, int]:
        """Extent of each loop (iterations)."""
        return dict(self.extents)

    @property
    def settings(self) -> dict[str, int]:
        """Extents and parameters by name, as `with_sizes` takes them."""
        return {**self.sizes, **dict(self.parameters)}

    @property
    def shown_sizes(self) -> str:
        """Extents, parameters, block sparsity and formats for people: ``o=8, i=8; s=2; w=2/4``."""
        parts = [
            ", ".join(f"{name}={n}" for name, n in part)
            for part in (self.extents, self.parameters)
            if part
        ]
        return "; ".join([*parts, *self.labels.values()])

    @property
    def short_sizes(self) -> str:
        """The sizes, block sparsity and formats in short, as ``o64 r56 s2 w=2/4``, without
        parameters that are 1, such as strides."""
        parts = [*self.extents, *((name, value) for name, value in self.parameters if value != 1)]
        equals = "=" if any(name[-1].isdigit() for name, _ in parts) else ""
        sizes = [f"{name}{equals}{value}" for name, value in parts]
        return " ".join([*sizes, *self.labels.values()])

    @property
    def labels(self) -> dict[str, str]:
        """The labels that documents state of the nest beside name, sizes and parameters."""
        labels = {} if self.sparse is None else {"block_sparse": str(self.sparse)}
        formats = ",".join(f"{tensor}={name}" for tensor, name in self.formats)
        return labels | ({"format": formats} if formats else {})

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
    def sequential_loops(self) -> tuple[str, ...]:
        """Band loops that accumulate one product after the other: reductions but the SIMD loop.

        Their iterations wait for each other's sums, so they hide no latency.
        """
        return tuple(
            name for name in self.band if name in self.reduction_loops and name != self.simd
        )

    @property
    def once(self) -> frozenset[str]:
        """The untiled loops of one iteration: they move nothing."""
        return frozenset(
            loop for loop, extent in self.extents if extent == 1 and loop in self.untiled
        )

    @property
    def accesses(self) -> tuple[Access, ...]:
        """All references, inputs first, then the output."""
        return (*self.inputs, self.output)

    @property
    def operations(self) -> int:
        """Multiply-accumulate operations: one per iteration, whatever the number of factors; of a
        block-sparse tensor for the values that are stored."""
        return int(prod(self.sizes.values()) * self.share)

    @property
    def share(self) -> Fraction:
        """Iterations that multiply values that are stored, over all."""
        return Fraction(1) if self.sparse is None else self.sparse.share

    def with_sizes(self, sizes: Mapping[str, int]) -> LoopNest:
        """Return the nest with some extents and parameters replaced.

        A parameter that multiplies several loops may be stated for each, by the names of both:
        ``sr`` and ``sc`` instead of ``s`` in ``r*s`` and ``c*s``.

        Raises `InputError` if a name is neither a loop nor a parameter of the nest, or a value is
        out of range.

        Examples
        --------
        >>> nest = ithaca.nest("C[i][j] += A[i][k] * B[k][j]", i=4, j=4, k=4)
        >>> nest.with_sizes({"k": 8}).sizes
        {'i': 4, 'j': 4, 'k': 8}
        """
        if (split := self._apart(sizes)) is not None:
            nest, rest = split
            return nest.with_sizes(rest)
        parameters = dict(self.parameters)
        for name in sizes:
            if name not in self.loops and name not in parameters:
                known = f"loops {', '.join(self.loops)}" + (
                    f" and parameters {', '.join(parameters)}" if parameters else ""
                )
                what = f"unknown loop {quoted(name)} in sizes: {self.name} has {known}"
                raise InputError(what + meant(name, (*self.loops, *parameters)))
        resized = replace(
            self, extents=tuple((name, sizes.get(name, n)) for name, n in self.extents)
        )
        chosen = {name: sizes.get(name, value) for name, value in parameters.items()}
        if chosen == parameters:
            return resized
        for name, value in chosen.items():
            check_size(f"parameter '{name}'", value)
        output, inputs = parse_statement(self.template, chosen)
        return replace(resized, output=output, inputs=inputs, parameters=tuple(chosen.items()))

    def _apart(self, sizes: Mapping[str, int]) -> tuple[LoopNest, dict[str, int]] | None:
        """The nest with a parameter that is stated for loops in as many, unless they are equal, and
        the sizes for it; None where none is."""
        known = (*self.settings, *(access.tensor for access in self.accesses))
        for name, value in self.parameters:
            template, loops = apart(self.template, name)
            own = {name + loop: sizes.get(name, value) for loop in loops}
            if len(own) < 2 or own.keys() & set(known) or not own.keys() & sizes.keys():
                continue
            chosen = {each: sizes.get(each, common) for each, common in own.items()}
            rest = {each: size for each, size in sizes.items() if each not in own}
            if len(set(chosen.values())) == 1:
                return self, rest | {name: min(chosen.values())}
            kept = {name} & names_in(template)
            parts = [(p, n) for p, n in self.parameters if p != name or p in kept]
            place = [p for p, _ in self.parameters].index(name)
            parameters = (*parts[:place], *own.items(), *parts[place:])
            nest = replace(self, template=template, parameters=parameters)
            return nest, {p: n for p, n in rest.items() if p != name or kept} | chosen
        return None

    def __str__(self) -> str:
        return f"{self.output} += " + " * ".join(str(access) for access in self.inputs)


def check_size(what: str, value: int) -> None:
    """Raise `InputError` unless an extent or parameter is an integer in 1 … `MAX_EXTENT`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_EXTENT:
        raise InputError(f"{what} is {value}; allowed: an integer from 1 to {MAX_EXTENT}")


def check_stored(nest: LoopNest, stored: Stored) -> None:
    """Raise `InputError` if extents in memory are not of the tensors of a nest."""
    ranks = {access.tensor: len(access.subscripts) for access in nest.accesses}
    for tensor, extents in stored:
        if ranks.get(tensor) != len(extents):
            raise InputError(
                f"tensors: {tensor} has {len(extents)} extents; allowed: "
                f"{ranks.get(tensor, 'no such tensor')}"
            )


def footprints(nest: LoopNest) -> dict[str, int]:
    """Elements that a nest touches, per tensor and in the order of the accesses (words).

    Exact where no two subscripts of a tensor share a loop and none has more than two loops,
    otherwise a lower bound. Elements that a stride steps over are not counted.
    """
    return {access.tensor: _elements(access, nest.sizes) for access in nest.accesses}


def _elements(access: Access, sizes: Mapping[str, int]) -> int:
    parts: list[tuple[set[str], int]] = []
    for subscript in access:
        loops, count = set(subscript.loops), _values(subscript, sizes)
        # subscripts with a loop in common are not independent: together they take at least as many
        # values as each alone
        for part in [part for part in parts if part[0] & loops]:
            parts.remove(part)
            loops, count = loops | part[0], max(count, part[1])
        parts.append((loops, count))
    return prod(count for _, count in parts)


def _values(subscript: Affine, sizes: Mapping[str, int]) -> int:
    """The number of values that a subscript takes."""
    terms = [(abs(coefficient), sizes[loop]) for loop, coefficient in subscript.terms]
    if len(terms) < 2:
        return prod(extent for _, extent in terms)
    reach = sum(extent - 1 for _, extent in terms)
    # |S + T| ≥ |S| + |T| − 1 for sets of integers: each loop beyond a pair adds at least its extent
    # less one
    return max(_pair(a, b) + reach - (a[1] - 1) - (b[1] - 1) for a, b in combinations(terms, 2))


def _pair(first: tuple[int, int], second: tuple[int, int]) -> int:
    """The number of values that a·x + b·y takes for 0 ≤ x < m, 0 ≤ y < n.

    With a and b coprime, equal values differ by multiples of (b, −a): the values are the pairs less
    the steps between equal ones.
    """
    (a, m), (b, n) = first, second
    a, b = a // gcd(a, b), b // gcd(a, b)
    return m * n - max(0, m - b) * max(0, n - a)
