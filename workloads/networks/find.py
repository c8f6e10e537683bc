"""Find a network: by name, or as a file of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ithaca.files.reading import packaged_names
from ithaca.workloads.networks.network import Network

ONNX_ENDING = ".onnx"
FILES = "the path of a .yaml or .onnx file"

_DATA = "ithaca.workloads.networks.data"


def network_names() -> tuple[str, ...]:
    """Names of the networks that come with Ithaca."""
    return packaged_names(_DATA)


def find_network(text: str, sizes: Mapping[str, int] | None = None, files: str = FILES) -> Network:
    """Find a network, one of `network_names` or a file, and set its sizes.

    Parameters
    ----------
    text : str
        A name, or the path of a network file (.yaml, .yml; see
        `ithaca.workloads.networks.network_files`) or of an ONNX model (.onnx).
    sizes : mapping of str to int, optional
        Parameters of the network to replace, such as batch and sequence length; of an ONNX model
        values of its symbolic dimensions.
    files : str, optional
        What else ``text`` could be, for the error line.

    Returns
    -------
    Network
        The network.

    Raises
    ------
    InputError
        If there is no such network, its file is none, or a size is no parameter of it.
    """
    if text not in network_names() and Path(text).suffix.lower() == ONNX_ENDING:
        from ithaca.workloads.networks.onnx_import import import_onnx

        return import_onnx(Path(text), sizes)
    from ithaca.files.documents import find_document
    from ithaca.workloads.networks.network_files import MAX_BYTES, read_network

    document, where = find_document("network", text, _DATA, MAX_BYTES, files)
    return read_network(document, where, sizes or {})
