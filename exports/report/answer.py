"""The answer: the configuration, its metrics, how good it is, and what limits it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.exports.report.blocks import Block, Paragraph, Section, Statements, Table, chart_figure
from ithaca.files.numbers import engineering, number, percent
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Problem
from ithaca.results.explanation import Explanation, LimitUse
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution


@dataclass(frozen=True)
class BestConfiguration:
    """A configuration, and what is known of it."""

    result: Result
    """The result it is the best of."""
    solution: Solution
    """It, and what is proven of its design."""
    configuration: Configuration
    """Its quantities."""
    value: Fraction
    limits: tuple[LimitUse, ...]
    """What it leaves of the limits."""
    certificate: Certificate
    """What is proven over all designs of the result."""

    @property
    def problem(self) -> Problem:
        """What was asked of its design."""
        return self.solution.problem

    @property
    def objective(self) -> str:
        """What is minimised."""
        return self.result.objective.text

    @property
    def subject(self) -> str:
        """Which workload on which platform."""
        return f"{self.solution.profile.title}, {self.result.platform_name}"

    def unit(self, metric: str) -> str:
        """Unit of a metric; empty for an expression."""
        known = self.problem.design.vocabulary
        return known[metric].unit if metric in known else ""


def best_configuration(result: Result, explanation: Explanation) -> BestConfiguration | None:
    """The best configuration of a result; None where it has none."""
    solution, certificate = explanation.solution, explanation.certificate
    if (
        solution is None
        or solution.configuration is None
        or solution.value is None
        or certificate is None
    ):
        return None
    return BestConfiguration(
        result, solution, solution.configuration, solution.value, explanation.limits, certificate
    )


@dataclass(frozen=True, slots=True)
class Card:
    """A figure to see at once."""

    label: str
    """What it is, the number, its unit, and a remark."""
    value: str
    unit: str
    note: str


@dataclass(frozen=True)
class FamilySections:
    """What a report shows of a family's configuration beside what it shows of any."""

    cards: tuple[Card, ...] = ()
    """Figures at the top."""
    answer: tuple[Block, ...] = ()
    """The configuration in the family's terms; nothing for its plain quantities."""
    costs: tuple[Section, ...] = ()
    """Where the costs come from, and a picture."""
    drawing: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the search ended, in a few words."""

    status: str
    """The status as results state it."""
    mark: str
    """A sign beside it, so that colour does not carry the meaning alone."""
    text: str
    detail: str
    """What is proven."""


def verdict(certificate: Certificate, objective: str, result: object = None) -> Verdict:
    """What is proven of a configuration; of a result that was read from a file, said to be what
    that states.

    Parameters
    ----------
    certificate : Certificate
        The proof.
    objective : str
        What was minimised, as it was asked for.
    result : object, optional
        The result that it is of; by default none that was read.
    """
    proven = _verdict(certificate, objective)
    return (
        proven
        if result is None
        else replace(proven, detail=f"{proven.detail[:-1]}{as_stated(result)}.")
    )


def _verdict(certificate: Certificate, objective: str) -> Verdict:
    if certificate.status is Status.OPTIMAL:
        which = f"with {certificate.among}" if certificate.among else "of the designs considered"
        detail = (
            f"No configuration {which} is better: the lower bound equals "
            "the value in exact arithmetic."
        )
        return Verdict("optimal", "✓", f"Proven {certificate.told}", detail)
    if certificate.lower_bound is None:
        return Verdict(
            certificate.status.value, "?", "Not proven optimal", "No lower bound is known."
        )
    detail = f"No {objective} below {number(certificate.lower_bound)} is possible"
    detail += "." if certificate.gap is None else f"; the gap is {percent(certificate.gap)}."
    return Verdict(certificate.status.value, "≥", "Not proven optimal", detail)


def cards(best: BestConfiguration, own: Sequence[Card]) -> tuple[Card, ...]:
    """The figures at the top: the objective, then what one asks next."""
    return Card(
        best.objective,
        engineering(best.value),
        best.unit(best.objective),
        f"design {best.solution.design}",
    ), *own


def answer(best: BestConfiguration, own: Sequence[Block]) -> Section:
    """The configuration in tables: what its family shows, else its quantities; and all metrics."""
    space = best.problem.space
    rows = tuple(
        (name, number(best.configuration[name]), best.solution.profile.meaning(name)[1])
        for name in space.quantities
    )
    blocks = [*own] or [
        Table("Quantities", ("quantity", "value", "meaning"), rows, frozenset({0, 2}))
    ]
    return Section("answer", "The configuration", (*blocks, _metrics(best)))


def _metrics(best: BestConfiguration) -> Table:
    known = best.problem.design.vocabulary
    rows = tuple(
        (name, number(value), known[name].unit, known[name].meaning)
        for name, value in best.solution.metrics.items()
    )
    for kind, details in best.solution.detail.items():
        rows += tuple(
            (f"off-chip {name}", number(value), kind, f"of them {name}")
            for name, value in details.items()
        )
    return Table(
        "Metrics", ("metric", "value", "unit", "meaning"), rows, frozenset({0, 2, 3}), folded=True
    )


def findings(
    statements: Sequence[str],
    names: Collection[str],
    title: str = "What limits it, and what to change first",
) -> Section:
    """Statements such as ``Limit dsp: …`` under their terms, the words of ``ithaca explain``.

    No capital letter begins a sentence with the name of a metric, one of ``names``.

    Parameters
    ----------
    statements : sequence of str
        Each ``term: statement``.
    names : collection of str
        Names of metrics, which stay as they are where they begin a sentence.
    title : str, optional
        The heading.
    """
    entries: dict[str, list[str]] = {}
    for statement in statements:
        term, _, text = statement.partition(": ")
        entries.setdefault(term, []).append(_sentence(text, names))
    listed = tuple((term, tuple(texts)) for term, texts in entries.items() if term != "Result")
    return Section("findings", title, (Statements(listed),))


def _sentence(text: str, names: Collection[str]) -> str:
    """A statement with a capital letter, unless it begins with a name."""
    first = text.partition(" ")[0]
    return f"{text[:1].upper()}{text[1:]}" if first.isalpha() and first not in names else text


def resources(best: BestConfiguration) -> Section:
    """What is used of every limit, and what is left."""
    uses = best.limits
    if not uses:
        return Section(
            "resources", "Resources against limits", (Paragraph("No limits were given."),)
        )
    bars, rows = [], []
    for use in uses:
        unit = best.unit(use.metric)
        share = None if use.slack_share is None else 1 - use.slack_share
        used = "–" if share is None else _used(share)
        note = f"{used}: {number(use.used)} of {number(use.bound)} {unit}".rstrip()
        bars.append(
            Bar(
                use.metric,
                None if share is None else float(share) * 100,
                note,
                "main" if use.slack else "limit",
            )
        )
        rows.append(
            (use.metric, number(use.used), number(use.bound), unit or "–", number(use.slack), used)
        )
    shares = [bar.value for bar in bars if bar.value is not None]
    blocks: list[Block] = []
    if shares:
        ends = (min(0.0, *shares), max(100.0, *shares))
        chart = BarChart(
            "Use of every limit", "% of the limit", tuple(bars), (100.0, "limit"), ends
        )
        blocks.append(chart_figure("resources-chart", chart))
    columns = ("limit", "used", "bound", "unit", "left", "used of it")
    blocks.append(
        Table("Limits, the one with the least left first", columns, tuple(rows), frozenset({0, 3}))
    )
    return Section("resources", "Resources against limits", tuple(blocks))


def _used(share: Fraction) -> str:
    """A share in per cent; 100 only where nothing is left."""
    return (
        "more than 99.99 %"
        if 0.9999 < share < 1
        else f"{float(share):.2%}".replace("%", " %")
        if 0.999 < share < 1
        else percent(share)
    )
