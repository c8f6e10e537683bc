"""Read what files say of sparse tensors: ``sparse_optimizations`` of Timeloop v0.3 and v0.4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from ithaca.files.documents import InputDocument, validated
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse
from ithaca.plugins.hierarchies.formulations.architecture import Compute, Level
from ithaca.plugins.hierarchies.formulations.architecture_elements import Element
from ithaca.plugins.hierarchies.formulations.sparse.parts import (
    ACTIONS,
    COMPUTES,
    PACKED,
    Format,
    Rank,
    Saving,
    SparseLevel,
    Sparsity,
)

#: What multipliers may do, by the names in files.
_COMPUTES = {
    "gate_on_zero_operand": "gates",
    "gating": "gates",
    "skip_on_not_aligned_operands": "skips",
    "skipping": "skips",
}


#: Ways of saving, as files name them.
_SAVINGS = {"gated": "gating", "skipped": "skipping"}


class _Rank(InputDocument):
    format: Literal["UOP", "CP", "RLE", "B", "UB"]
    metadata_word_bits: int | None = None
    payload_word_bits: int | None = None
    flattened_rankIDs: list[list[str]] = Field(default=[])  # noqa: N815  (as files have it)


class _StoredFormat(InputDocument):
    name: str
    ranks: list[_Rank] = Field(min_length=1)
    rank_application_order: Literal["inner_to_outer", "outer_to_inner"] = "outer_to_inner"


class _Representation(InputDocument):
    data_spaces: list[_StoredFormat] = Field(default=[])


class _Option(InputDocument):
    target: str
    condition_on: list[str] = Field(min_length=1)


class _Saving(InputDocument):
    type: Literal["gating", "skipping"]
    options: list[_Option] = Field(min_length=1)


class _Compute(InputDocument):
    type: str


class _Target(InputDocument):
    name: str
    representation_format: _Representation = _Representation()
    action_optimization: list[_Saving] = Field(default=[])
    compute_optimization: list[_Compute] = Field(default=[])


class _Optimizations(InputDocument):
    version: str | float | None = None
    targets: list[_Target] = Field(default=[])


def read_sparsity(
    stated: Sequence[tuple[str, Any]],
    parts: Sequence[Element],
    table: Mapping[str, Mapping[str, Fraction]],
) -> Sparsity | str | None:
    """The features of an architecture for sparse tensors, or, in a line, why they are not modelled;
    None where none are stated.

    Parameters
    ----------
    stated : sequence of tuple
        The path and document of every ``sparse_optimizations``.
    parts : sequence of Element
        Its components, the multipliers last.
    table : mapping
        Energies of actions by component.
    """
    try:
        return _read(stated, parts, table) if stated else None
    except InputError as error:
        return str(error)


def _read(
    stated: Sequence[tuple[str, Any]],
    parts: Sequence[Element],
    table: Mapping[str, Mapping[str, Fraction]],
) -> Sparsity:
    levels = {part.name: _level(part, table.get(part.name, {})) for part in parts}
    computes: set[str] = set()
    for where, document in stated:
        read = validated(_Optimizations, _plain(document), where)
        for place, target in enumerate(read.targets):
            at, name = f"{where}.targets[{place}]", target.name
            if name not in levels:
                raise refuse(at, f"name is {quoted(name)}{among(name, levels)}")
            for unit in target.compute_optimization:
                if unit.type not in _COMPUTES:
                    raise refuse(at, f"type is {quoted(unit.type)}{among(unit.type, _COMPUTES)}")
                computes.add(_COMPUTES[unit.type])
            levels[name] = _with(levels[name], target, at)
    return Sparsity(
        levels,
        "gates" in computes,
        "skips" in computes,
        dict.fromkeys(COMPUTES, 0.0) | _priced(COMPUTES, table.get(parts[-1].name, {})),
    )


def _plain(document: Any) -> Any:
    """A document as it is written now: names have no hyphens, formats are capitals, ways of saving
    are in lists."""
    if isinstance(document, list):
        return [_plain(own) for own in document]
    if not isinstance(document, dict):
        return document.replace("-", "_") if isinstance(document, str) else document
    own = {str(name).replace("-", "_"): _plain(each) for name, each in document.items()}
    if isinstance(own.get("format"), str):
        own["format"] = own["format"].upper()
    if "type" in own and "target" in own:
        own["options"] = [{name: own.pop(name) for name in own.keys() - {"type"}}]
    return own


def _priced(
    actions: Mapping[str, Sequence[str]], energies: Mapping[str, Fraction]
) -> dict[str, float]:
    """Energies of actions, by the first of their names that a table has."""
    known = {action: [n for n in names if n in energies] for action, names in actions.items()}
    return {action: float(energies[names[0]]) for action, names in known.items() if names}


def _level(part: Element, energies: Mapping[str, Fraction]) -> SparseLevel:
    if part.attributes.get("tile_partition_supported"):
        raise refuse(part.where, f"{part.name} partitions tiles, which is not modelled")
    width, depth, bits = (
        int(part.number(*names) or 0)
        for names in (
            ("metadata_storage_width", "metadata_width"),
            ("metadata_storage_depth", "metadata_depth"),
            ("metadata_datawidth", "metadata_word_bits"),
        )
    )
    converts = (f"{way}_supported" for way in ("compression", "decompression"))
    compresses, decompresses = (bool(part.attributes.get(name)) for name in converts)
    return SparseLevel(
        width=width,
        word_bits=bits,
        room=depth * width,
        compresses=compresses,
        decompresses=decompresses,
        energies=_priced(ACTIONS, energies),
    )


def _with(level: SparseLevel, target: _Target, at: str) -> SparseLevel:
    """A level with what a target says."""
    for own in target.representation_format.data_spaces:
        kinds = [rank.format in PACKED for rank in own.ranks]
        if kinds != sorted(kinds):
            names = " ".join(rank.format for rank in own.ranks)
            raise refuse(at, f"{own.name} has ranks {names}; allowed: {', '.join(PACKED)} inside")
    formats = {
        own.name: Format(
            tuple(_rank(rank, level, f"{at}.{own.name}") for rank in reversed(own.ranks)),
            own.rank_application_order == "outer_to_inner",
        )
        for own in target.representation_format.data_spaces
    }
    savings = (
        Saving(
            "gated" if saving.type == "gating" else "skipped",
            tuple((own.target, tuple(own.condition_on)) for own in saving.options),
        )
        for saving in target.action_optimization
    )
    stated = {**level.formats, **formats}
    return replace(level, formats=stated, savings=(*level.savings, *savings))


def _rank(rank: _Rank, level: SparseLevel, at: str) -> Rank:
    metadata, payload = rank.metadata_word_bits, rank.payload_word_bits
    if rank.format == "UB":
        metadata = payload = None
    elif rank.format == "B" and metadata is None:
        metadata = 1
    stated = metadata, payload
    bits = [level.word_bits if own is None else own for own in stated]
    for place, own in enumerate(bits):  # a few more, where rows have no whole number of words
        fits = (n for n in range(own, 2 * own) if level.width % n == 0)
        bits[place] = next(fits, 2 * own) if own else own
    if max(bits) > level.width:
        raise refuse(
            at, f"words of {max(bits)} bits exceed metadata_storage_width; allowed: {level.width}"
        )
    return Rank(rank.format, bits[0], bits[1], tuple(map(tuple, rank.flattened_rankIDs)))


# -- written -----------------------------------------------------------------------------


def sparse_targets(sparsity: Sparsity, compute: str) -> Iterator[dict[str, Any]]:
    """The ``targets`` of what an architecture does; ``compute`` names its multipliers."""
    for name, level in sparsity.levels.items():
        stored = [
            {
                "name": tensor,
                "rank_application_order": "outer_to_inner" if own.inwards else "inner_to_outer",
                "ranks": [_stated_rank(rank) for rank in reversed(own.ranks)],
            }
            for tensor, own in level.formats.items()
        ]
        ways = [
            {
                "type": _SAVINGS[saving.kind],
                "options": [
                    {"target": target, "condition_on": list(others)}
                    for target, others in saving.options
                ],
            }
            for saving in level.savings
        ]
        if stored or ways:
            formats = {"representation_format": {"data_spaces": stored}} if stored else {}
            yield {"name": name, **formats, **({"action_optimization": ways} if ways else {})}
    done = {"gating": sparsity.gates, "skipping": sparsity.skips}
    if any(done.values()):
        units = [{"type": way} for way, does in done.items() if does]
        yield {"name": compute, "compute_optimization": units}


def _stated_rank(rank: Rank) -> dict[str, Any]:
    bits = {"metadata_word_bits": rank.metadata_bits, "payload_word_bits": rank.payload_bits}
    flattened = {"flattened_rankIDs": [list(loops) for loops in rank.flattens]}
    return {"format": rank.format, **bits, **(flattened if rank.flattens else {})}


def metadata_attributes(sparsity: Sparsity, name: str) -> dict[str, Any]:
    """The attributes of a level that say where its metadata is, and what it converts."""
    level = sparsity.levels.get(name, SparseLevel())
    stated = {
        "metadata_storage_width": level.width,
        "metadata_storage_depth": level.room // level.width if level.width else 0,
        "metadata_datawidth": level.word_bits,
        "compression_supported": level.compresses,
        "decompression_supported": level.decompresses,
    }
    return {attribute: value for attribute, value in stated.items() if value}


def sparse_energies(sparsity: Sparsity, part: Level | Compute) -> dict[str, float]:
    """Energies of what a component does with sparse tensors, by action."""
    if isinstance(part, Compute):
        return {f"compute_{how}": energy for how, energy in sparsity.energies.items()}
    return dict(sparsity.levels[part.name].energies) if part.name in sparsity.levels else {}
