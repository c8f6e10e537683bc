"""Every answer that is written is read at once: what was read says the same, and verifies.

Objectives are such that optima are no integers, and no decimals either; answers are of every kind
and family, whole and cut short, and of nothing at all.
"""

import json
import re
from pathlib import Path
from random import Random, SystemRandom

import pytest

import ithaca
from ithaca.solver.options import SolveOptions
from ithaca.studies import marginal
from tests.command_line import ithaca as command
from tests.plugins.codesign.studies.spaces import small_space

#: A small array, and a small mapping.
ARRAY = {"dataflow": "i,j", "divisors_only": True}
MAPPING = {"arch": "simple", "divisors_only": True}
SIZES = {"i": 4, "j": 3, "k": 2}

#: An accelerator whose costs a file states.
OWN = """name: own
family: custom
quantities: {pes: {values: [2, 3]}}
metrics:
  compute: {of: layer.operations / pes, unit: cycles}
  dma: {of: 2 * (layer.input1 + layer.input2 * trips + layer.output) / 3, unit: cycles}
  trips: ceil(layer.i / tile)
  latency: {of: "max(compute, dma)", unit: cycles}
choices:
  tile: {powers_of_two: [1, layer.i]}
conditions: [tile * (layer.k + layer.j) <= 64]
costs: {area: pes}
workloads: [mm]
objective: latency
"""

NETWORK = """name: two
layers:
  - {op: kernel, name: first, kernel: mm, sizes: {i: 2, j: 3, k: 4}}
  - {op: kernel, name: next, kernel: mm, sizes: {i: 2, j: 4, k: 3}, count: 3}
"""


def network(objective, **more):
    """Two layers."""
    Path("two.yaml").write_text(NETWORK)
    return ithaca.network("two.yaml", objective=objective, **more)


def accelerator(**more):
    """The best of a space of memories and lanes."""
    return ithaca.codesign(small_space(Path()), **more)


def own(objective):
    """The best of a space with costs of its own."""
    Path("own.yaml").write_text(OWN)
    return ithaca.codesign("own.yaml", sizes={"i": 4, "j": 2, "k": 3}, objective=objective)


def forth(answer):
    """The answer, written and read, with all that it says."""
    path = Path("answer.json")
    answer.save(path)
    stated, read = json.loads(path.read_text()), ithaca.load(path)
    assert json.loads(json.dumps(read.document)) == stated
    assert read.headline == answer.headline
    return read


