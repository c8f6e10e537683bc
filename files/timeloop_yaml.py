"""The YAML of Timeloop's front ends: with their tags, references and merged mappings."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ithaca.files.yaml_documents import parse_yaml

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
