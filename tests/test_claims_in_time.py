"""Claims made when time is over, wherever that is: no bound is above the optimum, nothing that has an
answer is infeasible, nothing is optimal that is not. All families, studies and modes are asked, with
objectives that fall as metrics grow, and compared with what is proven without a limit."""

import time
from dataclasses import dataclass
from fractions import Fraction
from random import Random, SystemRandom

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.codesign.studies.result import CodesignResult
from ithaca.solver.result import Result
from ithaca.studies.front import Front
from ithaca.studies.network.result import NetworkResult
from ithaca.studies.whatif import Study
from tests.file_kinds import titled

FILES = {
    "chain.yaml": """
name: chain
layers:
- {op: kernel, name: a, kernel: mm, sizes: {i: 4, j: 3, k: 2}}
- {op: kernel, name: b, kernel: mm, sizes: {i: 4, j: 2, k: 3}, follows: true}
""",
    "two.yaml": """
name: two
layers:
- {op: kernel, name: a, kernel: mm, sizes: {i: 4, j: 3, k: 2}}
- {op: kernel, name: b, kernel: mm, sizes: {i: 2, j: 2, k: 3}, count: 2}
""",
    "small.yaml": """
name: small
architecture: simple
divisors_only: true
quantities:
  buffer_words: {powers_of_two: [128, 512]}
  rows: {values: [1, 2]}
figures: {Buffer.words: buffer_words, RF.mesh_x: rows}
costs: {area: 0.01 * buffer_words + rows}
objective: edp
""",
    "stated.yaml": titled("input-files", "hardware-files", "space-files")["stated.yaml"],
    "sparse.yaml": titled(
        "memory-hierarchies", "best-mapping", "evaluating-mappings", "published-models"
    )["sparse.yaml"],
    "product.yaml": """
problem:
  version: 0.4
  shape:
    name: product
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 4, N: 2, K: 2, densities: {A: {distribution: hypergeometric, density: 0.5}}}
""",
}

#: Extents of products.
MM, MAPPED = {"i": 3, "j": 3, "k": 2}, {"i": 4, "j": 3, "k": 2}
CONV = {"o": 2, "i": 2, "r": 2, "c": 2}
FUSED = {"fuse": True, "arch": "simple", "divisors_only": True}
SMALL = {"workloads": ["mm"], "sizes": {"i": 4, "j": 2, "k": 2}}

