"""Read YAML documents that somebody else wrote.

Of YAML only mappings, lists and plain or quoted scalars are read: no second document, and no tags
and aliases but where the reader says so; and numbers are JSON's, so that ``1:30`` or ``0x10``
cannot be mistaken for one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import yaml

from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import MAX_DIGITS

#: Deepest nesting of a document; Ithaca's own files need three levels.
MAX_DEPTH = 8

_INTEGER = re.compile(r"[-+]?[0-9]+")
# digits in one way alone: two would take quadratic time over text that begins like a number
_DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
#: As YAML 1.2 reads them, and Python writes them: ``no`` and ``on`` are text, such as names of
#: layers.
_WORDS: dict[str, object] = {"": None, "~": None}
_WORDS |= {
    spelled: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for spelled in (word, word.title(), word.upper())
}


#: Most values of a document, names of fields among them.
MAX_NODES = 100_000

#: Most values of a document whose references are written out.
MAX_VALUES = 200_000


def parse_yaml(
    text: str,
    where: object,
    tags: Collection[str] = (),
    depth: int = MAX_DEPTH,
    references: bool = False,
) -> Any:
    """Build the document from YAML's nodes: nothing is constructed, nothing expanded.

    Parameters
    ----------
    text : str
        The YAML text.
    where : object
        A path or name, with which error lines start.
    tags : collection of str, optional
        Tags that values may have, such as ``!Container``; of mappings they come as the field ``!``.
    depth : int, optional
        How deep mappings and lists may be nested.
    references : bool, optional
        Whether values may refer to others (``*name``), and mappings take in others: ``<<`` adds
        fields that they have not, ``<<<`` also inside their fields, and lists behind their own.

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
        """Refuses aliases, tags, deep nesting and very many values before it makes nodes."""

        depth = nodes = 0

        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent) and not references:
                raise refuse(
                    _line(where, event),
                    f"alias {quoted(event.anchor)}; allowed: every value written out",
                )
            tag = getattr(event, "tag", None)
            if tag is not None and not (
                tag in tags and (references or isinstance(event, yaml.MappingStartEvent))
            ):
                allowed = f"mappings tagged {', '.join(tags)}" if tags else "values without tags"
                raise refuse(_line(where, event), f"tag {quoted(tag)}; allowed: {allowed}")
            if isinstance(event, yaml.CollectionStartEvent) and self.depth == depth:
                raise refuse(_line(where, event), f"nested too deeply; allowed: {depth} levels")
            self.nodes += 1
            if self.nodes > MAX_NODES:
                raise refuse(_line(where, event), f"more than {MAX_NODES:,} values; allowed: fewer")
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    try:
        build = _Values(where, references, depth)
        documents = [build.value(node, 0) for node in yaml.compose_all(text, Loader=Loader)]
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


@dataclass
class _Values:
    """Makes values of the nodes of a document."""

    where: object
    references: bool
    depth: int
    count: int = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        self.count += 1
        self._check(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(entry, depth + 1) for entry in node.value]
        if isinstance(node, yaml.ScalarNode):
            if node.tag.startswith("!"):
                return {"!": node.tag.removeprefix("!")}
            plain = node.style is None
            return _scalar(node.value, _line(self.where, node)) if plain else node.value
        values: dict[str, Any] = (
            {"!": node.tag.removeprefix("!")} if node.tag.startswith("!") else {}
        )
        taken: list[tuple[bool, Any]] = []
        whole: set[str] = set()
        for name, own in node.value:
            if not isinstance(name, yaml.ScalarNode):
                raise refuse(
                    _line(self.where, name),
                    f"a field name is {quoted(self.value(name, depth))}; allowed: text",
                )
            if self.references and name.value in ("<<", "<<<"):
                others = self.value(own, depth + 1)
                taken += [
                    (name.value == "<<<", other)
                    for other in (others if isinstance(others, list) else [others])
                ]
                continue
            if name.value in values:
                raise refuse(
                    _line(self.where, name),
                    f"field {quoted(name.value)} occurs twice; allowed: every field once",
                )
            values[name.value] = self.value(own, depth + 1)
            if own.tag == "!nomerge":
                whole.add(name.value)
        for inside, other in taken:
            if not isinstance(other, dict):
                raise refuse(
                    _line(self.where, node),
                    f"a mapping takes in {quoted(other)}; allowed: mappings",
                )
            values = self._merged(values, other, inside, whole)
            self._check(node, depth)
        return values

    def _check(self, node: yaml.Node, depth: int) -> None:
        if self.references and (self.count > MAX_VALUES or depth > self.depth):
            raise refuse(
                _line(self.where, node),
                f"references are written out to more than {MAX_VALUES:,} values, or "
                f"{self.depth} levels; allowed: fewer",
            )

    def _merged(
        self, own: dict[str, Any], other: dict[str, Any], inside: bool, whole: Collection[str] = ()
    ) -> dict[str, Any]:
        """A mapping with the fields of another one that it has not; ``inside``, too, but for those
        of the names ``whole``. All that is copied counts as written out."""
        merged = other | own
        self.count += len(merged)
        for name in own.keys() & other.keys() if inside else ():
            mine, theirs = own[name], other[name]
            if isinstance(mine, dict) and isinstance(theirs, dict):
                merged[name] = self._merged(mine, theirs, True)
            elif isinstance(mine, list) and isinstance(theirs, list) and name not in whole:
                merged[name] = mine + theirs
                self.count += len(merged[name])
        return merged


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
        if len(text.lstrip("+-")) > 1 and text.lstrip("+-").startswith("0"):
            raise refuse(  # 8 by YAML 1.1, 10 by YAML 1.2
                where,
                f"number {quoted(text)} is octal to some readers; allowed: no leading zeros, or "
                "text in quotes",
            )
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
