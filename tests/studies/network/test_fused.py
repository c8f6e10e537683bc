"""Fusing: what stays on chip between layers, against every choice of it and every configuration;
files of it."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ithaca.commands.api.loading import load
from ithaca.files.writing import document_text
from ithaca.formulations.systolic.design import SpaceOptions, systolic
from ithaca.results.network import network_document
from ithaca.results.network_verification import verify_network
from ithaca.solver.certificate import Status
from ithaca.solver.engines import Method
from ithaca.solver.options import SolveOptions
from ithaca.solver.staged.engine import solve_staged
from ithaca.studies.network.fused import solve_fused
from ithaca.studies.network.layers import solve_per_layer
from ithaca.studies.network.problems import only_layers
from ithaca.studies.network.runner import RunOptions
from ithaca.workloads.library import workload
from ithaca.workloads.networks.network import LayerRun
from tests.command_line import ithaca, succeed
from tests.studies.network.chains import asked, chain_of, chains, every_choice, least
from tests.studies.network.tiny import TINY

#: Formats of products: of equal activations, and others.
FORMATS = ("A=int8,B=int4", "A=int4,B=int8", "A=int8,B=int8", "A=int16,B=int2,C=int32", None)

OBJECTIVES, BUDGETS = ("off_chip_words", "energy", "latency"), (10, 25, 35, 40, 60)


@settings(max_examples=8)
@given(chains(), st.sampled_from(OBJECTIVES), st.sampled_from(BUDGETS))
def test_the_total_is_the_least_of_all_choices_and_configurations(network, objective, bram18k):
    check(network, objective, bram18k)


@settings(max_examples=100)
@given(chains(), st.sampled_from(OBJECTIVES), st.sampled_from(BUDGETS))
def test_the_total_is_the_least_on_many_chains(network, objective, bram18k):
    check(network, objective, bram18k)


@pytest.mark.ci
@settings(max_examples=30)
@given(chains(FORMATS), st.sampled_from(OBJECTIVES), st.sampled_from(BUDGETS))
def test_tensors_with_formats_are_kept_in_that_of_what_reads_them(network, objective, bram18k):
    check(network, objective, bram18k)


def check(network, objective, bram18k):
    request = asked(objective, bram18k)
    result = solve_fused(network, request, RunOptions())
    expected = every_choice(network, request, objective, bram18k)
    assert result.total.value == expected
    assert result.total.certificate.status is (
        Status.INFEASIBLE if expected is None else Status.OPTIMAL
    )
    assert result.total.certificate.lower_bound == expected
    posed, runs = (
        {part.layer.nest: part.problems for part in request.pose(network)},
        {r.source: r for r in network.order},
    )
    for edge in result.fusing.edges:
        ends = (
            (runs[edge.producer].nest, {"C": edge.words}),
            (runs[edge.consumer].nest, {"A": edge.words}),
        )
        room = [
            any(least(problem, objective, bram18k, kept) is not None for problem in posed[nest])
            for nest, kept in ends
        ]
        assert edge.fits == all(room)
        assert edge.fits or not edge.kept
    if expected is not None:
        assert (
            sum(layer.layer.count * (layer.answer.value or 0) for layer in result.layers)
            == expected
        )
        assert all(layer.answer.metrics["bram18k"] <= bram18k for layer in result.layers)


# -- what a result says ----------------------------------------------------------------

FOLLOWING = (
    TINY.replace("i: 4, j: 6, k: 8", "i: 8, j: 6, k: 8")
    .replace("i: 6, j: 2, k: 12", "i: 4, j: 6, k: 6")
    .replace("count: 3}", "count: 2, follows: true}")
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("fused") / "tiny.yaml"
    path.write_text(FOLLOWING)
    return path


def test_equal_layers_of_which_one_follows_are_apart():
    nest = workload("mm", {"i": 4, "j": 4, "k": 4})
    network = chain_of(
        [
            LayerRun("a", nest, 1),
            LayerRun("b", nest, 1, True),
            LayerRun("c", nest, 2),
            LayerRun("d", nest, 1, True),
        ]
    )
    (merged,) = network.layers
    assert (merged.count, merged.sources) == (5, ("a", "b", "c", "d"))
    result = solve_fused(network, asked("off_chip_words", 400), RunOptions())
    kept = {
        layer.layer.name: (layer.layer.count, dict(systolic(layer.answer.problem).kept))
        for layer in result.layers
    }
    assert kept == {
        "a": (1, {"C": 16}),
        "b": (1, {"A": 16}),
        "c": (2, {"C": 32}),
        "d": (1, {"A": 32}),
    }
    assert [(edge.producer, edge.consumer, edge.words) for edge in result.fusing.edges] == [
        ("a", "b", 16),
        ("c", "d", 32),
    ]


def test_layers_left_out_are_followed_by_none():
    nest = workload("mm", {"i": 4, "j": 4, "k": 4})
    other = workload("mm", {"i": 4, "j": 2, "k": 4})
    network = chain_of(
        [LayerRun("a", nest, 1), LayerRun("b", other, 1, True), LayerRun("c", nest, 1, True)]
    )
    result = solve_fused(only_layers(network, ["a"]), asked("off_chip_words", 400), RunOptions())
    assert not result.fusing.edges
    alone = solve_per_layer(only_layers(network, ["a"]), asked("off_chip_words", 400), RunOptions())
    assert result.fusing.without.value == alone.total.value == (result.total and result.total.value)


def test_a_run_without_time_says_what_it_knows():
    nest = workload("mm", {"i": 4, "j": 4, "k": 4})
    network = chain_of([LayerRun("a", nest, 1), LayerRun("b", nest, 1, True)])
    result = solve_fused(
        network, asked("off_chip_words", 400), RunOptions(search=SolveOptions(stop=lambda: True))
    )
    assert (result.total.value, result.total.certificate.status) == (None, Status.UNKNOWN)
    whole = solve_fused(network, asked("off_chip_words", 400), RunOptions()).total
    assert 0 < (result.total.certificate.lower_bound or 0) <= whole.value
    assert not result.complete


@pytest.mark.usefixtures("counted_time")
@pytest.mark.parametrize(
    ("method", "limit", "part"),
    [
        *((Method.EXACT, limit, 1.0) for limit in (0.02, 0.03, 0.05)),
        (Method.AUTO, 0.05, 1.0),
        (Method.AUTO, 0.2, 0.5),
    ],
)
def test_without_much_time_fusing_loses_nothing(method, limit, part):
    sizes = [(64, 128), (128, 64), (192, 128), (64, 64)]
    nests = [workload("mm", {"i": i, "j": j, "k": 128}) for i, j in sizes]
    network = chain_of([LayerRun(f"l{n}", nest, 1, n > 0) for n, nest in enumerate(nests)])
    request = asked("latency", 1000, space=SpaceOptions(), dataflow=None)

    def values(solve, seconds):
        options = RunOptions(method=method, search=SolveOptions(time_limit=seconds))
        found = solve(network, request, options)
        return [
            inf if n is None else n for n in (found.value, *(x.answer.value for x in found.layers))
        ]

    apart, fused = values(solve_per_layer, part * limit), values(solve_fused, limit)
    assert fused[0] <= apart[0]
    assert apart[1] < inf
    if apart[0] == inf:  # what one of the two could not finish, the other could not
        assert fused[1:] == apart[1:]


def test_products_are_no_worse_than_of_layers_alone(tmp_path, monkeypatch):
    """The layers alone are the answer where there is no time for fusing."""
    nest = workload("mm", {"i": 4, "j": 6, "k": 8})
    network = chain_of([LayerRun("a", nest, 1), LayerRun("b", nest, 1, True)])
    request, over, known = asked("edp", 400), False, []

    def alone(network, request, options):
        nonlocal over
        known.append(solve_per_layer(network, request, RunOptions()))
        over = True
        return known[-1]

    monkeypatch.setattr("ithaca.studies.network.fused.solve_per_layer", alone)
    options = RunOptions(search=SolveOptions(stop=lambda: over))
    result = solve_fused(network, request, options)
    assert result.value == known[0].value
    assert result.lower_bound <= known[0].lower_bound
    assert not any(edge.kept for edge in result.fusing.edges)
    (tmp_path / "r.json").write_text(document_text(network_document(result)))
    assert load(tmp_path / "r.json").value == result.value


def test_the_command(file, tmp_path):
    words = (
        "network",
        file,
        "--fuse",
        "--objective",
        "off_chip_words",
        "--edition",
        "exact",
        "--divisors-only",
        "--layers",
        "mm",
    )
    done = succeed(*words, "-o", tmp_path / "r.json")
    assert "kept       wide → deep 48 words" in done.stdout
    assert "unfused    off_chip_words" in done.stdout
    assert "Kept: wide → deep 48 words." in ithaca("explain", tmp_path / "r.json").stdout
    succeed("explain", tmp_path / "r.json", "--layer", "deep", "--quick")
    loaded = load(tmp_path / "r.json")
    evaluated = json.loads(ithaca("evaluate", tmp_path / "r.json", "--json").stdout)["points"]
    for row, result in zip(evaluated, loaded.layers, strict=True):
        for name in ("off_chip_words", "bram18k", "energy"):
            assert row["metrics"][name] == float(result.answer.metrics[name])


HIERARCHY = """\
name: two
input: {batch: 1, channels: 4, height: 4, width: 4}
layers:
  - {op: conv, name: a, channels: 4, kernel: 1}
  - {op: conv, name: b, channels: 4, kernel: 3, padding: 1}
  - {op: conv, name: c, channels: 4, kernel: 1}
