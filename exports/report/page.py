"""The report: all sections put into one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from types import ModuleType

from ithaca import __version__
from ithaca.exports.charts.page import STYLE, environment, scripts, text_hash
from ithaca.exports.report.answer import (
    BestConfiguration,
    Card,
    FamilySections,
    Verdict,
    answer,
    best_configuration,
    findings,
    resources,
    sought,
    verdict,
)
from ithaca.exports.report.blocks import Section, view_blocks, wide_sections
from ithaca.exports.report.landscape import AROUND, landscape
from ithaca.exports.report.proof import certificate, designs
from ithaca.files.registry import Registry
from ithaca.results.view import Loops, Table
from ithaca.solver.result import Result


def report_page(
    result: Result,
    statements: Sequence[str],
    around: int = AROUND,
    checkpoint: Callable[[], None] | None = None,
) -> str:
    """A self-contained HTML page about a result: it loads nothing; the same arguments give the
    same page.

    Parameters
    ----------
    result : Result
        The result.
    statements : sequence of str
        The explanation in words, each ``term: statement``.
    around : int, optional
        The largest distance of a factor from the answer's in the landscape.
    checkpoint : callable, optional
        Called now and then while the answer is run, and may end that by an `InputError`; None: it
        is not run.
    """
    best = best_configuration(result)
    own = FamilySections() if best is None else family_sections(best, checkpoint)
    sections = _nothing(result) if best is None else _sections(best, own, statements, around)
    heading = dict(result.profile.heading)
    if result.platform_name not in heading.values():
        heading["platform"] = result.platform_name
    return rendered(
        f"{next(iter(heading.values())).partition(' ')[0]} on {result.platform_name}",
        (*heading.items(), sought(result.objective.text)),
        verdict(result, result.certificate),
        () if best is None else best.cards,
        sections,
        statements,
    )


def rendered(
    title: str,
    facts: Sequence[tuple[str, str]],
    outcome: Verdict,
    figures: Sequence[Card],
    sections: Sequence[Section],
    statements: Sequence[str] = (),
) -> str:
    """A page: what was asked, as terms with values, what is proven, the figures to see at once, and
    all else.

    Parameters
    ----------
    title : str
        The heading.
    facts : sequence of tuple of str, str
        What was asked: terms with values.
    outcome : Verdict
        What is proven.
    figures : sequence of Card
        The figures to see at once.
    sections : sequence of Section
        All else, in order.
    statements : sequence of str, optional
        The explanation in words; what binds is said at once.
    """
    style = STYLE + (files("ithaca.exports.report") / "style.css").read_text(encoding="utf-8")
    template = environment("ithaca.exports.report").get_template("page.html")
    charts = any(section.charts for section in sections)
    run = scripts(charts)
    return template.render(
        title=title,
        facts=facts,
        verdict=outcome,
        cards=figures,
        sections=sections,
        wide=wide_sections(sections),
        binding=binding(statements),
        charts=charts,
        style=style,
        style_hash=text_hash(style),
        scripts=run,
        script_hashes=[*map(text_hash, run)],
        version=__version__,
    )


#: The terms of statements that say what binds, the first that there is; and those that say in
#: other units which board is best, or what more of a limit would buy.
BINDING = ("Fastest", "Binding", "Dominant", "Best step", "Best")
MORE = ("Cheapest for its speed: ", "Worth of limits: ")


def binding(statements: Sequence[str]) -> str:
    """A sentence on what binds, else the ends of a front; empty where no statement says so."""
    for term in BINDING:
        for at, statement in enumerate(statements):
            if statement.startswith(f"{term}: "):
                rest = statements[at + 1 :]
                of_layer = _of_the_first(rest)
                known = ([text for text in rest if text.startswith(term)] for term in MORE)
                more = [text for texts in known if len(texts) == 1 for text in texts]
                there = _at_the_best(statement, statements)
                return " ".join((statement, *[of_layer] * bool(of_layer), *there, *more))
    return " ".join(each for each in statements if each.startswith(("Least ", "Most ")))


def _at_the_best(best: str, statements: Sequence[str]) -> list[str]:
    """The binding limit and the worth of limits at the best point, out of the statements on every
    point."""
    bounds = [s.partition(": ")[2] for s in statements if s.startswith("Bound by: ")]
    worths = [s for s in statements if s.startswith("Worth of limits: ")]
    chosen = []
    for part in bounds[0].removesuffix(" of the cycles.").split("; ") if bounds else ():
        place, _, text = part.rpartition(": ")
        if _names(best, place):
            chosen.append(f"Bound by: {text} of the cycles.")
    for worth in worths if len(worths) > 1 else ():
        term, _, rest = worth.partition(": ")
        place, _, text = rest.partition(": ")
        if _names(best, place):
            chosen.append(f"{term}: {text}")
    return chosen


def _names(best: str, place: str) -> bool:
    """Whether a statement names a place first, such as ``platform u250, dtype int8``."""
    stated = best.partition(", also ")[0].replace(" (", ", ").rstrip(".") + ", "
    return f" {place.replace(' = ', ' ')}, " in stated or not place


def _of_the_first(statements: Sequence[str]) -> str:
    """The second statement on a layer, what binds it, where two of one follow; else nothing."""
    terms = [statement.partition(": ")[0] for statement in statements[:2]]
    both = len(terms) == 2 and terms[0] == terms[1] and " × " in terms[0]
    return statements[1] if both else ""


#: What draws the sections that only a family has: modules.
SECTIONS: Registry[ModuleType] = Registry("report sections")


def family_sections(
    best: BestConfiguration, checkpoint: Callable[[], None] | None = None
) -> FamilySections:
    """The sections of a configuration that only its family has; with a simulated run of it, if
    there is a checkpoint."""
    own = SECTIONS.get(best.problem.design.family)
    return FamilySections() if own is None else own.sections(best, checkpoint)


def _sections(
    best: BestConfiguration, own: FamilySections, statements: Sequence[str], around: int
) -> tuple[Section, ...]:
    """The sections of a page about a configuration."""
    return (
        answer(best, own.answer),
        certificate(best),
        resources(best),
        findings(statements, best.problem.design.vocabulary),
        *_loops(best),
        *own.costs,
        *own.drawing,
        designs(best.result),
        landscape(best, around),
    )


def _loops(best: BestConfiguration) -> tuple[Section, ...]:
    """The mapping as a loop nest, where the family has one to show."""
    lines = best.solution.profile.loops(best.configuration)
    text = (
        "What runs in parallel and in which order, and where tiles are loaded and "
        "stored; loops of one iteration are left out."
    )
    return (Section("loops", "Loop nest", (text, Loops(lines))),) if lines else ()


def _nothing(result: Result) -> tuple[Section, ...]:
    why = view_blocks([block for block in result.view[1:] if not isinstance(block, Table)])
    return (Section("answer", "Why there is no configuration", why), designs(result))
