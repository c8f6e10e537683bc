"""A loop nest as a layer of SCALE-Sim: a matrix multiplication or a convolution.

SCALE-Sim multiplies a matrix of output pixels × window elements by one of window elements ×
filters. Which loops are which follows from the tensors they index: pixels index the output and
the input feature map, filters the output and the filters, the window the two inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from math import prod

from ithaca.files.errors import InputError
from ithaca.workloads.affine import Access, Affine
from ithaca.workloads.nest import LoopNest


class LoopKind(Enum):
    """The role of a loop in SCALE-Sim's layer."""

    PIXELS = "pixels"
    """Output pixels (M)."""
    FILTERS = "filters"
    """Filters (N)."""
    WINDOW = "window"
    """Elements of the window that are summed up (K)."""


@dataclass(frozen=True, slots=True)
class ConvolutionDimension:
    """A spatial dimension of a convolution."""

    pixels: int
    """Output pixels along it, and elements of the filter."""
    window: int
    stride: int
    """Elements of the input feature map from one window to the next."""

    @property
    def extent(self) -> int:
        """Elements of the input feature map that are used."""
        return self.stride * (self.pixels - 1) + self.window


@dataclass(frozen=True, slots=True)
class ScalesimLayer:
    """A layer as SCALE-Sim's topology file states it."""

    ifmap: Access
    filters: Access
    sides: tuple[tuple[str, LoopKind], ...]
    """The side of the layer that each loop runs over."""
    dimensions: tuple[ConvolutionDimension, ...] = ()
    """Height and width of a convolution; empty for a matrix multiplication."""
    channels: int = 1
    """Channels of a convolution."""

    def side(self, loop: str) -> LoopKind:
        """The kind of a loop in the layer."""
        return dict(self.sides)[loop]


def layer(nest: LoopNest) -> ScalesimLayer:
    """The layer that a nest is.

    Raises `InputError` if it is none; one line with all the reasons.
    """
    if len(nest.inputs) != 2:
        raise InputError(
            f"the nest multiplies {len(nest.inputs)} tensors; SCALE-Sim has "
            "an input feature map and filters"
        )
    windowed = [access for access in nest.inputs if not _plain(access)]
    if len(windowed) > 1:
        raise InputError(
            f"both inputs ({windowed[0]}, {windowed[1]}) have windows or "
            "strides; SCALE-Sim has them in one"
        )
    ifmap = windowed[0] if windowed else nest.inputs[0]
    filters = next(access for access in nest.inputs if access != ifmap)
    reasons = (
        *_shared(nest),
        *_unlike(ifmap, nest),
        *(_shapeless(ifmap, nest) if windowed else ()),
    )
    if reasons:
        raise InputError("; ".join(reasons))
    sides = tuple((loop, _side(nest, filters, loop)) for loop in nest.loops)
    if not windowed:
        return ScalesimLayer(ifmap, filters, sides)
    dimensions = tuple(
        _dimension(subscript, nest) for subscript in ifmap if _spatial(subscript, nest)
    )
    inside = {loop for subscript in ifmap if _spatial(subscript, nest) for loop in subscript.loops}
    channels = prod(
        nest.sizes[x] for x, side in sides if side is LoopKind.WINDOW and x not in inside
    )
    return ScalesimLayer(ifmap, filters, sides, dimensions, channels)


def _plain(access: Access) -> bool:
    return all([c for _, c in subscript.terms] == [1] for subscript in access)


def _spatial(subscript: Affine, nest: LoopNest) -> bool:
    """Whether a dimension of the input feature map is its height or width."""
    return any(loop in nest.parallel_loops for loop in subscript.loops)


def _side(nest: LoopNest, filters: Access, loop: str) -> LoopKind:
    if loop in nest.reduction_loops:
        return LoopKind.WINDOW
    return LoopKind.FILTERS if filters.indexed_by(loop) else LoopKind.PIXELS


def _shared(nest: LoopNest) -> Iterator[str]:
    for loop in nest.loops:
        count = sum(access.indexed_by(loop) for access in nest.accesses)
        if count != 2:
            where = "all three tensors" if count == 3 else "one tensor only"
            yield f"loop {loop} indexes {where}; the layers of SCALE-Sim have no such loop"


def _unlike(ifmap: Access, nest: LoopNest) -> Iterator[str]:
    for access in nest.accesses:
        for subscript in access:
            if subscript.constant or not subscript.terms:
                yield f"subscript {subscript} of {access} has a constant"
            elif access != ifmap and len(subscript.terms) > 1:
                yield f"subscript {subscript} of {access} is a sum"


def _shapeless(ifmap: Access, nest: LoopNest) -> Iterator[str]:
    """The obstacle to reading a windowed input as a map of height, width and channels."""
    spatial = [subscript for subscript in ifmap if _spatial(subscript, nest)]
    if len(spatial) != 2:
        yield f"{ifmap} has {len(spatial)} spatial dimensions; SCALE-Sim has height and width"
    for subscript in ifmap:
        over = {loop: loop in nest.parallel_loops for loop in subscript.loops}
        if list(over.values()).count(True) > 1 or list(over.values()).count(False) > 1:
            yield f"subscript {subscript} of {ifmap} is not one output loop and one window loop"
        for loop, coefficient in subscript.terms:
            if coefficient < 0:
                yield f"subscript {subscript} of {ifmap} counts downwards"
            elif coefficient > 1 and not over[loop]:
                yield f"subscript {subscript} of {ifmap} is dilated; SCALE-Sim has no dilation"
    strides = {
        c for subscript in spatial for loop, c in subscript.terms if loop in nest.parallel_loops
    }
    if len(strides) > 1:
        yield (
            f"{ifmap} has strides {', '.join(map(str, sorted(strides)))}; the "
            "topology files of SCALE-Sim have one"
        )


def _dimension(subscript: Affine, nest: LoopNest) -> ConvolutionDimension:
    pixels, stride = next((loop, c) for loop, c in subscript.terms if loop in nest.parallel_loops)
    window = next((loop for loop in subscript.loops if loop in nest.reduction_loops), None)
    return ConvolutionDimension(
        nest.sizes[pixels], 1 if window is None else nest.sizes[window], stride
    )