#: Questions: a function, what it is asked about (a name that ends in .yaml is one of these files),
#: and how.
QUESTIONS = {
    "arrays": ("solve", "mm", MM),
    "arrays in order": ("solve", "mm", {**MM, "objective": "latency,energy"}),
    "arrays that fall": ("solve", "mm", {**MM, "dataflow": "i", "objective": "energy - 9*latency"}),
    "arrays, comm - comp": ("solve", "mm", {**MM, "dataflow": "i", "objective": "comm - latency"}),
    "arrays, quotient": ("solve", "mm", {**MM, "dataflow": "i", "objective": "dsp/latency"}),
    "arrays, no room": ("solve", "mm", {**MM, "limit": {"dsp": "4.9"}}),
    "arrays, little room": ("solve", "mm", {**MM, "limit": {"dsp": 10, "bram18k": 9}}),
    "arrays, cpsat": ("solve", "mm", {**MM, "dataflow": "i", "method": "cpsat"}),
    "arrays, gp": ("solve", "mm", {**MM, "dataflow": "i", "method": "gp"}),
    "recurrences": ("solve", "lu", {"n": 5}),
    "recurrences that fall": ("solve", "lu", {"n": 4, "objective": "latency - 3*pes"}),
    "levels": ("map", "mm", {**MAPPED, "arch": "simple", "objective": "edp"}),
    "levels that fall": (
        "map",
        "mm",
        {"i": 2, "j": 2, "k": 2, "arch": "simple", "divisors_only": True}
        | {"objective": "energy - 10*latency"},
    ),
    "levels, free bypass": (
        "map",
        "mm",
        {"i": 2, "j": 3, "k": 2, "arch": "simple", "bypass": "free", "objective": "energy"},
    ),
    "levels, remainders": ("map", "mm", {**MAPPED, "arch": "simple", "remainders": True}),
    "uneven": (
        "map",
        "mm",
        {"i": 2, "j": 2, "k": 2, "arch": "simple", "edition": "uneven", "divisors_only": True},
    ),
    "uneven that fall": (
        "map",
        "mm",
        {"i": 2, "j": 2, "k": 1, "arch": "simple", "edition": "uneven", "divisors_only": True}
        | {"objective": "energy - 10*latency"},
    ),
    "sparse": ("map", "product.yaml", {"arch": "sparse.yaml", "objective": "energy"}),
    "dmazerunner": ("map", "conv2d", {**CONV, "arch": "dmazerunner-256", "edition": "dmazerunner"}),
    "dmazerunner, edp": (
        "map",
        "conv2d",
        {**CONV, "arch": "dmazerunner-256", "edition": "dmazerunner", "objective": "edp"},
    ),
    "explainable": (
        "map",
        "conv2d",
        {**CONV, "arch": "explainable-edge", "edition": "explainable"},
    ),
    "intrinsic": (
        "map",
        "mm",
        {"i": 8, "j": 8, "k": 8, "arch": "hasco-gemm", "edition": "intrinsic"},
    ),
    "network": ("network", "chain.yaml", {"dataflow": "i,j"}),
    "network that falls": (
        "network",
        "two.yaml",
        {"dataflow": "i", "objective": "energy - 3*latency"},
    ),
    "network, edp": ("network", "two.yaml", {"dataflow": "i", "objective": "edp"}),
    "network, sum of edp": ("network", "two.yaml", {"dataflow": "i", "objective": "sum(edp)"}),
    "network, no room": ("network", "two.yaml", {"dataflow": "i", "limit": {"dsp": "4.9"}}),
    "fused": ("network", "chain.yaml", {"dataflow": "i", "fuse": True}),
    "fused that falls": (
        "network",
        "chain.yaml",
        {"dataflow": "i", "fuse": True, "objective": "energy - 3*latency"},
    ),
    "fused levels": ("network", "chain.yaml", {**FUSED, "objective": "energy"}),
    "fused levels, edp": ("network", "chain.yaml", {**FUSED, "objective": "edp"}),
    "fused uneven": (
        "network",
        "chain.yaml",
        {**FUSED, "edition": "uneven", "objective": "energy"},
    ),
    "shared dataflow": ("network", "two.yaml", {"mode": "shared-dataflow"}),
    "shared array": (
        "network",
        "two.yaml",
        {"mode": "shared-array", "dataflow": "i", "divisors_only": True, "limit": {"dsp": 20}},
    ),
    "several arrays": (
        "network",
        "chain.yaml",
        {"mode": "multi-array", "arrays": 2, "dataflow": "i", "divisors_only": True}
        | {"limit": {"dsp": 20}},
    ),
    "co-design": ("codesign", "small.yaml", SMALL),
    "co-design within limits": (
        "codesign",
        "small.yaml",
        {**SMALL, "objective": "energy", "limit": {"area": 4, "latency": 16}},
    ),
    "co-design, no room": ("codesign", "small.yaml", {**SMALL, "limit": {"area": 1}}),
    "co-design that falls": ("codesign", "small.yaml", {**SMALL, "objective": "energy - 9*area"}),
    "co-design, front": ("codesign", "small.yaml", {**SMALL, "objectives": "energy,area"}),
    "co-design, stated": (
        "codesign",
        "stated.yaml",
        {"workloads": ["mm"], "sizes": {"i": 8, "j": 8, "k": 8}},
    ),
    "co-design, network": ("codesign", "small.yaml", {"workloads": ["two.yaml"]}),
    "front": ("pareto", "mm", {**MM, "dataflow": "i", "objectives": ["latency", "dsp"]}),
    "front of levels": (
        "pareto",
        "mm",
        {"i": 2, "j": 3, "k": 2, "arch": "simple", "divisors_only": True}
        | {"objectives": ["energy", "latency"]},
    ),
    "study": ("whatif", "mm", {"dataflow": "i", "i": 3, "k": 2, "vary": {"j": [2, 3]}}),
}

#: Claims: status, value and bound by name.
Claims = dict[str, tuple[str, Fraction | None, Fraction | None]]


