"""Mappings with storage nodes in documents: an entry for the outermost level, and one for every
storage node, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.hierarchies.formulations.mapping import Slot, keep_quantity, order_quantity
from ithaca.plugins.hierarchies.formulations.uneven.model import Node
from ithaca.plugins.hierarchies.formulations.uneven.space import NODES, UnevenSpace


def node_fields(design: UnevenSpace, configuration: Mapping[str, int]) -> list[dict[str, Any]]:
    """The entries of a mapping; those of a level's mesh stand with its last one."""
    mapping, levels = design.mapping(configuration), design.architecture.levels
    order = design.node_order(configuration)

    def entry(level: str, keeps: Sequence[str], slot: Slot, *, last: bool) -> dict[str, Any]:
        places = {"loops": slot, "x": Slot(level, "x"), "y": Slot(level, "y")}
        return {"level": level, "keeps": sorted(keeps)} | {
            name: mapping.several(at, design.nest.loops if at.temporal or last else ())
            for name, at in places.items()
        }

    entries = [entry(levels[0].name, [*design.keeps(0)], design.slots[0], last=True)]
    for place, node in enumerate(order):
        last = all(other[0] != node[0] for other in order[place + 1 :])
        entries.append(entry(levels[node[0]].name, [node[1]], design.slot(node), last=last))
    kept = {levels[node[0]].name for node in order}
    for level in levels[1:]:
        if level.name not in kept and Slot(level.name, "x") in design.slots:
            entries.append(entry(level.name, (), Slot(level.name), last=True))
    number = configuration.get(order_quantity(NODES), 1)
    if number != _offering(design, order)[0]:
        entries[0]["order"] = number
    return entries


def _offering(design: UnevenSpace, order: tuple[Node, ...]) -> list[int]:
    """The orders, from 1, in which some nodes come like this."""
    return [
        number
        for number, whole in enumerate(design.node_orders, start=1)
        if tuple(node for node in whole if node in order) == order
    ]


def read_node(design: UnevenSpace, level: str, keeps: Sequence[str]) -> list[Node]:
    """The storage node of an entry; none where it keeps nothing.

    Parameters
    ----------
    design : UnevenSpace
        The design.
    level : str
        The level of the entry.
    keeps : sequence of str
        The tensors that it keeps.
    """
    names = [each.name for each in design.architecture.levels]
    if level not in names[1:]:
        raise InputError(f"level is {quoted(level)}{among(level, names[1:])}")
    if not keeps:
        return []
    node = (names.index(level), keeps[0] if len(keeps) == 1 else "")
    if node not in design.nodes:
        allowed = ", ".join(tensor for place, tensor in design.nodes if place == node[0])
        raise InputError(f"{level}.keeps is {', '.join(keeps)}; allowed: one of {allowed}")
    return [node]


def node_configuration(
    design: UnevenSpace, values: Mapping[str, int], order: tuple[Node, ...], number: int | None
) -> Configuration:
    """The configuration of factors, with storage nodes in an order.

    Parameters
    ----------
    design : UnevenSpace
        The design.
    values : mapping of str to int
        Factors by quantity; others are 1.
    order : tuple of Node
        The storage nodes, outermost first.
    number : int, optional
        Which of the design's orders it is, where not the first like this.
    """
    chosen = dict(values)
    names = [level.name for level in design.architecture.levels]
    offering, count = _offering(design, order), len(design.node_orders)
    if number is not None and not 1 <= number <= count:
        raise InputError(f"order is {number}; allowed: 1 to {count}")
    if not offering or number not in (None, *offering):
        text = ", ".join(f"{tensor} in {names[place]}" for place, tensor in order)
        raise InputError(
            f"storage nodes are {text}; allowed: each once, in an order that the space offers"
        )
    chosen[order_quantity(NODES)] = number or offering[0]
    for place, tensor in design.nodes:
        kept = (place, tensor) in order
        chosen[keep_quantity(names[place], tensor)] = 2 if kept else 1
        if not kept and tensor not in design.may_bypass(place):
            raise InputError(f"{names[place]} has no storage node of {tensor}; allowed: one")
    return Configuration({name: chosen.get(name, 1) for name in design.space.quantities})
