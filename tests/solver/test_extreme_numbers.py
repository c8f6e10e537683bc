"""Expressions with huge, tiny and cancelling constants: engines against Fractions on every point of
a toy family."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.problem import Limit, Problem
from ithaca.solver.certificate import Status
from ithaca.solver.engines import ENGINES, Method, engine
from ithaca.solver.options import SolveOptions
from tests.families.enumerated import every_point
from tests.families.fir import VOCABULARY, Fir, fir_problem

CONSTANTS = ("1", "3", "0.1", "1e-30", "1e-9", "1e9", "1e18", "1e20", "1e40", "9007199254740993")
#: What a refusal says at least one of.
REFUSALS = ("allowed", "use another method", "cannot express", "is not posynomial")

#: Seeds of problems on which an engine once claimed what is false, or ended in a traceback.
KNOWN = (98, 141, 268, 389, 914, 1226)

SHAPES = (
    "({0} + {1})",
    "({0} - {1})",
    "{0}*{1}",
    "max({0}, {1})",
    "min({0}, {1})",
    "{0}/(1 + {1})",
    "{0}/max({1}, 1)",
    "ceil({0}/{2})",
    "({0} - {2}*max({1}, 1) + {2}*{1})",
)


class Free(Fir):
    """A filter whose energy is not modelled."""

    def metrics(self, values, numbers, names=None):
        found = super().metrics(values, numbers, names)
        return found | {name: numbers.number(Fraction(0)) for name in found if name == "energy"}


def drawn(draw, depth):
    """An expression over the metrics of filters."""
    if depth == 0 or draw.random() < 0.2:
        metric = draw.choice(list(VOCABULARY))
        return metric if draw.random() < 0.6 else f"{draw.choice(CONSTANTS)}*{metric}"
    one, other = (drawn(draw, depth - 1) for _ in range(2))
    shape = draw.choice(SHAPES)
    return shape.format(one, other, draw.choice(CONSTANTS))


def least(problem):
    """The optimum by enumeration, in Fractions."""
    values = []
    for _, metrics in every_point(problem):
        if all(limit.used(metrics) <= limit.bound for limit in problem.limits):
            values.append(problem.objective.value(metrics))
    return min(values, default=None)


def check(seed, methods):
    """Compare engines on a random problem; how many of them gave a proof (the others refused in one
    line)."""
    draw = random.Random(seed)
    problem = fir_problem(
        draw.randint(2, 9), draw.randint(1, 30), drawn(draw, 3), transposed=draw.random() < 0.5
    )
    if draw.random() < 0.5:
        limit = Limit(drawn(draw, 2), Fraction(0))
        try:
            uses = sorted(limit.used(metrics) for _, metrics in every_point(problem))
        except ZeroDivisionError:
            return 0
        problem = Problem(
            problem.design,
            (Limit(limit.metric, draw.choice(uses[: len(uses) // 2])),),
            problem.objective,
        )
    try:
        expected = least(problem)
    except ZeroDivisionError:
        return 0
    proofs = 0
    for method in methods:
        try:
            found = engine(method)(problem, SolveOptions(time_limit=20))
        except InputError as refused:
            said = str(refused)
            if "\n" in said or not any(part in said for part in REFUSALS):
                pytest.fail(f"{method}: {said}")
            continue
        proof = found.certificate
        if found.value is not None:
            assert expected is not None, (method, problem)
            assert found.value >= expected, (method, problem)
        if proof.lower_bound is not None:
            assert expected is None or proof.lower_bound <= expected, (method, problem)
        if proof.status.proven:
            proofs += 1
            assert found.value == expected, (method, problem)
            assert proof.status is (Status.INFEASIBLE if expected is None else Status.OPTIMAL)
    return proofs


@pytest.mark.parametrize("seconds", [1e-9, 0.3, None])
@pytest.mark.parametrize("text", ["*".join(["latency"] * 900), f"1/({'*'.join(['dsp'] * 600)})"])
def test_powers_beyond_doubles_are_refused_whatever_the_time(text, seconds):
    """Bounds without a search are doubles, too: the first was a traceback in the table of bounds."""
    options = SolveOptions(time_limit=seconds)
    with pytest.raises(InputError, match=r"computes a number that is too (large|small)"):
        engine(Method.AUTO)(fir_problem(5, 7, text), options)


def test_engines_agree_with_fractions_on_extreme_expressions():
    proofs = [check(seed, (Method.EXACT, "cpsat")) for seed in (*range(40), *KNOWN)]
    assert proofs.count(2) > 10


def test_integer_programs_do_not_creep_through_huge_coefficients():
    """Programs that took CP-SAT all of its time, and gigabytes, while small negative coefficients
    had a digit in every place."""
    assert [check(seed, ("cpsat",)) for seed in (1483, 2043, 2106, 3318, 4578)] == [1] * 5


@pytest.mark.parametrize("part", range(20))
def test_more_extreme_expressions(part):
    assert sum(check(1000 + 100 * part + seed, (Method.EXACT, "cpsat")) for seed in range(100)) > 50


def test_other_engines_claim_nothing_false():
    for seed in range(40):
        check(seed, (Method.AUTO, "gp", "nlp", "evolve"))


@pytest.mark.parametrize("method", [m for m in ENGINES if m != Method.STAGED])
def test_unknown_names_in_limits_are_refused(method):
    with pytest.raises(
        InputError,
        match=r"limit: 'dps' uses the unknown name 'dps'; allowed: .*dsp, energy, latency, noise.*mean dsp\?",
    ):
        engine(method)(fir_problem(4, 5, dps=3), SolveOptions())


@pytest.mark.parametrize("method", [m for m in ENGINES if m != Method.STAGED])
@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (
            "*".join(["latency"] * 200),
            "computes a number that is too large; allowed: products between",
        ),
        (
            "1/(" + "*".join(["latency"] * 200) + ")",
            "computes a number that is too small; allowed: products between",
        ),
    ],
)
def test_what_no_engine_can_compute_is_refused_in_one_line(objective, message, method):
    with pytest.raises(InputError, match=message) as refused:
        engine(method)(fir_problem(6, 5, objective), SolveOptions(time_limit=600))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("method", [m for m in ENGINES if m != Method.STAGED])
def test_an_objective_that_always_divides_by_zero_is_refused(method):
    """A metric may be 0 everywhere, such as the energy of a model without energies."""
    problem = replace(fir_problem(6, 5, "latency/energy"), design=Free(6, 5))
    with pytest.raises(
        InputError,
        match="objective: 'latency/energy' divides by 'energy', which is always 0; allowed: divisors",
    ):
        engine(method)(problem, SolveOptions(time_limit=5))


def test_limits_beyond_doubles_are_refused():
    with pytest.raises(InputError, match="limit 'latency' is beyond 1e150"):
        fir_problem(4, 5, latency=10**200)


@pytest.mark.parametrize("method", [Method.EXACT, "cpsat"])
def test_huge_coefficients_are_solved_exactly(method):
    problem = fir_problem(6, 5, "1e20*latency + dsp")
    assert engine(method)(problem, SolveOptions()).value == least(problem)
