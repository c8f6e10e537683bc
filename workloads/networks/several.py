"""Several networks, or phases of one, as one: what one machine runs in turn.

The text of a part is ``NAME[@PHASE][,SIZE=N...][:RUNS]``, such as ``llama3-8b@decode,batch=8:128``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.files.numbers import counted
from ithaca.files.reading import is_there
from ithaca.workloads.networks.network import (
    PART_ENDS,
    Layer,
    Network,
    Omission,
    OmissionKind,
    Part,
)

#: A name or path, a phase, sizes, and the number of runs; a drive's colon is no such.
_PART = re.compile(
    r"(?P<name>(?:[A-Za-z]:[\\/])?[^:@,]+)(?:@(?P<phase>[^:@,]*))?"
    r"(?P<sizes>(?:,[^:@,]*)*)(?::(?P<runs>[^:]*))?"
)

_FORM = "NAME[@PHASE][,SIZE=N...][:RUNS], such as llama3-8b@decode,batch=8:128"


@dataclass(frozen=True, slots=True)
class PartText:
    """A network of which one of several is: where it is, and what is stated of it."""

    source: str
    """Name or path."""
    phase: str | None = None
    """The phase of a model."""
    sizes: tuple[tuple[str, int], ...] = ()
    """Parameters to replace."""
    runs: int = 1
    """How often it runs."""

    @property
    def label(self) -> str:
        """The name that tells it from others, without how often it runs."""
        phase = "" if self.phase is None else f"@{self.phase}"
        return f"{self.source}{phase}" + "".join(f",{name}={n}" for name, n in self.sizes)


def read_part(text: str) -> PartText:
    """The name, phase, sizes and runs that a text states of a network among several.

    A text that names a file that is there is its path, whatever it holds. Raises `InputError` if it
    has not the form, or a size or the number of runs is no positive integer.
    """
    if text and is_there(text):
        return PartText(text)
    read = _PART.fullmatch(text)
    if read is None:
        raise InputError(f"network {quoted(text)} is not understood; allowed: {_FORM}")
    sizes = {}
    for word in read["sizes"].split(",")[1:]:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise InputError(f"network {quoted(text)} has {quoted(word)}; allowed: {_FORM}")
        if name in sizes:
            raise InputError(f"network {quoted(text)} has {name} twice; allowed: every size once")
        sizes[name] = _positive(f"{name} of network {quoted(text)}", value)
    runs = 1
    if read["runs"] is not None:
        runs = _positive(f"the number of runs of network {quoted(text)}", read["runs"])
    if read["phase"] == "":
        raise InputError(f"network {quoted(text)} has an empty phase; allowed: {_FORM}")
    return PartText(read["name"], read["phase"], tuple(sizes.items()), runs)


def _positive(what: str, value: str) -> int:
    if not re.fullmatch(r"0*[1-9][0-9]{0,8}", value):
        raise InputError(f"{what} is {quoted(value)}; allowed: an integer from 1 to 999999999")
    return int(value)


def with_weights(parts: Sequence[PartText], weights: str | Sequence[object]) -> list[PartText]:
    """Parts with how often each runs, stated beside them: ``1,4``, or numbers.

    Parameters
    ----------
    parts : sequence of PartText
        The networks.
    weights : str or sequence of object
        Positive integers, one for each.

    Raises
    ------
    InputError
        If they are of another number, one is no positive integer, or a part states its runs, too.
    """
    words = weights.split(",") if isinstance(weights, str) else [*weights]
    if len(words) != len(parts):
        raise InputError(
            f"--weights has {counted(len(words), 'number')}, and there "
            f"{'is' if len(parts) == 1 else 'are'} {counted(len(parts), 'network')}; allowed: how "
            "often each of them runs, such as 1,4"
        )
    if twice := next((part for part in parts if part.runs != 1), None):
        raise InputError(
            f"network {quoted(twice.label)} has its number of runs, and so has --weights; allowed: "
            "one of them"
        )
    numbers = (
        _positive(f"--weights of network {quoted(part.label)}", str(word).strip())
        for part, word in zip(parts, words, strict=True)
    )
    return [replace(part, runs=n) for part, n in zip(parts, numbers, strict=True)]


def joined(parts: Sequence[tuple[PartText, Network]]) -> Network:
    """Several networks as one, whose layers are those of all, as often as all runs have them.

    Parameters
    ----------
    parts : Sequence of tuple of PartText and Network
        What is stated of each, and the network.

    Returns
    -------
    Network
        The network; the name of a layer begins with that of its part.

    Raises
    ------
    InputError
        If one is given twice.
    """
    labels = [text.label for text, _ in parts]
    for text, _ in parts:
        if labels.count(text.label) > 1:
            raise InputError(
                f"network {quoted(text.label)} is given twice; allowed: once, with how often it "
                f"runs, as {text.label}:{sum(t.runs for t, _ in parts if t.label == text.label)}"
            )
    names = _short_names(parts)
    layers: list[Layer] = []
    omissions: list[Omission] = []
    remarks: list[str] = []
    for name, (text, network) in zip(names, parts, strict=True):
        start, runs = name + PART_ENDS, text.runs
        layers += [
            replace(
                layer,
                name=start + layer.name,
                count=layer.count * runs,
                sources=tuple(start + source for source in layer.sources),
            )
            for layer in network.layers
        ]
        omissions += [
            replace(each.times(runs), sources=tuple(start + source for source in each.sources))
            for each in network.unsupported
        ]
        remarks += network.remarks
    shared = set.intersection(*(set(network.parameters) for _, network in parts))
    return Network(
        " + ".join(text.label + f":{text.runs}" * (text.runs > 1) for text, _ in parts),
        tuple(layers),
        unsupported=summed(omissions),
        parameters=tuple(each for each in parts[0][1].parameters if each in shared),
        unordered="it is several networks",
        remarks=tuple(dict.fromkeys(remarks)),
        parts=tuple(
            Part(name, text.runs, network.parameters, network.run)
            for name, (text, network) in zip(names, parts, strict=True)
        ),
    )


def _short_names(parts: Sequence[tuple[PartText, Network]]) -> list[str]:
    """The shortest names that tell parts from each other: phases, networks, or all that is
    stated."""
    for names in (
        [text.phase or "" for text, _ in parts],
        [network.name for _, network in parts],
        [f"{network.name}@{text.phase}" if text.phase else network.name for text, network in parts],
    ):
        if all(names) and len({*names}) == len(names) and not any(PART_ENDS in n for n in names):
            return names
    return [f"{place}" for place in range(1, len(parts) + 1)]


def summed(omissions: Sequence[Omission]) -> tuple[Omission, ...]:
    """Omissions, those of one operator, kind and reason together."""
    together: dict[tuple[str, OmissionKind, str, bool], list[Omission]] = {}
    for each in omissions:
        key = (each.operator, each.kind, each.reason, each.operations is None)
        together.setdefault(key, []).append(each)
    return tuple(
        replace(
            same[0],
            count=sum(each.count for each in same),
            operations=None if unknown else sum(each.operations or 0 for each in same),
            sources=tuple(source for each in same for source in each.sources),
        )
        for (_, _, _, unknown), same in together.items()
    )


def stated_sizes(part: PartText, sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of a part: those of all, and its own.

    Raises `InputError` if both state one.
    """
    own = dict(part.sizes)
    if twice := next((name for name in own if name in sizes), None):
        raise InputError(
            f"network {quoted(part.label)} has {twice}, and so has --{twice} or --sizes; allowed: "
            "one of them"
        )
    return {**sizes, **own}
