"""Kernels and feature maps of a network's operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import gcd, prod
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.workloads.kernel_files import kernel_nest, with_sparsity
from ithaca.workloads.library import workload
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.network import Layer

#: Along rows and columns.
Pair = tuple[int, int]

#: Statements of kernels that only networks have, by name: convolutions of volumes, and work that
#: is element by element.
OWN_KERNELS = {
    "map": "O[b][i][j] += A[b][i][j]",
    "gate": "O[b][i][j] += A[b][i][j] * B[b][i][j]",
    "scale": "O[b][i][j] += A[b][i][j] * B[j]",
    "row_sum": "O[b][i] += A[b][i][j]",
    "conv3d": "cout[z][r][c][o] += cin[z*s+m*d][r*s+p*d][c*s+q*d][i] * w[o][m][p][q][i]",
    "depthwise_conv3d": "cout[z][r][c][o] += cin[z*s+m*d][r*s+p*d][c*s+q*d][o] * w[m][p][q][o]",
}

#: Most phases of a transposed convolution, and elements of a window looked at for those along one
#: dimension: files of strangers state strides.
MOST_PHASES, MOST_STEPS = 4_096, 1 << 20

#: Those with strides and dilations.
VOLUMES = ("conv3d", "depthwise_conv3d")


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel, its extents, strides and dilations, and its runs in a layer."""

    kernel: str
    """One of the library, or of `OWN_KERNELS`."""
    sizes: tuple[tuple[str, int], ...]
    """Extents by loop."""
    count: int = 1
    steps: tuple[tuple[str, int], ...] = ()
    """Strides and dilations by the parameters of the kernel."""

    @property
    def operations(self) -> int:
        """Multiply-accumulates of all runs, whether or not a nest can have the extents."""
        return self.count * prod(extent for _, extent in self.sizes)

    def repeated(self, times: int) -> KernelUse:
        """The kernel, so many times as often."""
        return replace(self, count=self.count * times)

    def layer(
        self,
        name: str,
        blocks: str | None = None,
        formats: Mapping[str, str] | str | None = None,
    ) -> Layer:
        """The layer of this name.

        Parameters
        ----------
        name : str
            Its name.
        blocks : str, optional
            Block sparsity such as ``w=2/4``.
        formats : mapping of str to str or str, optional
            Formats of its tensors.

        Raises
        ------
        InputError
            If the library has no such kernel, the kernel no such sizes, blocks or formats, or a
            loop has none: a network does not fall back on the extents a kernel happens to come
            with.
        """
        sizes = dict(self.sizes)
        with errors_at(f"layer {name}"):
            nest = with_sparsity(self._nest(sizes | dict(self.steps)), blocks, "block_sparse")
            if formats is not None:
                from ithaca.workloads.formats import with_formats

                nest = with_formats(nest, formats, "format")
        for loop in nest.loops:
            if loop not in sizes:
                raise InputError(
                    f"layer {name}: size of loop '{loop}' is missing; allowed: "
                    f"sizes of {', '.join(nest.loops)}"
                )
        return Layer(name, nest, self.count, (name,))

    def _nest(self, sizes: Mapping[str, int]) -> LoopNest:
        if self.kernel not in OWN_KERNELS:
            return workload(self.kernel, sizes)
        statement = OWN_KERNELS[self.kernel]
        document: dict[str, Any] = {"name": self.kernel, "statement": statement}
        document["extents"] = dict(self.sizes)
        if self.kernel in VOLUMES:
            document["parameters"] = {"s": 1, "d": 1}
        return kernel_nest(document, self.kernel).with_sizes(sizes)


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension along which a window slides."""

    outputs: int
    """Places of the window."""
    window: int
    """Elements of the window."""
    stride: int = 1
    """Elements from one place to the next."""
    dilation: int = 1
    """Elements from one element of the window to the next."""


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """A batch of images or of what layers make of them (elements)."""

    batch: int
    channels: int
    height: int
    width: int

    @property
    def size(self) -> Pair:
        """Height and width (elements)."""
        return self.height, self.width

    @property
    def elements(self) -> int:
        """Elements of one image."""
        return self.channels * self.height * self.width

    def after(
        self, window: Pair, stride: Pair = (1, 1), dilation: Pair = (1, 1), padding: Pair = (0, 0)
    ) -> FeatureMap:
        """The map that a sliding window makes of this one, with as many channels.

        Parameters
        ----------
        window : pair of int
            Height and width of the window (elements).
        stride, dilation : pair of int, optional
            Along height and width (elements).
        padding : pair of int, optional
            Elements added on both sides together, along height and width.

        Returns
        -------
        FeatureMap
            The map.

        Raises
        ------
        InputError
            If the window does not fit.
        """
        height, width = (
            output_extent(*along)
            for along in zip(self.size, window, stride, dilation, padding, strict=True)
        )
        return replace(self, height=height, width=width)


class WindowError(InputError):
    """A window that does not fit into its padded input."""


def output_extent(extent: int, window: int, stride: int, dilation: int, padding: int) -> int:
    """Output extent of a sliding window.

    It is ``⌊(extent + padding - dilation·(window - 1) - 1) / stride⌋ + 1``.

    Parameters
    ----------
    extent : int
        Elements of the input along the dimension.
    window : int
        Elements of the window.
    stride : int
        Elements from one window to the next.
    dilation : int
        Elements from one element of a window to the next.
    padding : int
        Elements added on both sides together.

    Returns
    -------
    int
        The number of windows.

    Raises
    ------
    WindowError
        If the window does not fit into the padded input.
    """
    free = extent + padding - dilation * (window - 1) - 1
    if free < 0:
        around = f" plus {padding} of padding" if padding else ""
        apart = f", {dilation} apart," if dilation > 1 else ""
        raise WindowError(
            f"a window of {window} elements{apart} does not fit into {extent}{around}"
        )
    return free // stride + 1


def convolution(
    batch: int, inputs: int, outputs: int, axes: Sequence[Axis], groups: int = 1
) -> KernelUse:
    """The kernel that computes a convolution, and how often.

    A depthwise convolution is one kernel over all its channels; with a channel multiplier it runs
    once per output channel of an input channel. Any other convolution is a kernel per group, a 1×1
    convolution too: it shares the loops and the design space. The images of a batch are separate
    runs, since the kernels have no loop for them. One along a single dimension has columns of one
    element.

    Parameters
    ----------
    batch, inputs, outputs : int
        Images, and channels that are read and written.
    axes : sequence of Axis
        Dimensions, outermost first.
    groups : int, optional
        Groups of channels.

    Returns
    -------
    KernelUse
        The kernel with its extents, and its number of runs.

    Raises
    ------
    InputError
        If groups do not divide the channels, or there are no or more than three dimensions.
    """
    if inputs % groups or outputs % groups:
        raise InputError(
            f"{groups} groups do not divide {inputs} input and {outputs} output channels"
        )
    if not 1 <= len(axes) <= 3:
        raise InputError(f"convolution along {len(axes)} dimensions; allowed: 1 to 3")
    used = [axis for axis in axes if axis.outputs > 1 or axis.window > 1]
    used = [*axes] if len(axes) == 2 or len(used) > 2 else used
    used += [Axis(1, 1)] * (2 - len(used))
    loops = [("z", "m"), ("r", "p"), ("c", "q")][-len(used) :]
    along = list(zip(loops, used, strict=True))
    # a single place of the window has no stride, a window of one element no dilation
    strides = _steps("s", [(r, axis.stride, axis.outputs) for (r, _), axis in along])
    dilations = _steps("d", [(p, axis.dilation, axis.window) for (_, p), axis in along])
    places = tuple((r, axis.outputs) for (r, _), axis in along)
    windows = tuple((p, axis.window) for (_, p), axis in along)
    kernel, steps = f"conv{len(used)}d", strides + dilations
    if groups == inputs > 1:
        sizes = (("o", inputs), *places, *windows)
        return KernelUse(f"depthwise_{kernel}", sizes, batch * outputs // inputs, steps)
    sizes = (("o", outputs // groups), *places, ("i", inputs // groups), *windows)
    return KernelUse(kernel, sizes, batch * groups, steps)


def _steps(parameter: str, along: Sequence[tuple[str, int, int]]) -> tuple[tuple[str, int], ...]:
    """A parameter, or one for each loop where they differ; of loops, values and extents. It does
    not matter along a single element."""
    values = {value for _, value, extent in along if extent > 1} or {1}
    if len(values) == 1:
        return ((parameter, max(values)),)
    return tuple((parameter + loop, value if extent > 1 else 1) for loop, value, extent in along)


def transposed_convolution(
    batch: int, inputs: int, outputs: int, axes: Sequence[Sequence[Axis]], groups: int = 1
) -> Iterator[KernelUse]:
    """The kernels that compute a transposed convolution: one for each phase of its output, the
    elements that the same elements of the window reach.

    Parameters
    ----------
    batch, inputs, outputs : int
        Images, and channels that are read and written.
    axes : sequence of sequence of Axis
        Phases along each dimension, as of `phases`.
    groups : int, optional
        Groups of channels.
    """
    if prod(map(len, axes)) > MOST_PHASES:
        raise InputError(
            f"a transposed convolution of {prod(map(len, axes))} phases; allowed: at most "
            f"{MOST_PHASES}, the product of its strides"
        )
    for phase in product(*axes):
        yield convolution(batch, inputs, outputs, phase, groups)


def phases(axis: Axis, before: int) -> tuple[Axis, ...]:
    """The phases of a transposed convolution along a dimension, as convolutions of stride 1.

    Output ``y`` takes input ``x`` times element ``p`` where ``y + before = x·stride + p·dilation``,
    so only elements that have the remainder of ``y + before``; phases without any are left out.

    Parameters
    ----------
    axis : Axis
        Elements of the output and of the window, stride and dilation.
    before : int
        Elements of padding before the first.
    """
    stride, dilation = axis.stride, axis.dilation
    if stride * axis.window > MOST_STEPS:
        raise InputError(
            f"a window of {axis.window} elements with a stride of {stride}; allowed in a "
            f"transposed convolution: at most {MOST_STEPS}, multiplied"
        )
    made = []
    for phase in range(stride):
        places = len(range((phase - before) % stride, axis.outputs, stride))
        window = sum(p * dilation % stride == phase for p in range(axis.window))
        if places and window:
            made.append(Axis(places, window, 1, dilation // gcd(stride, dilation)))
    return tuple(made)


def matrix_product(left: tuple[int, ...], right: tuple[int, ...]) -> KernelUse:
    """The kernel of a (batched) matrix product with broadcasting, of shapes as of `numpy.matmul`.

    Loop ``i`` counts rows of the left matrix, ``j`` columns of the right one, ``k`` is reduced.
    A batch dimension that only the left factor has makes more rows, one that only the right
    factor has more columns: the product is the same, and the shared factor is reused. Only
    dimensions of both factors are a batch of separate products, loop ``b``.

    Raises `InputError` if the shapes do not fit each other.
    """
    where = f"matrix product of shapes {list(left)} and {list(right)}"
    if not left or not right:
        raise InputError(f"{where}; allowed: at least one dimension each")
    *outer, rows, inner = (1, *left) if len(left) == 1 else left
    *others, depth, columns = (*right, 1) if len(right) == 1 else right
    if inner != depth:
        raise InputError(f"{where}: the reduced dimensions differ")
    missing = len(others) - len(outer)
    batch = 1
    for a, b in zip([1] * missing + outer, [1] * -missing + others, strict=True):
        if a == b:
            batch *= a
        elif b == 1:
            rows *= a
        elif a == 1:
            columns *= b
        else:
            raise InputError(f"{where}: batch dimensions {a} and {b} differ")
    sizes = (("i", rows), ("j", columns), ("k", inner))
    if batch == 1:
        return KernelUse("mm", sizes)
    return KernelUse("batched_mm", (("b", batch), *sizes))