def certificates(answer):
    """Claims of an answer: a name, the value, and the certificate."""
    match answer:
        case Result():
            yield "best", answer.value, answer.certificate
            for design in answer.designs:
                if design.settled or design.value is None:
                    yield design.design, design.value, design.certificate
        case NetworkResult():
            if answer.total is not None:
                yield "total", answer.total.value, answer.total.certificate
            if answer.fusing is not None:
                yield "apart", answer.fusing.without.value, answer.fusing.without.certificate
            elif answer.mode == "per-layer":
                for each in answer.layers:
                    yield each.layer.name, each.answer.value, each.answer.certificate
        case CodesignResult():
            value = None if answer.best is None else answer.best.values[0]
            yield "best", value, answer.certificate
        case Study():
            for index, point in answer.points.items():
                yield str(index), point.answer.value, point.answer.certificate


def claims(answer):
    """The claims of an answer; each point of a front is one."""
    if isinstance(answer, Front):
        whole = "optimal" if answer.complete else "feasible"
        points = {str(point.values): ("optimal", *[point.values[0]] * 2) for point in answer.points}
        return {**points, "points": (whole, Fraction(len(answer.points)), None)}
    return {
        name: (proof.status.value, value, proof.lower_bound)
        for name, value, proof in certificates(answer)
    }


def check(own, truth):
    """Compare claims with what is proven without a limit."""
    for name, (status, value, bound) in own.items():
        if "points" in own and name != "points":
            assert name in truth  # it is on the front
        if name not in truth:
            continue  # of a design that was not proven
        known, least, proven = truth[name]
        if name == "points":
            assert status != "optimal" or value == least
            continue
        assert bound is None or least is None or bound <= least, (name, bound, least)
        assert value is None or (proven is not None and value >= proven), (name, value, proven)
        assert status != "infeasible" or known == "infeasible", name
        assert status != "optimal" or value == bound == least, (name, value, bound, least)


@dataclass
class Clock:
    """A clock that goes on by a step whenever it is asked, and by another one after so many
    times."""

    jump: int
    """After how many it jumps by a thousand seconds."""
    step: float
    then: float
    asked: int = 0

    def __call__(self):
        self.asked += 1
        after = self.asked - self.jump
        return self.asked * self.step if after <= 0 else 1000 + after * self.then


def ask(name, folder, **limit):
    """The answer to a question."""
    function, about, how = QUESTIONS[name]

    def placed(value):
        if isinstance(value, list):
            return [placed(each) for each in value]
        return str(folder / value) if isinstance(value, str) and value in FILES else value

    call = getattr(ithaca, function)
    return call(placed(about), **{key: placed(value) for key, value in how.items()}, **limit)


#: Clocks under which each question is asked at least, and CPU seconds after which none is drawn
#: beyond these: questions differ a thousandfold in what they take.
LEAST, ENOUGH = 5, 60.0


def compare(name, folder, draw, count, monkeypatch):
    """Ask under so many clocks, fewer where that takes long, and compare with the answer without a
    limit."""
    for file, text in FILES.items():
        (folder / file).write_text(text)
    truth = claims(ask(name, folder))
    counting = Clock(10**12, 2e-4, 0)
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter", counting)
        ask(name, folder, time_limit=1e6)
    began = time.process_time()
    for number in range(count):
        if number >= LEAST and time.process_time() - began > ENOUGH:
            break
        asks = int(counting.asked ** draw.random())
        if draw.random() < 0.5:  # nothing seems to take any time, until it is over
            clock, limit = Clock(asks, 1e-9, draw.choice((1e-9, 1e-4, 1e-2, 1.0))), 0.05
        else:
            step = draw.choice((1e-4, 1e-2))
            clock, limit = Clock(10**12, step, 0), step * asks
        with monkeypatch.context() as patch:
            patch.setattr(time, "perf_counter", clock)
            try:
                answer = ask(name, folder, time_limit=limit)
            except InputError as error:
                if "time limit" in str(error):
                    continue
                raise
        try:
            check(claims(answer), truth)
        except AssertionError as error:
            raise AssertionError(f"{name} under {limit} s of {clock}: {error}") from error


@pytest.mark.parametrize("name", QUESTIONS)
def test_claims_are_so_wherever_time_ends(name, tmp_path, monkeypatch):
    compare(name, tmp_path, Random(name), LEAST, monkeypatch)


@pytest.mark.parametrize("name", QUESTIONS)
def test_claims_are_so_under_other_clocks(name, tmp_path, monkeypatch):
    seed = SystemRandom().randrange(10**9)
    compare(name, tmp_path, Random(f"{name} {seed}"), 60, monkeypatch)
