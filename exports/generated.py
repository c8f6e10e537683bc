"""Arrays as hardware: what a family says of its own, from which a tool writes whole folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ithaca.files.registry import Registry
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.solver.solution import Solution
from ithaca.workloads.nest import LoopNest


@dataclass(frozen=True)
class ArrayPort:
    """The stream of a tensor from memory or to it, words of 32 bits."""

    tensor: str
    """The name of the tensor."""
    reads: bool
    """Whether the array reads it."""
    words: Sequence[int | None]
    """The bits of each word, in order; None where its value does not matter."""


@dataclass(frozen=True)
class GeneratedArray:
    """An array in SystemVerilog, and what it must do."""

    statement: LoopNest
    """The work."""
    design: str
    """The name of the design."""
    expected: Mapping[str, Any]
    """Cycles, resources and elements, as a document."""
    ports: Sequence[ArrayPort]
    """Its ports, those that it reads first."""
    files: Mapping[str, str]
    """The modules ``array`` and ``array_pe``, and what describes them: texts by name."""


@dataclass(frozen=True)
class ArrayGenerator:
    """A family's arrays as hardware."""

    workloads: str
    """The name of its workloads, in the plural."""
    configured: Callable[[Solution], Any]
    """The configuration of a solution that has one, as it is exported."""
    problem: Callable[[Any], tuple[Problem, Configuration]]
    """The problem that such a configuration alone answers, and its factors."""
    obstacles: Callable[[Any], tuple[str, ...]]
    """Reasons why a configuration cannot be written."""
    generated: Callable[[Any], GeneratedArray]
    """The array of a configuration that nothing speaks against."""


#: Generators by family.
GENERATORS: Registry[ArrayGenerator] = Registry("hardware")
