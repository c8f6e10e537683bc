"""The layers of a network for another tool: a folder for each that differs, and a table of which layer is where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ithaca.exports.configuration import ArrayConfiguration, Tool
from ithaca.workloads.csv_text import csv_text

#: The table: layers, how often each runs, their folders and designs.
TABLE = "layers.csv"
HEADINGS = ("layer", "runs", "folder", "design")


@dataclass(frozen=True)
class ExportedLayer:
    """A layer, and how it is run."""

    name: str  #: Name of the layer
    count: int  #: How often it runs
    configuration: ArrayConfiguration  #: Its configuration, which the tool can take


def export_layers(tool: Tool, layers: Sequence[ExportedLayer]) -> Mapping[str, str]:
    """All that a tool needs for some layers: content by path in a folder. Layers that are run alike share a folder."""
    folders: list[tuple[str, ArrayConfiguration]] = []
    files: dict[str, str] = {}
    rows = []
    for layer in layers:
        folder = next((name for name, known in folders if known == layer.configuration), None)
        if folder is None:
            folder = fresh_folder(layer.name, [name for name, _ in folders])
            folders.append((folder, layer.configuration))
            files |= {f"{folder}/{name}": text for name, text in tool.export(layer.configuration).items()}
        rows.append((layer.name, layer.count, folder, layer.configuration.design.name))
    return {**files, TABLE: csv_text(HEADINGS, rows)}


def fresh_folder(name: str, taken: Sequence[str]) -> str:
    """A folder's name for a layer's, whatever characters that has."""
    plain = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._") or "layer"
    used = {each.casefold() for each in (*taken, TABLE)}
    names = (plain, *(f"{plain}_{number}" for number in range(2, len(used) + 3)))
    return next(each for each in names if each.casefold() not in used)
