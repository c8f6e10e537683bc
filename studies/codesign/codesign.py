"""Choose an accelerator and its mappings together: how to run it, and the one function for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.progress import Progress
from ithaca.studies.codesign.bank import LayerBank
from ithaca.studies.codesign.question import Question
from ithaca.studies.codesign.result import CodesignResult
from ithaca.studies.codesign.search import BoxSearch


@dataclass(frozen=True)
class CodesignOptions:
    """How to run a co-design."""

    search: SolveOptions = field(default_factory=SolveOptions)  #: How far: time limit and gap of the whole search
    method: Method = Method.AUTO  #: The engine that layers are solved by
    threads: int = 1  #: How many layers to solve at a time; beyond 1 in processes of their own
    scheduler: str | None = None  #: Address of the scheduler of a Dask cluster to solve on; ``local`` for one on this machine
    results: Path | None = None  #: A folder that keeps layers' optima, and supplies those found before
    report: Callable[[Progress], None] | None = None  #: Told how far the search is; its boxes are those of hardware


def codesign(question: Question, options: CodesignOptions | None = None, bank: LayerBank | None = None) -> CodesignResult:
    """The best accelerator for some layers, or the front of several objectives, with a proof over the whole space.

    A bank may be shared by several questions about one kind of accelerator.
    """
    options = options or CodesignOptions()
    bank = bank or LayerBank(question.space.accelerator, options.method)
    return BoxSearch(question, bank, options.search, options.report).run()
