"""What the functions of `ithaca` answer: results that say what is proven, and can be shown, written and asked further."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from ithaca.formulations.json_numbers import document_text
from ithaca.results import result as results
from ithaca.results.certificate import Certificate
from ithaca.results.files import load_result, result_document
from ithaca.studies.best import conclude_least
from ithaca.workloads.writing import write_text_atomically


@dataclass(frozen=True)
class Result(results.Result):
    """The answer of `ithaca.solve`: the best configuration, its proof, and the solution of every design."""

    source: str = field(default="the result", compare=False)  #: The file it was read from, for messages

    @cached_property
    def certificate(self) -> Certificate:
        """What is proven over all designs."""
        return conclude_least([(s.value, s.certificate) for s in self.designs])

    @property
    def status(self) -> str:
        """What is proven over all designs: optimal, feasible, infeasible or unknown."""
        return self.certificate.status.value

    @property
    def value(self) -> Fraction | None:
        """The objective of the best configuration, exactly; None where none was found."""
        return None if self.best is None else self.best.value

    @property
    def lower_bound(self) -> Fraction | None:
        """No configuration of any design has a smaller objective; None where nothing is proven."""
        return self.certificate.lower_bound

    @property
    def document(self) -> dict[str, Any]:
        """The result as a JSON document."""
        return result_document(self)

    def save(self, path: str | Path) -> None:
        """Write the result (JSON), for `ithaca.load` and all commands that take results."""
        write_text_atomically(path, document_text(self.document))


def load(path: str | Path) -> Result:
    """Read a result, and check it against the model."""
    found = load_result(Path(path))
    return Result(found.platform_name, found.best, found.designs, str(path))
