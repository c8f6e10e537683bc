"""Networks stated by the names of their layers' files, as CoSA has them; and what else ZigZag and
Stream state in YAML, which are no networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ithaca.files.documents import load_document
from ithaca.files.messages import quoted, refuse
from ithaca.workloads.networks.find import PlainSource, find_network
from ithaca.workloads.networks.network import Network, merge
from ithaca.workloads.networks.network_files import MAX_BYTES
from ithaca.workloads.networks.several import summed

#: Layers that a list may name.
MOST = 10_000

#: Bytes of a name that may be a file's.
LONGEST = 200

#: Fields that tell what documents of ZigZag and Stream are, which are no workloads.
_OTHERS: Mapping[str, frozenset[str]] = {
    "a mapping": frozenset(
        ("spatial_mapping", "core_allocation", "memory_operand_links", "inter_core_tiling")
    ),
    "an accelerator": frozenset(("operational_array", "core_connectivity")),
}


def _is_list(document: Any) -> bool:
    """Whether a document is a list of names."""
    named = isinstance(document, list) and all(isinstance(each, str) for each in document)
    return named and bool(document)


def _read(document: list[str], where: object, sizes: Mapping[str, int]) -> Network:
    """The network of the layers whose files, named so, stand beside a list."""
    path, known = Path(str(where)), dict[str, Network]()
    what = "a list of layers whose files stand beside it, as CoSA has"
    if len(document) > MOST:
        raise refuse(path, f"names {len(document):,} layers; allowed: up to {MOST:,}")
    for place, name in enumerate(document):
        file = path.parent / f"{name}.yaml"
        if Path(name).name != name or len(name.encode()) > LONGEST or not file.is_file():
            problem = f"[{place}] is {quoted(name)}, but no such file is beside it"
            raise refuse(path, f"is {what}, of which {problem}; allowed: names of problems (.yaml)")
        if name not in known:
            known[name] = _alone(file, name, path, sizes)
    remarks = [f"{path} is taken for {what}"]
    for name, network in known.items():  # what each file is taken for, the list says
        taken = f"{path.parent / name}.yaml is taken for "
        remarks += (each for each in network.remarks if not each.startswith(taken))
    runs = Counter(document)
    omissions = [
        each.times(runs[n]) for n, network in known.items() for each in network.unsupported
    ]
    return Network(
        path.resolve().parent.name or path.stem,
        merge([known[name].layers[0] for name in document]),
        what,
        summed(omissions),
        unordered=f"it is {what}",
        remarks=tuple(remarks),
    )


def _alone(file: Path, name: str, path: Path, sizes: Mapping[str, int]) -> Network:
    """The network of a file that a list names, whose one layer has the name that is listed."""
    if _is_list(load_document(file, MAX_BYTES)):  # of itself, perhaps
        raise refuse(file, f"is a list of names; allowed in {path}: files of one layer")
    network = find_network(str(file), sizes)
    if len(network.layers) != 1:
        raise refuse(file, f"has {len(network.layers)} layers; allowed in {path}: one")
    return replace(network, layers=(replace(network.layers[0], name=name, sources=(name,)),))


def _other(document: Any) -> str | None:
    """The kind of a document of ZigZag or Stream that is no workload; None of others."""
    own = document.keys() if isinstance(document, dict) else frozenset[str]()
    if own & _OTHERS["an accelerator"]:
        return "an accelerator"
    stated = document.get("layers", [document]) if isinstance(document, dict) else document
    whole = stated if isinstance(stated, list) else []
    names = {name for each in whole if isinstance(each, dict) for name in each}
    if names & {"equation", "op"}:  # layers, of ZigZag or of a network's own file
        return None
    return "a mapping" if names & _OTHERS["a mapping"] else None


def _refused(document: Any, where: object, sizes: Mapping[str, int]) -> Network:
    """No network: an `InputError` says what the document is."""
    raise refuse(
        where,
        f"is {_other(document)} of ZigZag or Stream; allowed: its workloads, or models (.onnx)",
    )


#: Lists of layers' files.
NAMED = PlainSource(_is_list, _read)

#: Documents of ZigZag and Stream that are no workloads.
OTHERS = PlainSource(lambda document: _other(document) is not None, _refused, refuses=True)
