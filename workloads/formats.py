"""Formats of tensors: the names of number formats that a nest states, by tensor.

``W=int4,A=int8,S=int32`` speaks of kinds of tensors, ``B=int4`` of one by its name. A tensor takes
the format of its own name, else that of its kind, if no tensor of another is called so: ``W`` are
the weights, by their names (`WEIGHT_NAMES`), else all that a nest reads but the first; ``A``, the
activations, are what else it reads, and ``S`` the sums that it writes. Kernels of attention read
activations alone. ``none`` are the formats of no tensor, in place of those that a file states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.workloads.nest import LoopNest

if TYPE_CHECKING:
    from ithaca.workloads.networks.network import Network

#: Formats by tensor, or by kind; or the words that state them.
FormatWords = Mapping[str, str] | Sequence[str] | str

#: Kinds of tensors.
WEIGHTS, ACTIVATIONS, SUMS = KINDS = ("W", "A", "S")

#: Names of tensors that are weights, in lower case.
WEIGHT_NAMES = frozenset({"w", "weight", "weights", "filter", "filters"})

#: Kernels that multiply activations with each other.
WITHOUT_WEIGHTS = frozenset({"batched_mm", "attention_scores", "attention_values"})

#: No formats, in place of those that a file states.
NONE = "none"

#: Most layers that a line names.
NAMED = 5

_PART = re.compile(r"([A-Za-z_]\w*)=([A-Za-z]\w{0,39})")


def kinds(nest: LoopNest) -> dict[str, str]:
    """The kind of each tensor of a nest."""
    inputs = [access.tensor for access in nest.inputs]
    weights = {name for name in inputs if name.lower() in WEIGHT_NAMES}
    if nest.name not in WITHOUT_WEIGHTS and len(weights) in (0, len(inputs)):
        weights = {*inputs[1:]}
    read = {name: WEIGHTS if name in weights else ACTIVATIONS for name in inputs}
    return {**read, nest.output.tensor: SUMS}


def parse_formats(words: FormatWords, where: str) -> dict[str, str]:
    """Read formats such as ``W=int4,A=int8``, or by name; ``none`` are no formats.

    Raises `InputError` if a part is none, or a name occurs twice.
    """
    if isinstance(words, Mapping):
        parts = [f"{name}={form}" for name, form in words.items()]
    else:
        texts = [words] if isinstance(words, str) else words
        if [*texts] == [NONE]:
            return {}
        parts = [part for text in texts for part in str(text).replace(" ", "").split(",")]
    read: dict[str, str] = {}
    for part in parts:
        if (match := _PART.fullmatch(part)) is None:
            raise InputError(
                f"{where} is {quoted(part)}; allowed: tensors, or W, A and S for weights, "
                "activations and sums, with formats, such as W=int4,A=int8, or none"
            )
        if match[1] in read:
            raise InputError(f"{where}: {match[1]} occurs twice; allowed: once")
        read[match[1]] = match[2]
    return read


def with_formats(nest: LoopNest, words: FormatWords | None, where: str) -> LoopNest:
    """A nest whose tensors have formats, beside those that it states of others.

    Parameters
    ----------
    nest : LoopNest
        The nest.
    words : mapping of str to str, sequence of str or str, optional
        Formats by tensor or kind; None: the nest stays as it is.
    where : str
        What begins error lines.

    Raises
    ------
    InputError
        If a name is of no tensor, or a kind of none.
    """
    if words is None:
        return nest
    formats = parse_formats(words, where)
    _check_names(formats, [nest], where)
    return _stated(nest, formats)


def network_with_formats(network: Network, words: FormatWords, where: str) -> Network:
    """A network whose layers' tensors have formats, in place of those that it states.

    Parameters
    ----------
    network : Network
        The network.
    words : mapping of str to str, sequence of str or str
        Formats by tensor or kind.
    where : str
        What states them, for error lines.

    Raises
    ------
    InputError
        If a name is of no tensor of any layer.
    """
    from ithaca.workloads.networks.network import merge

    formats = parse_formats(words, where)
    _check_names(formats, [layer.nest for layer in network.layers], where)
    layers = [replace(each, nest=_stated(each.nest, formats)) for each in network.layers]
    if len({layer.nest for layer in layers}) < len(layers):  # they differed in formats alone
        layers = [*merge(layers)]
    runs = (replace(each, nest=_stated(each.nest, formats)) for each in network.order)
    remarks = (*network.remarks, *_silent(formats, network, where))
    return replace(network, layers=tuple(layers), order=tuple(runs), remarks=remarks)


def _silent(formats: Mapping[str, str], network: Network, where: str) -> Iterator[str]:
    """The line on layers of whose tensors nothing is stated, such as products of activations where
    weights are."""
    silent = [
        layer.name
        for layer in network.layers
        if not {name for pair in kinds(layer.nest).items() for name in pair} & formats.keys()
    ]
    if silent and formats:
        words = ",".join(f"{name}={form}" for name, form in formats.items())
        more = f" and {len(silent) - NAMED} more" if len(silent) > NAMED else ""
        yield (
            f"{where} {words} says nothing of {', '.join(silent[:NAMED])}{more}: their tensors are "
            "as without it"
        )


def _stated(nest: LoopNest, formats: Mapping[str, str]) -> LoopNest:
    if not formats:
        return replace(nest, formats=())
    own, each = dict(nest.formats), kinds(nest)
    of_kinds = {kind: form for kind, form in formats.items() if each.get(kind, kind) == kind}
    for tensor, kind in each.items():
        if chosen := formats.get(tensor) or of_kinds.get(kind):
            own[tensor] = chosen
    order = [access.tensor for access in nest.accesses]
    return replace(nest, formats=tuple((name, own[name]) for name in order if name in own))


def network_formats(network: Network) -> str:
    """The formats that layers state, by kinds of tensors, as ``W=int4,A=int8``; a kind of several
    formats has all: ``W=int4/int8``."""
    known: dict[str, dict[str, None]] = {kind: {} for kind in KINDS}
    for layer in network.layers:
        each = kinds(layer.nest)
        for tensor, form in layer.nest.formats:
            known[each[tensor]][form] = None
    return ",".join(f"{kind}={'/'.join(forms)}" for kind, forms in known.items() if forms)


def _check_names(formats: Mapping[str, str], nests: Sequence[LoopNest], where: str) -> None:
    """Refuse formats that none of the nests takes."""
    tensors = dict.fromkeys(name for nest in nests for name in kinds(nest))
    known = {kind for nest in nests for kind in kinds(nest).values()}
    for name in formats:
        if name in tensors or name in known:
            continue
        if name in KINDS:
            raise InputError(
                f"{where}: {name} is {formats[name]}, but no tensor is of weights; allowed: "
                f"{', '.join(tensors)}"
            )
        allowed = (*tensors, *(kind for kind in KINDS if kind in known))
        raise InputError(f"{where}: {quoted(name)} is no tensor{among(name, allowed)}")
