"""Keras models in files: archives (``.keras``), their configurations in JSON, and in HDF5."""

from __future__ import annotations

import mmap
import re
import zipfile
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, escaped, refuse
from ithaca.files.reading import check_readable, parse_json
from ithaca.plugins.keras.workloads.building import keras_network
from ithaca.plugins.keras.workloads.fields import parts
from ithaca.plugins.keras.workloads.graph import MODELS
from ithaca.workloads.networks.find import PlainSource
from ithaca.workloads.networks.network import Network

#: Largest configuration (bytes); those of published models have up to 2,000,000.
MAX_CONFIG = 1 << 24

#: Most that is read of an archive at once (bytes), its table of contents among it.
PIECE = 1 << 20

#: The configuration in an archive.
CONFIG = "config.json"

#: The beginning of a file in HDF5, that of an object in JSON, and what those of models have.
HDF5 = b"\x89HDF\r\n\x1a\n"
_BEGINNING = re.compile(rb'\{\s*"[a-z_]{4,}"\s*:')
_MODEL = re.compile(rb'"(?:layers|%s)"' % "|".join(MODELS).encode())

#: What opens and closes objects, and strings, the last of which may be cut off: each byte is read
#: once, whatever it is.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)|[{}]', re.DOTALL)


def read_archive(path: Path, sizes: Mapping[str, int]) -> Network:
    """The network of an archive; its weights are not read.

    Raises `InputError` if it is none.
    """
    if path.is_dir():
        raise refuse(path, f"is a folder; allowed: a .keras file, or {path / CONFIG}")
    check_readable(path)
    try:
        with _Pieces(path) as pieces, zipfile.ZipFile(pieces) as archive:
            content = _config(archive)
    except KeyError:
        raise refuse(path, f"has no {CONFIG}; allowed: a file as Keras saves it") from None
    except InputError as error:
        raise refuse(path, error) from None
    except Exception:  # whatever damaged archives raise
        raise refuse(path, "is no archive, or damaged; allowed: a file as Keras saves it") from None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise refuse(path, f"{CONFIG} is not UTF-8; allowed: a file as Keras saves it") from None
    document = parse_json(text, f"{path}: {CONFIG}")
    if not is_model(document):
        raise refuse(path, f"{CONFIG} holds no model; allowed: one of {', '.join(MODELS)}")
    return read_document(document, path, sizes)


def read_hdf5(path: Path, sizes: Mapping[str, int]) -> Network:
    """The network of a file in HDF5 as Keras saved models before version 3.

    The format keeps the configuration in one piece, as text, wherever it is: that is looked for,
    and nothing else of the file is read.

    Raises `InputError` if there is none, or more than one.
    """
    check_readable(path)
    with path.open("rb") as file:
        if file.read(len(HDF5)) != HDF5:
            raise refuse(path, "is no HDF5 file; allowed: a file as Keras saves it")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            texts, end = dict[bytes, None](), 0  # each once, in their order
            for place in _BEGINNING.finditer(whole):
                if place.start() >= end:  # it is within no other
                    end = _end(whole, place.start())
                    if _MODEL.search(whole, place.start(), end):
                        texts[whole[place.start() : end]] = None
    models, document = 0, None
    for text in texts:
        try:
            each = parse_json(text.decode(), path)
        except UnicodeDecodeError:
            raise refuse(path, "its text is not UTF-8; allowed: a file as Keras saves it") from None
        if is_model(each):
            models, document = models + 1, each
    if models != 1:
        raise refuse(
            path,
            f"holds {models or 'no'} configurations of models, or weights alone; allowed: one, "
            "as model.save() writes it, or what model.to_json() returns, as a .json file",
        )
    return read_document(document, path, sizes)


def _end(content: mmap.mmap, start: int) -> int:
    """The place behind the object in JSON that begins at one; as far as one may go that does not
    end."""
    depth, most = 0, min(start + MAX_CONFIG, len(content))
    for token in _TOKEN.finditer(content, start, most):
        depth += {b"{": 1, b"}": -1}.get(token[0], 0)
        if not depth:
            return token.end()
    return most


class _Pieces(FileIO):
    """A file of which little is read at once, whatever it says of itself."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to so many bytes; a negative number: up to a piece."""
        if size is None or size < 0:
            size = PIECE
        if size > PIECE:
            raise InputError(f"has a table of {size} bytes; allowed: at most {PIECE}")
        return super().read(size) or b""


def _config(archive: zipfile.ZipFile) -> bytes:
    """The configuration in an archive, read piece by piece, whatever size it claims."""
    entry = archive.getinfo(CONFIG)
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{CONFIG} is packed in another way; allowed: stored, deflated")
    content = bytearray()
    with archive.open(entry) as file:
        while piece := file.read(PIECE):
            content += piece
            if len(content) > MAX_CONFIG:
                raise InputError(f"{CONFIG} is too large; allowed: at most {MAX_CONFIG} bytes")
    return bytes(content)


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
    with errors_at(where):
        kind, config = parts(_plain(_model(document)), "model")
    name = config.values.get("name")
    own = name if isinstance(name, str) and name else Path(str(where)).stem
    return keras_network(where, escaped(own), kind, config, sizes)


SOURCE = PlainSource(is_model, read_document)
