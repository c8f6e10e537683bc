"""Kernels and feature maps of a network's operators."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at
from ithaca.workloads.kernel_files import with_sparsity
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import Layer

#: Along rows and columns.
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel of the library, its extents, stride and dilation, and its runs in a layer."""

    kernel: str
    sizes: tuple[tuple[str, int], ...]
    count: int = 1

    def layer(self, name: str, blocks: str | None = None) -> Layer:
        """The layer of this name, with block sparsity such as ``w=2/4``.

        Raises `InputError` if the library has no such kernel, the kernel no such sizes or blocks,
        or a loop has none: a network does not fall back on the extents a kernel happens to come
        with.
        """
        sizes = dict(self.sizes)
        with errors_at(f"layer {name}"):
            nest = with_sparsity(workload(self.kernel, sizes), blocks, "block_sparse")
        for loop in nest.loops:
            if loop not in sizes:
                raise InputError(
                    f"layer {name}: size of loop '{loop}' is missing; allowed: "
                    f"sizes of {', '.join(nest.loops)}"
                )
        return Layer(name, nest, self.count, (name,))


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
    InputError
        If the window does not fit into the padded input.
    """
    free = extent + padding - dilation * (window - 1) - 1
    if free < 0:
        around = f" plus {padding} of padding" if padding else ""
        apart = f", {dilation} apart," if dilation > 1 else ""
        raise InputError(f"a window of {window} elements{apart} does not fit into {extent}{around}")
    return free // stride + 1


def convolution(
    before: FeatureMap,
    after: FeatureMap,
    window: Pair,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    groups: int = 1,
) -> KernelUse:
    """The kernel that computes a convolution, and how often.

    A depthwise convolution is one ``depthwise_conv2d`` over all its channels; with a channel
    multiplier it runs once per output channel of an input channel. Any other convolution is a
    ``conv2d`` per group, a 1×1 convolution too: it shares the loops and the design space. The
    images of a batch are separate runs, since the kernels have no loop for them.

    Parameters
    ----------
    before, after : FeatureMap
        The maps that it reads and writes.
    window : pair of int
        Height and width of the window (elements).
    stride, dilation : pair of int, optional
        Along height and width (elements).
    groups : int, optional
        Groups of channels.

    Returns
    -------
    KernelUse
        The kernel with its extents, and its number of runs.

    Raises
    ------
    InputError
        If groups do not divide the channels, or rows and columns have different strides or
        dilations, which the kernels cannot express.
    """
    inputs, outputs = before.channels, after.channels
    if inputs % groups or outputs % groups:
        raise InputError(
            f"{groups} groups do not divide {inputs} input and {outputs} output channels"
        )
    # a single row or column of windows has no stride, a window of one element no dilation
    steps = (
        ("s", _common("stride", stride, after.size)),
        ("d", _common("dilation", dilation, window)),
    )
    space = (("r", after.height), ("c", after.width))
    rest = (("p", window[0]), ("q", window[1]), *steps)
    if groups == inputs > 1:
        return KernelUse(
            "depthwise_conv2d", (*space, ("o", inputs), *rest), before.batch * outputs // inputs
        )
    return KernelUse(
        "conv2d",
        (("o", outputs // groups), ("i", inputs // groups), *space, *rest),
        before.batch * groups,
    )


def _common(what: str, along: Pair, extents: Pair) -> int:
    """The value along both dimensions; it does not matter along one of a single element."""
    values = {value for value, extent in zip(along, extents, strict=True) if extent > 1}
    if len(values) > 1:
        raise InputError(f"{what} differs along rows and columns: {along[0]} and {along[1]}")
    return values.pop() if values else 1


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
    product = (("i", rows), ("j", columns), ("k", inner))
    return (
        KernelUse("mm", product)
        if batch == 1
        else KernelUse("batched_mm", (("b", batch), *product))
    )
