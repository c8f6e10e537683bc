"""Convolutions as kernels: groups, strides and dilation."""

from __future__ import annotations

from dataclasses import dataclass

from ithaca.workloads.errors import InputError
from ithaca.workloads.networks.kernel_use import KernelUse


@dataclass(frozen=True, slots=True)
class Convolution:
    """A two-dimensional convolution.

    Attributes
    ----------
    batch : int
        Images.
    inputs, outputs : int
        Channels of the input and output feature maps.
    feature_map : tuple of int
        Rows and columns of the output.
    window : tuple of int
        Rows and columns of the kernel.
    stride, dilation : tuple of int
        Along rows and columns.
    groups : int
        Groups of channels that are convolved on their own.
    """

    batch: int
    inputs: int
    outputs: int
    feature_map: tuple[int, int]
    window: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    groups: int = 1

    def kernel_use(self) -> KernelUse:
        """The kernel that computes it, and how often.

        A depthwise convolution is one ``depthwise_conv2d`` over all its channels; with a channel
        multiplier it runs once per output channel of an input channel. Any other convolution is a
        ``conv2d`` per group, a 1×1 convolution too: it shares the loops and the design space. The
        images of a batch are separate runs, since the kernels have no loop for them.

        Raises
        ------
        InputError
            If groups do not divide the channels, or rows and columns have different strides or
            dilations, which the kernels cannot express.
        """
        if self.inputs % self.groups or self.outputs % self.groups:
            raise InputError(f"{self.groups} groups do not divide {self.inputs} input and {self.outputs} output channels")
        # a single row or column of windows has no stride, a window of one element no dilation
        stride = _common("stride", self.stride, self.feature_map)
        dilation = _common("dilation", self.dilation, self.window)
        space = (("r", self.feature_map[0]), ("c", self.feature_map[1]))
        rest = (("p", self.window[0]), ("q", self.window[1]), ("s", stride), ("d", dilation))
        if self.groups == self.inputs > 1:
            return KernelUse("depthwise_conv2d", (*space, ("o", self.inputs), *rest), self.batch * self.outputs // self.inputs)
        channels = (("o", self.outputs // self.groups), ("i", self.inputs // self.groups))
        return KernelUse("conv2d", (*channels, *space, *rest), self.batch * self.groups)


def _common(what: str, along: tuple[int, int], extents: tuple[int, int]) -> int:
    """The value along both dimensions; it does not matter along one of a single element."""
    values = {value for value, extent in zip(along, extents, strict=True) if extent > 1}
    if len(values) > 1:
        raise InputError(f"{what} differs along rows and columns: {along[0]} and {along[1]}")
    return values.pop() if values else 1
