"""Whether rules leave any accelerator, and which of them contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from ithaca.formulations.space import Link
from ithaca.plugins.codesign.formulations.space import HardwareSpace

#: Boxes that are looked at before a question is left open.
LOOKED_AT = 1_000


def contradiction(space: HardwareSpace) -> tuple[Link, ...]:
    """Rules that cannot all be kept, but could without any one of them.

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


def _keeps(space: HardwareSpace, rules: Sequence[Link]) -> bool | None:
    """Whether some accelerator keeps rules; None if that is not found out."""
    names = sorted({name for rule in rules for name in rule.symbols})
    boxes = [space.box]
    for _ in range(LOOKED_AT):
        if not boxes:
            return False
        box = boxes.pop()
        if not all(box.may_hold(rule) for rule in rules):
            continue
        several = [name for name in names if len(box.values(name)) > 1]
        if not several:
            return True
        boxes += box.split(max(several, key=lambda name: len(box.values(name))))
    return None
