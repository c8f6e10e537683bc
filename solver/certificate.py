"""Certificates: the proof of a solver about its answer, and the reason why it stopped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from ithaca.files.numbers import number


class Status(Enum):
    """The state of knowledge about a solution.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, limit="dsp=1")
    >>> r.designs[0].certificate.status is ithaca.Status.INFEASIBLE
    True
    """

    OPTIMAL = "optimal"
    """The lower bound equals the value under exact arithmetic."""
    FEASIBLE = "feasible"
    """A configuration was found; a better one has not been excluded."""
    INFEASIBLE = "infeasible"
    """A proof that no configuration meets the limits."""
    UNKNOWN = "unknown"
    """Nothing was found, and nothing proven, before the search ended."""

    @property
    def proven(self) -> bool:
        """Whether no further search can change the status."""
        return self in (Status.OPTIMAL, Status.INFEASIBLE)

    @property
    def configured(self) -> bool:
        """Whether the status says that there is a configuration."""
        return self in (Status.OPTIMAL, Status.FEASIBLE)


def least(statuses: Iterable[Status]) -> Status:
    """The weakest of several statuses."""
    order = (Status.UNKNOWN, Status.INFEASIBLE, Status.FEASIBLE, Status.OPTIMAL)
    return min(statuses, key=order.index)


class Termination(Enum):
    """The reason why a search ended."""

    PROVEN = "proven"
    """There was nothing left to prove: an optimum, or that there is none."""
    GAP = "gap reached"
    """Value and bound were as close as was asked for."""
    BEATEN = "not better"
    """Nothing better than the best of the other designs was left; its own optimum is not proven."""
    TIME_LIMIT = "time limit"
    """The time was over."""
    INTERRUPTED = "interrupted"
    """The search was told to stop."""
    EXHAUSTED = "exhausted"
    """The method had nothing more to try: it proves little by itself, or its samples were used
    up."""
    NARROWED = "none among these"
    """Nothing meets the limits among what the space offers; what it leaves out might."""


@dataclass(frozen=True, slots=True)
class TracePoint:
    """State of a search when it changed."""

    seconds: float
    """Wall time since the search began."""
    nodes: int
    """Boxes examined."""
    value: Fraction | None
    """The incumbent's objective; None before anything was found."""
    lower_bound: Fraction | None
    """Proven so far; None where nothing was."""


