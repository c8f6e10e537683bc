"""What the functions of `ithaca` answer: results that say what is proven, and can be shown, written
and asked further."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import ithaca
from ithaca.files.csv_text import csv_text
from ithaca.files.errors import InputError
from ithaca.files.numbers import number
from ithaca.files.writing import SCHEMA, document_text, write_text_atomically
from ithaca.formulations.families import profile_of
from ithaca.results.files import result_document
from ithaca.results.network import network_document
from ithaca.results.table import network_table
from ithaca.solver import result as results
from ithaca.solver.certificate import OWN, Certificate, Status, as_stated
from ithaca.solver.infeasibility import why_infeasible
from ithaca.solver.solution import Solution
from ithaca.studies.best import conclude_least
from ithaca.studies.network import result as networks

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from ithaca.exports.charts.chart import Chart


#: Columns of the tables that notebooks show; `Answer.to_dataframe` has all.
SHOWN = {"kernel", "count", "value", "lower_bound", "status", "dataflow", "permutation"} | {
    "latency",
    "dsp",
    "bram18k",
    "throughput",
}


def least(statuses: Iterable[Status]) -> Status:
    """What holds for all of several: the status that says least."""
    order = (Status.UNKNOWN, Status.INFEASIBLE, Status.FEASIBLE, Status.OPTIMAL)
    return min(statuses, key=order.index)


class Wrote(str):
    """What was written, in a line or two."""

    parts: tuple[str, str]
    """Where, and what."""

    def __new__(cls, place: str | Path, what: str) -> Wrote:
        """What was written where."""
        line = super().__new__(cls, f"wrote {place}: {what}")
        line.parts = str(place), what
        return line

    @property
    def document(self) -> dict[str, Any]:
        """The same as a JSON document."""
        return {"schema": SCHEMA, "wrote": self.parts[0], "what": self.parts[1]}


class Answer(ABC):
    """What all answers can do."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """What was asked and what is proven, in one line."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def _repr_html_(self) -> str:
        from ithaca.exports.report.cell import chart_cell

        table = self.to_dataframe()
        columns = [name for name in table if name in SHOWN or name.startswith("objectives.")]
        return chart_cell(self.headline, self.picture, table[columns or list(table)]._repr_html_())

    @property
    def picture(self) -> Chart | None:
        """A picture of it, where there is one."""
        return None

    @property
    def failure(self) -> str:
        """Why there is no answer, in one line; empty where there is one."""
        return ""

    @property
    def parts(self) -> Mapping[str, Answer]:
        """The answers that it consists of, by name; none: it is one."""
        return {}

    @property
    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The answer as a JSON document."""

    @abstractmethod
    def to_xarray(self) -> xr.Dataset:
        """The answer as labelled arrays, with units; numbers are doubles."""

    def to_dataframe(self) -> pd.DataFrame:
        """The answer as a table; numbers are doubles."""
        from ithaca.results.datasets import as_table

        return as_table(self.to_xarray())

    @property
    def table(self) -> str:
        """The table as CSV; what does not exist is empty."""
        frame = self.to_dataframe().reset_index()
        columns, rows = list(map(str, frame.columns)), frame.itertuples(index=False)
        return csv_text(columns, ([_cell(value) for value in row] for row in rows))

    def save(self, path: str | Path) -> None:
        """Write the answer as NetCDF if the name ends in .nc, else as JSON."""
        if Path(path).suffix.lower() == ".nc":
            from ithaca.files.netcdf import save_netcdf

            save_netcdf(self.to_xarray(), Path(path))
        else:
            write_text_atomically(path, document_text(self.document))

    def explain(self, **options: Any) -> ithaca.Words:
        """Explain what limits it, and what to change first: `ithaca.explain`."""
        return ithaca.explain(self, **options)

    def verify(self, **options: Any) -> ithaca.Verification:
        """Check its values and its proofs anew: `ithaca.verify`."""
        return ithaca.verify(self, **options)

    def report(self, path: str | Path, **options: Any) -> str:
        """Write it as one self-contained page: `ithaca.report`."""
        text: str = ithaca.report(self, path, **options)
        return text

    def export(self, to: str, folder: str | Path, **options: Any) -> str:
        """Write its configuration for another tool: `ithaca.export`."""
        text: str = ithaca.export(self, to, folder, **options)
        return text

    @classmethod
    def of(cls, answer: Any, **more: Any) -> Self:
        """The answer that engines found, with all that an answer can do."""
        values = {each.name: getattr(answer, each.name) for each in fields(answer)}
        return cls(**{**values, **more})


def _cell(value: Any) -> Any:
    """A number of a table: whole ones without a fraction; those that do not exist as nothing."""
    if not isinstance(value, float):
        return value
    return "" if isnan(value) else int(value) if value.is_integer() else value


class StudyAnswer(Answer):
    """What answers can do that have many points."""

    def __eq__(self, other: object) -> bool:
        """Whether the same is found and proven: files state neither boxes nor seconds of all
        searches."""
        return isinstance(other, type(self)) and self.document == other.document

    @property
    @abstractmethod
    def chart(self) -> Chart:
        """The picture that `plot` draws. Raises `InputError` if there is none of so many axes or
        objectives."""

    @property
    def picture(self) -> Chart | None:
        try:
            return self.chart
        except InputError:
            return None

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the answer, as a figure of matplotlib's, and to a .png, .svg, .pdf or .html file if
        one is named."""
        from ithaca.exports.charts.files import save_plot

        return save_plot(self.chart, path)


