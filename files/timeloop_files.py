"""Documents of Timeloop's front ends: YAML with references and merged mappings, perhaps rendered by
Jinja first."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ithaca.files.inclusions import is_template
from ithaca.files.reading import parse_json, read_text
from ithaca.files.timeloop_yaml import TAGS, parse_timeloop

#: Largest file (bytes).
MAX_BYTES = 1 << 20


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
    if is_template(text):
        from ithaca.files.templates import rendered

        text = rendered(path, text, max_bytes)
    return parse_timeloop(text, path, tags)
