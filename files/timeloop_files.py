"""Documents of Timeloop's front ends: YAML with references and merged mappings, perhaps rendered by
Jinja first."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ithaca.files.reading import parse_json, read_text
from ithaca.files.templates import is_template, rendered
from ithaca.files.yaml_documents import parse_yaml

#: Largest file (bytes).
MAX_BYTES = 1 << 20

#: Deepest nesting of a file.
MAX_DEPTH = 40

TAGS = (
    "!Component",
    "!Container",
    "!Hierarchical",
    "!Nothing",
    "!Parallel",
    "!Pipelined",
    "!nomerge",
)


def load_timeloop(path: Path, max_bytes: int = MAX_BYTES, tags: Collection[str] = TAGS) -> Any:
    """The document of a YAML or JSON file as Timeloop's front ends read it.

    Raises `InputError` if it cannot be read, is too large or malformed, or its template asks for
    what is not known.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int, optional
        Bytes that it may have.
    tags : collection of str, optional
        YAML tags that are read over.
    """
    text = read_text(path, max_bytes)
    if path.suffix.lower() == ".json":
        return parse_json(text, path)
    return parse_timeloop(
        rendered(path, text, max_bytes) if is_template(text) else text, path, tags
    )


def parse_timeloop(text: str, where: object, tags: Collection[str] = TAGS) -> Any:
    """The document of a YAML text that is no template any more.

    Parameters
    ----------
    text : str
        The text.
    where : object
        A path or name, with which error lines start.
    tags : collection of str, optional
        YAML tags that are read over.
    """
    return parse_yaml(text, where, tags, MAX_DEPTH, references=True)
