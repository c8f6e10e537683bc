"""The workloads that accelerators are chosen for: the layers of networks and files, each with its
weight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import errors_at, quoted, refuse
from ithaca.files.numbers import DECIMAL
from ithaca.files.timeloop_files import load_timeloop
from ithaca.formulations.hardware.accelerator import Work
from ithaca.studies.network.problems import only_layers
from ithaca.workloads.layer_files import read_layers, states_extents
from ithaca.workloads.library import workload, workload_names
from ithaca.workloads.nest import LoopNest, Stored
from ithaca.workloads.networks.find import find_network, network_names
from ithaca.workloads.networks.network import Layer, Network
from ithaca.workloads.networks.several import read_part

#: A workload: what it is called or where it is, or itself.
Workload = str | LoopNest | Network

#: Layers that come with Ithaca in files with extents in memory, as ``ithaca map --problems`` takes
#: them.
LAYER_FILES = tuple(
    sorted(
        PurePath(entry.name).stem
        for entry in files(__package__).iterdir()
        if entry.name.endswith(".csv")
    )
)

_WEIGHTED = re.compile(r"(?P<name>.+?)(?::(?P<weight>[^:/\\]*))?")

#: A file of the folder where a drive is.
_DRIVE = re.compile(r"[A-Za-z]:[^:]*\.[a-z]+")


def find_workloads(
    workloads: Sequence[Workload] | Mapping[Any, object],
    layers: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> tuple[Work, ...]:
    """The layers of all workloads, of each only those that patterns name, if there are any.

    A workload is a network (`find_network`), a loop nest of the library, a file of layers
    (``.csv``) or of a nest (Ithaca's or Timeloop's), or an object; as ``NAME:WEIGHT`` it counts so
    much among others (1). Raises `InputError` if one is unknown or given twice, or a weight is no
    positive number, or no loop nest of the library has one of the ``sizes``.

    Parameters
    ----------
    workloads : sequence of Workload or mapping of number to object
        Names, files or objects, or weights by these.
    layers : sequence of str, optional
        Patterns of names; without any, all layers are taken.
    sizes : mapping of str to int, optional
        Extents and parameters of loop nests of the library.

    Returns
    -------
    tuple of Work
        The layers, those of one workload together.
    """
    works: list[Work] = []
    for each, weight in sized(workloads, sizes or {}):
        own = tuple(_works(each, layers))
        if own[0].workload in {work.workload for work in works}:
            raise InputError(
                f"--workload {quoted(own[0].workload)} is given twice; allowed: every workload once"
            )
        works += (replace(work, weight=weight) for work in own)
    if not works:
        raise InputError(
            "--workload is missing; allowed: a network such as "
            f"{', '.join(network_names())}, or a file"
        )
    return tuple(works)


def sized(
    workloads: Sequence[Workload] | Mapping[Any, object], sizes: Mapping[str, int]
) -> list[tuple[Workload, Fraction]]:
    """Workloads with what each counts; loop nests of the library have the sizes that are theirs.

    Raises `InputError` if there is a size of none.
    """
    read, left = list[tuple[Workload, Fraction]](), dict(sizes)
    for each, weight in weighted(workloads):
        if each in workload_names():
            known = workload(str(each)).settings
            left = {name: n for name, n in left.items() if name not in known}
            each = workload(str(each), {n: v for n, v in sizes.items() if n in known})
        read.append((each, weight))
    if left:
        raise InputError(
            f"--sizes: no workload has {quoted(next(iter(left)))}; allowed: loops and parameters "
            "of loop nests (ithaca list workloads) among the workloads"
        )
    return read


def weighted(
    workloads: Sequence[Workload] | Mapping[Any, object],
) -> Iterator[tuple[Workload, Fraction]]:
    """Workloads with what each counts."""
    if isinstance(workloads, Mapping):
        yield from ((each, positive_weight(each, weight)) for each, weight in workloads.items())
        return
    for each in workloads:
        parts = _WEIGHTED.fullmatch(each) if isinstance(each, str) else None
        if parts is None or parts["weight"] is None or _DRIVE.fullmatch(parts[0]):
            yield each, Fraction(1)
        else:
            yield parts["name"], positive_weight(parts["name"], parts["weight"])


def positive_weight(workload: Workload, weight: object) -> Fraction:
    text = str(weight)
    if not re.fullmatch(rf"{DECIMAL}|[0-9]{{1,15}}/[0-9]*[1-9][0-9]*", text) or not Fraction(text):
        name = workload if isinstance(workload, str) else workload.name
        raise InputError(
            f"--workload {quoted(name)} has the weight {quoted(text)}; allowed: a positive number"
        )
    return Fraction(text)


def _works(workload: Workload, layers: Sequence[str]) -> Iterator[Work]:
    """The layers of a workload."""
    network, stored = network_of(workload, layers)
    for layer in network.layers:
        yield Work(
            layer.name,
            layer.nest,
            layer.count,
            workload=network.name,
            stored=stored.get(layer.name, ()),
            omitted=network.unsupported,
        )


def network_of(workload: Workload, layers: Sequence[str]) -> tuple[Network, Mapping[str, Stored]]:
    """The layers of a workload that patterns name, and extents of tensors in memory by layer, where
    a file states them."""
    own = None
    if isinstance(workload, str) and workload in LAYER_FILES:
        own = Path(str(files(__package__).joinpath(f"{workload}.csv")))
    elif isinstance(workload, str) and workload.lower().endswith(".csv"):
        own = Path(workload) if states_extents(Path(workload)) else None
    if own is None:
        return only_layers(_network(workload), layers), {}
    read = read_layers(own)
    rows = {row.cells.get("name") or f"layer{place}": row for place, row in enumerate(read, 1)}
    if len(rows) < len(read):
        raise refuse(
            own,
            "column 'name' has the same name in several rows; allowed: names that differ, or none",
        )
    nests = tuple(Layer(name, row.nest, 1, (name,)) for name, row in rows.items())
    stored = {name: row.stored for name, row in rows.items()}
    return only_layers(Network(own.stem, nests), layers), stored


def _network(workload: Workload) -> Network:
    if isinstance(workload, Network):
        return workload
    nest = workload if isinstance(workload, LoopNest) else _nest(workload)
    if nest is not None:
        return Network(nest.name, (Layer(nest.name, nest, 1, (nest.name,)),))
    with errors_at("--workload"):
        others = (
            f"layers {', '.join(LAYER_FILES)}; kernels {', '.join(workload_names())}; or a file"
        )
        part = read_part(str(workload))
        network = find_network(part.source, dict(part.sizes), files=others, phase=part.phase)
        return network if part.source == part.label else replace(network, name=part.label)


def _nest(text: str) -> LoopNest | None:
    """The nest of a name or file; None if it names none, and may be a network."""
    if text in network_names():
        return None
    if text not in workload_names():
        if not text.lower().endswith((".yaml", ".yml", ".json")):
            return None
        document = load_timeloop(Path(text))
        if not isinstance(document, dict) or not document.keys() & {"problem", "statement"}:
            return None
    return workload(text)
