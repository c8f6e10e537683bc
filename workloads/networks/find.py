"""Find a network: by name, or as a file of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import packaged_names
from ithaca.files.registry import Registry
from ithaca.workloads.networks.network import Layer, Network, chosen_parameters

FILES = "the path of a .yaml, .onnx, .csv, .m or .c file"

#: The file of a model's configuration in the folder of its weights.
CONFIGURATION = "config.json"

_DATA = "ithaca.workloads.networks.data"

_CONFIGURATION = (
    "is a {}, which says how layers are built, not what they are; allowed: the model itself, as "
    "ONNX (.onnx)"
)


class NetworkSource(Protocol):
    """A kind of documents, other than network files, that networks are read from."""

    package: str
    """Where those are that come with Ithaca."""

    def takes(self, document: Mapping[str, Any]) -> bool:
        """Whether a document is of this kind."""

    def network(
        self,
        document: Mapping[str, Any],
        where: object,
        sizes: Mapping[str, int],
        phase: str | None,
        experts: str | None,
        elementwise: bool,
    ) -> Network:
        """The network that a document states.

        Parameters
        ----------
        document : mapping
            The document.
        where : object
            A path or name, with which error lines start.
        sizes : mapping of str to int
            Sizes that replace its own.
        phase : str, optional
            The phase; its first by default.
        experts : str, optional
            How rows are spread over experts; evenly by default.
        elementwise : bool
            Whether work that is element by element makes layers, too.
        """


SOURCES: Registry[NetworkSource] = Registry("network sources")


def network_names() -> tuple[str, ...]:
    """Names of the networks that come with Ithaca."""
    packages = (_DATA, *(source.package for source in SOURCES.values()))
    return tuple(sorted(name for package in packages for name in packaged_names(package)))


def find_network(
    text: str,
    sizes: Mapping[str, int] | None = None,
    files: str = FILES,
    phase: str | None = None,
    experts: str | None = None,
    elementwise: bool = False,
) -> Network:
    """Find a network, one of `network_names` or a file, and set its sizes.

    Parameters
    ----------
    text : str
        A name, or the path of a network file (.yaml, .yml, .json; see
        `ithaca.workloads.networks.network_files`), of an ONNX model (.onnx), a table of layers
        (.csv), a network of MAESTRO (.m), or loop nests in C (.c); the configuration of a model
        (config.json), or the folder that it is in.
    sizes : mapping of str to int, optional
        Parameters of the network to replace, such as batch and sequence length; of an ONNX model
        values of its symbolic dimensions, of MAESTRO's its constants.
    files : str, optional
        What else ``text`` could be, for the error line.
    phase : str, optional
        Of models that have several, such as decode and prefill.
    experts : str, optional
        Of models with experts, how rows are spread: uniform, skewed, or rows of each.
    elementwise : bool, optional
        Whether a model's work that is element by element makes layers, too.

    Returns
    -------
    Network
        The network.

    Raises
    ------
    InputError
        If there is no such network, its file is none, it has no such phase, or a size is no
        parameter of it.
    """
    network = _read(text, sizes, files, phase, experts, elementwise)
    stated = {"phase": phase, "experts": experts, "elementwise": "true" if elementwise else None}
    if network.run is None and (names := [n for n, value in stated.items() if value is not None]):
        raise InputError(
            f"{names[0]} is {quoted(stated[names[0]])}, but network {network.name} has no phases; "
            "allowed: without it"
        )
    return network


def _read(
    text: str,
    sizes: Mapping[str, int] | None,
    files: str,
    phase: str | None,
    experts: str | None,
    elementwise: bool,
) -> Network:
    path, ending = Path(text), "" if text in network_names() else Path(text).suffix.lower()
    if ending == ".onnx":
        from ithaca.workloads.networks.onnx_import import import_onnx

        return import_onnx(path, sizes)
    if ending == ".m":
        from ithaca.workloads.networks.maestro import read_maestro

        return read_maestro(path, sizes or {})
    if ending == ".c":
        from ithaca.workloads.c.network import c_network

        return c_network(path, sizes or {})
    if ending == ".csv":
        from ithaca.workloads.networks.tables import read_table

        chosen_parameters(path, {}, sizes or {})
        return read_table(path)
    from ithaca.files.documents import find_document
    from ithaca.workloads.networks.network_files import MAX_BYTES, read_network

    packages = (source.package for source in SOURCES.values())
    package = next((each for each in packages if text in packaged_names(each)), _DATA)
    if SOURCES and (path / CONFIGURATION).is_file():
        text = str(path / CONFIGURATION)
    document, where = find_document(
        "network", text, package, MAX_BYTES, files, more=set(network_names())
    )
    for source in SOURCES.values():
        if isinstance(document, dict) and source.takes(document):
            return source.network(document, where, sizes or {}, phase, experts, elementwise)
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
