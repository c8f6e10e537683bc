"""Expressions drawn over the metrics of small problems, nested, of all signs, with divisors on
either side of 0: engines against Python's own arithmetic on every configuration.

What has no value somewhere is refused in one line; any proof is that of the enumeration.
"""

import math
import random
import re
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.solver.certificate import Status
from ithaca.solver.engines import ENGINES, Method, engine
from ithaca.solver.options import SolveOptions
from tests.families.custom import custom_problem
from tests.families.enumerated import every_point
from tests.families.fir import fir_problem
from tests.plugins.hierarchies.mapped import mapped_problem
from tests.problems import mm_problem
from tests.whole_spaces import every_row

Metrics = dict[str, Fraction]

PROVERS = (Method.EXACT, Method.ENUMERATION, "cpsat")
OTHERS = (Method.AUTO, "gp", "nlp", "evolve")

#: What a refusal says at least one of.
REFUSALS = ("allowed", "use another method", "cannot express", "is not posynomial")


class Undefined:
    """An expression has no value at some point."""


UNDEFINED = Undefined()

SHAPES = (
    "({0} + {1})",
    "({0} - {1})",
    "({0} - {1})",
    "{0}*{1}",
    "{0}/{1}",
    "{0}/{1}",
    "ceil({0}/{1})",
    "ceil({0}/{1})",
    "ceil({0})",
    "max({0}, {1})",
    "min({0}, {1}, 3)",
    "-{0}",
    "1/{0}",
    "{0}/{1}/{0}",
    "({0} - {1})*({0} - {1})",
    "1/({0}*{0})",
    "{0}/({1} + 1)",
    "{0}/max({1}, 1/3)",
    "ceil(-{0}/(0 - {1}))",
)


@dataclass(frozen=True)
class Sample:
    """A problem with the metrics of all its configurations."""

    problem: Problem
    points: tuple[Metrics, ...]

    @property
    def names(self):
        return sorted(self.points[0])


def _enumerated(problem):
    """A problem whose space says which configurations there are, and the reference what each has."""
    rows = [
        row
        for row in every_row(problem.space)
        if problem.space.contains(row) and problem.meets_conditions(row)
    ]
    return Sample(problem, tuple(problem.metrics(row) for row in rows))


@cache
def samples():
    """Filters and a stated model, enumerated by other code; arrays and mappings by their spaces."""
    small = SpaceOptions(divisors_only=True)
    counted = [custom_problem(), fir_problem(5, 7), fir_problem(4, 3, transposed=True)]
    spaces = [
        mm_problem((2, 2, 4), ("i", "k"), edition="exact", space=small),
        mm_problem((2, 1, 4), ("k",), edition="cycle", space=small),
        mm_problem((4, 2, 2), ("i",), edition="exact", space=small),
        mapped_problem(),
    ]
    return (
        *(Sample(p, tuple(metrics for _, metrics in every_point(p))) for p in counted),
        *(_enumerated(replace(p, limits=())) for p in spaces),
    )


def drawn(draw, sample, depth):
    """An expression; some of its numbers are values of metrics."""
    if depth == 0 or draw.random() < 0.15:
        name = draw.choice(sample.names[:8])
        kind = draw.random()
        if kind < 0.5:
            return name
        number = draw.choice((0, 1, 2, 3, 7, 100, Fraction(1, 2)))
        if kind < 0.6:
            return f"({number})"
        own = draw.choice(sample.points)[name]
        return f"({name} - {draw.choice((own, own + 1, number))})"
    return draw.choice(SHAPES).format(*(drawn(draw, sample, depth - 1) for _ in range(2)))


def evaluated(text, points):
    """The text's value at every point, by Python; None where it has none at some point."""
    plain = re.sub(r"(?<=[a-zA-Z])\.", "__", text)
    exact = re.sub(r"(?<![\w.])(\d+)", r"Fraction(\1)", plain)
    code = compile(exact.strip(), "drawn", "eval")
    known = {"Fraction": Fraction, "ceil": lambda x: Fraction(math.ceil(x)), "max": max, "min": min}
    try:
        return [
            Fraction(eval(code, known, {name.replace(".", "__"): v for name, v in point.items()}))
            for point in points
        ]
    except ZeroDivisionError:
        return None


