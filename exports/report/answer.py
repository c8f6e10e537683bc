"""The answer: the configuration, its metrics, how good it is, and what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ithaca.exports.report.blocks import Paragraph, Section, Statements, Table
from ithaca.exports.report.configuration import BestConfiguration
from ithaca.formulations.shown_numbers import number, percent
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.metrics import METRICS
from ithaca.solver.certificate import Certificate, Status


@dataclass(frozen=True, slots=True)
class Card:
    """A figure to see at once.

    Attributes
    ----------
    label, value, unit, note : str
        What it is, the number, its unit, and a remark.
    """

    label: str
    value: str
    unit: str
    note: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the search ended, in a few words.

    Attributes
    ----------
    status : str
        The status as results state it.
    mark : str
        A sign beside it, so that colour does not carry the meaning alone.
    text : str
        What it means.
    detail : str
        What is proven.
    """

    status: str
    mark: str
    text: str
    detail: str


def verdict(certificate: Certificate, objective: str) -> Verdict:
    """What is proven of a configuration."""
    if certificate.status is Status.OPTIMAL:
        detail = "No configuration of the designs considered is better: the lower bound equals the value in exact arithmetic."
        return Verdict("optimal", "✓", "Proven optimal", detail)
    if certificate.lower_bound is None:
        return Verdict(certificate.status.value, "?", "Not proven optimal", "No lower bound is known.")
    detail = f"No {objective} below {number(certificate.lower_bound)} is possible"
    detail += "." if certificate.gap is None else f"; the gap is {percent(certificate.gap)}."
    return Verdict(certificate.status.value, "≥", "Not proven optimal", detail)


def cards(best: BestConfiguration) -> tuple[Card, ...]:
    """The figures at the top: the objective, then what one asks next."""
    metrics, facts = best.solution.metrics, best.facts
    found = [Card(best.objective, number(facts.value), best.unit, f"design {best.solution.array.name}")]
    if best.objective != "latency":
        found.append(Card("latency", number(metrics["latency"]), "cycles", ""))
    clock = number(best.result.technology.clock_mhz)
    found.append(Card("throughput", number(round(float(metrics["throughput"]), 1)), "Gop/s", f"at {clock} MHz"))
    units = number(metrics["comp"])
    useful = percent(facts.cycles.shares["useful"])
    found.append(Card("useful work", useful, "of the cycles", f"the nest's own operations on {units} MAC units"))
    words = number(metrics["off_chip_words"])
    moved = number(round(float(facts.roofs.traffic.moved_words / facts.roofs.traffic.least_words), 2))
    found.append(Card("off-chip traffic", words, "words", f"{moved} times the least possible"))
    return tuple(found)


def answer(best: BestConfiguration) -> Section:
    """The configuration in tables."""
    design = best.solution.array
    blocks: list[Paragraph | Table] = [
        Paragraph(
            f"Design {design.name}: the loops {' and '.join(design.dataflow)} are mapped to space, and the tiles are ordered "
            f"so that {design.permutation} is reused innermost ({' → '.join(design.order)})."
        )
    ]
    if design.reservation:
        blocks.append(Paragraph(f"The design is {design.reservation}."))
    blocks += [_loops(best), _packs(best), _metrics(best)]
    return Section("answer", "The configuration", tuple(blocks))


def _loops(best: BestConfiguration) -> Table:
    design, values = best.solution.array, best.costs.point.values
    rows: list[tuple[str, ...]] = []
    for padding in best.facts.padding.loops:
        loop = padding.loop
        what = "space" if loop in design.dataflow else "time"
        if loop == design.simd_loop:
            what += ", SIMD"
        rows.append(
            (
                loop,
                what,
                number(padding.extent),
                number(best.tiling.array_part[loop]),
                number(best.tiling.t2(design, loop)),
                number(padding.lanes) if loop in design.dataflow else "–",
                number(values[quantities.tiles(loop).name]),
                number(padding.padded) + ("" if padding.padded == padding.extent else " (padded)"),
            )
        )
    rows += [(loop, "inside the PE", number(best.result.nest.sizes[loop]), *["–"] * 5) for loop in design.untiled]
    columns = ("loop", "mapped to", "extent", "t1 array part", "t2 or SIMD", "lanes", "tiles", "iterations run")
    return Table("Tile factors by loop", columns, tuple(rows), frozenset({0, 1}))


def _packs(best: BestConfiguration) -> Table:
    packs = best.tiling.module_packs(best.solution.array)
    rows = tuple((name, number(words)) for name, words in packs.items())
    return Table("Data packing by buffer module", ("module", "words"), rows)


def _metrics(best: BestConfiguration) -> Table:
    rows = tuple(
        (name, number(value), METRICS[name].unit, METRICS[name].meaning) for name, value in best.solution.metrics.items()
    )
    rows += tuple(
        (f"off-chip {name}", number(words), "words", f"of them {name}") for name, words in best.solution.words.items()
    )
    return Table("Metrics", ("metric", "value", "unit", "meaning"), rows, frozenset({0, 2, 3}), folded=True)


def findings(statements: Sequence[str]) -> Section:
    """Statements such as ``Limit dsp: …`` under their terms; the words of ``ithaca explain``.

    Parameters
    ----------
    statements : sequence of str
        Each a term, a colon and what is stated of it.
    """
    entries: dict[str, list[str]] = {}
    for statement in statements:
        term, _, said = statement.partition(": ")
        entries.setdefault(term, []).append(_sentence(said))
    listed = tuple((term, tuple(said)) for term, said in entries.items() if term != "Result")
    return Section("findings", "What limits it, and what to change first", (Statements(listed),))


def _sentence(text: str) -> str:
    """A statement with a capital letter, unless it begins with a name."""
    first = text.partition(" ")[0]
    return f"{text[:1].upper()}{text[1:]}" if first.isalpha() and first not in METRICS else text
