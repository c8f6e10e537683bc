"""Feature maps: what one layer of a convolutional network hands to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ithaca.workloads.errors import InputError


@dataclass(frozen=True, slots=True)
class FeatureMap:
    """A batch of images or of what layers make of them.

    Attributes
    ----------
    batch : int
        Images.
    channels, height, width : int
        Extents of each (elements).
    """

    batch: int
    channels: int
    height: int
    width: int

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.height, self.width

    @property
    def elements(self) -> int:
        """Elements of one image."""
        return self.channels * self.height * self.width

    def after(
        self,
        window: tuple[int, int],
        stride: tuple[int, int] = (1, 1),
        dilation: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
    ) -> FeatureMap:
        """The map that a sliding window makes of this one, with as many channels.

        Parameters
        ----------
        window, stride, dilation : tuple of int
            Along rows and columns (elements).
        padding : tuple of int
            Elements added along rows and columns, both sides together.

        Raises
        ------
        InputError
            If the window does not fit.
        """
        height, width = (output_extent(*along) for along in zip(self.size, window, stride, dilation, padding, strict=True))
        return replace(self, height=height, width=width)


def output_extent(extent: int, window: int, stride: int, dilation: int, padding: int) -> int:
    """Output extent of a sliding window: ``⌊(extent + padding - dilation·(window - 1) - 1) / stride⌋ + 1``.

    Parameters
    ----------
    extent, window : int
        Input and window along one dimension (elements).
    stride, dilation : int
        Distance between windows, and between the elements of a window.
    padding : int
        Elements added, both sides together.

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
