"""`ithaca.load`: answers from files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument

from ithaca.commands.api.keywords import public
from ithaca.commands.api.opening import answer_of, read_answer
from ithaca.commands.api.options import LayerName
from ithaca.files.answer import Answer
from ithaca.files.reading import read_document
from ithaca.solver.result import Result
from ithaca.studies.front import Front
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.whatif import Study

#: Answers with configurations.
Opened = Result | NetworkResult | Front | Study


@public
def load(
    path: Annotated[
        str | Path,
        Argument(
            metavar="FILE",
            help="File of an answer, or the JSON document that a command printed.",
        ),
    ],
    *,
    layer: LayerName = None,
) -> Opened | Answer:
    """Read a result, and check it against the model: of a workload, a network, a co-design, or a
    layer of one; a front, a what-if study, matches, a simulation, or mapped layers.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> r.save("r.json")
    >>> ithaca.load("r.json").value
    Fraction(58, 1)
    """
    answer = read_answer(read_document(path), Path(path))
    return answer if layer is None else answer_of(answer, layer)
