"""Keras models in files: archives (``.keras``), and their configurations in JSON."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import escaped, refuse
from ithaca.files.reading import parse_json, read_bytes
from ithaca.plugins.keras.workloads.building import keras_network
from ithaca.plugins.keras.workloads.fields import parts
from ithaca.plugins.keras.workloads.graph import MODELS
from ithaca.workloads.networks.find import PlainSource
from ithaca.workloads.networks.network import Network

#: Largest archive (bytes): its weights are read with it, and passed over.
MAX_BYTES = 1 << 30

#: Largest configuration (bytes); those of published models have up to 2,000,000.
MAX_CONFIG = 1 << 24

#: The configuration in an archive.
CONFIG = "config.json"


def read_archive(path: Path, sizes: Mapping[str, int]) -> Network:
    """The network of an archive; its weights are not read.

    Raises `InputError` if it is none.
    """
    if path.is_dir():
        raise refuse(path, f"is a folder; allowed: a .keras file, or {path / CONFIG}")
    try:
        with zipfile.ZipFile(BytesIO(read_bytes(path, MAX_BYTES))) as archive:
            entry = archive.getinfo(CONFIG)
            with archive.open(entry) as file:  # whatever size it claims
                content = file.read(MAX_CONFIG + 1)
    except KeyError:
        raise refuse(path, f"has no {CONFIG}; allowed: a file as Keras saves it") from None
    except Exception as error:  # whatever damaged archives raise
        if isinstance(error, InputError):
            raise
        raise refuse(path, "is no archive, or damaged; allowed: a file as Keras saves it") from None
    if len(content) > MAX_CONFIG:
        raise refuse(path, f"{CONFIG} is too large; allowed: at most {MAX_CONFIG} bytes")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise refuse(path, f"{CONFIG} is not UTF-8; allowed: a file as Keras saves it") from None
    document = parse_json(text, f"{path}: {CONFIG}")
    if not is_model(document):
        raise refuse(path, f"{CONFIG} holds no model; allowed: one of {', '.join(MODELS)}")
    return read_document(document, path, sizes)


def _model(document: Any) -> Any:
    """The model that a document states: itself, or what TensorFlow.js and HDF5 put around it."""
    for name in ("modelTopology", "model_config"):
        if isinstance(document, dict) and isinstance(document.get(name), dict):
            document = document[name]
    if isinstance(document, dict) and document.get("class_name") == "Sequential":
        layers = document.get("config")
        if isinstance(layers, list):  # before Keras 2.3
            return {"class_name": "Sequential", "config": {"layers": layers}}
    return document


def _plain(value: Any) -> Any:
    """A document whose tuples and shapes are lists."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("class_name") in ("__tuple__", "TensorShape") and "items" in value:
        return _plain(value["items"])
    return {name: _plain(each) for name, each in value.items()}


def is_model(document: Any) -> bool:
    """Whether a document states a Keras model, of layers."""
    model = _model(document)
    if not isinstance(model, dict) or not isinstance(model.get("config"), dict):
        return False
    return model.get("class_name") in MODELS or isinstance(model["config"].get("layers"), list)


def read_document(document: Any, where: object, sizes: Mapping[str, int]) -> Network:
    """The network of a document.

    Parameters
    ----------
    document : object
        The document, which `is_model`.
    where : object
        A path or name, with which error lines start.
    sizes : mapping of str to int
        Values of dimensions that it leaves open.
    """
    kind, config = parts(_plain(_model(document)), "model")
    name = config.values.get("name")
    own = name if isinstance(name, str) and name else Path(str(where)).stem
    return keras_network(where, escaped(own), kind, config, sizes)


SOURCE = PlainSource(is_model, read_document)
