"""One question asked in several ways: with and without a time limit, on two processes, as a point of
a what-if study, as a front of one point, from Python and from the shell. Two different optima, or a
bound above a value, are a fault whatever the truth is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import ithaca
from tests.command_line import ithaca as command


@dataclass(frozen=True)
class Asked:
    """A nest with limits, on a platform, or on an architecture."""

    workload: str
    sizes: Mapping[str, int]
    objective: str
    limit: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _terms(self):
        return {"sizes": self.sizes, "limit": self.limit, **self.options}

    def solved(self, **more):
        """Status, value and bound by the function for one question."""
        solve = ithaca.map if "arch" in self.options else ithaca.solve
        answer = solve(self.workload, objective=self.objective, **self._terms, **more)
        return answer.status, answer.value, answer.lower_bound

    def varied(self):
        """The answer as the only point of a study of its last limit, or else of its objective."""
        terms, vary = self._terms, {"objective": [self.objective]}
        if self.limit:
            *others, (name, bound) = self.limit.items()
            vary = {name: [bound]}
            terms |= {"limit": dict(others), "objective": self.objective}
        study = ithaca.whatif(self.workload, vary=vary, **terms)
        (point,) = study.points.values()
        proof = point.answer.certificate
        return proof.status.value, point.answer.value, proof.lower_bound

    def on_front(self):
        """The answer as the first point of a front: it has the least of the first objective."""
        objectives = [self.objective, "latency" if self.objective != "latency" else "energy"]
        front = ithaca.pareto(self.workload, objectives=objectives, max_points=1, **self._terms)
        if not front.points:
            return front.status, None, None
        return "optimal", front.points[0].values[0], front.points[0].values[0]

    def typed(self, folder):
        """The answer from the shell, as the file that it writes in a folder is read."""
        words = [f"--objective={self.objective}"]
        words += [f"--limit={name}={bound}" for name, bound in self.limit.items()]
        for name, value in self.options.items():
            option = f"--{name.replace('_', '-')}"
            words.append(option if value is True else f"{option}={value}")
        sizes = ",".join(f"{loop}={n}" for loop, n in self.sizes.items())
        name = "map" if "arch" in self.options else "solve"
        command(name, self.workload, "-s", sizes, *words, "-o", folder / "typed.json")
        answer = ithaca.load(folder / "typed.json")
        return answer.status, answer.value, answer.lower_bound

    def answers(self, folder, *, processes):
        """The answers to all ways of asking."""
        yield self.solved()
        yield self.solved(time_limit=600)
        yield self.solved(method="exact")
        if processes:
            yield self.solved(threads=2)
        yield self.varied()
        yield self.on_front()
        yield self.typed(folder)


def check(asked, folder, *, processes=False):
    """Compare the answers to all ways of asking; the one status that they have."""
    answers = list(asked.answers(folder, processes=processes))
    statuses = {status for status, _, _ in answers}
    assert statuses <= {"optimal"} or statuses <= {"infeasible"}, (asked, answers)
    if statuses == {"optimal"}:
        values = {float(Fraction(n)) for _, value, bound in answers for n in (value, bound)}
        assert len(values) == 1, (asked, answers)
    return statuses.pop()


FIXED = [
    Asked("mm", {"i": 8, "j": 6, "k": 4}, "latency", {"dsp": "39.5"}, {"dataflow": "i,j"}),
    Asked("mm", {"i": 6, "j": 4, "k": 4}, "energy", {"bram18k": "12"}, {"dataflow": "i"}),
    Asked("mm", {"i": 6, "j": 4, "k": 4}, "latency", {"dsp": "4.9"}, {"dataflow": "i"}),
    Asked("mm", {"i": 4, "j": 4, "k": 6}, "edp", {}, {"arch": "simple", "divisors_only": True}),
]


@pytest.mark.ci(whole=True)
@pytest.mark.parametrize("asked", FIXED, ids=range(len(FIXED)))
def test_one_question_has_one_answer(asked, tmp_path):
    check(asked, tmp_path, processes=asked is FIXED[0])


def drawn(rng):
    """A small question, with limits at and around what designs take."""
    sizes = {loop: rng.choice((1, 2, 3, 4, 5, 6, 8)) for loop in "ijk"}
    objective = rng.choice(("latency", "energy", "edp", "latency + 2*energy"))
    if rng.random() < 0.4:
        arch = rng.choice(("simple", "eyeriss"))
        return Asked("mm", sizes, objective, {}, {"arch": arch, "divisors_only": True})
    limit = {
        "dsp": str(rng.choice((4, 5, 9.99, 10, 10.01, 20, 33, 40, 79.5))),
        "bram18k": str(rng.choice((6, 7, 8, 11.5, 14, 20, 40, 100))),
    }
    dataflow = rng.choice(("i", "j", "k", "i,j", "i,k", "j,k"))
    edition = rng.choice(("cycle", "exact"))
    return Asked("mm", sizes, objective, limit, {"dataflow": dataflow, "edition": edition})


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_drawn_questions_have_one_answer(first, tmp_path):
    statuses = [check(drawn(Random(seed)), tmp_path) for seed in range(first, first + 10)]
    assert "optimal" in statuses
