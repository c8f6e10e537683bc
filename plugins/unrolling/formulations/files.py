"""Files of foldings, told apart by what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ithaca.files.documents import load_document
from ithaca.files.messages import refuse
from ithaca.files.reading import read_text
from ithaca.files.yaml_documents import parse_yaml
from ithaca.plugins.unrolling.formulations.finn import finn_folding, is_finn
from ithaca.plugins.unrolling.formulations.folding import Folding
from ithaca.plugins.unrolling.formulations.hls4ml import hls4ml_folding, is_hls4ml
from ithaca.plugins.unrolling.formulations.layers import WeightLayer

#: Largest file of a folding (bytes).
MAX_BYTES = 1 << 20

_TAGGED = re.compile(r"^(KerasModel: *)!\w+ +", re.MULTILINE)


def configuration_document(path: Path) -> dict[str, Any]:
    """The document of a folding's file. Raises `InputError` if it holds no mapping."""
    if path.suffix.lower() == ".json":
        document = load_document(path, MAX_BYTES)
    else:  # hls4ml marks the name of the model with a tag
        text = _TAGGED.sub(r"\1", read_text(path, MAX_BYTES))
        document = parse_yaml(text, path)
    if not isinstance(document, dict):
        raise refuse(path, "is no mapping; allowed: a folding of FINN, a configuration of hls4ml")
    return document


def read_folding(path: Path, layers: Sequence[WeightLayer]) -> Folding:
    """The folding that a file states for the layers of a network.

    Raises `InputError` if it is of other layers, or states what cannot be built.
    """
    document = configuration_document(path)
    if is_finn(document):
        return finn_folding(document, path, layers)
    if is_hls4ml(document):
        return hls4ml_folding(document, path, layers)
    raise refuse(
        path,
        "is no folding; allowed: nodes of FINN with PE and SIMD (.json), or a configuration of "
        "hls4ml with ReuseFactor in Model or LayerName (.yml)",
    )
