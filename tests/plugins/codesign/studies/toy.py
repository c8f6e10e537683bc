"""A toy kind of accelerator, small enough for every accelerator and every mapping to be enumerated.

A layer of ``n`` × ``k`` multiplications runs on ``lanes`` lanes in tiles of ``t``: a tile needs
``t·lanes`` words, is fetched at ``bandwidth`` words a cycle, and costs energy by access; ``skew``
is better the nearer it is to 3.
"""

import random
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import inf
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from ithaca.files.plugin import Plugin
from ithaca.formulations.algebra.expression import Constant, Symbol
from ithaca.formulations.algebra.interval import Interval
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Design, Metric
from ithaca.formulations.family import Profile
from ithaca.formulations.hardware.accelerator import Accelerator, Trend, Work
from ithaca.formulations.hardware.kind import Figure
from ithaca.formulations.problem import Problem
from ithaca.formulations.region import listed
from ithaca.formulations.space import Axis, Link, Quantity, Relation, make_space
from ithaca.formulations.stage import Block
from ithaca.plugins.codesign.formulations.space import HardwareSpace
from ithaca.plugins.codesign.studies.question import make_question
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement

VOCABULARY = {name: Metric(name, "", "") for name in ("latency", "energy", "edp", "traffic")}
FIGURES = {
    "words": Trend.HELPS,
    "bandwidth": Trend.HELPS,
    "access": Trend.HURTS,
    "skew": Trend.MIXED,
    "paint": Trend.IDLE,
}


@dataclass(frozen=True)
class Toy(Design):
    """A layer on one accelerator; ``steep`` is a second way to run it."""

    n: int
    k: int
    figures: tuple[tuple[str, Fraction], ...]
    steep: bool = False
    staged: bool = False
    """Whether it is searched in stages, which know a bound at once."""
    family = "toy"

    @property
    def name(self):
        return "steep" if self.steep else "flat"

    @property
    def space(self):
        words = Constant(Fraction(int(dict(self.figures)["words"])))
        axes = (Axis("t", (Quantity("t", 1, self.n),)), Axis("lanes", (Quantity("lanes", 1, 4),)))
        return make_space(axes, [Link(Symbol("t") * Symbol("lanes"), Relation.AT_MOST, words)])

    def stage(self, problem):
        return ToyStage(problem) if self.staged else None

    @property
    def vocabulary(self):
        return VOCABULARY

    def metrics(self, values, numbers, names=None):
        given = {name: numbers.number(value) for name, value in self.figures}
        t, lanes = values["t"], values["lanes"]
        n, k, three = (numbers.number(Fraction(value)) for value in (self.n, self.k, 3))
        trips = numbers.ceil_div(n, t)
        traffic = trips * k + n * lanes if self.steep else trips * k * 2 + n
        skewed = numbers.maximum(given["skew"] - three, three - given["skew"])
        latency = (
            numbers.maximum(numbers.ceil_div(n * k, lanes), traffic / given["bandwidth"])
            + trips * skewed
        )
        energy = traffic * 7 + n * k * lanes * given["access"]
        found = {"latency": latency, "energy": energy, "edp": latency * energy, "traffic": traffic}
        return {name: found[name] for name in found if names is None or name in names}


class ToyProfile(Profile[Toy]):
    """The toy in words."""

    @property
    def attributes(self):
        known = self.design
        return {"n": known.n, "k": known.k, "figures": str(known.figures), "design": known.name}


class ToyStage:
    """All mappings as one block; known at once is the least but for a fifth of it."""

    dropped = inf

    def __init__(self, problem):
        choices = [
            Configuration({"t": t, "lanes": lanes})
            for t in range(1, problem.design.n + 1)
            for lanes in range(1, 5)
        ]
        values = [(problem.feasible_value(choice), choice) for choice in choices]
        self._known = sorted(
            ((v, c) for v, c in values if v is not None), key=lambda entry: entry[0]
        )

    @property
    def least(self):
        return float(self._known[0][0] - abs(self._known[0][0]) / 5) if self._known else inf

    def incumbents(self, cutoff, *, hurried=False):
        yield None

    def blocks(self, cutoff):
        bounds = np.nextafter(np.array([float(value) for value, _ in self._known]), -inf)
        yield Block(np.arange(bounds.size), bounds, inf)

    def complete(self, rows, cutoff):
        for row in rows:
            yield self._known[row][1]


