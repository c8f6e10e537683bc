"""What is proven, and how the search got there."""

from __future__ import annotations

from ithaca.exports.report.blocks import Block, Figure, Paragraph, Section, Table
from ithaca.exports.report.convergence import convergence_chart
from ithaca.exports.report.subject import Subject
from ithaca.formulations.shown_numbers import number, percent
from ithaca.solver.certificate import Certificate, Status

#: What a report says of a result without a trace.
NO_TRACE = "The result holds no trace of the search: it was written before traces were kept, or not by a solve."


def certificate(known: Subject) -> Section:
    """The certificates, and incumbent and bound over time."""
    whole, own = known.certificate, known.solution.certificate
    many = len(known.result.solutions) > 1
    head = ("", "this design", "all designs of the result") if many else ("", "this design")
    columns = (_entries(own, known), _entries(whole, known)) if many else (_entries(own, known),)
    rows = tuple((name, *(column[name] for column in columns)) for name in columns[0])
    blocks: list[Block] = [Table("What is proven", head, rows, frozenset({0, 1, 2}))]
    if whole.status is Status.OPTIMAL:
        blocks.insert(0, Paragraph("The lower bound equals the value in exact arithmetic, so no search could find better."))
    if own.trace:
        title = f"Incumbent and lower bound over time, design {known.solution.array.name}"
        blocks.append(Figure(convergence_chart(own.trace, known.objective, known.unit), title))
        entries = tuple((f"{p.seconds:.3f}", number(p.nodes), number(p.value), number(p.lower_bound)) for p in own.trace)
        blocks.append(
            Table("The search, change by change", ("seconds", "boxes", "incumbent", "lower bound"), entries, frozenset(), True)
        )
    else:
        blocks.append(Paragraph(NO_TRACE))
    return Section("certificate", "The certificate", tuple(blocks))


def _entries(proof: Certificate, known: Subject) -> dict[str, str]:
    return {
        "status": proof.status.value,
        known.objective: number(known.facts.value),
        "lower bound": number(proof.lower_bound),
        "gap": "–" if proof.gap is None else percent(proof.gap),
        "method": proof.method,
        "boxes examined": number(proof.nodes),
        "seconds": f"{proof.seconds:.2f}",
    }
