"""Components of components: classes that say which primitive components an action of theirs is made
of (formats v0.3 and v0.4 of Accelergy's ``compound_components``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.messages import quoted, refuse
from ithaca.plugins.hierarchies.formulations.attribute_expressions import (
    MAX_TEXT,
    evaluated,
    names_of,
    parse_attribute,
)

#: The value of an attribute that who uses a class has to say.
MUST_SPECIFY = "must_specify"

#: Attributes that parts have from what is around them, where they do not state their own.
SHARED = ("technology", "global_cycle_seconds")

#: Deepest nesting of classes, and of names in the values of names.
_DEEPEST = 20

#: Most actions that those of all components of a file consist of.
MAX_ACTIONS = 100_000

#: A part's name, and perhaps its range.
_PART = re.compile(r"(\w+)(?:\[(.+?)(?:\.\.(.+))?\])?")


class _OpenPart(InputDocument):
    """A part of a file whose other fields nothing here depends on."""

    model_config = InputDocument.model_config | {"extra": "ignore"}


class _PartAction(_OpenPart):
    name: str
    energy_scale: float | int | str = 1
    repeat: float | int | str = 1


class _PartActions(_OpenPart):
    name: str
    actions: list[_PartAction] = Field(default=[])


class _ClassAction(_OpenPart):
    name: str
    subcomponents: list[_PartActions] = Field(default=[])


class _ComponentPart(_OpenPart):
    name: str
    kind: str = Field(alias="class")
    attributes: dict[str, Any] | None = None


class CompoundClass(_OpenPart):
    """A class of components that consist of others."""

    name: str
    attributes: dict[str, Any] | None = None
    subcomponents: list[_ComponentPart] = Field(default=[])
    actions: list[_ClassAction] = Field(default=[])


class _Classes(_OpenPart):
    classes: list[CompoundClass] = Field(default=[])


def compound_classes(document: Any, where: object) -> dict[str, CompoundClass]:
    """The classes that a document defines, by name; none if it defines none.

    Raises `InputError` if a definition is malformed.
    """
    if not isinstance(document, Mapping):
        return {}
    classes: dict[str, CompoundClass] = {}
    for name in ("compound_components", "components"):
        if document.get(name) is not None:
            read = validated(_Classes, document[name], f"{where}: {name}")
            classes |= {each.name: each for each in read.classes}
    return classes


@dataclass(frozen=True)
class Scope:
    """Attributes, and those around that their expressions may name."""

    attributes: Mapping[str, Any]
    where: str
    """The beginning of error lines."""
    around: Scope | None = None
    calculated: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Values that are known already."""

    def value(self, name: str, depth: int = 0) -> Any:
        """The value of an attribute; of text that is an expression, what it comes to. A name in the
        expression of its own attribute is that of the scope around.

        Raises `InputError` if it depends on itself or on what nothing says.
        """
        if name not in self.attributes:
            if self.around is None:
                raise refuse(self.where, f"nothing says {name}; allowed: an attribute {name}")
            return self.around.value(name, depth)
        if name not in self.calculated:
            self.calculated[name] = self._calculated(self.attributes[name], name, depth)
        return self.calculated[name]

    def number(self, text: Any, of: str) -> float:
        """The number that text of this scope says."""
        value = self._calculated(text, of, 0)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise refuse(self.where, f"{of} is {quoted(text)}; allowed: a number")
        return float(value)

    def knows(self, name: str) -> bool:
        """Whether an attribute is stated, here or around."""
        return name in self.attributes or (self.around is not None and self.around.knows(name))

    def _calculated(self, stated: Any, of: str, depth: int) -> Any:
        if not isinstance(stated, str):
            return stated
        if depth > _DEEPEST:
            raise refuse(self.where, f"{of} depends on itself; allowed: a number")
        expression = parse_attribute(stated)
        if expression is None:
            return stated  # a text, such as 45nm
        names = {}
        for name in names_of(expression):
            scope = self.around if name == of else self
            if scope is None or not scope.knows(name):
                if stated == name != of:
                    return stated  # a text, such as LPDDR4
                raise refuse(self.where, f"{of} is {quoted(stated)}, and nothing says {name}")
            names[name] = scope.value(name, depth + 1)
        try:
            return evaluated(expression, names)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise refuse(self.where, f"{of} is {quoted(stated)}: {error}") from None


@dataclass(frozen=True)
class PrimitiveAction:
    """An action of a component that consists of no others."""

    kind: str
    name: str
    scope: Scope
    """The attributes of the component."""
    times: float
    """How often it happens."""


def primitive_actions(
    kind: str,
    action: str,
    scope: Scope,
    classes: Mapping[str, CompoundClass],
    left: Iterator[int],
    times: float = 1,
    depth: int = 0,
) -> Iterator[PrimitiveAction]:
    """The primitive actions that an action of a component consists of.

    Parameters
    ----------
    kind : str
        The class of the component.
    action : str
        The name of the action.
    scope : Scope
        The attributes of the component.
    classes : mapping of str to CompoundClass
        Those that consist of others, by name.
    left : iterator of int
        Has an item for every further action that others may consist of.
    times : float, default 1
        How often the action happens.
    depth : int, default 0
        How many classes it is inside.

    Yields
    ------
    PrimitiveAction
        The actions of components that consist of no others.

    Raises
    ------
    InputError
        If a class has not the action or the part that it is asked for, or is part of itself.
    """
    if next(left, None) is None:
        most = f"{MAX_ACTIONS:,} actions"
        raise refuse(scope.where, f"all components consist of more than {most}; allowed: fewer")
    if kind not in classes:
        yield PrimitiveAction(kind, action, scope, times)
        return
    if depth > _DEEPEST:
        raise refuse(
            scope.where, f"class {kind} is part of itself; allowed: parts of other classes"
        )
    own = classes[kind]
    defaults = {n: value for n, value in (own.attributes or {}).items() if value != MUST_SPECIFY}
    inside = Scope({**defaults, **scope.attributes}, scope.where, scope.around)
    chosen = next((each for each in own.actions if each.name == action), None)
    if chosen is None:
        names = ", ".join(each.name for each in own.actions)
        raise refuse(
            scope.where, f"class {kind} has no action {quoted(action)}; allowed: {names or 'none'}"
        )
    parts = {_named(part.name, scope.where)[0]: part for part in own.subcomponents}
    for entry in chosen.subcomponents:
        name, first, last = _named(entry.name, scope.where)
        if name not in parts:
            raise refuse(
                scope.where, f"class {kind} has no part {quoted(name)}; allowed: {', '.join(parts)}"
            )
        count = 1.0
        if last is not None:
            count = inside.number(last, entry.name) - inside.number(first, entry.name) + 1
        part = parts[name]
        shared = {each: inside.value(each) for each in SHARED if inside.knows(each)}
        attributes = {**shared, **(part.attributes or {})}
        at = Scope(attributes, f"{scope.where}.{name}", inside)
        for each in entry.actions:
            often = inside.number(each.energy_scale, "energy_scale")
            often *= inside.number(each.repeat, "repeat") * count * times
            yield from primitive_actions(part.kind, each.name, at, classes, left, often, depth + 1)


def _named(text: str, where: str) -> tuple[str, str | None, str | None]:
    """A part's name, and its range: ``storage[1..width]``."""
    match = _PART.fullmatch(text) if len(text) <= MAX_TEXT else None
    if match is None:
        raise refuse(where, f"has a part {quoted(text)}; allowed: a name, and perhaps [0..n]")
    return match[1], match[2], match[3]
