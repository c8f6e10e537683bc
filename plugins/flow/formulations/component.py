"""Components of flow graphs: ports, cycles, energy, and what they pass on, as expressions.

After DSAProf (S. Dave's dissertation, chapter 4): a component receives what describes data at its
input ports, its model says how long it takes, and its output ports pass on what describes the data
then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, PlainValidator, WithJsonSchema

from ithaca.files.documents import validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.reading import packaged_text
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.algebra.domains import parse_defined
from ithaca.formulations.algebra.expression import ZERO, Expression
from ithaca.formulations.documents import FORMULA, Document, Name

#: What an output port may state of the data of a step; ``keeps`` is the share of nonzeros that
#: pass, drawn where zeros are at random.
Stated = Literal["items", "nonzeros", "stored", "metadata", "bursts", "density", "bits", "keeps"]

#: What describes data, beside their bytes; and what adds up over data of several copies.
FIELDS = get_args(Stated)[:-1]
TOTALS = FIELDS[:5]


def _term(value: Any) -> Any:
    """The expression of a text or a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Expression):
        raise ValueError("a number, or an expression")
    if isinstance(value, Expression):
        return value
    return parse_defined(str(value), where="expression", allowed=None)


Term = Annotated[Any, PlainValidator(_term), WithJsonSchema(FORMULA)]
Known = Annotated[
    Any,
    PlainValidator(lambda value: None if value is None else _term(value)),
    WithJsonSchema({"type": [*FORMULA["type"], "null"]}),
]


class Component(Document):
    """A kind of component. Expressions are of a step, over parameters and fields of ports."""

    source: Annotated[str, Field(max_length=2000)] = ""
    """Where its figures are from."""
    inputs: list[Name] = Field(default_factory=lambda: ["in"], min_length=1)
    """Its input ports."""
    outputs: dict[Name, dict[Stated, Term]] = Field(default={"out": {}})
    """The fields that its output ports state; they pass on all else as the first input port with
    data has it."""
    parameters: dict[Name, Known] = Field(default_factory=dict)
    """With their defaults; without one graphs state them, or energy is not known."""
    cycles: Term = ZERO
    """Cycles of a step."""
    energy: Known = None
    """Energy of a step (pJ)."""
    waits: bool = False
    """Whether copies of its supernode wait for each other here: after ``every`` few steps, or where
    one is a ``queue`` of steps ahead."""

    def check(self, where: str) -> None:
        """Refuse expressions over names that the component does not have."""
        own = [*self.parameters, *named(self.inputs)]
        for place, term in terms(self, where):
            seen = [] if ".outputs." in place else named(self.outputs)
            for name in sorted(term.symbols):
                check_name(name, [*own, *seen], place)


class Library(Document):
    """Components, and how formats store tensors."""

    components: dict[Name, Component]
    formats: dict[str, dict[Literal["stored", "metadata"], Term]]


@cache
def library() -> Library:
    """The library of components and formats that comes with Ithaca."""
    text = packaged_text("ithaca.plugins.flow.formulations", "library")
    return validated(Library, parse_yaml(text, "library"), "library")


def named(ports: Collection[str]) -> list[str]:
    """The fields of ports, as expressions call them."""
    return [f"{port}.{field}" for port in ports for field in (*FIELDS, "bytes")]


def terms(part: object, where: str) -> Iterator[tuple[str, Expression]]:
    """All expressions of a document, with their paths in it."""
    if isinstance(part, Expression):
        yield where, part
    if isinstance(part, list):
        part = {f"[{place}]": each for place, each in enumerate(part)}
    if isinstance(part, BaseModel):
        part = {name: getattr(part, name) for name in type(part).model_fields}
    if isinstance(part, Mapping):
        for name, each in part.items():
            yield from terms(each, f"{where}.{name}".strip(".").replace(".[", "["))


def check_name(name: str, known: Collection[str], where: str) -> str:
    """A name; refused if it is none of those known.

    Parameters
    ----------
    name : str
        The name.
    known : collection of str
        Those that are allowed.
    where : str
        The field, for the message.
    """
    if name not in known:
        raise InputError(f"{where}: {quoted(name)} is unknown{among(name, known)}")
    return name
