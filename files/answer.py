"""Answers of functions: the base classes of all kinds. Later layers make documents, tables and
charts of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ithaca.files.errors import InputError
from ithaca.files.extras import naming_extras
from ithaca.files.registry import Registry
from ithaca.files.writing import SCHEMA, document_text, write_text_atomically

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

#: The public names of the package.
NAMES: Registry[Any] = Registry("names")

#: What makes documents, views, labelled arrays, tables and charts of answers: functions by the name
#: of the answer's class and what they make, or by that alone where it is one for all.
MADE: Registry[Callable[..., Any]] = Registry("answers")


class Answer:
    """The base of all answers."""

    again: ClassVar[str] = "computed again"
    """Words on what was done anew when it was read from a file, for what is then no claim."""

    def made(self, what: str, *more: Any) -> Any:
        """Make something of the answer, as its kind does.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.made("document")["best"]["metrics"]["latency"]
        58
        """
        return MADE[f"{type(self).__name__}.{what}"](self, *more)

    @property
    @abstractmethod
    def headline(self) -> str:
        """The question and its proof, in one line."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline}>"

    def _repr_html_(self) -> str:
        return str(MADE["cell"](self))

    @property
    def failure(self) -> str:
        """The reason why there is no answer, in one line; empty where there is one."""
        return ""

    @property
    def basis(self) -> str:
        """Words after a status: by what, and of how much of what was asked for, all of it is
        proven; empty where that needs no words."""
        return ""

    @property
    def parts(self) -> Mapping[str, Answer]:
        """The answers that it consists of, by name; none: it is one."""
        return {}

    @property
    def layer_names(self) -> Sequence[str]:
        """The names of its layers; none: it is of one workload."""
        return ()

    @property
    def mapped(self) -> Mapping[str, Any]:
        """The solutions whose mappings it is, by what names each."""
        return {}

    @property
    def view(self) -> Any:
        """The view of the answer for terminals and pages: facts, sentences and tables."""
        return self.made("view")

    @property
    def document(self) -> dict[str, Any]:
        """The answer as a JSON document."""
        return dict(self.made("document"))

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "to_xarray" in vars(cls):
            setattr(cls, "to_xarray", naming_extras(cls.to_xarray))  # noqa: B010

    @naming_extras
    def to_xarray(self) -> xr.Dataset:
        """The answer as labelled arrays, with units; numbers are doubles.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> float(r.to_xarray()["value"].min())
        58.0
        """
        dataset: xr.Dataset = self.made("dataset")
        return dataset

    @property
    def groups(self) -> Mapping[str, xr.Dataset]:
        """Further labelled arrays that its NetCDF file holds, by the name of their group."""
        return {}

    @naming_extras
    def to_dataframe(self) -> pd.DataFrame:
        """The answer as a table; numbers are doubles.

        Examples
        --------
        >>> w = ithaca.whatif("mm", vary="dsp=5,40", i=4, j=4, k=4, dataflow="i,j")
        >>> list(w.to_dataframe()["value"])
        [89.0, 58.0]
        """
        frame: pd.DataFrame = MADE["frame"](self.to_xarray())
        return frame

    @property
    def table(self) -> str:
        """The table as CSV; what does not exist is empty."""
        from ithaca.files.csv_text import frame_text

        return frame_text(self.to_dataframe())

    def save(self, path: str | Path) -> None:
        """Write the answer as NetCDF if the name ends in .nc, else as JSON.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.save("result.json")
        >>> ithaca.load("result.json") == r
        True
        """
        if Path(path).suffix.lower() == ".nc":
            from ithaca.files.netcdf import save_netcdf

            save_netcdf(self.to_xarray(), Path(path), self.groups)
        else:
            write_text_atomically(path, document_text(self.document))

    def explain(self, **options: Any) -> Words:
        """Explain what limits it, and what to change first: `ithaca.explain`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> print(r.explain(quick=True).statements[0])
        Result: mm (i=4, j=4, k=4) fp32, cycle model edition, on u250, minimising latency.
        """
        words: Words = NAMES["explain"](self, **options)
        return words

    def verify(self, **options: Any) -> Verification:
        """Check its values and its proofs anew: `ithaca.verify`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.verify().confirmed
        True
        """
        checks: Verification = NAMES["verify"](self, **options)
        return checks

    def report(self, output: str | Path, **options: Any) -> str:
        """Write it as one self-contained page: `ithaca.report`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.report("page.html", quick=True)
        'wrote page.html: design [i,j] C'
        """
        text: str = NAMES["report"](self, output, **options)
        return text

    def export(self, to: str, output: str | Path, **options: Any) -> str:
        """Write its configuration for another tool: `ithaca.export`.

        Parameters
        ----------
        to : str
            The tool.
        output : str or Path
            The folder to write.
        **options : object
            Further keywords of `ithaca.export`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> print(r.export("python", "model"))
        wrote model: the program of design [i,j] C
        """
        text: str = NAMES["export"](self, to, output, **options)
        return text

    def drawn(self, chart: Any, path: str | Path | None) -> Any:
        """Draw a chart, and write it to a file if one is named.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.drawn(r.made("chart"), "course.svg")
        <Plot: Incumbent and lower bound over samples, design [i,j] C>
        """
        return MADE["drawing"](chart, path)


