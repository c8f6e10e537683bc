"""Architectures by name or file, and what they keep of a nest's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ithaca.files.errors import InputError
from ithaca.files.messages import among, meant, quoted, refuse
from ithaca.files.numbers import number
from ithaca.files.reading import is_there, packaged_names, packaged_text
from ithaca.files.timeloop_yaml import MAX_DEPTH, TAGS
from ithaca.files.yaml_documents import parse_yaml
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.architecture_files import (
    architecture_of,
    read_architecture,
)
from ithaca.workloads.nest import LoopNest

_DATA = "ithaca.plugins.hierarchies.formulations.architectures"


def architecture_names() -> tuple[str, ...]:
    """Names of the architectures that come with Ithaca."""
    return packaged_names(_DATA)


def find_architecture(text: str) -> Architecture:
    """An architecture by its name, or of a file or folder (see `read_architecture`).

    Raises `InputError` if there is none.
    """
    if text in architecture_names():
        return _packaged(text)
    if (
        not is_there(text)
        and not text.lower().endswith((".yaml", ".yml", ".json"))
        and "/" not in text
    ):
        known = ", ".join(architecture_names())
        raise InputError(
            f"unknown architecture {quoted(text)}; known: {known}; or a path to a file or folder"
            f"{meant(text, architecture_names())}"
        )
    return read_architecture(text)


def architecture_text(name: str) -> str:
    """The file of an architecture that comes with Ithaca. Raises `InputError` if there is none."""
    if name not in architecture_names():
        raise InputError(f"unknown architecture {quoted(name)}{among(name, architecture_names())}")
    return packaged_text(_DATA, name)


@cache
def _packaged(name: str) -> Architecture:
    """The library's architecture of a name."""
    return architecture_of(
        parse_yaml(packaged_text(_DATA, name), name, TAGS, MAX_DEPTH), None, name, name
    )


def namesake(architecture: Architecture) -> Architecture | None:
    """The library's architecture with the same levels, where a file does not say what any level
    keeps; None if there is none.

    Timeloop's files leave that to constraints or mappings; levels called as those of a known
    machine keep what they keep there.
    """
    if any(level.keeps is not None for level in architecture.levels):
        return None
    names = [level.name for level in architecture.levels]
    for name in architecture_names():
        known = find_architecture(name)
        if [level.name for level in known.levels] == names and any(
            level.keeps is not None for level in known.levels
        ):
            return known
    return None


def keeps_of(architecture: Architecture | None) -> dict[str, frozenset[str]]:
    """The tensors that levels of an architecture keep, as far as it says."""
    levels = () if architecture is None else architecture.levels
    return {level.name: level.keeps for level in levels if level.keeps is not None}


def described(architecture: Architecture) -> Iterator[str]:
    """Lines on an architecture as it is understood: its levels, outermost first, and what it asks
    of mappings."""
    for level in architecture.levels:
        words = "any number of" if level.words is None else f"{level.words:,}"
        rates = ", ".join(
            f"{what} {number(rate)} words a cycle"
            for what in ("read", "write", "shared")
            if (rate := getattr(level, f"{what}_bandwidth")) is not None
        )
        energies = "energies unknown"
        if level.name not in architecture.unpriced:
            figures = (level.read_energy, level.write_energy, level.update_energy)
            energies = f"read, write, update {', '.join(map(number, figures))} pJ"
        keeps = "any tensor" if level.keeps is None else ", ".join(sorted(level.keeps)) or "nothing"
        yield (
            f"{level.name}: {level.instances:,} of {words} words of {level.word_bits} bits "
            f"({level.mesh_x}·{level.mesh_y}), blocks of {level.block}, clusters of "
            f"{level.cluster}; keeps {keeps}; {rates or 'any bandwidth'}; {energies}"
        )
    compute = architecture.compute
    priced = compute.name not in architecture.unpriced
    yield (
        f"{compute.name}: {compute.instances:,} multipliers ({compute.mesh_x}·{compute.mesh_y}); "
        + (f"{number(compute.energy)} pJ" if priced else "energy unknown")
    )
    yield from (f"{where}: {text}" for where, text in architecture.entries)


#: Names of tensors in the library's architectures.
ROLES = ("Outputs", "Inputs", "Weights")


def roles(nest: LoopNest) -> dict[str, str]:
    """The names of tensors in the library's architectures: of a product of two, activations come
    first, then weights; where nothing is multiplied there are no weights."""
    read = (access.tensor for access in nest.inputs)
    return {"Outputs": nest.output.tensor, **dict(zip(ROLES[1:], read, strict=False))}


def fitted(architecture: Architecture, nest: LoopNest, *, dense: bool = True) -> Architecture:
    """The architecture with a nest's own names of what it keeps by role (see `roles`); a name that
    the nest has is that tensor.

    Raises `InputError` if it keeps a tensor that the nest does not have, or, where ``dense``, does
    other things with sparse tensors than with dense ones.

    Parameters
    ----------
    architecture : Architecture
        The architecture.
    nest : LoopNest
        The nest.
    dense : bool, optional
        Whether all tensors are counted as dense.
    """
    if architecture.sparse and dense:
        raise refuse(
            architecture.sparse[0],
            "compresses, gates or skips words of sparse tensors, which changes energies and "
            "cycles; allowed: the file without it, for dense tensors",
        )
    for part in () if dense or not architecture.sparse else (architecture.sparsity, nest.densities):
        if isinstance(part, str):
            raise InputError(part)
    tensors, by_role = {access.tensor for access in nest.accesses}, roles(nest)

    absent = {*ROLES} - by_role.keys() - tensors

    def own(name: str) -> str:
        return name if name in tensors else by_role.get(name, name)

    levels = tuple(
        replace(
            level,
            keeps=None if level.keeps is None else frozenset(map(own, level.keeps - absent)),
            tensor_words=tuple(
                (own(t), words) for t, words in level.tensor_words if t not in absent
            ),
        )
        for level in architecture.levels
    )
    renamed = replace(architecture, levels=levels)
    renamed.check_tensors(nest)
    return renamed
