"""Solutions of programs by other solvers, as sources of configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

#: The ending of files of solutions.
ENDING = ".sol"


@runtime_checkable
class SolvedModel(Protocol):
    """A model of Pyomo with values."""

    def component_data_objects(self, *kinds: Any) -> Any:
        """All variables, say."""


def is_solution(source: object) -> bool:
    """Whether something is a solution of a program: a file, or a model of Pyomo."""
    if isinstance(source, str | Path):
        return Path(source).suffix.lower() == ENDING
    return isinstance(source, SolvedModel)