@dataclass(frozen=True, repr=False)
class Result(Answer, results.Result):
    """The answer of `ithaca.solve`: the best configuration, its proof, and the solution of every
    design."""

    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def headline(self) -> str:
        what = f"{profile_of(self.problem.design).title}, on {self.platform_name}"
        design = "" if self.best is None else f", design {self.best.design}"
        return (
            f"{what}{design}: {_value_text(self.objective.text, self.value, self.certificate.told)}"
        )

    def _repr_html_(self) -> str:
        from ithaca.exports.report.cell import result_cell
        from ithaca.results.explanation import chosen_solutions, explain

        return result_cell(self.headline, self, explain(self, chosen_solutions(self, None), None))

    @property
    def loops(self) -> str:
        """The mapping of the best configuration as a loop nest; empty where none was found."""
        return "" if self.best is None else loop_text(self.best)

    def refine(self, **options: Any) -> Result:
        """Improve the configurations by evolution: `ithaca.refine`."""
        refined: Result = ithaca.refine.refine(self, **options)
        return refined

    def grid(self, **options: Any) -> ithaca.Grid:
        """Evaluate the cost model exactly around the best configuration: `ithaca.grid`."""
        return ithaca.grid(self, **options)

    def seed(self, tool: str, path: str | Path, **options: Any) -> str:
        """Write a start population for another search tool: `ithaca.seed`."""
        text: str = ithaca.seed(self, tool, path, **options)
        return text

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
    def failure(self) -> str:
        if self.best is not None:
            return ""
        if not all(s.certificate.status is Status.INFEASIBLE for s in self.designs):
            return self.certificate.failure
        shortfalls = [shortfall for solution in self.designs for shortfall in solution.shortfalls]
        return (
            "infeasible: "
            f"{why_infeasible([solution.problem for solution in self.designs], shortfalls)}"
            f"{as_stated(self)}"
        )

    @property
    def document(self) -> dict[str, Any]:
        return result_document(self)

    def to_xarray(self) -> xr.Dataset:
        """The solutions by design, as labelled arrays with units; numbers are doubles."""
        from ithaca.results.datasets import result_dataset

        return result_dataset(self)


@dataclass(frozen=True, repr=False, eq=False)
class NetworkResult(StudyAnswer, networks.NetworkResult):
    """The answer of `ithaca.network`: how every layer is run, and what is proven of it and of the
    total."""

    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""
    remarks: tuple[str, ...] = ()
    """What else a co-design found of the arrays' shares, line by line; files do not have it."""

    @property
    def headline(self) -> str:
        question = self.request
        what = f"{self.network.name} {question.label}, {self.mode}, on {question.place}"
        return f"{what}: {_value_text(question.objective.text, self.value, self.status)}"

    @property
    def certificate(self) -> Certificate:
        """What is proven of the total. Raises `InputError` if there is none."""
        if self.total is None:
            raise InputError(f"{self.request.objective.text} does not add up over layers")
        return self.total.certificate

    @property
    def status(self) -> str:
        """What is proven of the total; where the objective does not add up over layers, the least
        that is proven of any."""
        if self.total is not None:
            return self.total.certificate.status.value
        return least(layer.answer.certificate.status for layer in self.layers).value

    @property
    def value(self) -> Fraction | None:
        """The objective over the whole network; None where a layer has no configuration, or it does
        not add up over layers."""
        return None if self.total is None else self.total.value

    @property
    def lower_bound(self) -> Fraction | None:
        """No network that the mode allows has a smaller total; None where nothing is proven, or
        there is no total."""
        return None if self.total is None else self.total.certificate.lower_bound

    @property
    def failure(self) -> str:
        from ithaca.results.network_explanation import network_failure

        return "" if self.answered else f"{network_failure(self)}{as_stated(self)}"

    @property
    def document(self) -> dict[str, Any]:
        return network_document(self)

    @property
    def loops(self) -> dict[str, str]:
        """The mapping of every layer as a loop nest, by name."""
        return {layer.layer.name: loop_text(layer.answer) for layer in self.layers}

    def to_xarray(self) -> xr.Dataset:
        """The layers as labelled arrays with units, figures of one run each; numbers are
        doubles."""
        from ithaca.results.datasets import network_dataset

        return network_dataset(self)

    @property
    def table(self) -> str:
        return network_table(self)

    @property
    def chart(self) -> Chart:
        from ithaca.exports.charts.network import network_chart

        return network_chart([self])

    def plot(self, path: str | Path | None = None, compare: Sequence[NetworkResult] = ()) -> Figure:
        """Draw what each layer takes, as a figure and to a file like other answers, alone or
        against other results of the network."""
        from ithaca.exports.charts.files import save_plot
        from ithaca.exports.charts.network import network_chart

        return save_plot(network_chart([self, *compare]), path)


def loop_text(solution: Solution) -> str:
    """The configuration of a solution as a loop nest; loops of one iteration are left out."""
    return (
        ""
        if solution.configuration is None
        else "\n".join(solution.profile.loops(solution.configuration))
    )


def _value_text(objective: str, value: Fraction | None, status: str) -> str:
    return status if value is None else f"{objective} {number(value)} ({status})"
