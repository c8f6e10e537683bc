"""Wording of figures and proofs, in lines and tables, on pages and charts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from typing import Any

from ithaca.files.numbers import engineering, number, rounded
from ithaca.formulations.algebra.expression import Symbol
from ithaca.formulations.design import Design
from ithaca.formulations.directions import bound_as_asked
from ithaca.formulations.problem import Limit
from ithaca.solver.certificate import Certificate, Status


def metric_label(text: str, design: Design) -> str:
    """A metric of a design with its unit; an expression has none."""
    metric = design.vocabulary.get(text.strip())
    return text if metric is None else headed(text, metric.unit)


def headed(text: str, unit: str) -> str:
    """The heading of a column of amounts in a unit, if they have one."""
    return f"{text} ({unit})" if unit else text


def seconds(certificate: Certificate) -> str:
    """The time of a search as a cell of a table."""
    return f"{certificate.seconds:.2f}" if certificate.measured else number(None)


def gap_text(gap: float | None) -> str:
    """A relative gap in per cent."""
    return "–" if gap is None else f"{gap:.2%}"


def limited_metrics(limits: Iterable[Limit]) -> list[str]:
    """The metrics among limits, each once: the columns that tell what a design uses, beside
    `unit_cells`."""
    return list(
        dict.fromkeys(
            x.metric
            for x in limits
            if isinstance(x.expression, Symbol) and x.metric not in ("time", "bandwidth")
        )
    )


def microjoules(energy: Fraction | None) -> str:
    """An energy (pJ) in µJ."""
    return rounded(None if energy is None else energy / 10**6)


#: The metrics of a whole run that are told first: how, and in which unit.
WHOLE = (
    ("latency", "latency", number, "cycles"),
    ("energy", "energy", microjoules, "µJ"),
    ("edp", "EDP", engineering, "pJ·cycles"),
)


def unit_cells(metrics: Mapping[str, Any], vocabulary: Collection[str]) -> list[tuple[str, str]]:
    """Time, bandwidth and energy of a run, as columns of a table: those that a vocabulary has."""
    cells = {
        "time": ("ms", rounded(metrics.get("time"))),
        "bandwidth": ("GB/s", rounded(metrics.get("bandwidth"))),
        "energy": ("µJ", microjoules(metrics.get("energy"))),
    }
    return [cell for name, cell in cells.items() if name in vocabulary]


def proof_text(certificate: Certificate, objective: str, basis: str = "") -> str:
    """The proof of a design's configuration in words, and the effort.

    Parameters
    ----------
    certificate : Certificate
        The proof.
    objective : str
        The objective, which says on which side its bound is.
    basis : str, optional
        Words on what proved it.
    """
    effort = certificate.effort and f"; {certificate.effort}"
    if certificate.status is Status.OPTIMAL:
        ties = (
            "; not all that are as good were compared" if certificate.ties_broken is False else ""
        )
        better = (
            f"{certificate.statement}{basis}: no other of these is better"
            if certificate.among
            else f"optimal{basis}: no configuration of this design is better"
        )
        further = "" if certificate.among else certificate.and_then
        return f"{better}{ties}{further}{effort}"
    gap = "unknown gap" if certificate.gap is None else f"gap {certificate.gap:.2%}"
    name, bound = bound_as_asked(objective, certificate.lower_bound)
    return f"not proven: {name} {number(bound)}{basis}, {gap}{effort}"


def gap(certificate: Certificate) -> str:
    """The gap that is left, or why there is none."""
    return gap_text(certificate.gap) if certificate.status.configured else certificate.status.value