"""


def test_on_a_memory_hierarchy_too(tmp_path):
    """All choices of what to keep, each layer with what that leaves it."""
    (tmp_path / "two.yaml").write_text(HIERARCHY)
    path = tmp_path / "r.json"
    words = ("--arch", "simple", "--objective", "energy", "--divisors-only")
    done = succeed("network", tmp_path / "two.yaml", "--fuse", *words, "-o", path)
    assert "kept       a → b 64 words; b → c 64 words" in done.stdout
    loaded = load(path)
    assert loaded.total.certificate.status is Status.OPTIMAL
    (one, other) = (loaded.request.layers[n] for n in (0, 1))
    totals = []
    for first, second in product((False, True), repeat=2):
        ends = (
            [[], [("cout", 64)]][first],
            [[("cin", 64)], []][not first] + [[], [("cout", 64)]][second],
            [[], [("cin", 64)]][second],
        )
        chosen = (one, tuple(ends[0])), (other, tuple(ends[1])), (one, tuple(ends[2]))
        values = []
        for problem, kept in chosen:
            design = problem.design.keeping(kept)
            assert design is not None
            values.append(solve_staged(replace(problem, design=design)).value or Fraction(0))
        totals.append(sum(values, Fraction(0)))
    assert float(loaded.total.value or 0) == pytest.approx(float(min(totals)))
    assert all(check.confirmed for check in verify_network(loaded, SolveOptions()))
    done = ithaca("export", path, "--layer", "b", "--to", "timeloop", "-o", tmp_path / "folder")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "stays there between layers" in done.stderr
    done = ithaca(
        "network",
        tmp_path / "two.yaml",
        "--fuse",
        "--arch",
        "dmazerunner-256",
        "--edition",
        "dmazerunner",
    )
    assert (done.returncode, done.stderr) == (
        2,
        "ithaca: --fuse does not go with edition dmazerunner; allowed: timeloop, uneven\n",
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--mode", "shared-array"),
            "--fuse does not go with --mode shared-array; allowed: per-layer, multi-array",
        ),
        (
            ("--objective", "dsp"),
            "--objective 'dsp' does not add up over layers, which --fuse needs",
        ),
        *(
            (
                option,
                "--fuse does not go with --ports, --no-host-serialize, --two-level; "
                "allowed: without them",
            )
            for option in (("--two-level",), ("--no-host-serialize",))
        ),
    ],
)
def test_bad_input_is_one_line(words, line, file):
    done = ithaca("network", file, "--fuse", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert line in done.stderr


def test_a_network_that_does_not_say_what_follows_what_is_refused(tmp_path):
    path = tmp_path / "sums.yaml"
    conv = "{op: conv, name: %s, channels: 2, kernel: 1}"
    layers = "".join(f"  - {conv % name}\n" for name in "ab")
    path.write_text(
        f"name: sums\ninput: {{batch: 1, channels: 2, height: 2, width: 2}}\nlayers:\n{layers}elementwise: {{Add: 1}}\n"
    )
    done = ithaca("network", path, "--fuse", "--objective", "energy")
    assert done.returncode == 2
    assert (
        "sums does not say which of its layers follow each other: it has 1 Add, and 0 blocks with residual"
        in done.stderr
    )
