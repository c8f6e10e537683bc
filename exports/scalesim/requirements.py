"""What SCALE-Sim cannot express, and why."""

from __future__ import annotations

from ithaca.exports.scalesim.dataflow import dataflow_obstacle
from ithaca.exports.scalesim.layer import layer
from ithaca.formulations.systolic.systolic_array import SystolicArray
from ithaca.workloads.errors import InputError
from ithaca.workloads.nest import LoopNest


def nest_obstacles(nest: LoopNest) -> tuple[str, ...]:
    """Why SCALE-Sim has no layer like a nest; empty if it has one."""
    try:
        layer(nest)
    except InputError as error:
        return (str(error),)
    return ()


def obstacles(nest: LoopNest, array: SystolicArray) -> tuple[str, ...]:
    """Every reason why SCALE-Sim cannot express a design of a nest; empty if it can."""
    if reasons := nest_obstacles(nest):
        return reasons
    reason = dataflow_obstacle(layer(nest), array)
    return () if reason is None else (reason,)
