"""Kinds of questions: how commands offer those of a family, known before anything else of it is
loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from typer import Option

from ithaca.files.words import REPEATED
from ithaca.formulations.formats import ALL_LISTED

#: The group of options that help shows on demand.
RARE = "Rarely needed"

#: Limits as options state them.
Limits = Mapping[str, float | str | None] | Sequence[str] | None


#: Requirements as options state them, and the option.
Require = Annotated[
    str | Sequence[str] | None,
    Option(
        "--require",
        metavar="RULE",
        help="Comparison that must hold, e.g. 'lanes.i == 2*lanes.j' (repeatable).",
    ),
    REPEATED,
]


#: Metrics of one's own as options state them, and the option.
Metrics = Annotated[
    Mapping[str, str] | Sequence[str] | None,
    Option(
        "--metric",
        metavar="NAME=EXPR",
        help="A metric of your own, such as 'pes=lanes.i*lanes.j' (repeatable).",
    ),
    REPEATED,
]


#: Formats of tensors as options state them, and the option.
Formats = Annotated[
    dict[str, str] | Sequence[str] | None,
    Option(
        "--format",
        metavar="TENSOR=TYPE,...",
        help="Types of single tensors, or of W weights, A activations, S sums, e.g. "
        f"W=int4,A=int8. Beside the usual types: {ALL_LISTED}.",
    ),
    REPEATED,
]


@dataclass(frozen=True)
class QuestionOptions:
    """Options that a family reads; those of all families together are what commands take."""

    limit: Annotated[
        Limits, Option("--limit", help="Upper limits on metrics, e.g. latency=1e6."), REPEATED
    ] = None
    require: Require = None
    metric: Metrics = None


def _no_workload(workload: object) -> bool:
    return False


@dataclass(frozen=True)
class QuestionKind:
    """A family's questions as commands offer them."""

    speaks_of: str
    """Name of the things that its own options describe, in the plural."""
    options: type[Any] = QuestionOptions
    """Dataclass of the options that it reads."""
    selector: str = ""
    """The option that asks for this family."""
    alone: Collection[str] = ()
    """Further options, of some commands, that go with this family alone."""
    takes: Callable[[object], bool] = _no_workload
    """Whether only this family has a workload: a name, a file or a nest."""

    @property
    def option_names(self) -> set[str]:
        """The names of the options that the question reads."""
        return {each.name for each in fields(self.options)}