@dataclass(frozen=True, slots=True)
class Further:
    """The next of several objectives in order, among the optima of those before."""

    objective: str
    """Its text."""
    value: Fraction
    """Its value."""
    certificate: Certificate
    """The certificate of its optimum."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Status and bound of one solve.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> proof = r.best.certificate
    >>> proof.status, proof.lower_bound, proof.gap
    (<Status.OPTIMAL: 'optimal'>, Fraction(58, 1), 0.0)
    """

    status: Status
    """How much is known."""
    lower_bound: Fraction | None
    """No configuration has a smaller objective; None where nothing is known."""
    gap: float | None
    """(value − lower bound) / |value|; None without value or bound, or where it is infinite."""
    method: str
    """The engine that produced it."""
    nodes: int = 0
    """Boxes examined."""
    seconds: float = 0.0
    """Wall time spent."""
    trace: tuple[TracePoint, ...] = ()
    """When incumbent or bound changed; empty where that was not recorded."""
    termination: Termination | None = None
    """Why the search ended; None where that was not recorded."""
    ties_broken: bool | None = None
    """Whether, of all configurations of an optimum, the answer is proven to be the one that is
    preferred; None where that was not recorded."""
    among: str = ""
    """Among what the bound is proven, and nothing found, where the space leaves out what may pay;
    empty: among everything."""

    then: Further | None = None
    """The next objective, once this one's optimum is proven; None where there is none."""

    @property
    def further(self) -> tuple[Further, ...]:
        """All objectives that follow."""
        return () if self.then is None else (self.then, *self.then.certificate.further)

    @property
    def measured(self) -> bool:
        """Whether the effort of the search is known: documents of networks do not state it."""
        return self.nodes > 0 or self.seconds > 0

    @property
    def took(self) -> str:
        """The time of the search; empty where that is not known."""
        return f"{self.seconds:.2f} s" if self.measured else ""

    @property
    def effort(self) -> str:
        """Boxes, of a search that counts some, and time; empty where they are not known."""
        boxes = f"{self.nodes:,} box{'es' * (self.nodes > 1)}, " if self.nodes else ""
        return f"{boxes}{self.seconds:.2f} s" if self.measured else ""

    @property
    def empty(self) -> bool:
        """Whether nothing is left to be found of what was searched."""
        return self.status is Status.INFEASIBLE or self.termination is Termination.NARROWED

    @property
    def settled(self) -> bool:
        """Whether no further search can change the certificate."""
        return self.status.proven or self.empty

    @property
    def beaten(self) -> bool:
        """Whether the search ended as nothing is better than a rival."""
        return self.termination is Termination.BEATEN

    @property
    def statement(self) -> str:
        """The status in words, and those of further objectives."""
        return self.stated()

    def stated(self, share: str = "") -> str:
        """The status in words, with words on how much of what was asked for it is about.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.best.certificate.stated(" of the layers' work")
        "optimal of the layers' work"
        """
        among = f" among {self.among}" if self.among and self.settled else ""
        return f"{self.status.value}{among}{share}{self.and_then}"

    @property
    def and_then(self) -> str:
        """The values of further objectives, in words; empty where there are none."""
        if self.then is None:
            return ""
        value, proof = number(self.then.value), self.then.certificate
        bound = f", lower bound {number(proof.lower_bound)}" if not proof.settled else ""
        return f"; then {self.then.objective} {value}, {proof.status.value}{bound}{proof.and_then}"

    def of_other(self, value: Fraction) -> Certificate:
        """The certificate of all that was searched where the answer is another configuration than
        the optimum, of such a value.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.best.certificate.of_other(r.value * 2).gap
        0.5
        """
        return replace(
            self,
            status=Status.FEASIBLE,
            gap=relative_gap(value, self.lower_bound),
            termination=None,
            ties_broken=None,
            then=None,
        )

    @property
    def failure(self) -> str:
        """The reason why nothing is known where nothing was found."""
        if self.termination is Termination.NARROWED:
            return (
                f"nothing that meets the limits is among {self.among}; "
                "others, which might, were not searched"
            )
        if self.termination is Termination.EXHAUSTED:
            return (
                "nothing found, and the method has nothing more to try; another one may tell more"
            )
        return "nothing found before the search ended; allow more time"

    def within(self, among: str, feasible: str) -> Certificate:
        """The certificate of a narrower search: optima are proven only ``among`` what that says,
        and that nothing is feasible among what ``feasible`` does.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.best.certificate.within("divisors", "").stated()
        'optimal among divisors'
        """
        if self.empty and feasible:
            return replace(
                self, status=Status.UNKNOWN, termination=Termination.NARROWED, among=feasible
            )
        return (
            self
            if self.status is Status.INFEASIBLE or among == self.among
            else replace(self, among=among)
        )


def among_all(certificates: Iterable[Certificate]) -> str:
    """The configurations in words among which all of several certificates are proven."""
    return " and ".join(
        dict.fromkeys(part for known in certificates for part in known.among.split(" and ") if part)
    )


#: Whence a result is that no file states.
OWN = "the result"


def as_stated(result: object) -> str:
    """Words to add about a proof that was read from a file and not checked; empty for one that was
    just found."""
    source = getattr(result, "source", OWN)
    return "" if source == OWN else f", as stated in {source}, not proven again"


def relative_gap(value: Fraction | None, lower_bound: Fraction | None) -> float | None:
    """(value − lower bound) / |value|; None where either is missing, or the value alone is 0."""
    if value is None or lower_bound is None:
        return None
    if value == lower_bound:
        return 0.0
    return float((value - lower_bound) / abs(value)) if value else None
