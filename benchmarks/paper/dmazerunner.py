"""The layers that dMazeRunner is evaluated on, and its machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.accelerator import Work
from ithaca.formulations.problem import Objective, Problem
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.design import (
    VOCABULARY,
    DmazerunnerDesign,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import StoredLayer

#: Machine and batch of the paper's evaluation.
MACHINE, BATCH = "dmazerunner-256", 4

#: ResNet-18's layers that it evaluates, by name.
LAYERS: Mapping[str, Work] = {work.name: work for work in find_workloads(["resnet-dmazerunner"])}


def layer_problem(name: str, objective: str, *, divisors_only: bool) -> Problem:
    """A layer on the machine."""
    layer = StoredLayer(replace(LAYERS[name].nest, name=name), LAYERS[name].stored)
    design = DmazerunnerDesign(find_architecture(MACHINE), layer, divisors_only)
    return Problem(
        design,
        (),
        Objective(objective, parse_expression(objective, where="objective", allowed=VOCABULARY)),
    )
