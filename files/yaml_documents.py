"""Read YAML documents that somebody else wrote.

Of YAML only mappings, lists and plain or quoted scalars are read: no tags, no aliases, no second
document; and numbers are JSON's, so that ``1:30`` or ``0x10`` cannot be mistaken for one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import yaml

from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import MAX_DIGITS

#: Deepest nesting of a document; Ithaca's own files need three levels.
MAX_DEPTH = 8

_INTEGER = re.compile(r"[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
#: As YAML 1.2 reads them, and Python writes them: ``no`` and ``on`` are text, such as names of
#: layers.
_WORDS: dict[str, object] = {"": None, "~": None}
_WORDS |= {
    spelled: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for spelled in (word, word.title(), word.upper())
}


def parse_yaml(text: str, where: object, tags: Collection[str] = (), depth: int = MAX_DEPTH) -> Any:
    """Build the document from YAML's nodes: nothing is constructed, nothing expanded.

    Parameters
    ----------
    text : str
        The YAML text.
    where : object
        A path or name, with which error lines start.
    tags : collection of str, optional
        Tags that mappings may have, such as ``!Container``; they come as their field ``!``.
    depth : int, optional
        How deep mappings and lists may be nested.

    Returns
    -------
    object
        Mappings, lists, text, numbers, booleans and None.

    Raises
    ------
    InputError
        If the text is no YAML, or has aliases, other tags or deeper nesting.
    """

    class Loader(yaml.SafeLoader):
        """Refuses aliases, tags and deep nesting before it makes nodes of them."""

        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent):
                raise refuse(
                    _line(where, event),
                    f"alias {quoted(event.anchor)}; allowed: every value written out",
                )
            if event.tag is not None and not (
                event.tag in tags and isinstance(event, yaml.MappingStartEvent)
            ):
                allowed = f"mappings tagged {', '.join(tags)}" if tags else "values without tags"
                raise refuse(_line(where, event), f"tag {quoted(event.tag)}; allowed: {allowed}")
            if isinstance(event, yaml.CollectionStartEvent) and self.depth == depth:
                raise refuse(_line(where, event), f"nested too deeply; allowed: {depth} levels")
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    try:
        documents = [_value(node, where) for node in yaml.compose_all(text, Loader=Loader)]
    except yaml.MarkedYAMLError as error:
        place = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise refuse(where, f"not YAML{place}: {error.problem}; allowed: a YAML document") from None
    except yaml.YAMLError as error:
        raise refuse(
            where, f"not YAML: {str(error).splitlines()[0]}; allowed: a YAML document"
        ) from None
    if len(documents) != 1:
        raise refuse(where, f"holds {len(documents)} documents; allowed: one")
    return documents[0]


def _value(node: yaml.Node, where: object) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_value(entry, where) for entry in node.value]
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node.value, _line(where, node)) if node.style is None else node.value
    values: dict[str, Any] = {"!": node.tag.removeprefix("!")} if node.tag.startswith("!") else {}
    for name, value in node.value:
        if not isinstance(name, yaml.ScalarNode):
            raise refuse(
                _line(where, name), f"a field name is {quoted(_value(name, where))}; allowed: text"
            )
        if name.value in values:
            raise refuse(
                _line(where, name),
                f"field {quoted(name.value)} occurs twice; allowed: every field once",
            )
        values[name.value] = _value(value, where)
    return values


def _line(where: object, part: Any) -> str:
    return f"{where}: line {part.start_mark.line + 1}"


def _scalar(text: str, where: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise refuse(
                where, f"number {quoted(text)} is too long; allowed: at most {MAX_DIGITS} digits"
            )
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
