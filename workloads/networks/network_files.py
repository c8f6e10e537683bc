"""Network files: architectures written as data, Ithaca's own and a user's.

A network is a YAML document::

    name: tiny
    description: two layers
    source: where its figures are published
    parameters: {batch: 1, image: 32}              # replaced by sizes on the command line
    input: {batch: batch, channels: 3, height: image, width: image}
    layers:
      - {op: conv, name: conv1, channels: 16, kernel: 3, stride: 2, padding: 1, output: 16}
      - {op: depthwise, name: conv2, kernel: 3, padding: 1}
      - {op: pool, kernel: 2}
      - {op: block, name: stage, repeat: 2, layers: [{op: conv, name: conv, channels: 16, kernel: 1}]}
      - {op: linear, name: fc, features: 10}
      - {op: kernel, name: product, kernel: mm, sizes: {i: batch, j: 10, k: 4*image}}
    elementwise: {Relu: 2}                         # what the layers leave out

Each operator reads the feature map of the one before; its output follows from kernel, stride and
padding. ``output`` is the published size, at the parameters' own values, and is checked there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted, refuse
from ithaca.workloads.networks.convolution import Convolution
from ithaca.workloads.networks.documents import (
    MAX_LAYERS,
    OPERATORS,
    BlockDocument,
    ConvDocument,
    DepthwiseDocument,
    Document,
    FeatureMapDocument,
    GlobalPoolDocument,
    KernelDocument,
    LinearDocument,
    NetworkDocument,
    PoolDocument,
)
from ithaca.workloads.networks.feature_map import FeatureMap
from ithaca.workloads.networks.kernel_use import KernelUse
from ithaca.workloads.networks.matrix_product import matrix_product
from ithaca.workloads.networks.network import Layer, Network, Omission, OmissionKind, chosen_parameters, merge
from ithaca.workloads.networks.quantities import quantity
from ithaca.workloads.reading import read_text, refuse_invalid
from ithaca.workloads.yaml_documents import parse_yaml

#: Largest network file (bytes); the packaged ones have up to 5,000.
MAX_BYTES = 262_144

_Model = TypeVar("_Model", bound=Document)


def load_network_file(path: Path, sizes: Mapping[str, int]) -> Network:
    """Load a user's network file.

    Raises
    ------
    InputError
        If it cannot be read, is no network file, or ``sizes`` are not its parameters.
    """
    return parse_network(read_text(path, MAX_BYTES), path, sizes)


def parse_network(text: str, where: object, sizes: Mapping[str, int]) -> Network:
    """Read a network file.

    Parameters
    ----------
    text : str
        The YAML document.
    where : object
        What error lines start with (a path, a name).
    sizes : mapping of str to int
        Values that replace the parameters' own.

    Raises
    ------
    InputError
        If the text is no network file, or ``sizes`` are not its parameters.
    """
    document = _validate(NetworkDocument, parse_yaml(text, where), where)
    parameters = chosen_parameters(document.name, document.parameters, sizes)
    reader = _Reader(where, parameters, published=parameters == document.parameters)
    steps = list(islice(reader.steps(document.layers, "", ""), MAX_LAYERS + 1))
    if len(steps) > MAX_LAYERS:
        raise refuse(where, f"layers, with blocks repeated, are more than {MAX_LAYERS}; allowed: at most {MAX_LAYERS}")
    reader.check_names(steps)
    layers = merge(reader.layers(steps, reader.input(document.input)))
    if not layers:
        raise refuse(where, "layers compute nothing; allowed: at least one conv, depthwise, linear or kernel")
    omitted = ((name, reader.number(count, "elementwise", name)) for name, count in document.elementwise.items())
    omissions = tuple(Omission(name, count, OmissionKind.ELEMENTWISE) for name, count in omitted)
    description = "; ".join(part for part in (document.description, document.source) if part)
    return Network(document.name, layers, description, omissions, tuple(parameters.items()))


@dataclass(frozen=True, slots=True)
class _Step:
    """One operator of a file: its full name, empty where it makes no layer, and where in the file it stands."""

    name: str
    at: str
    operator: Document


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the operators of one file; ``published`` says whether its ``output`` fields apply."""

    where: object
    parameters: Mapping[str, int]
    published: bool

    def steps(self, entries: list[dict[str, Any]], prefix: str, path: str) -> Iterator[_Step]:
        """The operators in the order they run, blocks written out."""
        for index, entry in enumerate(entries):
            at = f"{path}layers[{index}]"
            operator = _operator(entry, f"{self.where}: {at}")
            if not isinstance(operator, BlockDocument):
                name = getattr(operator, "name", "")
                yield _Step(prefix + name if name else "", at, operator)
                continue
            numbers: Iterable[int | str] = ("",)
            if operator.repeat is not None:
                numbers = range(operator.first, operator.first + self.number(operator.repeat, at, "repeat"))
            for number in numbers:
                yield from self.steps(operator.layers, f"{prefix}{operator.name}{number}.", f"{at}.")

    def check_names(self, steps: Iterable[_Step]) -> None:
        """Refuse two layers of one name: a user could not tell them apart."""
        seen: set[str] = set()
        for step in steps:
            if step.name and step.name in seen:
                raise refuse(
                    f"{self.where}: {step.at}.name", f"makes a second layer {quoted(step.name)}; allowed: names that differ"
                )
            seen.add(step.name)

    def layers(self, steps: Iterable[_Step], feature_map: FeatureMap | None) -> Iterator[Layer]:
        """What the operators compute, starting from ``feature_map``."""
        for step in steps:
            where = f"{self.where}: {step.at}"
            with _at(where):
                use, after = self._compute(step.operator, feature_map, step.at)
                layer = use.layer(step.name) if use else None
                if after is not None:
                    self._check_published(step.operator, after, step.at)
            if layer is not None:
                yield layer
            if not (isinstance(step.operator, ConvDocument) and step.operator.side):
                feature_map = after

    def input(self, document: FeatureMapDocument | None) -> FeatureMap | None:
        """The feature map a network starts with."""
        if document is None:
            return None
        return FeatureMap(*(self.number(getattr(document, name), "input", name) for name in FeatureMapDocument.model_fields))

    def _compute(self, operator: Document, before: FeatureMap | None, at: str) -> tuple[KernelUse | None, FeatureMap | None]:
        """The kernel of an operator, None if it has none, and the feature map after it."""
        if isinstance(operator, KernelDocument):
            sizes = tuple((name, self.number(size, f"{at}.sizes", name)) for name, size in operator.sizes.items())
            return KernelUse(operator.kernel, sizes, self.number(operator.count, at, "count")), before
        if before is None:
            raise InputError("no feature map to read; allowed: input at the top of the file")
        match operator:
            case ConvDocument() | DepthwiseDocument():
                window, padding = self._pair(operator.kernel, at, "kernel"), self._padding(operator.padding, at)
                stride, dilation = self._pair(operator.stride, at, "stride"), self._pair(operator.dilation, at, "dilation")
                outputs = groups = before.channels
                if isinstance(operator, ConvDocument):
                    outputs = self.number(operator.channels, at, "channels")
                    groups = self.number(operator.groups, at, "groups")
                after = replace(before.after(window, stride, dilation, padding), channels=outputs)
                convolution = Convolution(before.batch, before.channels, outputs, after.size, window, stride, dilation, groups)
                return convolution.kernel_use(), after
            case PoolDocument():
                window = self._pair(operator.kernel, at, "kernel")
                stride = window if operator.stride is None else self._pair(operator.stride, at, "stride")
                return None, before.after(window, stride, padding=self._padding(operator.padding, at))
            case GlobalPoolDocument():
                return None, replace(before, height=1, width=1)
            case LinearDocument():
                features = self.number(operator.features, at, "features")
                use = matrix_product((before.batch, before.elements), (before.elements, features))
                return use, FeatureMap(before.batch, features, 1, 1)
        raise AssertionError(f"operator {type(operator).__name__} has no meaning")

    def _check_published(self, operator: Document, after: FeatureMap, at: str) -> None:
        if not self.published or not isinstance(operator, ConvDocument | DepthwiseDocument | PoolDocument):
            return
        if operator.output is not None and (published := self._pair(operator.output, at, "output")) != after.size:
            stated, computed = ("×".join(map(str, size)) for size in (published, after.size))
            raise InputError(f"output is {stated}; allowed: {computed}, as kernel, stride and padding make it")

    def number(self, value: int | str, at: str, field: str, least: int = 1) -> int:
        """The number that a field of the file means."""
        try:
            number = quantity(value, self.parameters)
        except InputError as error:
            raise refuse(f"{self.where}: {at}.{field}", error) from None
        if number < least:
            raise refuse(f"{self.where}: {at}.{field}", f"is {number}; allowed: at least {least}")
        return number

    def _pair(self, value: int | str | list[int | str], at: str, field: str, least: int = 1) -> tuple[int, int]:
        rows, columns = value if isinstance(value, list) else (value, value)
        return self.number(rows, at, field, least), self.number(columns, at, field, least)

    def _padding(self, value: int | str | list[int | str], at: str) -> tuple[int, int]:
        """Padding of both sides together; the file gives that of one side."""
        rows, columns = self._pair(value, at, "padding", 0)
        return 2 * rows, 2 * columns


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Put the place in front of an error that does not name it yet."""
    try:
        yield
    except InputError as error:
        raise error if str(error).startswith(where) else refuse(where, error) from None


def _operator(entry: dict[str, Any], where: str) -> Document:
    """One operator, by its field ``op``."""
    op = entry.get("op")
    if not isinstance(op, str) or op not in OPERATORS:
        raise refuse(where, f"op is {quoted(op)}; allowed: {', '.join(OPERATORS)}")
    return _validate(OPERATORS[op], entry, where)


def _validate(model: type[_Model], document: Any, where: object) -> _Model:
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise refuse_invalid(where, error, model) from None