def question(seed):
    """A random problem, its objective and perhaps a limit, with the bound of that."""
    draw = random.Random(seed)
    sample = samples()[seed % len(samples())]
    texts = [drawn(draw, sample, draw.randint(1, 3)) for _ in range(draw.choice((1, 1, 2)))]
    used = evaluated(texts[-1], sample.points) or [Fraction(0)]
    return sample, texts, draw.choice(sorted(used)) - draw.choice((0, 0, Fraction(1, 3)))


def posed(sample, texts, bound):
    """The problem of a random question."""
    limits = tuple(Limit(f"({text})", bound) for text in texts[1:])
    vocabulary = sample.problem.design.vocabulary
    objective = read_objective(texts[0], "objective", vocabulary)
    return replace(sample.problem, limits=limits, objective=objective)


def least(sample, texts, bound):
    """The optimum by Python; None where nothing meets the limit."""
    values = [evaluated(text, sample.points) for text in texts]
    defined = [each for each in values if each is not None]
    if len(defined) < len(values):
        return UNDEFINED
    kept = [own for own, *used in zip(*defined, strict=True) if all(u <= bound for u in used)]
    return min(kept, default=None)


def check(seed, methods):
    """Draw a question, and compare answers: proven, open, undefined somewhere, or refused."""
    sample, texts, bound = question(seed)
    expected = least(sample, texts, bound)
    outcome = "undefined" if isinstance(expected, Undefined) else "refused"
    for method in methods:
        try:
            answer = engine(method)(posed(sample, texts, bound), SolveOptions(time_limit=5))
        except InputError as refused:
            if "\n" in str(refused) or not any(word in str(refused) for word in REFUSALS):
                pytest.fail(f"{method} on {texts}: {refused}")
            continue
        asked = f"{method} on {texts} ≤ {bound}: {answer.value}, truth {expected}"
        proof = answer.certificate
        assert not isinstance(expected, Undefined), asked
        assert answer.value is None or (expected is not None and answer.value >= expected), asked
        assert None in (proof.lower_bound, expected) or proof.lower_bound <= expected, asked
        if proof.status.proven:
            assert answer.value == expected, asked
            assert (proof.status is Status.INFEASIBLE) == (expected is None), asked
        outcome = "proven" if proof.status.proven else "open"
    return outcome


@pytest.mark.parametrize("part", range(3))
def test_proofs_of_drawn_expressions_are_true(part):
    outcomes = Counter(check(seed, (Method.EXACT,)) for seed in range(50 * part, 50 * part + 50))
    assert outcomes["proven"] >= 20
    assert outcomes["undefined"] >= 5


@pytest.mark.parametrize("part", range(10))
def test_proofs_of_more_drawn_expressions_are_true(part):
    outcomes = Counter(check(seed, PROVERS) for seed in range(1000 + 100 * part, 1100 + 100 * part))
    assert outcomes["proven"] >= 30


def test_other_engines_claim_nothing_false_of_drawn_expressions():
    for seed in range(100):
        check(seed, OTHERS)


def test_engines_refuse_before_they_conclude_anything_of_limits():
    """Nothing meets the limit of this question, and its objective has no value somewhere."""
    assert check(20, OTHERS) == "undefined"


@pytest.mark.parametrize("method", PROVERS)
def test_the_best_of_a_space_is_not_below_its_floor(method):
    """1/1464² is where the floor is exactly; a float above it made 1/1452² "optimal"."""
    sample = samples()[0]
    answer = engine(method)(posed(sample, ["1/(latency*latency)"], Fraction(0)), SolveOptions())
    longest = max(point["latency"] for point in sample.points)
    assert answer.value == answer.certificate.lower_bound == 1 / longest**2


def mm(objective):
    """A small product of which some latencies are below the numbers in these tests."""
    space = SpaceOptions(divisors_only=True)
    return mm_problem((3, 2, 2), ("k",), edition="cycle", objective=objective, space=space)


@pytest.mark.parametrize("method", [m for m in ENGINES if m != Method.STAGED])
@pytest.mark.parametrize(
    "text",
    [
        "ceil(dsp/(latency - 26))",
        "1/ceil(100/(26 - latency))",
        "max(latency, ceil(1/(latency - 26)/7))",
        "dsp/(latency - 26)",
        "(latency - 26)/(latency - 26)",
        "0/(latency - 26)",
        "1/(1/(latency - 26))",
        "latency, dsp/(latency - 26)",
    ],
)
def test_divisors_that_may_be_0_are_refused_by_every_engine(text, method):
    line = r"objective: '.*' divides by '.*', which may be 0 or negative; allowed: divisors that.*"
    with pytest.raises(InputError, match=f"^{line}$"):
        engine(method)(mm(text), SolveOptions(time_limit=5))