class StudyAnswer(Answer):
    """The base of answers with many points."""

    def __eq__(self, other: object) -> bool:
        """Whether the same is found and proven: files state neither boxes nor seconds of all
        searches."""
        return isinstance(other, type(self)) and self.document == other.document

    @property
    def chart(self) -> Any:
        """The picture that `plot` draws. Raises `InputError` if there is none of so many axes or
        objectives."""
        return self.made("chart")

    @property
    def picture(self) -> Any:
        """The picture that `plot` draws; None if there is none."""
        try:
            return self.chart
        except InputError:
            return None

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the answer, as a chart that notebooks show and whose `specification` is Vega-Lite's,
        and to a .png, .svg, .pdf or .html file if one is named.

        Examples
        --------
        >>> w = ithaca.whatif("mm", vary="dsp=5,40", i=4, j=4, k=4, dataflow="i,j")
        >>> w.plot("study.svg")
        <Plot: mm (i=4, j=4, k=4) fp32, u250, cycle model edition>
        """
        return self.drawn(self.chart, path)


class Wrote(str):
    """A line or two on a file or folder that was written."""

    parts: tuple[str, str]
    """Where, and what."""

    def __new__(cls, place: str | Path, what: str) -> Wrote:
        """The line on a place and on the contents written there."""
        line = super().__new__(cls, f"wrote {place}: {what}")
        line.parts = str(place), what
        return line

    @property
    def document(self) -> dict[str, Any]:
        """The place and the contents as a JSON document."""
        return {"schema": SCHEMA, "wrote": self.parts[0], "what": self.parts[1]}


@dataclass(frozen=True)
class Words:
    """An explanation in plain words, as `print` shows it, and as a document.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> print(r.explain(quick=True).statements[0])
    Result: mm (i=4, j=4, k=4) fp32, cycle model edition, on u250, minimising latency.
    """

    statements: tuple[str, ...]
    """One a line."""
    document: dict[str, Any] = field(repr=False)
    """The statements as JSON, with what was computed."""
    result: Answer = field(repr=False)
    """The answer that is explained."""
    solution: Any = field(default=None, repr=False)
    """The configuration that is explained, of one workload."""

    def __repr__(self) -> str:
        return f"<Words: {' '.join(self.statements[:2])}>"

    def __str__(self) -> str:
        return "\n".join(self.statements)

    def _repr_html_(self) -> str:
        return "<br>".join(map(escape, self.statements))


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of checking a part of a result."""

    place: str
    """The layer, or the total."""
    line: str
    """The finding, in one line."""
    confirmed: bool
    """Whether all that is claimed of it was proven again."""
    width: int = 10
    """The width of the column that places are printed in."""

    def __str__(self) -> str:
        return f"{self.place:<{self.width}} {self.line}"


@dataclass(frozen=True)
class Verification:
    """The checks of a result that was verified anew.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> checked = r.verify()
    >>> checked.confirmed, len(checked.checks)
    (True, 1)
    """

    checks: tuple[Check, ...]
    """The check of each design, or of each layer and the total."""

    @property
    def confirmed(self) -> bool:
        """Whether all that is claimed was proven again."""
        return all(check.confirmed for check in self.checks)

    def __repr__(self) -> str:
        return f"<Verification: {'' if self.confirmed else 'not all '}confirmed; print says more>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))

    @property
    def document(self) -> dict[str, Any]:
        """The checks, ready for JSON."""
        rows = [{"place": c.place, "line": c.line, "confirmed": c.confirmed} for c in self.checks]
        return {"schema": SCHEMA, "study": "verify", "confirmed": self.confirmed, "checks": rows}
