"""The lines of files where entries of constraints stand."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from ithaca.files.errors import InputError
from ithaca.files.inclusions import is_template
from ithaca.files.reading import read_text
from ithaca.files.timeloop_files import MAX_BYTES

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def with_line(where: str) -> str:
    """The place of an entry, as ``c.yaml: targets[0]``, with the line where it begins; as it is
    where that is not known, as in templates."""
    file, _, path = where.partition(": ")
    node = _document(file)
    for number, name in _STEP.findall(path):
        if isinstance(node, yaml.SequenceNode) and number and int(number) < len(node.value):
            node = node.value[int(number)]
        elif isinstance(node, yaml.MappingNode) and name:
            node = next((own for key, own in node.value if key.value == name), None)
        else:
            node = None
    return f"{file} line {node.start_mark.line + 1}: {path}" if node is not None else where


def _document(file: str) -> yaml.Node | None:
    try:
        text = read_text(Path(file), MAX_BYTES)
        return None if is_template(text) else yaml.compose(text, Loader=yaml.SafeLoader)
    except (InputError, yaml.YAMLError):
        return None