@dataclass(frozen=True)
class ToyAccelerator(Accelerator):
    """The accelerator; with ``both``, layers may run in two ways."""

    family: ClassVar[str] = "toy"
    both: bool = False
    staged: bool = False
    quick: bool = False

    def floors(self, posed, figures, objective):
        """Four fifths of optima, or of a loss six; nothing of what speaks of energy."""
        if not self.quick or "energy" in objective.expression.symbols:
            return None
        layers = (layer(known.design.n, known.design.k) for known in posed)
        stages = ([*map(ToyStage, self.problems(each, figures, objective))] for each in layers)
        least = (min(stage.least for stage in each) for each in stages)
        return [bound if bound == inf else Fraction(bound) for bound in least]

    def roofs(self, work, spans):
        """Latency and traffic where trips are one, on four lanes."""
        if not self.quick:
            return {}
        n, k = work.nest.sizes.values()
        skew = spans.get("skew", Interval(Fraction(3), Fraction(3)))
        band = spans["bandwidth"].high if "bandwidth" in spans else 1
        skewed = max(skew.low - 3, 3 - skew.high, 0)
        latency = max(Fraction(-(-n * k // 4)), (n + k) / Fraction(band)) + skewed
        return {"latency": latency, "traffic": Fraction(n + k)}

    @property
    def metrics(self):
        return VOCABULARY

    def stages(self, work):
        return (work,)

    @property
    def trends(self):
        return FIGURES

    def problems(
        self,
        work,
        figures,
        objective,
        limits=(),
    ):
        given = {
            "words": Fraction(8),
            "bandwidth": Fraction(1),
            "access": Fraction(1),
            "skew": Fraction(3),
        }
        given |= {name: value for name, value in figures.items() if name in given}
        n, k = work.nest.sizes.values()
        ways = (False, True) if self.both else (False,)
        return tuple(
            Problem(Toy(n, k, tuple(sorted(given.items())), steep, self.staged), limits, objective)
            for steep in ways
        )


def enumerated(n, k, figures, *, steep):
    """The metrics of every mapping, computed without the design."""
    for t, lanes in product(range(1, n + 1), range(1, 5)):
        if t * lanes > int(figures["words"]):
            continue
        trips = -(-n // t)
        traffic = trips * k + n * lanes if steep else trips * k * 2 + n
        latency = max(Fraction(-(-n * k // lanes)), traffic / figures["bandwidth"]) + trips * abs(
            figures["skew"] - 3
        )
        energy = traffic * 7 + n * k * lanes * figures["access"]
        yield {
            "latency": latency,
            "energy": energy,
            "edp": latency * energy,
            "traffic": Fraction(traffic),
        }


def layer(n, k, **fields):
    """A layer of some size."""
    output, inputs = parse_statement("C[i] += A[i][j] * B[j]", {})
    return Work(
        f"{n}x{k}", LoopNest("mv", (("i", n), ("j", k)), output, inputs, simd="j"), **fields
    )


def expression(text):
    return parse_expression(text, where="test", allowed=None)


def random_question(seed):
    """A small random space with rules, costs, tables and mixed figures; random layers, objectives
    and limits."""
    draw = random.Random(seed)

    def pick(pool, most):
        return tuple(sorted(draw.sample(pool, draw.randint(1, most))))

    quantities = [
        listed("size", pick([1, 2, 4, 8, 12, 16, 32], 4)),
        listed("wires", pick([1, 2, 3, 4, 6], 3)),
        listed("skew", pick([1, 2, 3, 4, 5], 2)),
        listed("colour", tuple(range(1, draw.randint(1, 2) + 1)), ("red", "blue")),
    ]
    steps = tuple(
        (Fraction(size), Fraction(draw.randint(1, 9), 4)) for size in quantities[0].values
    )
    rising = tuple((size, Fraction(k + 1, 4)) for k, (size, _) in enumerate(steps))
    figures = {
        "words": Figure(expression("size")),
        "bandwidth": Figure(
            expression(draw.choice(["wires", "wires/2", "wires/size", "wires*wires/size"]))
        ),
        "access": Figure(expression("size"), draw.choice([steps, rising])),
        "skew": Figure(expression("skew")),
        "paint": Figure(expression("colour")),
    }
    costs = {
        "area": Figure(
            expression(
                draw.choice(["size + 2*wires", "size*wires + colour", "size + skew - wires/4"])
            )
        ),
        "price": Figure(expression("size"), steps),
    }
    rules = {
        "size*wires ≤ 24": ("size*wires", "24"),
        "wires ≤ size": ("wires", "size"),
        "skew ≤ wires + 2": ("skew", "wires + 2"),
    }
    chosen = draw.sample(sorted(rules), draw.randint(0, 2))
    links = [
        Link(expression(rules[name][0]), Relation.AT_MOST, expression(rules[name][1]), name)
        for name in chosen
    ]
    accelerator = ToyAccelerator(draw.random() < 0.5, seed % 3 > 0, seed % 4 > 1)
    units = {name: Metric(name, "", "") for name in costs}
    space = HardwareSpace(
        "toy", tuple(quantities), accelerator, figures, tuple(links), costs, units
    )
    single = [
        "latency",
        "energy",
        "sum(edp)",
        "traffic + latency",
        "latency*area",
        "sum(edp/price)",
        "area",
        "max(latency, energy/9)",
    ]
    objectives = draw.sample(single, 1 if draw.random() < 0.6 else draw.randint(2, 3))
    limits = {}
    if draw.random() < 0.5:
        limits["area"] = Fraction(draw.randint(3, 60))
    if draw.random() < 0.5:
        name, most = draw.choice(
            [("latency", 120), ("energy", 2500), ("traffic", 150), ("latency*price", 200)]
        )
        limits[name] = Fraction(draw.randint(most // 8, most))
    works = [
        layer(
            draw.randint(2, 10),
            draw.randint(1, 6),
            count=draw.randint(1, 3),
            weight=Fraction(draw.randint(1, 3), 2),
            workload=draw.choice(["one", "two"]),
        )
        for _ in range(draw.randint(1, 3 if len(objectives) == 1 and not limits else 2))
    ]
    return make_question(space, works, objectives, limits)


def brute_force(question):
    """Every nondominated vector of objectives, by trying all accelerators with all mappings of all
    layers."""
    space, found = question.space, dict[tuple[Fraction, ...], Configuration]()
    for values in product(*(quantity.values for quantity in space.quantities)):
        point = Configuration(dict(zip((q.name for q in space.quantities), values, strict=True)))
        if not all(rule.allows(point) for rule in space.rules):
            continue
        figures = {name: figure.at(point) for name, figure in space.figures.items()}
        costs = {name: figure.at(point) for name, figure in space.costs.items()}
        sums = _sums(question, figures, costs)
        for vector in sums:
            found.setdefault(vector, point)
    return {v: p for v, p in found.items() if not any(_below(o, v) for o in found)}


def _sums(question, figures, costs):
    """The objectives of all combinations of mappings on an accelerator that keep the limits."""
    asked = [
        *(o.expression for o in question.objectives),
        *(limit.expression for limit in question.limits),
    ]
    alone = [not e.symbols - costs.keys() for e in asked]
    fixed = [
        Fraction(e.evaluate(costs, FRACTION)) if a else Fraction(0)
        for e, a in zip(asked, alone, strict=True)
    ]
    objectives = len(question.objectives)
    partial = {
        (
            tuple(fixed[:objectives]),
            tuple((w, tuple(fixed[objectives:])) for w in question.workloads),
        )
    }
    ways = (False, True) if question.space.accelerator.both else (False,)
    for work in question.works:
        n, k = work.nest.sizes.values()
        mappings = [m for steep in ways for m in enumerated(n, k, figures, steep=steep)]
        vectors = {
            tuple(Fraction(e.evaluate({**m, **costs}, FRACTION)) for e in asked) for m in mappings
        }
        extended = set()
        for (totals, used), vector in product(partial, vectors):
            own = tuple(
                t if a else t + work.weight * work.count * v
                for t, v, a in zip(totals, vector[:objectives], alone[:objectives], strict=True)
            )
            limited = tuple(
                (w, tuple(u if a or w != work.workload else u + work.count * v for u, v, a in rest))
                for w, us in used
                for rest in [list(zip(us, vector[objectives:], alone[objectives:], strict=True))]
            )
            extended.add((own, limited))
        partial = extended
    bounds = [limit.bound for limit in question.limits]
    return {
        o
        for o, used in partial
        if all(u <= b for _, us in used for u, b in zip(us, bounds, strict=True))
    }


def _below(a, b):
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


#: The family, as far as its words go, and the package of somebody else that has it.
TOY = SimpleNamespace(profile=ToyProfile)
PLUGIN = Plugin({"families": {"toy": "tests.plugins.codesign.studies.toy:TOY"}})
