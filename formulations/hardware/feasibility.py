"""Whether rules leave any accelerator, which of them contradict each other, and the least that one costs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.space import HardwareSpace, Rule

#: Boxes that are looked at before a question is left open.
LOOKED_AT = 20_000


def contradiction(space: HardwareSpace) -> tuple[Rule, ...]:
    """Rules of which some accelerator breaks one, whichever it is, but that could all be kept without any one of them.

    Empty if some accelerator keeps all rules, or none is proven to break one within so many boxes.
    """
    if _keeps(space, space.rules) is not False:
        return ()
    needed = space.rules
    for rule in space.rules:
        others = tuple(each for each in needed if each is not rule)
        if _keeps(space, others) is False:
            needed = others
    return needed


def _keeps(space: HardwareSpace, rules: Sequence[Rule]) -> bool | None:
    """Whether some accelerator keeps rules; None if that is not found out."""
    names = sorted({name for rule in rules for name in rule.link.symbols})
    boxes = [space.box]
    for _ in range(LOOKED_AT):
        if not boxes:
            return False
        box = boxes.pop()
        if not all(rule.may_hold(box) for rule in rules):
            continue
        several = [name for name in names if len(box.values(name)) > 1]
        if not several:
            return True
        boxes += box.split(max(several, key=lambda name: len(box.values(name))))
    return None


def least_cost(space: HardwareSpace, metric: str) -> tuple[Fraction, Configuration | None]:
    """The least that an accelerator of a space costs by one of its metrics, and one that does.

    Without one it is a lower bound: so many boxes did not tell more. Raises `ValueError` if no accelerator keeps the rules.
    """
    figure, ties = space.costs[metric], count()
    alone = replace(space, costs={metric: figure})
    heap = [(figure.range(space.box).low, next(ties), space.box)]
    for _ in range(LOOKED_AT):
        if not heap:
            raise ValueError("no accelerator keeps the rules")
        low, _, box = heapq.heappop(heap)
        if (point := box.point) is not None:
            return low, point
        names = [q.name for q in box.quantities if len(box.values(q.name)) > 1]
        own = [name for name in names if name in figure.symbols]
        for part in reversed(box.split(max(own or names, key=lambda name: len(box.values(name))))):
            if alone.may_allow(part):
                heapq.heappush(heap, (figure.range(part).low, -next(ties), part))  # of equals the latest, which is small
    return heap[0][0], None
