"""Layers that tables of other tools state, one after the other, as a network.

Tables say nothing of what a layer reads, so the order of layers is no order of runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Protocol

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped, refuse
from ithaca.workloads.networks.network import (
    Layer,
    Network,
    Omission,
    OmissionKind,
    merge,
)
from ithaca.workloads.networks.network_documents import MAX_LAYERS
from ithaca.workloads.networks.operators import (
    Axis,
    KernelUse,
    convolution,
    matrix_product,
    output_extent,
    phases,
    transposed_convolution,
)


class Row(Protocol):
    """A layer of a table."""

    @property
    def where(self) -> str:
        """The words with which errors about it begin."""

    @property
    def name(self) -> str:
        """The layer's name."""

    def uses(self) -> Iterable[Use]:
        """The nests that it consists of."""


class Use(Protocol):
    """A nest that is a layer, or a part of one."""

    def layer(self, name: str) -> Layer:
        """The layer of a name."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row of a table that is no layer."""

    where: str
    """The words with which errors about it begin."""
    name: str
    """Its name."""
    operator: str = "layer"
    """The kind of the row, in the words of the table."""
    reason: str = ""
    """Why its arithmetic is left out; empty of a few operations per element."""

    def uses(self) -> Iterable[KernelUse]:
        """No kernel."""
        return ()


#: Words for numbers that must be there.
_WORDS = {
    "map": "the input's size",
    "window": "the window",
    "rows": "the number of rows (M)",
    "columns": "the number of columns (N)",
    "inner": "the length of the sum (K)",
}


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer as a table states it: a matrix product, or a convolution of two dimensions."""

    where: str
    """The words with which errors about it begin."""
    name: str
    """Its name."""
    numbers: Mapping[str, int]
    """``rows``, ``columns`` and ``inner`` of a product, which has no ``inputs``. Of a convolution
    channels ``inputs`` and ``outputs``, and as pairs along rows and columns, named ``height_0`` and
    ``height_1``, say: extents of the input, ``map``, or of the output, ``places``, and the
    ``window``, which must be there, and ``stride``, ``dilation`` and ``padding`` (of each side).
    ``batch``, ``groups`` and ``count`` are 1 unless stated."""
    transposed: bool = False
    """Whether a convolution is transposed."""

    def uses(self) -> Iterable[KernelUse]:
        """The kernels of the layer. Raises `InputError` if a number is missing, or a window does
        not fit."""
        numbers = self.numbers
        count, batch = numbers.get("count", 1), numbers.get("batch", 1)
        if "inputs" not in numbers:
            rows, columns, inner = (self._number(n) for n in ("rows", "columns", "inner"))
            return [matrix_product((batch * rows, inner), (inner, columns)).repeated(count)]
        groups = numbers.get("groups", 1)
        inputs, outputs = self._number("inputs"), self._number("outputs")
        if self.transposed:
            axes = [phases(self._transposed_axis(d), numbers.get(f"padding_{d}", 0)) for d in "01"]
            uses = transposed_convolution(batch, inputs, outputs, axes, groups)
            return [use.repeated(count) for use in uses]
        along = [self._axis(d) for d in "01"]
        if groups == 1:  # a window with one place sums a dimension up, as channels are
            inputs *= prod(axis.window for axis in along if axis.outputs == 1)
            along = [axis for axis in along if axis.outputs > 1]
            if not along:
                return [matrix_product((batch, inputs), (inputs, outputs)).repeated(count)]
        return [convolution(batch, inputs, outputs, along, groups).repeated(count)]

    def _number(self, name: str, default: int | None = None) -> int:
        value = self.numbers.get(name, default)
        if value is None:
            what, _, along = name.partition("_")
            side = f" along {('rows', 'columns')[int(along)]}" if along else ""
            missing = f"{_WORDS.get(what, name)}{side} is missing"
            raise refuse(self.where, f"{missing}; allowed: a positive integer")
        return value

    def _axis(self, d: str) -> Axis:
        window = self._number(f"window_{d}")
        stride, dilation = (self._number(f"{name}_{d}", 1) for name in ("stride", "dilation"))
        places = self.numbers.get(f"places_{d}")
        if places is None:
            padding = 2 * self._number(f"padding_{d}", 0)
            places = output_extent(self._number(f"map_{d}"), window, stride, dilation, padding)
        return Axis(places, window, stride, dilation)

    def _transposed_axis(self, d: str) -> Axis:
        window = self._number(f"window_{d}")
        stride, dilation = (self._number(f"{name}_{d}", 1) for name in ("stride", "dilation"))
        padding = 2 * self._number(f"padding_{d}", 0)
        whole = (self._number(f"map_{d}") - 1) * stride + (window - 1) * dilation + 1 - padding
        return Axis(max(whole, 0), window, stride, dilation)


def network_of(
    path: Path, rows: Iterable[Row], what: str, remarks: Iterable[str] = (), **more: object
) -> Network:
    """The network of a table of layers; those that cannot be layers are listed with the reason.

    Parameters
    ----------
    path : Path
        The file.
    rows : iterable of Row
        Its layers.
    what : str
        The kind of file, in words.
    remarks : iterable of str, optional
        Further lines on it.
    **more : object
        Further fields of the network.
    """
    layers: list[Layer] = []
    omissions: list[Omission] = []
    names: set[str] = set()
    for number, row in enumerate(rows, 1):
        if number > MAX_LAYERS:
            raise refuse(path, f"has more than {MAX_LAYERS} layers; allowed: at most {MAX_LAYERS}")
        plain = escaped(row.name) or f"layer{number}"
        name = f"{plain}.{number}" if plain in names else plain
        names.add(name)
        made: list[Use] = []
        if isinstance(row, LeftOut):
            kind = OmissionKind.UNSUPPORTED if row.reason else OmissionKind.ELEMENTWISE
            reason = row.reason and f"{row.where}: {row.reason}"
            omissions.append(Omission(escaped(row.operator), 1, kind, reason, (name,)))
        try:
            made += row.uses()
            own = [f"{name}.phase{n}" if len(made) > 1 else name for n in range(len(made))]
            layers += [use.layer(label) for use, label in zip(made, own, strict=True)]
        except InputError as error:
            reason = str(error).removeprefix(f"layer {name}: ").removeprefix(f"{row.where}: ")
            reason, kind = f"{row.where}: {reason}", OmissionKind.UNSUPPORTED
            known = [use.operations for use in made if isinstance(use, KernelUse)]
            work = sum(known) if known else None
            omissions.append(Omission("layer", 1, kind, reason, (name,), work))
    if not layers:
        few = [f"each is of a few operations per element, as {each.operator}" for each in omissions]
        reasons = (*(each.reason for each in omissions if each.reason), *few[:1], "it has no rows")
        reason = reasons[0]
        raise refuse(path, f"is {what}, of which no row can be a layer: {reason}")
    return Network(
        escaped(path.stem),
        merge(layers),
        what,
        tuple(omissions),
        unordered=f"{path.name} is {what}, which says nothing of what layers read",
        remarks=(f"{path} is taken for {what}", *(f"{path}: {line}" for line in remarks)),
        **more,  # type: ignore[arg-type]
    )
