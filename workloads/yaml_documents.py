"""Read YAML documents that somebody else wrote.

Of YAML only mappings, lists and plain or quoted scalars are read: no tags, no aliases, no second
document; and numbers are JSON's, so that ``1:30`` or ``0x10`` cannot be mistaken for one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ithaca.workloads.messages import quoted, refuse
from ithaca.workloads.reading import MAX_DIGITS

#: Deepest nesting of a document; Ithaca's own files need three levels.
MAX_DEPTH = 8

_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, object] = {"": None, "~": None, "null": None, "true": True, "false": False}


def parse_yaml(text: str, where: object) -> Any:
    """Build the document from YAML's events: nothing is constructed, nothing expanded."""
    import yaml

    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            builder.where = f"{where}: line {event.start_mark.line + 1}" if event.start_mark else str(where)
            match event:
                case yaml.AliasEvent():
                    raise refuse(builder.where, f"alias {quoted(event.anchor)}; allowed: every value written out")
                case yaml.ScalarEvent(tag=str(tag)) | yaml.CollectionStartEvent(tag=str(tag)):
                    raise refuse(builder.where, f"tag {quoted(tag)}; allowed: values without tags")
                case yaml.MappingStartEvent():
                    builder.open({})
                case yaml.SequenceStartEvent():
                    builder.open([])
                case yaml.CollectionEndEvent():
                    builder.close()
                case yaml.ScalarEvent():
                    builder.scalar(event.value, plain=event.style is None)
    except yaml.MarkedYAMLError as error:
        place = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise refuse(where, f"not YAML{place}: {error.problem}; allowed: a YAML document") from None
    except yaml.YAMLError as error:
        raise refuse(where, f"not YAML: {str(error).splitlines()[0]}; allowed: a YAML document") from None
    if len(builder.documents) != 1:
        raise refuse(where, f"holds {len(builder.documents)} documents; allowed: one")
    return builder.documents[0]


@dataclass(slots=True)
class _Builder:
    """The document as far as it has been read: ``collections`` are open, from the outside in.

    ``keys`` holds for each of them the field its next value belongs to, None where a field
    name comes next; ``where`` names the place for error lines.
    """

    where: str = ""
    documents: list[Any] = field(default_factory=list)
    collections: list[dict[str, Any] | list[Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def open(self, collection: dict[str, Any] | list[Any]) -> None:
        if len(self.collections) == MAX_DEPTH:
            raise refuse(self.where, f"nested too deeply; allowed: {MAX_DEPTH} levels")
        self.collections.append(collection)
        self.keys.append(None)

    def close(self) -> None:
        self.keys.pop()
        self.value(self.collections.pop())

    def scalar(self, text: str, plain: bool) -> None:
        owner = self.collections[-1] if self.collections else None
        if isinstance(owner, dict) and self.keys[-1] is None:
            if text in owner:
                raise refuse(self.where, f"field {quoted(text)} occurs twice; allowed: every field once")
            self.keys[-1] = text
        else:
            self.value(_scalar(text, self.where) if plain else text)

    def value(self, value: Any) -> None:
        if not self.collections:
            self.documents.append(value)
            return
        owner, key = self.collections[-1], self.keys[-1]
        if isinstance(owner, list):
            owner.append(value)
        elif key is None:
            raise refuse(self.where, f"a field name is {quoted(value)}; allowed: text")
        else:
            owner[key] = value
            self.keys[-1] = None


def _scalar(text: str, where: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise refuse(where, f"number {quoted(text)} is too long; allowed: at most {MAX_DIGITS} digits")
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
