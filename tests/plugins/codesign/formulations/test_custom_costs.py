"""Spaces whose costs a user states: proofs against enumeration, explained search, what is refused."""

import json
import random
import re
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.plugins.codesign.formulations.files import read_space, space_fields
from ithaca.workloads.library import workload
from tests.command_line import refused, succeed
from tests.refusals import refusals

EDGE = {
    "name": "edge",
    "family": "custom",
    "quantities": {
        "pes": {"powers_of_two": [4, 64]},
        "l2_kb": [1, 2, 4, 8],
        "bandwidth": {"range": [1, 5]},
    },
    "figures": {"l2_words": "256 * l2_kb"},
    "metrics": {
        "compute": {"of": "ceil(layer.operations / pes)", "unit": "cycles"},
        "trips": "ceil(layer.i / tile)",
        "dma": "(layer.input1 + layer.input2 * trips + layer.output) / bandwidth",
        "latency": {"of": "max(compute, dma)", "unit": "cycles"},
        "energy": "layer.operations * (1 + l2_words / 512) + 40 * dma * bandwidth",
    },
    "choices": {"tile": {"range": [1, "layer.i"]}},
    "conditions": ["tile * (layer.k + layer.j) <= l2_words"],
    "costs": {"area": "pes / 4 + l2_kb + bandwidth"},
    "objective": "latency",
}