#: Answers by what they are; each minimises what it gets.
ANSWERS = {
    "array": lambda o: ithaca.solve("mm", **SIZES, **ARRAY, objective=o),
    "array with ports": lambda o: ithaca.solve("mm", **SIZES, **ARRAY, objective=o, ports=2),
    "array with blocks": lambda o: ithaca.solve(
        "mm", i=4, j=3, k=8, **ARRAY, objective=o, block_sparse="A=2/4"
    ),
    "array of two levels": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, two_level=True
    ),
    "array in bursts": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, no_host_serialize=True
    ),
    "array with URAM": lambda o: ithaca.solve("mm", **SIZES, **ARRAY, objective=o, uram=True),
    "array of another machine": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, edition="cycle", regime="hls"
    ),
    "array of another edition": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, edition="odyssey"
    ),
    "arrays for a compiler": lambda o: ithaca.solve(
        "mm", **SIZES, divisors_only=True, objective=o, target="autosa", dataflow="i,k"
    ),
    "arrays within shares": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, limit={"dsp": "0.33%", "bram18k": "7.77%"}
    ),
    "array by an integer program": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, method="cpsat"
    ),
    "array within a gap": lambda o: ithaca.solve("mm", **SIZES, **ARRAY, objective=o, gap=0.5),
    "array without a search": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, time_limit=1e-9
    ),
    "array that was rounded": lambda o: ithaca.solve(
        "mm", **SIZES, **ARRAY, objective=o, method="gp"
    ),
    "no array": lambda o: ithaca.solve("mm", **SIZES, **ARRAY, objective=o, limit={"dsp": 2.5}),
    "recurrence": lambda o: ithaca.solve("lu", n=3, objective=o),
    "mapping": lambda o: ithaca.map("mm", **SIZES, **MAPPING, objective=o),
    "mapping with tiles of its own": lambda o: ithaca.map(
        "mm", i=2, j=2, k=2, **MAPPING, objective=o, edition="uneven"
    ),
    "what-if": lambda o: ithaca.whatif(
        "mm", **SIZES, **ARRAY, objective=o, vary={"dsp": [2, 12.5]}, marginal=3.3
    ),
    "what-if of shares": lambda o: ithaca.whatif(
        "mm", **SIZES, **ARRAY, objective=o, vary={"dsp": ["0.33%"]}, marginal=7
    ),
    "what-if of mappings": lambda o: ithaca.whatif(
        "mm", i=4, j=3, **MAPPING, objective=o, vary={"k": [2, 5]}
    ),
    "what-if without a search": lambda o: ithaca.whatif(
        "mm", i=4, j=3, **ARRAY, objective=o, vary={"k": [2, 5]}, time_limit=1e-9
    ),
    "front": lambda o: ithaca.pareto("mm", **SIZES, **ARRAY, objectives=[o, "dsp"]),
    "front of mappings": lambda o: ithaca.pareto(
        "mm", **SIZES, **MAPPING, objectives=[o, "energy"]
    ),
    "front without a search": lambda o: ithaca.pareto(
        "mm", **SIZES, **ARRAY, objectives=[o, "dsp"], time_limit=1e-9
    ),
    "no front": lambda o: ithaca.pareto(
        "mm", **SIZES, **ARRAY, objectives=[o, "dsp"], limit={"dsp": 2}
    ),
    "network": lambda o: network(o, **ARRAY),
    "network on one dataflow": lambda o: network(o, **ARRAY, mode="shared-dataflow"),
    "network on one array": lambda o: network(o, **ARRAY, mode="shared-array"),
    "network on two arrays": lambda o: network(
        o, **ARRAY, mode="multi-array", arrays=2, limit={"dsp": 40, "bram18k": 100}
    ),
    "network without an answer": lambda o: network(o, **ARRAY, limit={"dsp": 2}),
    "network without a search": lambda o: network(o, **ARRAY, time_limit=1e-9),
    "network of mappings": lambda o: network(o, **MAPPING),
    "fused network": lambda o: network(o, **MAPPING, fuse=True),
    "accelerator": lambda o: accelerator(objective=o),
    "front of accelerators": lambda o: accelerator(objectives=[o, "area"]),
    "accelerators within limits": lambda o: accelerator(objective=o, vary={"area": [1.3, 5.7]}),
    "no accelerator": lambda o: accelerator(objective=o, limit={"area": 0.1}),
    "accelerator without a search": lambda o: accelerator(objective=o, time_limit=1e-9),
    "accelerator with costs of its own": own,
}

#: Objectives whose optima are fractions; those of products and quotients do not add up over layers.
SUMS = ("latency/7", "latency/3 + 0.1", "latency/7, latency")
OTHERS = ("latency*latency/7", "1000/latency")


#: Those of several objectives, and those of sums alone.
FRONTS = {name for name in ANSWERS if "front" in name}
ADDING = {name for name in ANSWERS if name.startswith(("network on", "accelerators within"))}


def cases():
    """Every kind with an objective, in turn."""
    fixed = []
    for place, name in enumerate(ANSWERS):
        several = name not in {*FRONTS, "network on one array", "network on two arrays"}
        known = [o for o in SUMS + OTHERS * (name not in ADDING) if several or "," not in o]
        fixed.append((name, known[place % len(known)]))
    return fixed


