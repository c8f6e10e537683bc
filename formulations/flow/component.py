"""Components of flow graphs: ports, cycles, energy, and what they pass on, as expressions.

After DSAProf (S. Dave, *Towards Exploring Vast Design Spaces of Domain-Specific Architectures*,
dissertation, chapter 4): a component receives what describes data at its input ports, its model
says how long it takes, and its output ports pass on what describes the data then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import Field

from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.reading import packaged_text
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.documents import Formula, Name
from ithaca.formulations.schema import Document

#: What an output port may state of a step's data. ``keeps``: the share of nonzeros that pass, drawn
#: at random where zeros are.
STATED = (
    "items",
    "density",
    "nonzeros",
    "stored",
    "bits",
    "metadata",
    "bursts",
    "keeps",
)

#: What expressions may speak of, by port.
FIELDS = (*STATED[:-1], "bytes")


class ComponentDocument(Document):
    """The fields of a component."""

    source: Annotated[str, Field(max_length=2000)] = ""
    inputs: Annotated[list[Name], Field(min_length=1)] = ["in"]
    outputs: dict[Name, dict[Name, Formula]] = {"out": {}}
    parameters: dict[Name, Formula | None] = {}
    cycles: Formula = "0"
    energy: Formula | None = None
    waits: bool = False


class FormatDocument(Document):
    """How a format stores a tensor: words, and bits beside them."""

    stored: Formula
    metadata: Formula


class LibraryDocument(Document):
    """Components and formats by name."""

    components: dict[Name, ComponentDocument]
    formats: dict[str, FormatDocument]


@dataclass(frozen=True)
class Component:
    """A kind of component; expressions speak of a step."""

    name: str
    """Its name in the library."""
    inputs: tuple[str, ...]
    """Its input ports."""
    outputs: Mapping[str, Mapping[str, Expression]]
    """What its output ports state; they pass on all else as the first input port with data has
    it."""
    parameters: Mapping[str, Expression | None]
    """With their defaults; None: a graph states them, or energy is not known."""
    cycles: Expression
    """Cycles of a step."""
    energy: Expression | None
    """Energy of a step (pJ); None: not known."""
    waits: bool
    """Whether copies of its supernode wait for each other here."""
    source: str
    """Where its figures are from."""


@dataclass(frozen=True)
class Format:
    """How a tensor is stored, over `items`, `nonzeros`, `index` (bits) and `rows`."""

    stored: Expression
    """Values."""
    metadata: Expression
    """Bits beside them."""


def formula(text: str, where: str, known: Collection[str]) -> Expression:
    """The expression of a text over known names."""
    expression = parse_expression(text, where=where, allowed=None)
    for name in sorted(expression.symbols - {*known}):
        raise InputError(f"{where}: {quoted(text)}: {quoted(name)} is unknown{among(name, known)}")
    return expression


def read_component(name: str, stated: ComponentDocument, where: str) -> Component:
    """The component of a document. Raises `InputError` if it speaks of what it does not have."""
    known = [*stated.parameters, *(f"{port}.{field}" for port in stated.inputs for field in FIELDS)]
    outputs: dict[str, dict[str, Expression]] = {}
    for port, fields in stated.outputs.items():
        outputs[port] = {}
        for field, text in fields.items():
            at = f"{where}.outputs.{port}.{field}"
            if field not in STATED:
                raise InputError(f"{at} is unknown{among(field, STATED)}")
            outputs[port][field] = formula(text, at, known)
    seen = [f"{port}.{field}" for port in outputs for field in FIELDS]
    parameters = {
        parameter: None if text is None else formula(text, f"{where}.parameters.{parameter}", ())
        for parameter, text in stated.parameters.items()
    }
    energy = stated.energy
    return Component(
        name,
        tuple(stated.inputs),
        outputs,
        parameters,
        formula(stated.cycles, f"{where}.cycles", [*known, *seen]),
        None if energy is None else formula(energy, f"{where}.energy", [*known, *seen]),
        stated.waits,
        stated.source,
    )


@cache
def library() -> tuple[Mapping[str, Component], Mapping[str, Format]]:
    """The components and formats that come with Ithaca."""
    document = parse_yaml(packaged_text("ithaca.formulations.flow", "library"), "library")
    read = validated(LibraryDocument, document, "library")
    known = "items", "nonzeros", "index", "rows"
    components = {
        name: read_component(name, stated, f"components.{name}")
        for name, stated in read.components.items()
    }
    formats = {
        name: Format(*(formula(text, name, known) for text in (stated.stored, stated.metadata)))
        for name, stated in read.formats.items()
    }
    return components, formats
