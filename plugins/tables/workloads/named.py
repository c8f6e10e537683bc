"""Networks stated by the names of their layers' files, as CoSA has them; and what else ZigZag and
Stream state in YAML, which are no networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ithaca.files.messages import quoted, refuse
from ithaca.workloads.networks.find import PlainSource, find_network
from ithaca.workloads.networks.network import Layer, Network, merge

#: Layers that a list may name.
MOST = 10_000

#: Fields that tell what documents of ZigZag and Stream are, which are no workloads.
_OTHERS: Mapping[str, frozenset[str]] = {
    "a mapping": frozenset(
        ("spatial_mapping", "core_allocation", "memory_operand_links", "inter_core_tiling")
    ),
    "an accelerator": frozenset(("operational_array", "core_connectivity", "cores")),
}


def _is_list(document: Any) -> bool:
    """Whether a document is a list of names."""
    named = isinstance(document, list) and all(isinstance(each, str) for each in document)
    return named and bool(document)


def _read(document: list[str], where: object, sizes: Mapping[str, int]) -> Network:
    """The network of the layers whose files, named so, stand beside a list."""
    path, known = Path(str(where)), dict[str, Layer]()
    what = "a list of layers whose files stand beside it, as CoSA has"
    if len(document) > MOST:
        raise refuse(path, f"names {len(document):,} layers; allowed: up to {MOST:,}")
    for place, name in enumerate(document):
        file = path.parent / f"{name}.yaml"
        if Path(name).name != name or not file.is_file():
            problem = f"[{place}] is {quoted(name)}, but no such file is beside it"
            raise refuse(path, f"is {what}, of which {problem}; allowed: names of problems (.yaml)")
        if name not in known:
            layers = find_network(str(file), sizes).layers
            if len(layers) != 1:
                raise refuse(file, f"has {len(layers)} layers; allowed in {path}: one")
            known[name] = replace(layers[0], name=name, sources=(name,))
    remarks = (f"{path} is taken for {what}",)
    every = merge([known[name] for name in document])
    return Network(path.parent.name, every, what, unordered=f"it is {what}", remarks=remarks)


def _other(document: Any) -> str | None:
    """The kind of a document of ZigZag or Stream that is no workload; None of others."""
    stated = document.get("layers", [document]) if isinstance(document, dict) else document
    whole = stated if isinstance(stated, list) else []
    names = {name for each in whole if isinstance(each, dict) for name in each}
    if "equation" in names:
        return None
    return next((kind for kind, fields in _OTHERS.items() if names & fields), None)


def _refused(document: Any, where: object, sizes: Mapping[str, int]) -> Network:
    """No network: an `InputError` says what the document is."""
    raise refuse(
        where,
        f"is {_other(document)} of ZigZag or Stream; allowed: its workloads, or models (.onnx)",
    )


#: Lists of layers' files.
NAMED = PlainSource(_is_list, _read)

#: Documents of ZigZag and Stream that are no workloads.
OTHERS = PlainSource(lambda document: _other(document) is not None, _refused)
