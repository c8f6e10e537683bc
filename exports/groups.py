"""Which I/O group of a design moves an array."""

from __future__ import annotations

from ithaca.formulations.systolic.systolic_array import Direction, IOGroup, Role, SystolicArray


def moved_group(array: SystolicArray, name: str) -> IOGroup:
    """The I/O group that moves an array: a read-only one, or what takes the finished output out.

    That is the drain, or without one the flow group that accumulates in its own buffers.
    """
    groups = [g for g in array.packed_groups if g.array == name]
    outwards = [g for g in groups if any(m.direction is Direction.OUT for m in g.modules)]
    return max(outwards or groups, key=lambda g: g.role is Role.DRAIN)
