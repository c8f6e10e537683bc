"""Machines of calls of an intrinsic: what files and commands say of them, and what they refuse."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from ithaca.commands.api.loading import load
from ithaca.files.errors import InputError
from ithaca.files.reading import packaged_text
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.algebra.parsing import parse_expression
from ithaca.formulations.hardware.accelerator import Work as Run
from ithaca.formulations.problem import Objective
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import architecture_text
from ithaca.plugins.hierarchies.formulations.accelerator import HierarchyAccelerator
from ithaca.plugins.hierarchies.formulations.architecture import TensorUnit
from ithaca.plugins.hierarchies.formulations.editions import Setting
from ithaca.plugins.hierarchies.formulations.intrinsics import find_intrinsic
from ithaca.plugins.hierarchies.formulations.library import find_architecture
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.matching import computation
from ithaca.plugins.hierarchies.formulations.matching_model import matches
from ithaca.plugins.hierarchies.formulations.published.intrinsic.design import (
    VOCABULARY,
    IntrinsicDesign,
)
from ithaca.results.files import result_document
from ithaca.solver.certificate import Status
from ithaca.solver.portfolio import solve_designs
from ithaca.solver.result import Result
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.plugins.hierarchies.formulations.calls import (
    NESTS,
    SMALL,
    designs,
    machine,
    problem,
)


def test_units_of_files_are_checked(tmp_path):
    text = packaged_text("ithaca.plugins.hierarchies.formulations.architectures", "hasco-units")
    for change, complaint in (
        (
            ("gemv: {intrinsic", "gemw: {intrinsic"),
            "units has 'gemw', no dataflow; allowed: gemm, gemv",
        ),
        (("{intrinsic: dot}", "{}"), "intrinsic is missing"),
    ):
        path = tmp_path / "own.yaml"
        path.write_text(text.replace(*change))
        with pytest.raises(InputError, match=complaint):
            find_architecture(str(path))
    path.write_text(text)
    found, own = find_architecture(str(path)), find_architecture("hasco-units")
    assert found.tensorized == own.tensorized
    path.write_text(architecture_text(own))
    assert find_architecture(str(path)).tensorized == own.tensorized


def test_a_layer_is_one_problem_a_match():
    accelerator = HierarchyAccelerator(find_architecture("hasco-gemm"), "intrinsic")
    nest = workload("conv2d").with_sizes({"o": 64, "r": 28, "c": 56, "i": 64})
    objective = Objective(
        "latency", parse_expression("latency", where="objective", allowed=VOCABULARY)
    )
    names = [p.design.name for p in accelerator.problems(Run("conv", nest), {}, objective)]
    # r or c beside the channels, and what reduces: channels, or the window across
    assert sorted(names) == ["i=c j=o k=i", "i=c j=o k=p", "i=r j=o k=i", "i=r j=o k=q"]
    square = replace(
        nest, extents=tuple({**nest.sizes, "r": 56}.items())
    )  # its rows and columns cost the same
    assert len(accelerator.problems(Run("conv", square), {}, objective)) == 2
    stationary = {"tensorized.dataflow": Fraction(1)}  # which operand is held matters
    assert len(accelerator.problems(Run("conv", nest), stationary, objective)) == 8


def test_the_listing_of_the_paper():
    """Listing 1: k = c = 64, 56 × 56, 3 × 3 on 16 × 16, tiles k 32, x 32, c 8: 16,128 sub-problems
    of 32 calls."""
    nest = workload("conv2d").with_sizes({"o": 64, "r": 56, "c": 56, "i": 64, "p": 3, "q": 3})
    design = IntrinsicDesign(
        nest, find_architecture("hasco-gemm"), (("i", "o"), ("j", "c"), ("k", "i"))
    )
    found = design.metrics(
        {"o.Scratchpad": Fraction(32), "c.Scratchpad": Fraction(32), "i.Scratchpad": Fraction(8)},
        FRACTION,
    )
    assert found["subproblems"] == 16_128
    whole = (
        2 * 8 * 56 * 9
        # sub-problems with all 32 columns; as many have the other 24, which take two calls across,
        # too
    )
    assert found["calls"] == 2 * whole * 32
    (match,) = (
        m
        for m in matches(computation(nest), find_intrinsic("gemm", {"k": 1}))
        if set(m.loops) == {"o", "c", "i"}
    )
    tiling = match.tiled({"o": 32, "c": 32, "i": 8})  # as `ithaca match` counts
    assert (tiling.subproblems, tiling.calls) == (found["subproblems"], found["calls"])


def test_local_memory_must_hold_a_call():
    nest = NESTS[0]
    for words, status in ((24 - 1, Status.INFEASIBLE), (24, Status.OPTIMAL)):  # 4 + 4 + 16 words
        (solution,) = solve_designs(
            [problem(designs(machine("hasco-gemm", **SMALL | {"Local.words": words}), nest)[0])]
        )
        assert solution.certificate.status is status


def test_results_come_back(tmp_path):
    for name in ("hasco-gemm", "hasco-conv", "hasco-units"):
        posed = [problem(design) for design in designs(machine(name, **SMALL), NESTS[1])]
        solutions = solve_designs(posed)
        found = Result(name, min(solutions, key=lambda s: s.value or 0), solutions)
        path = tmp_path / f"{name}.json"
        document = result_document(found)
        path.write_text(json.dumps(document))
        again = load(path)
        assert result_document(again) == document
        assert again.solutions[0].problem.design == posed[0].design
        document["best"]["tiling"][1]["loops"] = ["o=7"]
        path.write_text(json.dumps(document))
        with pytest.raises(InputError, match=r"Scratchpad\.loops"):
            load(path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            {"dataflow": 3},
            "tensorized.dataflow is number 3; allowed: one of weight-stationary, output-stationary",
        ),
        ({"banks": 0}, "tensorized.banks is 0; allowed: a positive integer"),
        (
            {"intrinsic": "gemmm"},
            "tensorized.intrinsic is 'gemmm'; allowed: dot, gemv, gemm, conv2d, or a statement",
        ),
        (
            {"dataflows": (("a", ("i", "z")),), "dataflow": 1},
            "tensorized.sizes or a side: unknown loop 'z' of l[i][j]",
        ),
        (
            {"dataflows": (("a", ("i", "j")), ("b", ("k", "z"))), "dataflow": 1},
            "tensorized.sizes or a side: unknown loop 'z' of l[i][j]",
        ),
        (
            {"dataflows": (("a", ("i", "i")),), "dataflow": 1, "sizes": (("j", 1), ("k", 1))},
            "tensorized.dataflows: 'a' is i, i; allowed: one or two of the loops i, j, k",
        ),
        (
            {"units": (("weight-stationary", TensorUnit("gemw")),)},
            "tensorized.intrinsic is 'gemw'; allowed: dot, gemv, gemm, conv2d, or a statement",
        ),
        (
            {"sizes": ()},
            "tensorized.sizes lacks j; allowed: sizes of all loops of l[i][j] += m[i][k] * n[k][j]",
        ),
        ({"sizes": (("z", 3),)}, "tensorized.sizes or a side: unknown loop 'z'"),
    ],
)
def test_what_an_array_cannot_be_is_refused(change, complaint):
    architecture = find_architecture("hasco-gemm")
    assert architecture.tensorized is not None
    with pytest.raises(InputError) as raised:
        designs(
            replace(architecture, tensorized=replace(architecture.tensorized, **change)), NESTS[0]
        )
    assert str(raised.value).startswith(f"hasco-gemm: {complaint}")
    assert "\n" not in str(raised.value)


def test_other_architectures_and_nests_are_refused():
    with pytest.raises(InputError, match="eyeriss: has 5 levels; allowed in edition intrinsic"):
        designs(find_architecture("eyeriss"), NESTS[0])
    with pytest.raises(InputError, match="mttkrp multiplies 3 tensors"):
        designs(find_architecture("hasco-gemm"), workload("mttkrp"))
    with pytest.raises(
        InputError,
        match=r"edition intrinsic; allowed: edition timeloop, dmazerunner, explainable, uneven$",
    ):
        _ = Setting(
            find_architecture("hasco-gemm"),
            NESTS[0],
            "intrinsic",
            MappingOptions(divisors_only=True),
        ).designs


def test_map_on_the_command_line(tmp_path):
    """All matches are solved, the best is shown and drawn, and its file goes through every command
    that reads it."""
    out, page = tmp_path / "out.json", tmp_path / "page.html"
    words = "--problem conv2d -s o=8,r=8,c=6,i=9 --arch hasco-gemm --edition intrinsic --objective latency"
    said = ithaca("map", *words.split(), "-o", str(out)).stdout
    assert "i=r j=o k=i, intrinsic model edition, on hasco-gemm" in said
    assert "parallel for r in 0..15" in said
    document = json.loads(out.read_text())
    assert document["best"]["binding"] == {"i": "r", "j": "o", "k": "i"}
    assert len(document["designs"]) == 4
    assert "confirmed by enumeration" in ithaca("verify", str(out)).stdout
    assert "Padding:" in ithaca("explain", str(out)).stdout
    ithaca("report", str(out), "-o", str(page))
    assert "The memory hierarchy" in page.read_text()
    asked = [
        "-s",
        "i=9,j=8,k=7",
        "--arch",
        "hasco-gemm",
        "--edition",
        "intrinsic",
        "--objective",
        "latency",
    ]
    study = ithaca("whatif", "mm", *asked, "--vary", "tensorized.banks=1,2", "--json").stdout
    values = [float(row["best"]["metrics"]["latency"]) for row in json.loads(study)["points"]]
    assert values[0] > values[1]
    refused = ithaca("network", "resnet18", *asked[2:])
    assert refused.returncode == 2
    said = "ithaca: --edition is intrinsic, of which layers have several designs; allowed: map, or codesign for networks"
    assert refused.stderr.strip() == said
