"""Find a network: by name, or as a file of the user's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted, refuse
from ithaca.files.reading import packaged_names
from ithaca.files.registry import Registry
from ithaca.workloads.library import NEST_FILES, workload_names
from ithaca.workloads.networks.network import Layer, Network

_DATA = "ithaca.workloads.networks.data"


class NetworkSource(Protocol):
    """A kind of documents, other than network files, that networks are read from."""

    @property
    def package(self) -> str | None:
        """The package of those that come with Ithaca; None where none do."""

    @property
    def file(self) -> str | None:
        """The name of such a file in a folder that stands for it; None where no folder does."""

    def takes(self, document: Any) -> bool:
        """Whether a document is of this kind."""

    def network(
        self,
        document: Any,
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


@dataclass(frozen=True, slots=True)
class PlainSource:
    """Documents that state one network each, without phases; none come with Ithaca."""

    is_one: Callable[[Any], bool]
    """Whether a document is of this kind."""
    read: Callable[[Any, object, Mapping[str, int]], Network]
    """The network of a document, of the path or name with which errors start, and sizes."""
    refuses: bool = False
    """Whether none is a network: `read` says what it is."""
    package: None = None
    file: None = None

    def takes(self, document: Any) -> bool:
        """Whether a document is of this kind."""
        return self.is_one(document)

    def network(
        self,
        document: Any,
        where: object,
        sizes: Mapping[str, int],
        phase: str | None,
        experts: str | None,
        elementwise: bool,
    ) -> Network:
        """The network that a document states.

        Parameters
        ----------
        document : object
            The document.
        where : object
            A path or name, with which error lines start.
        sizes : mapping of str to int
            Sizes that replace its own.
        phase, experts, elementwise : optional
            Without meaning here; see `NetworkSource.network`.
        """
        return self.read(document, where, sizes)


SOURCES: Registry[NetworkSource] = Registry("network sources")

#: Readers of files that are networks, with sizes, by their ending.
NETWORK_FILES: Registry[Callable[[Path, Mapping[str, int]], Network]] = Registry("network files")


#: Largest document in JSON (bytes), which takes no longer to read than it has bytes.
MAX_JSON = 1 << 24


def network_endings() -> tuple[str, ...]:
    """Endings of files that networks are read from."""
    return (".yaml", ".yml", ".json", *NETWORK_FILES)


def network_files() -> str:
    """The endings of files that networks are read from, as a sentence lists them."""
    *others, last = network_endings()
    return f"{', '.join(others)} or {last}" if others else last


def network_names() -> tuple[str, ...]:
    """Names of the networks that come with Ithaca."""
    return tuple(sorted(name for package in _packages() for name in packaged_names(package)))


def _packages() -> Iterator[str]:
    """The packages of networks that come with Ithaca."""
    yield from filter(None, (source.package for source in SOURCES.values()))
    yield _DATA


def _in_folder(path: Path) -> Path | None:
    """The file that a folder stands for; None where there is none."""
    files = (path / source.file for source in SOURCES.values() if source.file)
    return next((file for file in files if file.is_file()), None)


def _source(document: Any) -> NetworkSource | None:
    """The source that takes a document, if one does."""
    return next((source for source in SOURCES.values() if source.takes(document)), None)


def is_network(source: object) -> bool:
    """Whether a source is a network, not a loop nest: a name, or a file that states layers. Raises
    `InputError` if it is known to be no workload at all."""
    if not isinstance(source, str | PathLike):
        return False
    text, path = str(source), Path(source)
    if text in workload_names():
        return False
    if "@" in text:  # a phase of a model
        from ithaca.workloads.networks.several import read_part

        try:
            path = Path(text := read_part(text).source)
        except InputError:
            return False
    ending = path.suffix.lower()
    if text in network_names() or (ending in NETWORK_FILES and ending not in NEST_FILES):
        return True
    if _in_folder(path) is not None:
        return True
    if path.suffix.lower() not in (".yaml", ".yml", ".json") or not path.is_file():
        return False
    from ithaca.files.documents import find_document
    from ithaca.workloads.networks.network_files import MAX_BYTES

    try:
        most = MAX_BYTES if ending != ".json" else MAX_JSON
        document, where = find_document("network", text, _DATA, most)
    except InputError:  # whoever reads loop nests says what is wrong, or knows more of YAML
        return False
    stated = isinstance(document, dict) and "layers" in document
    source = _source(document)
    if isinstance(source, PlainSource) and source.refuses:
        source.read(document, where, {})
    return stated or source is not None


def find_network(
    text: str,
    sizes: Mapping[str, int] | None = None,
    files: str | None = None,
    phase: str | None = None,
    experts: str | None = None,
    elementwise: bool = False,
) -> Network:
    """Find a network, one of `network_names` or a file, and set its sizes.

    Parameters
    ----------
    text : str
        A name, or the path of a network file (.yaml, .yml, .json; see
        `ithaca.workloads.networks.network_files`), or of a file of another tool
        (`network_endings`); the configuration of a model (config.json), or the folder that it
        is in.
    sizes : mapping of str to int, optional
        Parameters of the network to replace, such as batch and sequence length: what its file
        gives a name instead of a number.
    files : str, optional
        What else ``text`` could be, for the error line; a file by default.
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
    files: str | None,
    phase: str | None,
    experts: str | None,
    elementwise: bool,
) -> Network:
    path, ending = Path(text), "" if text in network_names() else Path(text).suffix.lower()
    if ending in NETWORK_FILES:
        return NETWORK_FILES[ending](path, sizes or {})
    from ithaca.files.documents import find_document
    from ithaca.workloads.networks.network_files import MAX_BYTES, read_network

    package = next((each for each in _packages() if text in packaged_names(each)), _DATA)
    text = str(_in_folder(path) or text)
    files = files or f"the path of a {network_files()} file"
    most = MAX_BYTES if ending != ".json" else MAX_JSON
    try:
        document, where = find_document(
            "network", text, package, most, files, more=set(network_names())
        )
    except InputError:
        if text in workload_names():
            line = f"network {quoted(text)} is a loop nest; allowed here: a network"
            raise InputError(f"{line} (`solve` takes it)") from None
        if ending in ("", ".yaml", ".yml", ".json") or not path.is_file():
            raise
        raise refuse(
            path, f"networks are not read from {ending} files here; allowed: {files}"
        ) from None
    if (source := _source(document)) is not None:
        return source.network(document, where, sizes or {}, phase, experts, elementwise)
    if isinstance(document, dict) and (own := _alone(document, where, sizes or {})) is not None:
        return own
    return read_network(document, where, sizes or {})


def _alone(document: dict[str, Any], where: object, sizes: Mapping[str, int]) -> Network | None:
    """The network of a single layer, where a document is one; None of other documents."""
    from ithaca.workloads.kernel_files import kernel_nest
    from ithaca.workloads.problem_files import problem_nest

    if "problem" in document:
        nest, what = problem_nest(document["problem"], f"{where}: problem"), "a problem of Timeloop"
    elif document.keys() & {"statement", "einsum"}:
        nest, what = kernel_nest(document, where), "a kernel"
    else:
        return None
    layer = Layer(nest.name, nest.with_sizes(sizes), 1, (nest.name,))
    remarks = (f"{where} is taken for {what}, a network of one layer",)
    return Network(nest.name, (layer,), what, unordered=f"it is {what}", remarks=remarks)
