"""Objectives a/b with b > 0, minimised by integer programs.

An integer program minimises linear forms, not quotients. But for any number λ, the least value of
the *excess* a − λ·b says how far λ is from the least quotient: if λ is the quotient of a known
solution and no excess is negative, none has a smaller quotient; if one is, its solution has
(Dinkelbach: On nonlinear fractional programming, Management Science 13, 1967). All numbers are
rational, so the last of these programs is a proof under exact arithmetic. Where b is constant, so
that there is no quotient, or a, one program is enough: `RatioObjective.least` is then as sharp as
the program's bound.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from ortools.sat.python import cp_model

from ithaca.formulations.algebra.expression import Expression
from ithaca.plugins.cpsat.solver.arithmetic import LinearForm, add_forms, grid
from ithaca.plugins.cpsat.solver.encoding import Encoder


@dataclass(frozen=True, slots=True)
class RatioObjective:
    """An objective that is a quotient of linear forms: ``over / under``."""

    over: LinearForm
    """Numerator and denominator; the latter is positive, and 1 where the objective is no
    quotient."""
    under: LinearForm

    def excess(self, ratio: Fraction) -> LinearForm:
        """``over − ratio · under``: negative exactly where the objective is below the ratio."""
        return add_forms(self.over, self.under.scaled(-ratio))

    def aim(self, encoder: Encoder, ratio: Fraction) -> Aim:
        """Make CP-SAT minimise the excess over a ratio, or its leading digits where its
        coefficients are large."""
        excess = self.excess(ratio)
        free = excess.without_constant()
        step = grid(free)
        if encoder.fits(free, step):
            encoder.model.minimize(encoder.whole(free, step))
            return Aim(self, ratio, excess.constant, step)
        step = grid(excess)
        digits, constant, scale = encoder.leading(excess, step)
        encoder.model.minimize(digits)
        return Aim(self, ratio, constant * scale * step, step * scale)

    def value(self, encoder: Encoder, read: Callable[[cp_model.IntVar], int]) -> Fraction:
        """The objective's value in a solution, read such as by `CpSolver.value`."""
        indices = {**self.over.terms, **self.under.terms}
        values = {
            index: read(encoder.model.get_int_var_from_proto_index(index)) for index in indices
        }
        return self.over.value(values) / self.under.value(values)

    def floor(self) -> Fraction:
        """A lower bound of all values, by the ranges of both parts."""
        return self.over.low / (self.under.high if self.over.low >= 0 else self.under.low)

    def least(self, ratio: Fraction, excess: Fraction) -> Fraction:
        """The smallest value of the objective where the excess over a ratio is at least some
        number.

        Given a ≥ λ·b + ε and the ranges of a and b, the quotient is at least max(a₀/b, λ + ε/b), a₀
        the least of a, at every b. Both are monotone in b, so the least is at an end of b's range,
        or where they cross. The range is cut to where λ·b + ε does not exceed the largest a.
        """
        low, high = self.under.low, self.under.high
        if ratio > 0:
            high = max(
                low, min(high, _on_grid(self.under, (self.over.high - excess) / ratio, floor))
            )
        elif ratio < 0:
            low = min(high, max(low, _on_grid(self.under, (self.over.high - excess) / ratio, ceil)))
        ends = {low, high}
        if ratio and low < (self.over.low - excess) / ratio < high:
            ends.add((self.over.low - excess) / ratio)
        overs = {under: max(self.over.low, ratio * under + excess) for under in ends}
        if self.under.is_constant:
            overs = {under: _on_grid(self.over, over, ceil) for under, over in overs.items()}
        return min(over / under for under, over in overs.items())


@dataclass(frozen=True, slots=True)
class Aim:
    """The objective of one run of CP-SAT: the integer ``floor((excess − constant) / step)``."""

    objective: RatioObjective
    """The objective."""
    ratio: Fraction
    """The excess is that over this ratio."""
    constant: Fraction
    """Origin and unit of CP-SAT's integers."""
    step: Fraction

    def least(self, whole: int) -> Fraction:
        """The smallest value of the objective, if what CP-SAT minimises is at least some
        integer."""
        return self.objective.least(self.ratio, self.constant + whole * self.step)


def encode_ratio(
    encoder: Encoder, objective: Expression, cutoff: Fraction | None = None
) -> RatioObjective:
    """Encode an objective, quotient or not.

    Parameters
    ----------
    encoder : Encoder
        The model.
    objective : Expression
        The objective.
    cutoff : Fraction, optional
        Values above it are of no interest, and may be excluded.

    Returns
    -------
    RatioObjective
        The objective in the model.
    """
    quotient = encoder.quotient(objective)
    with quotient.explained():
        under = encoder.encode(quotient.under)
        if cutoff is None:
            over = encoder.encode(quotient.over)
        else:
            over = encoder.encode_at_most(
                quotient.over, max(cutoff * under.low, cutoff * under.high)
            )
        if quotient.divisors:
            # refused now rather than once a ratio with large numbers turns up
            encoder.check_room(over, under)
    return RatioObjective(over, under)


@dataclass(frozen=True, slots=True)
class RatioBounds:
    """Bounds of the least value of an objective, and a solution."""

    value: Fraction | None
    """The least value found; None without a solution."""
    quantities: Mapping[str, int]
    """The quantities of its solution."""
    bound: Fraction | None
    """No value is better; equal to the value once that is proven optimal. None where there is no
    solution."""
    infeasible: bool
    """Whether it is proven that there is no solution."""


def minimize_ratio(
    encoder: Encoder, objective: RatioObjective, seconds: float | None = None, threads: int = 1
) -> RatioBounds:
    """Minimise an objective encoded in a finished model.

    Parameters
    ----------
    encoder : Encoder
        The model.
    objective : RatioObjective
        The objective.
    seconds : float, optional
        Time limit (s).
    threads : int, optional
        Threads of CP-SAT.

    Returns
    -------
    Outcome
        Bounds of the least value, and a solution.
    """
    began = time.perf_counter()
    value: Fraction | None = None
    quantities: Mapping[str, int] = {}
    bound = objective.floor()
    while value is None or value != bound:
        known = value
        aim = objective.aim(encoder, bound if known is None else known)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = threads
        solver.parameters.cp_model_presolve = not encoder.in_digits
        # any but 0, and CP-SAT compares value and bound as floats, which beyond 2**53 are equal too
        # soon
        solver.parameters.absolute_gap_limit = 0.0
        if seconds is not None:
            solver.parameters.max_time_in_seconds = max(
                seconds - (time.perf_counter() - began), 0.0
            )
        status = solver.solve(encoder.model)
        if status == cp_model.INFEASIBLE:
            return RatioBounds(None, {}, None, infeasible=True)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            reached = objective.value(encoder, solver.value)
            if value is None or reached < value:
                value, quantities = reached, encoder.quantities(solver.value)
        if status != cp_model.OPTIMAL:
            break
        # only a finished search is sure to have set it
        bound = max(bound, aim.least(solver.response_proto.inner_objective_lower_bound))
        if value == known:
            break
    return RatioBounds(value, quantities, bound, infeasible=False)


def _on_grid(form: LinearForm, value: Fraction, rounded: Callable[[Fraction], int]) -> Fraction:
    """A number on a form's grid beside a value: the smallest that is not below it (``ceil``), the
    largest not above it."""
    step = grid(form.without_constant())
    return form.constant + rounded((value - form.constant) / step) * step
