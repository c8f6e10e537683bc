"""The answer: the configuration, its metrics, how good it is, and what limits it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.exports.report.blocks import (
    Block,
    Section,
    Statements,
    chart_figure,
    view_blocks,
)
from ithaca.files.numbers import engineering, number, percent
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Metric
from ithaca.formulations.directions import as_asked, name_asked
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.problem import Problem
from ithaca.results.explanation import limit_uses
from ithaca.results.result_view import ALL
from ithaca.results.view import Loops, Table
from ithaca.results.wording import microjoules
from ithaca.solver.certificate import Certificate, Status, as_stated
from ithaca.solver.result import Result
from ithaca.solver.solution import Solution


@dataclass(frozen=True)
class BestConfiguration:
    """A configuration, and what is known of it."""

    result: Result
    """The result it is the best of."""
    solution: Solution
    """The solution, with what is proven of its design."""
    configuration: Configuration
    """Its quantities."""
    value: Fraction

    @property
    def certificate(self) -> Certificate:
        """The certificate over all designs of the result."""
        return self.result.certificate

    @property
    def problem(self) -> Problem:
        """The problem that the configuration solves: its design, limits and objective."""
        return self.solution.problem

    @property
    def objective(self) -> str:
        """The objective, as text."""
        return self.result.objective.text

    @property
    def subject(self) -> str:
        """The workload and the platform, as text."""
        return f"{self.solution.profile.title}, {self.result.platform_name}"

    @property
    def cards(self) -> tuple[Card, ...]:
        """The figures at the top of its page."""
        known, note = self.problem.design.vocabulary, f"design {self.solution.design}"
        name, value = as_asked(self.objective, self.value)
        return cards(name, value, self.solution.metrics, known, note)

    def unit(self, metric: str) -> str:
        """Unit of a metric; empty for an expression."""
        known = self.problem.design.vocabulary
        return known[metric].unit if metric in known else ""


def sought(objective: str) -> tuple[str, str]:
    """A fact on what is minimised, or maximised."""
    name = name_asked(objective)
    return "minimised" if name == objective else "maximised", name


def best_configuration(result: Result) -> BestConfiguration | None:
    """The best configuration of a result; None where it has none."""
    best = result.best
    if best is None or best.configuration is None or best.value is None:
        return None
    return BestConfiguration(result, best, best.configuration, best.value)


@dataclass(frozen=True, slots=True)
class Card:
    """A figure to see at once."""

    label: str
    """The label, the number, its unit, and a remark."""
    value: str
    unit: str
    note: str


@dataclass(frozen=True)
class FamilySections:
    """The sections of a report that only a family's configurations have."""

    answer: tuple[Block, ...] = ()
    """The configuration in the family's terms; nothing for its plain quantities."""
    costs: tuple[Section, ...] = ()
    """Where the costs come from, and a picture."""
    drawing: tuple[Section, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The end of a search in a few words."""

    status: str
    """The status as results state it."""
    mark: str
    """A sign beside it, so that colour does not carry the meaning alone."""
    text: str
    detail: str
    """The proof in words."""


#: How a search ended, by status: a sign beside it, and words.
ENDS = {
    "optimal": ("✓", "Proven optimal"),
    "feasible": ("≥", "Not proven optimal"),
    "infeasible": ("✕", "Proven infeasible"),
    "unknown": ("?", "Nothing found"),
}

#: Figures of a run to see at once, beside the objective.
AT_ONCE = ("latency", "time", "throughput", "energy", "off_chip_words")


def verdict(answer: Any, proof: Certificate | None = None) -> Verdict:
    """The end of an answer's search in words, by a proof of all of it if there is one; of an answer
    that was read from a file, said to be what that states."""
    sign, text = ENDS[answer.status]
    if proof is not None and proof.status is Status.OPTIMAL:
        text = f"Proven {proof.stated(answer.basis)}"
    elif proof is None and answer.status == Status.OPTIMAL.value:
        text += answer.basis
    detail, stated = answer.failure or answer.headline, as_stated(answer)
    return Verdict(answer.status, sign, text, f"{detail.removesuffix(stated)}{stated}.")


def cards(
    objective: str,
    value: Fraction | None,
    metrics: Mapping[str, Fraction | None],
    known: Mapping[str, Metric],
    note: str,
) -> tuple[Card, ...]:
    """The figures at the top: the objective, then what one asks next.

    Parameters
    ----------
    objective : str
        What was minimised, as it was asked for.
    value : Fraction or None
        Its value; without one there is no figure of it.
    metrics : mapping of str to Fraction or None
        Further figures, by metric; those of `AT_ONCE` are shown.
    known : mapping of str to Metric
        The metrics, with their units.
    note : str
        A remark on the objective.
    """
    more = {n: metrics[n] for n in AT_ONCE if n != objective and metrics.get(n) is not None}
    units = {name: known[name].unit for name in (objective, *more) if name in known}
    return tuple(
        card(name, own, units.get(name, ""), note if name == objective else "")
        for name, own in {objective: value, **more}.items()
        if own is not None
    )


def card(name: str, value: Fraction | None, unit: str, note: str = "") -> Card:
    """A figure at the top; energies are in µJ, as everywhere on the page.

    Parameters
    ----------
    name : str
        The metric, or an expression.
    value : Fraction or None
        Its value.
    unit : str
        Its unit in the model.
    note : str, optional
        A remark.
    """
    label = name.replace("off_chip", "off-chip").replace("_", " ")
    if unit == "pJ":
        return Card(label, microjoules(value), "µJ", note)
    return Card(label, engineering(value), unit, note)


def answer(best: BestConfiguration, own: Sequence[Block]) -> Section:
    """The section on the configuration, with the family's own blocks and all metrics."""
    view = [
        block
        for block in best.result.view[1:]
        if not isinstance(block, Loops) and getattr(block, "caption", "") != ALL
    ]
    return Section("answer", "The configuration", (*view_blocks(view), *own, _metrics(best)))


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


#: Names with a share behind them, such as those of limits and tensors.
_SHARED = re.compile(r"([^\W\d]\w*) [+−]?\d[\d.]* %")


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
    names = {*names, *(name for text in statements for name in _SHARED.findall(text))}
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
    """The section on the used and unused part of every limit."""
    bars = []
    for use in limit_uses(best.problem, best.configuration):
        unit = best.unit(use.metric)
        share = None if use.slack_share is None else 1 - use.slack_share
        used = "–" if share is None else _used(share)
        note = f"{used}: {number(use.used)} of {number(use.bound)} {unit}".rstrip()
        if is_requirement(use.metric):
            note = f"required: {number(use.slack)} to spare"
        bars.append(
            Bar(
                use.metric,
                None if share is None else float(share) * 100,
                note,
                "main" if use.slack else "limit",
            )
        )
    shares = [bar.value for bar in bars if bar.value is not None]
    block: Block = "No limits were given."
    if shares:
        ends = (min(0.0, *shares), max(100.0, *shares))
        chart = BarChart(
            "Use of every limit", "% of the limit", tuple(bars), (100.0, "limit"), ends
        )
        block = chart_figure("resources-chart", chart)
    return Section("resources", "Resources against limits", (block,))


def _used(share: Fraction) -> str:
    """A share in per cent; 100 only where nothing is left."""
    return (
        "more than 99.99 %"
        if 0.9999 < share < 1
        else f"{float(share):.2%}".replace("%", " %")
        if 0.999 < share < 1
        else percent(share)
    )
