"""A results folder of single problems, each kept under a hash of what was asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from ithaca.formulations.problem import Problem
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.studies.fingerprint import fingerprint
from ithaca.studies.store import Note, Store


class ProblemStore(Store):
    """A `Store` of single problems.

    Besides the problem, engine, gap and seed are part of the hash: engines may find different ones of several
    equally good configurations, and a resumed run shall give what it would have given in one go. The
    time limit is not: what is proven stays proven, and what is not is searched again only with more time.

    Parameters
    ----------
    folder : Path
        Made if missing.
    method : Method
        The engine.
    options : SolveOptions
        Whose gap and seed count.
    note : callable
        Told of files that cannot be used.
    """

    def __init__(self, folder: Path, method: Method, options: SolveOptions, note: Note = lambda line: None) -> None:
        super().__init__(folder, note)
        self._asked = [method.value, repr(options.gap), options.seed]
        self._paths: dict[int, tuple[Problem, Path]] = {}

    def path(self, problems: Sequence[Problem]) -> Path:
        """Where the answer to a problem is kept."""
        (problem,) = problems
        # a hash takes longer than a look into the folder, and is asked for twice
        if id(problem) not in self._paths:
            text = json.dumps([fingerprint(problems), *self._asked])
            name = hashlib.sha256(text.encode()).hexdigest()
            self._paths[id(problem)] = problem, self.folder / f"{name}.json"
        return self._paths[id(problem)][1]
