"""A solution: the best configuration of one design, and what is proven about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.families import profile_of
from ithaca.formulations.family import Profile
from ithaca.formulations.goals import is_requirement
from ithaca.formulations.problem import Problem
from ithaca.solver.certificate import Certificate, Further
from ithaca.solver.shortfall import TOGETHER, Shortfall


@dataclass(frozen=True, repr=False)
class Solution:
    """The best configuration found for one design, or over several: then problem and certificate
    are of the best and of all.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> r.best.configuration["t1.i"], r.best.metrics["dsp"]
    (4, Fraction(10, 1))
    """

    problem: Problem
    """The problem; of several designs the best one's, or the first's where nothing was found."""
    configuration: Configuration | None
    """The configuration; None where none was found."""
    value: Fraction | None
    """Its objective, evaluated by the Fraction reference."""
    certificate: Certificate
    """The certificate: status, lower bound, gap and effort."""
    shortfalls: tuple[Shortfall, ...] = ()
    """Limits that cannot be met, of an infeasible problem."""

    def __post_init__(self) -> None:
        problem = self.problem
        object.__setattr__(
            self, "certificate", self.certificate.within(problem.among, problem.feasible_among)
        )

    def __repr__(self) -> str:
        known = self.certificate
        value = (
            ""
            if self.value is None
            else f"{self.problem.objective.text} {float(self.value):,.10g} "
        )
        return f"<Solution {self.design}: {value}({known.status.value})>"

    @property
    def design(self) -> str:
        """Name of the design."""
        return self.problem.design.name

    @property
    def profile(self) -> Profile[Any]:
        """Facts of its design for people and studies."""
        return profile_of(self.problem.design)

    @property
    def configured(self) -> Solution | None:
        """The solution, if it has a configuration."""
        return None if self.configuration is None else self

    @property
    def settled(self) -> bool:
        """Whether no further search can improve the solution."""
        return self.certificate.settled

    @property
    def final(self) -> bool:
        """Whether no further search can change it, nor what was chosen among its equals."""
        proofs = [further.certificate for further in self.certificate.further]
        return (
            self.settled
            and self.certificate.ties_broken is not False
            and all(proof.settled for proof in proofs)
        )

    @property
    def reasons(self) -> list[str]:
        """The reasons why there is no configuration: per limit at fault the smallest value that
        could be met; none if none is."""
        if not self.shortfalls:
            return []
        from ithaca.solver.reasons import explain

        designs = {shortfall.design for shortfall in self.shortfalls} - {TOGETHER}
        metrics = self.problem.design.vocabulary
        return explain(self.shortfalls, len(designs) or 1, metrics)

    def explain(self) -> str:
        """The reasons in one line; empty if there is none.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, limit="dsp=1")
        >>> r.designs[0].explain()
        'limit dsp = 1 cannot be met; the smallest that could be met with the other limits as they
        are is 5 (design [i] C)'
        """
        return "; ".join(self.reasons)

    @property
    def would_do(self) -> str:
        """The limits each of which is known to do with the others as they are, in words; empty if
        none is."""
        from ithaca.solver.reasons import rounded

        known = {s.metric: s.smallest for s in self.shortfalls if s.proven and s.others_kept}
        return " or ".join(
            f"{x} = {rounded(n, up=True)}"
            for x, n in known.items()
            if n is not None and not is_requirement(x)
        )

    @property
    def tiling(self) -> Any:
        """The configuration in the form its family likes to write; None where none was found."""
        return None if self.configuration is None else self.profile.native(self.configuration)

    def rank(self) -> tuple[tuple[bool, Fraction], ...]:
        """A key by which solutions of equal value are ordered, the preferred first: further
        objectives, then preferences.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.best.rank() == min(r.designs, key=lambda s: s.rank()).rank()
        True
        """
        if self.configuration is None:
            return ()
        known = (
            *self.problem.values(self.configuration)[1:],
            *(self.problem.preferences(self.configuration) or ()),
        )
        return tuple((number is None, number or Fraction(0)) for number in known)

    def chosen_by(self, further: Solution, seconds: float) -> Solution:
        """The optimum with the configuration that is least in the next objective.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.best.chosen_by(r.best, 0.5).certificate.seconds
        0.5
        """
        proof = further.certificate
        value = further.value
        assert value is not None
        then = Further(further.problem.objective.words, value, proof)
        certificate = replace(
            self.certificate,
            then=then,
            ties_broken=proof.ties_broken,
            nodes=self.certificate.nodes + proof.nodes,
            seconds=seconds,
        )
        return make_solution(self.problem, further.configuration, certificate)

    @cached_property
    def metrics(self) -> Mapping[str, Fraction]:
        """All metrics of the configuration; empty where none was found."""
        return {} if self.configuration is None else self.problem.metrics(self.configuration)

    @cached_property
    def detail(self) -> Mapping[str, Mapping[str, Fraction]]:
        """Figures that the family states beside the metrics, such as words by tensor; empty where
        no configuration was found."""
        return (
            {}
            if self.configuration is None
            else self.problem.design.details(self.configuration, FRACTION)
        )


def make_solution(
    problem: Problem,
    configuration: Configuration | None,
    certificate: Certificate,
    shortfalls: tuple[Shortfall, ...] = (),
) -> Solution:
    """Build a solution; its value comes from the Fraction reference, never from a solver.

    Parameters
    ----------
    problem : Problem
        The problem.
    configuration : Configuration or None
        The best one; None: none was found.
    certificate : Certificate
        What is proven.
    shortfalls : tuple of Shortfall, optional
        Limits that cannot be met.

    Returns
    -------
    Solution
        The solution.
    """
    value = None if configuration is None else problem.value(configuration)
    return Solution(problem, configuration, value, certificate, shortfalls)


def best_solution(solutions: Sequence[Solution]) -> Solution | None:
    """The solution of least value; among equals the one that is preferred, or the first."""
    solved = [solution for solution in solutions if solution.value is not None]
    least = min((solution.value for solution in solved if solution.value is not None), default=None)
    return min(
        (solution for solution in solved if solution.value == least),
        key=Solution.rank,
        default=None,
    )