def costs(sizes, pes, l2_kb, bandwidth):
    """All metrics of a product for every tile that fits, by hand."""
    i, j, k = sizes
    known = []
    for tile in range(1, i + 1):
        if tile * (k + j) <= 256 * l2_kb:
            moved = i * k + j * k * -(-i // tile) + i * j
            compute, dma = Fraction(-(-i * j * k // pes)), Fraction(moved, bandwidth)
            energy = i * j * k * (1 + Fraction(256 * l2_kb, 512)) + 40 * moved
            known.append({"latency": max(compute, dma), "energy": energy, "dma": dma})
    return known


@pytest.mark.parametrize("seed", range(12))
def test_proofs_are_what_enumeration_finds(seed):
    """Two products, a random limit of the area and one of the energy, three objectives: latency
    falls with all quantities; energy may do either with the buffer."""
    chooser = random.Random(seed)
    objective = ("latency", "energy", "latency + energy / 100")[seed % 3]
    area = chooser.randint(8, 24)
    sizes = [tuple(chooser.randint(4, 80) for _ in range(3)) for _ in range(2)]
    best = None
    for pes, l2_kb, bandwidth in product((4, 8, 16, 32, 64), (1, 2, 4, 8), range(1, 6)):
        if Fraction(pes, 4) + l2_kb + bandwidth > area:
            continue
        total = Fraction(0)
        for each in sizes:
            options = costs(each, pes, l2_kb, bandwidth)
            if not options:
                break
            total += min(
                o["latency"] * (objective != "energy")
                + o["energy"] * (objective == "energy" or Fraction(int("/" in objective), 100))
                for o in options
            )
        else:
            best = total if best is None else min(best, total)
    nests = [
        replace(workload("mm", dict(zip("ijk", each, strict=True))), name=name)
        for each, name in zip(sizes, "ab", strict=True)
    ]
    if best is None:
        with pytest.raises(InputError):
            ithaca.codesign(EDGE, nests, objective=objective, limit={"area": area})
        return
    answer = ithaca.codesign(EDGE, nests, objective=objective, limit={"area": area})
    assert answer.certificate.status.value == "optimal"
    assert answer.value == best == answer.certificate.lower_bound


def test_what_more_of_a_figure_does_follows_from_the_expressions():
    trends = read_space(EDGE, "edge").accelerator.trends
    assert trends == {
        "pes": Trend.HELPS,
        "bandwidth": Trend.HELPS,  # it cancels where energy counts words
        "l2_kb": Trend.IDLE,  # only through the figure that follows from it
        "l2_words": Trend.MIXED,  # larger tiles fit, accesses cost more
    }


def test_a_space_is_the_one_that_its_document_states():
    stated = read_space({**EDGE, "mitigations": {"dma": {"bandwidth": "s * now"}}}, "edge")
    fields = space_fields(stated)
    assert read_space(json.loads(json.dumps(fields)), "edge") == stated
    assert "pes" not in fields["figures"]


def test_files_of_answers_are_verified_explained_and_reported(tmp_path):
    space, answer = tmp_path / "edge.json", tmp_path / "answer.json"
    space.write_text(json.dumps({**EDGE, "limits": {"area": 20}}))
    sizes = ("-s", "i=64,j=48,k=32")
    printed = succeed("codesign", space, "mm", *sizes, "-o", answer).stdout
    assert "optimal: no accelerator of the space is better" in printed
    assert "found again by the same search" in succeed("verify", answer).stdout
    explained = succeed("explain", answer, "--quick").stdout
    assert "proven" in explained
    assert re.search(r"Energy: dma [0-9.]+ %, the rest [0-9.]+ %", explained)
    assert re.search("tile = [0-9]+", succeed("codesign", space, "mm", *sizes, "--loops").stdout)
    succeed("report", answer, "-o", tmp_path / "page.html", "--quick")
    front = succeed("codesign", space, "mm", *sizes, "--objectives", "latency,energy,area").stdout
    assert "complete: " in front


def mitigated(mitigations):
    """The steps of explained search."""
    answer = ithaca.codesign(
        {**EDGE, "mitigations": mitigations, "limits": {"area": 30}},
        "mm",
        sizes={"i": 64, "j": 48, "k": 32},
        method="explained",
        trials=6,
    )
    assert answer.certificate.status.value == "optimal"
    return [line for line in answer.trail if "binds" in line]


def test_mitigations_say_what_is_tried():
    """Tiles of 3 rows fit the smallest buffer: 22 trips move 2,048 + 22 · 1,536 + 3,072 = 38,912
    words, one a cycle, where computing takes 98,304 / 4 = 24,576 cycles."""
    first = mitigated({"dma": {"bandwidth": "now * s"}})[0]
    assert "latency › dma binds, 1.58 times the next: bandwidth 1 → 1.5833, bandwidth = 2" in first
    # without any, what divides the factor grows s times: the same
    assert mitigated({})[0] == first
    assert "bandwidth 1 → 4, bandwidth = 4" in mitigated({"dma": {"bandwidth": "4 * now"}})[0]
    # nobody knows: the next value
    asked = mitigated({"dma": {"l2_words": None}})[0]
    assert "l2_words 256 → more, l2_kb = 2" in asked


def test_the_dissertation_s_example_asks_for_as_many_pes():
    """S. Dave's dissertation, section 3.4: at 64 PEs and 64 kB computing takes 4.14 times what
    moving data does, so PEs are scaled by at least that: 512."""
    answer = ithaca.codesign(
        {
            "name": "walkthrough",
            "family": "custom",
            "quantities": {"pes": {"powers_of_two": [64, 4096]}, "l2_kb": [64, 128, 256]},
            "metrics": {
                "compute": "4.14 * 64 / pes",
                "data": "64 / l2_kb",
                "latency": "max(compute, data)",
            },
        },
        "mm",
        sizes={"i": 1, "j": 1, "k": 1},
        objective="latency",
        method="explained",
        trials=3,
    )
    steps = [line for line in answer.trail if "step 1" in line]
    assert "latency › compute binds, 4.14 times the next: pes 64 → 264.96, pes = 512" in steps[0]
    assert any("data binds" in line for line in answer.trail)


@pytest.mark.parametrize(
    ("path", "value", "line"),
    refusals("formulations-hardware-custom_costs", "what_a_space_cannot_state_is_refused"),
)
def test_what_a_space_cannot_state_is_refused(path, value, line, tmp_path):
    document = deepcopy(EDGE)
    document["quantities"]["wide"] = {"range": [1, 1000]}
    at = document
    for step in path[:-1]:
        at = at.setdefault(step, {})
    at[path[-1]] = value
    file = tmp_path / "edge.json"
    file.write_text(json.dumps(document))
    assert line in refused("codesign", file, "mm", "-s", "i=8,j=8,k=8")


@pytest.mark.parametrize(
    ("latency", "first"),
    [
        ("tile + 5 / (tile - 1/2)", 1),
        ("tile + 9 / (tile - 1)", 2),  # the least tile
        ("tile * 7 / tile + 3 / (1/2 - pes)", 1),  # negative throughout
        ("trips - 1 + 60 / (pes - 3)", 1),  # by the least number of PEs
        ("tile - 1 + 5 / (l2_words - 255)", 1),  # by the least figure
    ],
)
def test_divisors_that_ranges_keep_from_0_are_allowed(latency, first):
    """Tiles are 1 or 2 at least, PEs 4, words 256; the least of all by Python's own arithmetic."""
    text = {**EDGE["metrics"], "latency": latency}
    space = EDGE | {"metrics": text, "choices": {"tile": {"range": [first, "layer.i"]}}}
    exact = re.sub(r"(?<![\w.])([0-9]+)", r"Fraction(\1)", latency)
    i, j, k = 8, 6, 4
    every = [
        eval(exact, {"Fraction": Fraction, "tile": tile, "pes": pes, "trips": -(-i // tile)} | of)
        for pes in (4, 8, 16, 32, 64)
        for of in ({"l2_words": 256 * kb} for kb in (1, 2, 4, 8))
        for tile in range(first, i + 1)
        if tile * (k + j) <= of["l2_words"]
    ]
    answer = ithaca.codesign(space, "mm", sizes={"i": i, "j": j, "k": k})
    assert answer.certificate.status.value == "optimal"
    assert answer.value == min(every)


def test_divisors_of_several_quantities_are_bounded_where_those_are_tried():
    """pes² − pes − 11 ≥ 1 of PEs from 4 on; of its terms apart, nobody would know."""
    many = {**EDGE["quantities"], "wide": {"range": [1, 1000]}}
    space = EDGE | {
        "quantities": many,
        "costs": {"area": "1000 / (pes * pes - pes - 11)"},
        "objective": "area",
    }
    assert ithaca.codesign(space, "mm", sizes="i=4,j=4,k=4").value == Fraction(1000, 64 * 63 - 11)
    both = space | {"costs": {"wide": "wide / (pes * pes - pes - 11)"}, "objective": "wide"}
    assert ithaca.codesign(both, "mm", sizes="i=4,j=4,k=4").value == Fraction(1, 64 * 63 - 11)


def test_objectives_in_order_and_products_are_those_of_the_runs(tmp_path):
    """An accelerator that an inner search has certified already is certified again."""
    every = [each for pes in (4, 64) for each in costs((8, 8, 8), pes, 8, 5)]
    space = deepcopy(EDGE) | {"quantities": {"pes": [4, 64], "l2_kb": [8], "bandwidth": [5]}}
    sizes = {"i": 8, "j": 8, "k": 8}
    order = ithaca.codesign(space, "mm", sizes=sizes, objective="latency,energy,dma")
    least = min((each["latency"], each["energy"]) for each in every)
    assert (order.value, order.certificate.then.value) == least
    layers = [{"op": "kernel", "name": name, "kernel": "mm", "sizes": sizes} for name in "ab"]
    (tmp_path / "two.yaml").write_text(json.dumps({"name": "two", "layers": layers}))
    runs = ithaca.codesign(space, str(tmp_path / "two.yaml"), objective="energy * latency")
    assert runs.value == 4 * min(each["energy"] * each["latency"] for each in every)
    assert [each.total.value for each in runs.networks if each.total] == [runs.value]


@pytest.mark.parametrize("limits", [{}, {"area": 40}])
def test_where_no_choice_meets_the_conditions_limits_are_not_blamed(limits):
    space = EDGE | {"conditions": ["l2_words * layer.i <= tile"], "limits": limits}
    answer = ithaca.codesign(space, "mm", sizes={"i": 8, "j": 8, "k": 8})
    assert answer.failure.startswith("infeasible: a layer runs on no accelerator of the space")


def test_padding_and_parts_of_accelergy_do_not_go_with_stated_costs(tmp_path):
    with pytest.raises(InputError, match="divisors_only"):
        ithaca.codesign(EDGE, "mm", sizes={"i": 8, "j": 8, "k": 8}, divisors_only=True)
    (tmp_path / "ert.yaml").write_text("ERT: {}")
    with pytest.raises(InputError, match="accelerators of this kind have no parts"):
        read_space({**EDGE, "accelergy": [{"of": "pes", "ert": {"4": "ert.yaml"}}]}, tmp_path / "x")


def test_layers_with_costs_of_their_own_are_files_of_the_whole_answer_alone(tmp_path):
    answer = ithaca.codesign(EDGE, "mm", sizes="i=4,j=4,k=4")
    with pytest.raises(InputError, match="have no document by themselves; allowed: that of"):
        answer.networks[0].save(tmp_path / "layers.json")
    answer.save(tmp_path / "whole.json")
    assert ithaca.load(tmp_path / "whole.json").value == answer.value
