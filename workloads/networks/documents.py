"""Network files as they are written: the fields of the document and of each operator."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

#: Most repetitions of a block, and most layers of a network.
MAX_LAYERS = 10_000

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}$")]
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,39}$")]
Positive = Annotated[int, Field(ge=1, le=10**9)]


def _is_quantity(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**9)


def _quantity(value: Any) -> int | str:
    if not _is_quantity(value):
        raise ValueError("an integer from 0 to 10^9, or a product of parameters")
    number: int | str = value
    return number


def _pair(value: Any) -> int | str | list[int | str]:
    if not _is_quantity(value) and not (isinstance(value, list) and len(value) == 2 and all(map(_is_quantity, value))):
        raise ValueError("an integer from 0 to 10^9, or [rows, columns]")
    pair: int | str | list[int | str] = value
    return pair


#: An integer, or a product of integers and parameters (see `ithaca.workloads.networks.quantities`).
Quantity = Annotated[int | str, PlainValidator(_quantity)]

#: One value for rows and columns, or both.
Pair = Annotated[int | str | list[int | str], PlainValidator(_pair)]


class Document(BaseModel):
    """Unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FeatureMapDocument(Document):
    """The feature map a convolutional network starts with."""

    batch: Quantity
    channels: Quantity
    height: Quantity
    width: Quantity


class NetworkDocument(Document):
    """A network as a network file describes it; ``layers`` are read one by one, by their operator."""

    name: Name
    description: Annotated[str, Field(max_length=2_000)] = ""
    source: Annotated[str, Field(max_length=2_000)] = ""
    parameters: dict[ParameterName, Positive] = {}
    input: FeatureMapDocument | None = None
    layers: Annotated[list[dict[str, Any]], Field(min_length=1)]
    elementwise: dict[Name, Quantity] = {}


class ConvDocument(Document):
    """A convolution; ``side`` reads the feature map and leaves it to the next layer (a shortcut's projection)."""

    op: str
    name: Name
    channels: Quantity
    kernel: Pair
    stride: Pair = 1
    padding: Pair = 0
    dilation: Pair = 1
    groups: Quantity = 1
    side: bool = False
    output: Pair | None = None


class DepthwiseDocument(Document):
    """A convolution of every channel with a kernel of its own."""

    op: str
    name: Name
    kernel: Pair
    stride: Pair = 1
    padding: Pair = 0
    dilation: Pair = 1
    output: Pair | None = None


class PoolDocument(Document):
    """Pooling: no layer, but it changes the feature map. Without a stride the windows do not overlap."""

    op: str
    kernel: Pair
    stride: Pair | None = None
    padding: Pair = 0
    output: Pair | None = None


class GlobalPoolDocument(Document):
    """Pooling to one element per channel."""

    op: str


class LinearDocument(Document):
    """A fully connected layer over all elements of the feature map."""

    op: str
    name: Name
    features: Quantity


class KernelDocument(Document):
    """A kernel of the workload library with the sizes of all its loops; the feature map stays as it is."""

    op: str
    name: Name
    kernel: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    sizes: dict[ParameterName, Quantity]
    count: Quantity = 1


class BlockDocument(Document):
    """Layers under a common name, repeated if ``repeat`` is given: then numbered from ``first``."""

    op: str
    name: Name
    repeat: Quantity | None = None
    first: Annotated[int, Field(ge=0, le=MAX_LAYERS)] = 1
    layers: Annotated[list[dict[str, Any]], Field(min_length=1)]


#: What ``op`` of a layer may be.
OPERATORS: dict[str, type[Document]] = {
    "conv": ConvDocument,
    "depthwise": DepthwiseDocument,
    "pool": PoolDocument,
    "global_pool": GlobalPoolDocument,
    "linear": LinearDocument,
    "kernel": KernelDocument,
    "block": BlockDocument,
}
