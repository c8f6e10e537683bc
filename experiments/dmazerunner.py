"""The layers that dMazeRunner is evaluated on, and its machine."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.problem import Objective, Problem
from ithaca.formulations.spatial.dmazerunner.design import VOCABULARY, DmazerunnerDesign
from ithaca.formulations.spatial.dmazerunner.layers import KINDS
from ithaca.formulations.spatial.dmazerunner.model import Layer
from ithaca.formulations.spatial.library import find_architecture
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

#: Machine and batch of the paper's evaluation.
MACHINE, BATCH = "dmazerunner-256", 4

#: ResNet-18's layers that it evaluates: filters, channels, output and filter extent, stride, and input extent as padded.
LAYERS: Mapping[str, tuple[int, int, int, int, int, int]] = {
    "conv1": (64, 3, 112, 7, 2, 230),
    "conv2_2": (64, 64, 56, 3, 1, 58),
    "conv3_2": (128, 128, 28, 3, 1, 30),
    "conv4_2": (256, 256, 14, 3, 1, 16),
    "conv5_1": (512, 256, 7, 3, 2, 16),
    "conv5_2": (512, 512, 7, 3, 1, 9),
}


def layer_problem(name: str, objective: str, *, divisors_only: bool) -> Problem:
    """A layer on the machine."""
    m, c, o, f, stride, x = LAYERS[name]
    statement, simd = KINDS["conv"]
    output, inputs = parse_statement(statement, {"S": stride})
    extents = (("N", BATCH), ("M", m), ("C", c), ("Ox", o), ("Oy", o), ("Fx", f), ("Fy", f))
    memory = (("I", (BATCH, c, x, x)), ("W", (m, c, f, f)), ("O", (BATCH, m, o, o)))
    layer = Layer(LoopNest(name, extents, output, inputs, simd=simd), memory)
    design = DmazerunnerDesign(find_architecture(MACHINE), layer, divisors_only)
    return Problem(design, (), Objective(objective, parse_expression(objective, where="objective", allowed=VOCABULARY)))
