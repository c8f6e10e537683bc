"""Find a network: by name, or as a file of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ithaca.files.messages import refuse
from ithaca.files.reading import packaged_names
from ithaca.workloads.networks.network import Layer, Network, chosen_parameters

FILES = "the path of a .yaml, .onnx, .csv or .m file"

_DATA = "ithaca.workloads.networks.data"

_CONFIGURATION = (
    "is a {}, which says how layers are built, not what they are; allowed: the model itself, as "
    "ONNX (.onnx)"
)


def network_names() -> tuple[str, ...]:
    """Names of the networks that come with Ithaca."""
    return packaged_names(_DATA)


def find_network(text: str, sizes: Mapping[str, int] | None = None, files: str = FILES) -> Network:
    """Find a network, one of `network_names` or a file, and set its sizes.

    Parameters
    ----------
    text : str
        A name, or the path of a network file (.yaml, .yml, .json; see
        `ithaca.workloads.networks.network_files`), of an ONNX model (.onnx), a table of layers
        (.csv), or a network of MAESTRO (.m).
    sizes : mapping of str to int, optional
        Parameters of the network to replace, such as batch and sequence length; of an ONNX model
        values of its symbolic dimensions, of MAESTRO's its constants.
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
    path, ending = Path(text), "" if text in network_names() else Path(text).suffix.lower()
    if ending == ".onnx":
        from ithaca.workloads.networks.onnx_import import import_onnx

        return import_onnx(path, sizes)
    if ending == ".m":
        from ithaca.workloads.networks.maestro import read_maestro

        return read_maestro(path, sizes or {})
    if ending == ".csv":
        from ithaca.workloads.networks.tables import read_table

        chosen_parameters(path, {}, sizes or {})
        return read_table(path)
    from ithaca.files.documents import find_document
    from ithaca.workloads.networks.network_files import MAX_BYTES, read_network

    document, where = find_document("network", text, _DATA, MAX_BYTES, files)
    if isinstance(document, list):
        from ithaca.workloads.networks.equations import read_equations, states_equations

        if states_equations(document):
            chosen_parameters(path, {}, sizes or {})
            return read_equations(document, path)
    if isinstance(document, dict) and (own := _alone(document, where, sizes or {})) is not None:
        return own
    return read_network(document, where, sizes or {})


def _alone(document: dict[str, Any], where: object, sizes: Mapping[str, int]) -> Network | None:
    """The network of a single layer, where a document is one; None of other documents.

    Raises `InputError` for configurations of networks, which have none of their layers.
    """
    from ithaca.workloads.kernel_files import kernel_nest
    from ithaca.workloads.problem_files import problem_nest

    parts = [each for each in document.values() if isinstance(each, dict)]
    if "layers" not in document and any(each.keys() & {"PE", "SIMD"} for each in parts):
        raise refuse(where, _CONFIGURATION.format("folding configuration of FINN"))
    if document.keys() & {"HLSConfig", "KerasJson", "KerasH5", "OnnxModel", "PytorchModel"} or (
        any("ReuseFactor" in each for each in parts)
    ):
        raise refuse(where, _CONFIGURATION.format("configuration of hls4ml"))
    if "problem" in document:
        nest, what = problem_nest(document["problem"], f"{where}: problem"), "a problem of Timeloop"
    elif document.keys() & {"statement", "einsum"}:
        nest, what = kernel_nest(document, where), "a kernel"
    else:
        return None
    layer = Layer(nest.name, nest.with_sizes(sizes), 1, (nest.name,))
    remarks = (f"{where} is taken for {what}, a network of one layer",)
    return Network(nest.name, (layer,), what, unordered=f"it is {what}", remarks=remarks)
