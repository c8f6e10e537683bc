"""The layers of a network for another tool: a folder for each, a table, and their figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated

from pydantic import Field

from ithaca.exports.configuration import Exported, Tool
from ithaca.exports.templates import template
from ithaca.files.csv_text import csv_text
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.files.writing import SCHEMA, Schema, document_text
from ithaca.formulations.documents import Document
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


class RowDocument(Document):
    """A layer in the record of a network's folder."""

    layer: str
    runs: Annotated[int, Field(ge=1)]
    folder: str
    of: str
    """Name of its configuration in the folder's own record; empty where that has one alone."""
    design: str
    figures: dict[str, str]
    """Metrics of one run, as pages say them."""


class IndexDocument(Document):
    """The record of a network's folder: with the records of the layers' folders enough to make all
    its files again."""

    schema_: Schema
    counted: str
    """How much of the network's arithmetic the layers are, in words."""
    edition: str
    """The model edition of the figures."""
    layers: Annotated[list[RowDocument], Field(min_length=1)]
    records: dict[str, str]
    """The SHA-256 of each folder's record."""


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
        taken = [*folders, tool.record]
        where.append(next(alike, None) or fresh_folder(layer.name, taken))
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
    rows = [
        RowDocument(
            layer=own.name,
            runs=own.count,
            folder=moved.get(name, name),
            of=name if name in moved else "",
            design=own.configuration.name,
            figures=_figures(own.configuration),
        )
        for own, name in zip(layers, where, strict=True)
    ]
    files = {
        f"{folder}/{name}": text
        for folder, content in contents.items()
        for name, text in content.items()
    }
    records = {
        name: digest(content[tool.record]) for name, content in contents.items() if tool.record
    }
    edition = layers[0].configuration.edition
    index = IndexDocument.model_validate(
        {
            "schema": SCHEMA,
            "counted": counted,
            "edition": edition,
            "layers": rows,
            "records": records,
        }
    )
    if tool.record:
        files[tool.record] = document_text(index.model_dump(by_alias=True))
    return {**files, **index_files(tool, index)}, tuple(remarks)


def _figures(configuration: Exported) -> dict[str, str]:
    """The metrics of a layer as pages say them."""
    metrics = configuration.metrics
    return {name: number(metrics[name]) for name in FIGURES if name in metrics}


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()


def index_files(tool: Tool, index: IndexDocument) -> Mapping[str, str]:
    """The files beside the layers' folders: the table, the script that runs the tool on every
    folder, and what says so."""
    files = {}
    if tool.command:
        folders = " ".join(dict.fromkeys(row.folder for row in index.layers))
        files[SCRIPT] = template(
            "build_all.sh.txt", folders=folders, builds=tool.builds, command=tool.command
        )
    known = index.layers[0].figures
    files["README.md"] = template(
        "layers.md.txt",
        headings=HEADINGS,
        units={name: METRICS[name].unit for name in FIGURES if name in known},
        rows=index.layers,
        script=SCRIPT if tool.command else "",
        builds=tool.builds,
        edition=index.edition,
        counted=index.counted,
    )
    table = [(row.layer, row.runs, row.folder, row.design) for row in index.layers]
    return {TABLE: csv_text(HEADINGS, table), **files}


def fresh_folder(name: str, taken: Sequence[str]) -> str:
    """A folder's name for a layer's, whatever characters that has."""
    plain = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._-") or "layer"
    if len(plain) > LONGEST:  # file systems hold names of 255 bytes
        short = sha256(name.encode(errors="surrogatepass")).hexdigest()[:10]
        plain = f"{plain[: LONGEST - 11]}_{short}"
    used = {each.casefold() for each in (*taken, TABLE, SCRIPT, "README.md")}
    names = (plain, *(f"{plain}_{number}" for number in range(2, len(used) + 3)))
    return next(each for each in names if each.casefold() not in used)
