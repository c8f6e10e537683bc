"""The answer of ``ithaca solve``, or of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ithaca
from ithaca.files.answer import NAMES, Answer
from ithaca.files.numbers import number
from ithaca.formulations.directions import as_asked
from ithaca.formulations.family import Profile
from ithaca.formulations.problem import Limit, Objective, Problem
from ithaca.solver.certificate import OWN, Certificate, Status, as_stated
from ithaca.solver.conclusion import conclude_least
from ithaca.solver.runs import Run, basis, outrun, own_run
from ithaca.solver.solution import Solution

if TYPE_CHECKING:
    import xarray as xr

#: Largest distance of factors in the neighbourhood of a result's best configuration.
NEAR = 2


@dataclass(frozen=True)
class Unrestricted:
    """The answer of the same question where configurations need not be such as a compiler
    builds."""

    value: Fraction
    """The least objective found."""
    certificate: Certificate
    """The certificate of that value."""
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    """The problems that were solved of one workload, one per design."""


@dataclass(frozen=True, repr=False)
class Result(Answer):
    """The answer of `ithaca.solve`: the best configuration, its proof, and the solution of every
    design; these are alike in all but what tells designs apart.

    Examples
    --------
    >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    >>> r
    <Result: mm (i=4, j=4, k=4) fp32, cycle model edition, on u250, design [i,j] C: latency 58
    (optimal)>
    >>> r.value, r.status
    (Fraction(58, 1), 'optimal')
    """

    platform_name: str
    """The platform the limits come from."""
    best: Solution | None
    """The best configuration of all designs; None where none was found."""
    designs: tuple[Solution, ...]
    """One solution per design solved; at least one."""
    unrestricted: Unrestricted | None = None
    """Where the space is restricted to what a compiler builds: what there is without that."""
    runs: tuple[Run, ...] = ()
    """The runs, word by word, to choose among, the best by the closed form first; none where
    hardware may take other cycles than simulated."""
    near: int | None = None
    """The largest distance of factors in the neighbourhood that is kept; None where none is."""
    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""

    @property
    def problem(self) -> Problem:
        """The problem of any of the designs, for what all have in common."""
        return self.designs[0].problem

    @property
    def profile(self) -> Profile[Any]:
        """Facts of any of the designs, for what all have in common."""
        return self.designs[0].profile

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Upper limits on metrics."""
        return self.problem.limits

    @property
    def objective(self) -> Objective:
        """The objective of the problem."""
        return self.problem.objective

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The best solution first, then those of the other designs."""
        others = tuple(solution for solution in self.designs if solution != self.best)
        return others if self.best is None else (self.best, *others)

    @property
    def headline(self) -> str:
        what = f"{self.profile.title}, on {self.platform_name}"
        design = "" if self.best is None else f", design {self.best.design}"
        proof = f"{self.certificate.statement}{self.basis}"
        value = value_text(self.objective.words, self.value, proof)
        return f"{what}{design}: {value}"

    @property
    def mapped(self) -> Mapping[str, Solution]:
        return {} if self.best is None else {"": self.best}

    @property
    def loops(self) -> str:
        """The mapping of the best configuration as a loop nest; empty where none was found."""
        return "" if self.best is None else loop_text(self.best)

    def refine(self, **options: Any) -> Result:
        """Improve the configurations by evolution: `ithaca.refine`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.refine(samples=10).value
        Fraction(58, 1)
        """
        refined: Result = NAMES["refine"](self, **options)
        return refined

    def grid(self, **options: Any) -> ithaca.Grid:  # type: ignore[valid-type]
        """Evaluate the cost model exactly around the best configuration: `ithaca.grid`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.grid()
        <Grid around [i,j] C on u250: .dataset has its metrics>
        """
        return NAMES["grid"](self, **options)  # type: ignore[no-any-return]

    @cached_property
    def neighbourhood(self) -> xr.Dataset:
        """The cost model on all configurations near the best: on those that a refined result
        keeps, else on those whose factors are at most `NEAR` from the best's."""
        grid: Any = self.grid(around=NEAR if self.near is None else self.near)
        dataset: xr.Dataset = grid.dataset
        return dataset

    @property
    def groups(self) -> Mapping[str, xr.Dataset]:
        return {} if self.near is None else {"neighbourhood": self.neighbourhood}

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the course of the search for the best configuration: its incumbent and bound over
        samples, as a chart like other answers', and to a file if one is named.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.plot().specification["$schema"]
        'https://vega.github.io/schema/vega-lite/v6.json'
        """
        return self.drawn(self.made("chart"), path)

    def seed(self, to: str, output: str | Path | None = None, **options: Any) -> Any:
        """Make a start population for another search tool, or write it: `ithaca.seed`.

        Parameters
        ----------
        to : str
            The search tool.
        output : str or Path, optional
            The file or folder to write; by default none: the seeds are the tool's objects.
        **options : object
            Further keywords of `ithaca.seed`.

        Examples
        --------
        >>> r = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
        >>> r.seed("csv", "seeds.csv", count=4)
        'wrote seeds.csv: 4 seeds for csv, design [i,j] C, latency 58 to 93'
        """
        return NAMES["seed"](self, to, output, **options)

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate over all designs, by the closed form of cycles."""
        proof = conclude_least([(s.value, s.certificate) for s in self.designs])
        return proof if self.value is None or not self.outrun else proof.of_other(self.value)

    @property
    def outrun(self) -> tuple[Solution, ...]:
        """The solutions of less value by the closed form than the best, which is better as they
        run."""
        return outrun(self.best, self.designs)

    @property
    def own_run(self) -> Run | None:
        """The run of the best configuration; None where it was not run."""
        return own_run(self.best, self.runs)

    @property
    def basis(self) -> str:
        return basis(self.best, self.designs, self.runs)

    @property
    def status(self) -> str:
        """The status of the proof over all designs: optimal, feasible, infeasible or unknown."""
        return self.certificate.status.value

    @property
    def value(self) -> Fraction | None:
        """The objective of the best configuration, exactly; None where none was found."""
        return None if self.best is None else self.best.value

    @property
    def lower_bound(self) -> Fraction | None:
        """No configuration of any design has a smaller objective; None where nothing is proven."""
        return self.certificate.lower_bound

    @property
    def failure(self) -> str:
        if self.best is not None:
            return ""
        if not all(s.certificate.status is Status.INFEASIBLE for s in self.designs):
            return self.certificate.failure
        shortfalls = [shortfall for solution in self.designs for shortfall in solution.shortfalls]
        from ithaca.solver.infeasibility import why_infeasible

        return (
            f"infeasible{self.basis}: "
            f"{why_infeasible([solution.problem for solution in self.designs], shortfalls)}"
            f"{as_stated(self)}"
        )


def loop_text(solution: Solution) -> str:
    """The configuration of a solution as a loop nest; loops of one iteration are left out."""
    return (
        ""
        if solution.configuration is None
        else "\n".join(solution.profile.loops(solution.configuration))
    )


def value_text(objective: str, value: Fraction | None, status: str) -> str:
    """An objective with its value and what is proven of it.

    Parameters
    ----------
    objective : str
        The objective.
    value : Fraction, optional
        Its value; None where there is no configuration.
    status : str
        What is proven, in words.
    """
    if value is None:
        return status
    name, own = as_asked(objective, value)
    return f"{name} {number(own)} ({status})"
