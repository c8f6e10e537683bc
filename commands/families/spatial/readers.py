"""Readers of the documents that mappings alone have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ithaca.commands.families.spatial.layers import STUDY, LayersDocument, MappedLayers
from ithaca.files.documents import validated
from ithaca.results.files import check_same, read_result


def read_layers(document: Any, path: Path) -> MappedLayers:
    """The layers of a file, each a result. Raises `InputError` if what is said of them differs."""
    read = validated(LayersDocument, document, path)
    layers = MappedLayers(tuple(read_result(each, path) for each in read.results))
    check_same(document, layers.document, "")
    return layers


READERS = {STUDY: read_layers}
