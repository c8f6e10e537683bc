"""Foldings as files of tools state them: how far each layer is unrolled, and what may be chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ithaca.files.messages import refuse
from ithaca.plugins.unrolling.formulations.layers import Freedom, WeightLayer
from ithaca.plugins.unrolling.formulations.pipeline import Unrolled


@dataclass(frozen=True)
class Folding:
    """A folding of the layers of a network, read from a file."""

    tool: str
    """The tool that reads such files."""
    unrolled: tuple[Unrolled, ...]
    """How far each layer is unrolled."""
    freedoms: tuple[Freedom, ...]
    """How each may be."""
    text: Callable[[Sequence[Unrolled]], str]
    """Makes the file's text with other choices."""
    remarks: tuple[str, ...] = ()
    """Lines on what is not read, and what the tool would change."""


def freedoms_of(tool: str, layers: Sequence[WeightLayer]) -> tuple[Freedom, ...]:
    """Unrollings of layers that are allowed where no file says it: those of FINN's products and
    filters, or of hls4ml's with the strategy ``Resource``.

    Parameters
    ----------
    tool : str
        ``finn`` or ``hls4ml``.
    layers : sequence of WeightLayer
        The layers.
    """
    return tuple(
        Freedom.BOTH if tool == "finn" and not layer.channelwise else Freedom.OUTPUTS_FIRST
        for layer in layers
    )


def positive(value: Any, where: object, name: str) -> int:
    """A whole number of 1 or more, or an `InputError` that begins with its place.

    Parameters
    ----------
    value : object
        The value.
    where : object
        The file, and the place in it.
    name : str
        The field.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise refuse(where, f"{name} is {value!r}; allowed: a positive integer")
    return value