def test_divisors_in_limits_are_refused():
    problem = mm_problem((2, 2, 4), ("i", "k"), more_limits=(Limit("ceil(9/(latency-30))", 3),))
    with pytest.raises(InputError, match=r"^limit: 'ceil.*' divides by 'latency - 30', which may"):
        engine(Method.EXACT)(problem, SolveOptions(time_limit=5))


def test_divisors_that_are_shown_to_be_positive_pass():
    """Divisors pass where a model's own terms subtract, and where they are negative throughout,
    too."""
    mapped = mapped_problem()
    for text in ("latency/energy", "ceil(latency/(energy - 3))", "ceil(energy/(0 - latency - 1))"):
        objective = read_objective(text, "objective", mapped.design.vocabulary)
        answer = engine(Method.EXACT)(replace(mapped, objective=objective), SolveOptions())
        values = evaluated(text, samples()[-1].points)
        assert values is not None
        assert answer.certificate.status is Status.OPTIMAL
        assert answer.value == min(values)


@pytest.mark.parametrize(
    "text",
    [
        "dsp/((latency - 26)*(latency - 26) + 1)",
        "ceil(latency/((dsp - bram18k)*(dsp - bram18k)*(latency - 26)*(latency - 26) + 1/2))",
        "1/max((latency - 26)*(latency - 26)*(latency - 26)*(latency - 26), 1/3)",
        "dsp/((latency - 26)*(latency - 26)/latency + 1)",
    ],
)
def test_divisors_of_squares_pass(text):
    """A square is not negative, whatever the sign of what is squared."""
    sample = samples()[3]
    values = evaluated(text, sample.points)
    assert values is not None
    answer = engine(Method.EXACT)(posed(sample, [text], Fraction(0)), SolveOptions())
    assert answer.certificate.status is Status.OPTIMAL
    assert answer.value == min(values)


@pytest.mark.parametrize(
    "text",
    [
        "(off_chip_words - 1)/latency",
        "(bram18k - 1)/latency",
        "(energy - 7)/max(latency, dsp)",
        "latency/(off_chip_words - 1)",
        "(off_chip_words - 1)/latency/(energy - 1)",
        "1/((off_chip_words - 1)/latency)",
        "1/(1/(latency - 1) + 1/(energy - 1))",
        "(latency - 1)/(energy - 1)*(dsp - 1)",
        "-3*(off_chip_words - 1)/latency",
        "1/(latency/(energy - 1) - latency/(2*energy))",
        "ceil((off_chip_words - 1)/latency)/(dsp - 1)",
    ],
)
def test_quotients_of_differences_are_bounded(text):
    """A quotient was bounded by its reciprocal, and that by the quotient again, without end."""
    sample = _enumerated(replace(mm(text), limits=()))
    expected = least(sample, [text], Fraction(0))
    try:
        answer = engine(Method.EXACT)(sample.problem, SolveOptions(time_limit=20))
    except InputError as refused:
        assert "may be 0" in str(refused)  # noqa: PT017
        return
    assert answer.certificate.status is Status.OPTIMAL
    assert answer.value == expected


@pytest.mark.parametrize(
    "method", [Method.EXACT, pytest.param(Method.ENUMERATION, marks=pytest.mark.ci)]
)
def test_products_of_negative_ceilings_keep_what_meets_a_limit_exactly(method):
    """The magnitude of such a product is rounded towards its bound; away from it, a limit that the
    best meets to the digit excluded it (555, "optimal")."""
    product = "ceil(-(latency - 35)/3)*(main - 24 - bram18k)*(main - 24 - bram18k)"
    answer = ithaca.solve(
        "mm",
        sizes={"i": 8, "j": 2, "k": 2},
        dataflow="i",
        divisors_only=True,
        edition="exact",
        objective="ceil(energy/main)",
        limit={product: -144, "bandwidth": "none"},
        method=method,
    )
    assert answer.value == answer.lower_bound == 435
