"""The layers of a network for another tool: a folder for each, a table, and their figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ithaca.exports.configuration import Exported, Tool
from ithaca.exports.templates import template
from ithaca.files.csv_text import csv_text
from ithaca.files.errors import InputError
from ithaca.formulations.systolic.metrics import METRICS

#: Longest name of a layer's folder (characters).
LONGEST = 100

#: The table: layers, how often each runs, their folders and designs.
TABLE = "layers.csv"
HEADINGS = ("layer", "runs", "folder", "design")

#: The script that runs the tool on every folder.
SCRIPT = "build_all.sh"

#: The metrics of the layers in the folder's ``README.md``.
FIGURES = ("latency", "time", "dsp", "bram18k", "off_chip_words", "energy", "edp")


@dataclass(frozen=True)
class ExportedLayer:
    """A layer, and how it is run."""

    name: str
    """Name of the layer."""
    count: int
    """How often it runs."""
    configuration: Exported
    """Its configuration, which the tool can take."""
    array: int | None = None
    """Number of the array that runs it (from 0), where layers share arrays."""


def export_layers(
    tool: Tool, layers: Sequence[ExportedLayer], counted: str
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Content by path in a folder, and lines on what layers share.

    Layers that are run alike share a folder, and so do those on one array, where the tool has
    hardware that runs them all.

    Parameters
    ----------
    tool : Tool
        The tool.
    layers : sequence of ExportedLayer
        The layers.
    counted : str
        How much of the network's arithmetic they are, in words.
    """
    folders: dict[str, ExportedLayer] = {}
    where = []
    for layer in layers:
        alike = (
            name
            for name, own in folders.items()
            if (own.configuration, own.array) == (layer.configuration, layer.array)
        )
        where.append(next(alike, None) or fresh_folder(layer.name, [*folders]))
        folders.setdefault(where[-1], layer)
    contents: dict[str, Mapping[str, str]] = {}
    moved: dict[str, str] = {}
    remarks = []
    for array in dict.fromkeys(layer.array for layer in layers):
        own = {n: layer.configuration for n, layer in folders.items() if layer.array == array}
        if tool.shared is not None and array is not None and len(own) > 1:
            folder = fresh_folder(f"array{array}", [*folders])
            try:
                contents[folder] = tool.shared(own)
            except InputError as error:
                remarks.append(
                    f"array {array} is written as an array each for {', '.join(own)}: {error}"
                )
            else:
                moved |= dict.fromkeys(own, folder)
                remarks.append(f"{folder} runs {', '.join(own)}")
                continue
        contents |= {name: tool.export(configuration) for name, configuration in own.items()}
    where = [moved.get(name, name) for name in where]
    files = {
        f"{folder}/{name}": text
        for folder, content in contents.items()
        for name, text in content.items()
    }
    if tool.command:
        files[SCRIPT] = template(
            "build_all.sh.txt", folders=" ".join(contents), builds=tool.builds, command=tool.command
        )
    rows = [
        (layer.name, layer.count, folder, layer.configuration.name)
        for layer, folder in zip(layers, where, strict=True)
    ]
    files |= {TABLE: csv_text(HEADINGS, rows), "README.md": _readme(tool, layers, where, counted)}
    return files, tuple(remarks)


def _readme(
    tool: Tool, layers: Sequence[ExportedLayer], folders: Sequence[str], counted: str
) -> str:
    """The figures of all layers, of one run each, and how to go on."""
    known = layers[0].configuration.metrics
    return template(
        "layers.md.txt",
        headings=HEADINGS,
        units={name: METRICS[name].unit for name in FIGURES if name in known},
        rows=[*zip(layers, folders, strict=True)],
        script=SCRIPT if tool.command else "",
        builds=tool.builds,
        edition=layers[0].configuration.edition,
        counted=counted,
    )


def fresh_folder(name: str, taken: Sequence[str]) -> str:
    """A folder's name for a layer's, whatever characters that has."""
    plain = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._") or "layer"
    if len(plain) > LONGEST:  # file systems hold names of 255 bytes
        digest = sha256(name.encode(errors="surrogatepass")).hexdigest()[:10]
        plain = f"{plain[: LONGEST - 11]}_{digest}"
    used = {each.casefold() for each in (*taken, TABLE, SCRIPT, "README.md")}
    names = (plain, *(f"{plain}_{number}" for number in range(2, len(used) + 3)))
    return next(each for each in names if each.casefold() not in used)
