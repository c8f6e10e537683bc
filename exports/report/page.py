"""The report: all sections put into one page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from ithaca import __version__
from ithaca.exports.report.answer import Verdict, answer, cards, findings, verdict
from ithaca.exports.report.array_drawing import array_drawing
from ithaca.exports.report.blocks import Paragraph, Section
from ithaca.exports.report.configuration import BestConfiguration, best_configuration
from ithaca.exports.report.costs import latency, resources
from ithaca.exports.report.landscape import AROUND, landscape
from ithaca.exports.report.proof import certificate, designs
from ithaca.formulations.shown_numbers import number
from ithaca.solver.certificate import Status
from ithaca.solver.loaded_result import LoadedResult
from ithaca.studies.explanation.explanation import Explanation

if TYPE_CHECKING:
    from jinja2 import Template


def report_page(result: LoadedResult, explanation: Explanation, statements: Sequence[str], around: int = AROUND) -> str:
    """A self-contained HTML page about a result.

    Parameters
    ----------
    result : LoadedResult
        The result.
    explanation : Explanation
        What is known of its best configuration.
    statements : sequence of str
        The explanation in words, each ``term: statement``.
    around : int
        Largest distance of a factor from the answer's in the landscape.

    Returns
    -------
    str
        The page. It loads nothing and runs nothing; the same arguments give the same page.
    """
    best = best_configuration(result, explanation)
    if best is None:
        sections, found = _nothing(result, explanation), _failed(result)
    else:
        sections, found = _found(best, statements, around), verdict(best.certificate, best.objective)
    style = (files("ithaca.exports.report") / "style.css").read_text(encoding="utf-8")
    sizes = ", ".join(f"{name} = {number(n)}" for name, n in result.nest.settings.items())
    return _template().render(
        title=f"{result.nest.name} on {result.platform_name}",
        facts=(
            ("workload", f"{result.nest.name} ({sizes})"),
            ("statement", str(result.nest)),
            ("data type", result.data.name),
            ("platform", result.platform_name),
            ("minimised", result.objective.text),
            ("edition", result.edition.value),
        ),
        verdict=found,
        cards=() if best is None else cards(best),
        sections=sections,
        style=style,
        # what the browser hashes is the text between the tags
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        version=__version__,
    )


def _found(best: BestConfiguration, statements: Sequence[str], around: int) -> tuple[Section, ...]:
    return (
        answer(best),
        certificate(best),
        findings(statements),
        latency(best),
        resources(best),
        array_drawing(best),
        designs(best.result),
        landscape(best, around),
    )


def _nothing(result: LoadedResult, explanation: Explanation) -> tuple[Section, ...]:
    failure = explanation.failure or "nothing was found"
    text = f"{failure[:1].upper()}{failure[1:]}."
    return (Section("answer", "Why there is no configuration", (Paragraph(text),)), designs(result))


def _failed(result: LoadedResult) -> Verdict:
    if all(s.certificate.status is Status.INFEASIBLE for s in result.solutions):
        return Verdict("infeasible", "✕", "Proven infeasible", "No configuration of any design meets the limits.")
    return Verdict("unknown", "?", "Nothing found", "The search ended before it found a configuration.")


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("ithaca.exports.report", ".")
    # names and expressions come from users' files: everything is escaped but what ElementTree wrote
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html")
