"""Documents of proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isclose
from typing import Annotated, Any

from pydantic import Field, ValidationInfo, field_validator

from ithaca.files.errors import InputError
from ithaca.files.numbers import json_number, spelled
from ithaca.formulations.algebra.parsing import quoted
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.data_models import built
from ithaca.formulations.documents import Count, Document, Number, Text
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import (
    Certificate,
    Further,
    Status,
    Termination,
    TracePoint,
    relative_gap,
)
from ithaca.solver.runs import Run, run_of
from ithaca.solver.solution import Solution


class ProofDocument(Document):
    """A certificate without its effort."""

    status: Annotated[Status, Field(strict=False)]
    lower_bound: Number | None
    gap: Annotated[float, Field(ge=0)] | None
    method: Text
    among: str = ""
    then: FurtherDocument | None = None

    def certificate(self) -> Certificate:
        """The certificate that the fields state."""
        return built(Certificate, self)


class FurtherDocument(Document):
    """The next of several objectives, among the optima of those before."""

    objective: Text
    value: Number
    certificate: ProofDocument


class TraceDocument(Document):
    """The changes of incumbent and bound over time: equally long columns."""

    seconds: Annotated[list[Annotated[float, Field(ge=0)]], Field(max_length=1000)]
    nodes: list[Annotated[int, Field(ge=0)]]
    incumbent: list[Number | None]
    lower_bound: list[Number | None]

    @field_validator("nodes", "incumbent", "lower_bound")
    @classmethod
    def _as_long(cls, column: list[Any], known: ValidationInfo) -> list[Any]:
        if len(column) != len(known.data.get("seconds", column)):
            raise ValueError(
                f"{len(known.data['seconds'])} entries, as in seconds, not {len(column)}"
            )
        return column


class CertificateDocument(ProofDocument):
    """A certificate: the proof, and the effort that it took."""

    nodes: Annotated[int, Field(ge=0)]
    seconds: Annotated[float, Field(ge=0)]
    termination: Annotated[Termination, Field(strict=False)] | None = None
    ties_broken: bool | None = None
    trace: TraceDocument | None = None

    @field_validator("trace", mode="before")
    @classmethod
    def _columns(cls, trace: Any) -> Any:
        """The trace of a certificate in columns."""
        if not isinstance(trace, tuple):
            return trace
        names = ("seconds", "nodes", "value", "lower_bound")
        columns = [[getattr(point, name) for point in trace] for name in names]
        return dict(zip(TraceDocument.model_fields, columns, strict=True)) if trace else None

    def certificate(self) -> Certificate:
        """The certificate that the fields state, with its trace."""
        columns = (column for _, column in self.trace or ())
        trace = tuple(TracePoint(*row) for row in zip(*columns, strict=True))
        return built(Certificate, self, trace=trace)


class DesignProofDocument(ProofDocument):
    """The certificate of one of several designs, which ends where another one is at least as
    good."""

    termination: Annotated[Termination, Field(strict=False)] | None = None

    @field_validator("termination")
    @classmethod
    def _if_beaten(cls, termination: Termination | None) -> Termination | None:
        """The reason for the end, if that depends on neither time nor machine."""
        return termination if termination is Termination.BEATEN else None


def read_further(
    problem: Problem, configuration: Configuration, certificate: Certificate, at: str
) -> Certificate:
    """Evaluate the further objectives that a certificate states.

    Parameters
    ----------
    problem : Problem
        The problem.
    configuration : Configuration
        The answer.
    certificate : Certificate
        The certificate as it was read.
    at : str
        Place in the document.

    Returns
    -------
    Certificate
        The same with exact values.

    Raises
    ------
    InputError
        If they are not those of the problem, or contradict what is proven of them.
    """
    then = certificate.then
    if then is None:
        return certificate
    further = problem.among_optima(problem.value(configuration))
    if further is None or certificate.status is not Status.OPTIMAL:
        raise InputError(f"{at}.then is stated; allowed: with optima of objectives in order")
    least, proof = further.value(configuration), then.certificate
    check_certificate(proof, least, f"{at}.then.certificate")
    if proof.status is Status.OPTIMAL:
        proof = replace(proof, lower_bound=least)
    proof = read_further(further, configuration, proof, f"{at}.then.certificate")
    return replace(certificate, then=Further(further.objective.words, least, proof))


class ShortfallDocument(Document):
    """A limit that cannot be met."""

    metric: Text
    bound: Number
    smallest: Number | None
    others_kept: bool
    proven: bool


def check_certificate(certificate: Certificate, value: Fraction | None, at: str) -> None:
    """Refuse a certificate that contradicts the value it is about, or itself.

    Parameters
    ----------
    certificate : Certificate
        The certificate.
    value : Fraction or None
        The value.
    at : str
        Place in the document.

    Raises
    ------
    InputError
        Naming the field.
    """
    status, bound = certificate.status, certificate.lower_bound
    if status.configured != (value is not None):
        allowed = "a tiling and its metrics" if status.configured else "null for tiling and metrics"
        raise InputError(f"{at}.status is '{status.value}'; allowed with it: {allowed}")
    if value is not None and bound is not None and json_number(bound) > json_number(value):
        raise InputError(
            f"{at}.lower_bound is {spelled(bound)}; allowed: at most "
            f"the objective's {spelled(value)}"
        )
    if (
        status is Status.OPTIMAL
        and value is not None
        and (bound is None or json_number(bound) != json_number(value))
    ):
        raise InputError(
            f"{at}.lower_bound is {spelled(bound)}; allowed with 'optimal': "
            f"the objective's {spelled(value)}"
        )
    gap = 0.0 if status is Status.OPTIMAL else relative_gap(value, bound)
    stated = certificate.gap
    if bound is not None and status is Status.INFEASIBLE:
        raise InputError(f"{at}.lower_bound is {spelled(bound)}; allowed with 'infeasible': null")
    if gap == stated == 0 and status is Status.FEASIBLE:
        raise InputError(
            f"{at}.status is 'feasible'; allowed where lower_bound is the objective: 'optimal'"
        )
    if stated != gap and (
        stated is None or gap is None or not isclose(stated, gap, rel_tol=1e-6, abs_tol=1e-12)
    ):
        raise InputError(
            f"{at}.gap is {quoted(stated)}; allowed: {quoted(gap)}, as value and lower_bound say"
        )
    ended = certificate.termination
    if ended is not None and status.proven != (ended is Termination.PROVEN):
        allowed = (
            "'proven'"
            if status.proven
            else ", ".join(f"'{t.value}'" for t in Termination if t is not Termination.PROVEN)
        )
        raise InputError(
            f"{at}.termination is '{ended.value}'; allowed with '{status.value}': {allowed}"
        )


class RunDocument(Document):
    """The best configuration of a design as it runs, word by word."""

    design: Text
    cycles: Count | None
    value: Number | None
    reason: str = Field("", max_length=500)


def read_runs(stated: Sequence[RunDocument], designs: Sequence[Solution]) -> tuple[Run, ...]:
    """The runs that a document states; what follows from their cycles is computed where it states
    the configuration."""
    ran = {s.design: s for s in designs if s.value is not None and s.profile.runs}
    runs: list[Run] = []
    for index, read in enumerate(stated):
        if read.design not in ran:
            left = "; ".join(ran) or "none, as hardware may take other cycles than simulated"
            raise InputError(
                f"runs[{index}].design is {quoted(read.design)}; allowed: a design with a "
                f"configuration, each once ({left})"
            )
        solution = ran.pop(read.design)
        if solution.configuration is None:
            runs.append(Run(read.design, read.cycles, read.value, read.reason))
        else:
            runs.append(run_of(solution, read.cycles, read.reason))
    return tuple(runs)
