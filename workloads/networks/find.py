"""Find a network: by name, or as a file of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ithaca.workloads.errors import InputError
from ithaca.workloads.messages import quoted
from ithaca.workloads.networks.network import Network
from ithaca.workloads.reading import packaged_names, packaged_text

YAML_ENDINGS = (".yaml", ".yml")
ONNX_ENDING = ".onnx"

_DATA = "ithaca.workloads.networks.data"


def network_names() -> tuple[str, ...]:
    """Names of the networks that come with Ithaca."""
    return packaged_names(_DATA)


def find_network(text: str, sizes: Mapping[str, int] | None = None) -> Network:
    """Find a network and set its sizes.

    Parameters
    ----------
    text : str
        A name in `network_names`, or the path of a network file (.yaml, .yml; see
        `ithaca.workloads.networks.network_files`) or of an ONNX model (.onnx).
    sizes : mapping of str to int, optional
        Values that replace the network's parameters, such as batch and sequence length; for an
        ONNX model, values of its symbolic dimensions.

    Raises
    ------
    InputError
        If there is no such network, its file is none, or a size is no parameter of it.
    """
    sizes = sizes or {}
    ending = Path(text).suffix.lower()
    if text not in network_names() and ending == ONNX_ENDING:
        from ithaca.workloads.networks.onnx_import import import_onnx

        return import_onnx(Path(text), sizes)
    from ithaca.workloads.networks.network_files import load_network_file, parse_network

    if text in network_names():
        return parse_network(packaged_text(_DATA, text), text, sizes)
    if ending in YAML_ENDINGS:
        return load_network_file(Path(text), sizes)
    known = ", ".join(network_names())
    raise InputError(f"unknown network {quoted(text)}; known: {known}; or the path of a .yaml or .onnx file")
