"""Network files as pydantic models: operators, and numbers that depend on parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema

from ithaca.files.documents import InputDocument, schemas
from ithaca.files.errors import InputError
from ithaca.files.messages import meant

#: Most repetitions of a block, and most layers of a network.
MAX_LAYERS = 10_000


_TERM = r"(?:[0-9]{1,9}|[A-Za-z_][A-Za-z0-9_]{0,39})"


_SUM = re.compile(rf"{_TERM}(?:\s*[-+*/]\s*{_TERM}){{0,31}}")


def quantity(value: Any, parameters: Any, least: int = 1, pair: str = "") -> int:
    """The number of a field of a network file, such as ``512``, ``sequence``, ``hidden/heads`` or
    ``past + tokens``.

    Parameters
    ----------
    value : object
        The field.
    parameters : mapping of str to int
        Values of the names in it.
    least : int, optional
        The smallest number allowed.
    pair : str, optional
        What else the field may be, for the error line.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If the field is no number, or a smaller one.
    """
    if isinstance(value, str):
        value = _sum(value, parameters)
    elif isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        raise ValueError(f"an integer from 0 to 10^9, or sums of products of parameters{pair}")
    if value < least:
        raise ValueError(f"at least {least}")
    number: int = value
    return number


def _sum(value: str, parameters: Mapping[str, int]) -> int:
    """The value of integers and parameters joined by ``+``, ``-``, ``*`` and ``/``, of which the
    last two bind tighter, from left to right."""
    allowed = f"integers and {', '.join(parameters) or 'no names'}, joined by +, -, * and /"
    if not _SUM.fullmatch(value):
        raise InputError(f"'{value[:60]}' is no quantity; allowed: {allowed}")
    total, result, sign, joint = 0, 1, 1, "*"
    for token in re.findall(rf"{_TERM}|[-+*/]", value):
        if token in "+-":
            total, result, sign, joint = total + sign * result, 1, 1 - 2 * (token == "-"), "*"
            continue
        if token in "*/":
            joint = token
            continue
        if not token.isdigit() and token not in parameters:
            what = f"'{value}' uses the unknown name '{token}'; allowed: {allowed}"
            raise InputError(what + meant(token, parameters))
        number = int(token) if token.isdigit() else parameters[token]
        if joint == "*":
            result *= number
        elif number == 0 or result % number:
            raise InputError(
                f"'{value}' is {result}/{number}, no integer; allowed: "
                "parameters that divide without remainder"
            )
        else:
            result //= number
    return total + sign * result


def _size(value: Any, info: ValidationInfo) -> int:
    return quantity(value, info.context)


def _pair(value: Any, info: ValidationInfo, least: int = 1) -> tuple[int, int]:
    rows, columns = value if isinstance(value, list) and len(value) == 2 else (value, value)
    pair = ", or [rows, columns]"
    return quantity(rows, info.context, least, pair), quantity(columns, info.context, least, pair)


def _padding(value: Any, info: ValidationInfo) -> tuple[int, int]:
    rows, columns = _pair(value, info, 0)
    return 2 * rows, 2 * columns


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}$")]


ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,39}$")]


_SIZE = {"type": ["integer", "string"]}


_PAIR = WithJsonSchema({"anyOf": [_SIZE, {"type": "array", "items": _SIZE}]})


#: An integer, or sums of products of integers and parameters: its value.
Size = Annotated[int, PlainValidator(_size), WithJsonSchema(_SIZE)]


#: One value for rows and columns, or both.
Pair = Annotated[tuple[int, int], PlainValidator(_pair), _PAIR]


#: The same, of both sides together; the file gives that of one side.
Padding = Annotated[tuple[int, int], PlainValidator(_padding), _PAIR]


class FeatureMapDocument(InputDocument):
    """The feature map a convolutional network starts with."""

    batch: Size
    channels: Size
    height: Size
    width: Size


class NetworkDocument(InputDocument):
    """A network file; what depends on its parameters is read once they are known."""

    name: Name
    description: Annotated[str, Field(max_length=2_000)] = ""
    source: Annotated[str, Field(max_length=2_000)] = ""
    parameters: dict[ParameterName, Annotated[int, Field(ge=1, le=10**9)]] = Field(default={})
    input: dict[str, Any] | None = None
    layers: Annotated[list[dict[str, Any]], Field(min_length=1)]
    elementwise: dict[str, Any] = Field(default={})


class SizedDocument(InputDocument):
    """The fields of a network file, besides its layers, that depend on its parameters."""

    input: FeatureMapDocument | None
    elementwise: dict[Name, Size]


class PoolDocument(InputDocument):
    """Pooling, which changes the feature map only; by default windows do not overlap."""

    op: str
    kernel: Pair
    stride: Pair | None = None
    padding: Padding = (0, 0)
    output: Pair | None = None


class DepthwiseDocument(InputDocument):
    """A convolution of every channel with a kernel of its own."""

    op: str
    name: Name
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Padding = (0, 0)
    dilation: Pair = (1, 1)
    output: Pair | None = None
    block_sparse: str | None = None
    format: dict[str, str] | str | None = None


class ConvDocument(DepthwiseDocument):
    """A convolution; with ``side`` the next layer reads the same map (a shortcut's projection)."""

    channels: Size
    groups: Size = 1
    side: bool = False


class GlobalPoolDocument(InputDocument):
    """Pooling to one element per channel."""

    op: str


class LinearDocument(InputDocument):
    """A fully connected layer over all elements of the feature map."""

    op: str
    name: Name
    features: Size
    block_sparse: str | None = None
    format: dict[str, str] | str | None = None


class KernelLayerDocument(InputDocument):
    """A kernel of the library with all its sizes; the feature map stays as it is."""

    op: str
    name: Name
    kernel: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    sizes: dict[ParameterName, Size]
    count: Size = 1
    follows: bool = False
    block_sparse: str | None = None
    format: dict[str, str] | str | None = None


class BlockDocument(InputDocument):
    """Layers under a common name, repeated if ``repeat`` is given, then numbered from ``first``;
    perhaps with a shortcut."""

    op: str
    name: Name
    repeat: Size | None = None
    first: Annotated[int, Field(ge=0, le=MAX_LAYERS)] = 1
    residual: bool = False
    layers: Annotated[list[dict[str, Any]], Field(min_length=1)]


#: What ``op`` of a layer may be.
OPERATORS: dict[str, type[InputDocument]] = {
    "conv": ConvDocument,
    "depthwise": DepthwiseDocument,
    "pool": PoolDocument,
    "global_pool": GlobalPoolDocument,
    "linear": LinearDocument,
    "kernel": KernelLayerDocument,
    "block": BlockDocument,
}


def network_schema() -> dict[str, Any]:
    """The JSON schema of network files, with what is read once parameters are known."""
    _, defined = schemas((NetworkDocument, SizedDocument, *OPERATORS.values()))
    layer = {"oneOf": [{"$ref": f"#/$defs/{model.__name__}"} for model in OPERATORS.values()]}
    for op, model in OPERATORS.items():
        defined[model.__name__]["properties"]["op"] = {"const": op}
    for model in (NetworkDocument, BlockDocument):
        defined[model.__name__]["properties"]["layers"]["items"] = layer
    whole: dict[str, Any] = defined.pop(NetworkDocument.__name__)
    whole["properties"] |= defined.pop(SizedDocument.__name__)["properties"]
    whole["$defs"] = defined
    return whole