@pytest.mark.parametrize(("name", "objective"), cases(), ids=[name for name, _ in cases()])
def test_an_answer_that_is_written_is_read_and_verified(name, objective, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forth(ANSWERS[name](objective))
    done = command("verify", "answer.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout


def drawn(random, adds_up, depth=3):
    """An expression over latency that is positive and no whole number."""
    kinds = ["sum", "scaled", "max"] + ["product", "quotient"] * (not adds_up)
    kind = random.choice(kinds) if depth else "latency"
    if kind == "latency":
        return "latency"
    one = drawn(random, adds_up, depth - 1)
    if kind == "scaled":
        return f"({one}) * {random.choice(('0.3', '1e9', '123.456', '1e-6'))} / {random.randint(3, 99)}"
    if kind == "quotient":
        return f"{random.randint(1, 10**6)} / ({one})"
    other = drawn(random, adds_up, depth - 1)
    return (
        f"max({one}, {other})" if kind == "max" else f"({one}) {'+*'[kind == 'product']} ({other})"
    )


#: What an engine, or a kind of answer, says of objectives that it cannot take.
REFUSED = "is not posynomial|over layers|integers end at|divides by .* which may be 0|terms; it takes up to"


def check_drawn(seed):
    """An answer of a drawn kind to a drawn objective, written, read and verified."""
    random = Random(seed)
    name = random.choice(list(ANSWERS))
    try:
        answer = ANSWERS[name](drawn(random, name in ADDING))
    except ithaca.InputError as refused:  # what its engine, or its kind of answer, cannot take
        if not re.search(REFUSED, str(refused)):
            raise
        return
    forth(answer)
    verified = ithaca.verify("answer.json", time_limit=60)
    assert verified.checks


@pytest.mark.parametrize("seed", range(100))
def test_drawn_answers_are_read_and_contradict_nothing(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_drawn(seed)


@pytest.mark.slow
@pytest.mark.parametrize("_part", range(10))
def test_answers_drawn_anew_are_read_and_contradict_nothing(_part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in (SystemRandom().randrange(2**32) for _ in range(10)):
        print(f"seed {seed}")  # shown where it fails
        check_drawn(seed)


#: Beyond what the integers of CP-SAT hold.
LARGE = "*".join(["latency"] * 14)


@pytest.mark.parametrize("name", ["array", "what-if", "front", "array by an integer program"])
def test_what_an_engine_cannot_hold_is_proven_by_another(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forth(ANSWERS[name](LARGE if "integer" not in name else "latency"))
    done = command("verify", "answer.json")
    assert (done.returncode, done.stderr) == (0, "")
    if name.startswith("array"):
        assert "confirmed by enumeration in" in done.stdout


@pytest.mark.parametrize("seed", range(16))
def test_answers_of_any_size_verify(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = Random(seed)
    sizes = {loop: random.choice((1, 7, 100, 777, 896, 1024, 4096, 16384)) for loop in "ijk"}
    objective = random.choice(("latency", "edp", "energy", "latency + 0.001*energy", "latency/7"))
    limit = random.choice((None, {"dsp": 1000}, {"dsp": "5.5%", "bram18k": 333.3}))
    answer = ithaca.solve(
        "mm", **sizes, objective=objective, limit=limit, dataflow="i,j", time_limit=20
    )
    forth(answer)
    done = command("verify", "answer.json", "--time-limit", "20")
    assert done.returncode in (0, 1), done.stderr  # a busy machine may need more time


def test_what_was_not_proven_again_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forth(ithaca.solve("mm", i=64, j=64, k=64, dataflow="i,j"))
    done = command("verify", "answer.json", "--time-limit", "1e-9")
    assert done.returncode == 1
    assert "not every claim was proven again: [i,j] C; --time-limit gives more time" in done.stderr


def test_marginal_values_that_take_too_long_contradict_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = ANSWERS["what-if"]("latency/7")
    whole = marginal.solve_best

    def hasty(problems, options=None, **more):
        return whole(problems, SolveOptions(time_limit=0.0), **more)

    forth(study)
    monkeypatch.setattr(marginal, "solve_best", hasty)
    verified = ithaca.verify("answer.json")
    assert not verified.confirmed
    assert "not proven again in time" in str(verified)
