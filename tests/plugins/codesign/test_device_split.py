"""A device split among systolic arrays by `ithaca codesign`: the space's file, the same answer as
arrays with free shares."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.codesign.formulations.files import find_space, read_space, space_fields
from ithaca.plugins.codesign.studies.arrays.common import common_designs
from ithaca.workloads.networks.find import find_network
from tests.command_line import ithaca as command
from tests.command_line import refused, succeed
from tests.plugins.codesign.studies.several_arrays import pipelines
from tests.refusals import refusals

SPACE = """
name: split
family: systolic
platform: u250
dtype: int8
dataflow: [i, j]
arrays: 2
shares: 400
quantities:
  d1: {range: [1, 400]}
  d2: {range: [1, 400]}
  b1: {range: [1, 400]}
  b2: {range: [1, 400]}
  w1: {range: [1, 400]}
  w2: {range: [1, 400]}
figures:
  {array1.dsp: d1, array2.dsp: d2, array1.bram18k: b1, array2.bram18k: b2,
   array1.bandwidth: w1, array2.bandwidth: w2}
rules: [d1 + d2 <= 400, b1 + b2 <= 400, w1 + w2 <= 400]
objective: latency
"""

NETWORK = """
name: two
layers:
  - {op: kernel, name: big, kernel: mm, sizes: {i: 8, j: 6, k: 8}}
  - {op: kernel, name: small, kernel: mm, sizes: {i: 3, j: 4, k: 8}}
"""


@pytest.fixture
def files(tmp_path):
    space, network = tmp_path / "split.yaml", tmp_path / "two.yaml"
    space.write_text(SPACE)
    network.write_text(NETWORK)
    return space, network


def test_the_shipped_space_divides_the_device():
    space = find_space("u250-arrays")
    assert space.accelerator.sizes(space) == {
        "dsp": Fraction("8601.6") / 32,
        "bram18k": Fraction("3763.2") / 32,
        "bandwidth": Fraction("77") / 32,
    }
    assert read_space(space_fields(space), "document") == space


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("d1 + d2 <= 400", "d1 + d2 <= 399", "rules do not divide dsp; allowed: d1 + d2 <= 400"),
        ("b1: {range: [1, 400]}", "b1: {range: [1, 8]}", "figures.array1.bram18k is not free"),
        ("platform: u250", "platform: nosuch", "platform"),
        (
            "platform: u250",
            "platform: asic-28nm",
            "platform is 'asic-28nm', which states no dsp, bram18k, bandwidth; allowed: one with",
        ),
        ("platform: u250", "platform: ./own.yaml", "which states no bandwidth; allowed: one with"),
    ],
)
def test_other_spaces_are_refused(
    files,
    old,
    new,
    message,
    monkeypatch,
):
    monkeypatch.chdir(files[0].parent)
    Path("own.yaml").write_text("{name: own, resources: {dsp: {total: 8}, bram18k: {total: 8}}}")
    files[0].write_text(SPACE.replace(old, new))
    with pytest.raises(InputError, match=message.replace("+", r"\+")):
        ithaca.codesign(files[0], workload=str(files[1]))


@pytest.mark.parametrize(
    ("options", "message"),
    refusals("studies-network-device_split", "what_says_nothing_of_arrays_is_refused"),
)
def test_what_says_nothing_of_arrays_is_refused(files, options, message):
    network, *others = options
    refused = command("codesign", str(files[0]), str(files[1].with_name(network)), *others)
    assert refused.returncode == 2
    assert message in refused.stderr


#: A device of few blocks in three shares, and two layers.
THIRDS = """
name: thirds
family: systolic
platform: ./tiny.yaml
dtype: int8
dataflow: [i]
arrays: 2
shares: 3
quantities: {d1: {range: [1, 3]}, d2: {range: [1, 3]}, b1: {range: [1, 3]}, b2: {range: [1, 3]}}
figures: {array1.dsp: d1, array2.dsp: d2, array1.bram18k: b1, array2.bram18k: b2}
rules: [d1 + d2 <= 3, b1 + b2 <= 3]
objective: latency
"""
SMALL = """
name: two
layers:
  - {op: kernel, name: a, kernel: mm, sizes: {i: 2, j: 2, k: 2}}
  - {op: kernel, name: b, kernel: mm, sizes: {i: 2, j: 1, k: 2}, follows: true}
"""


@pytest.fixture
def thirds(tmp_path, monkeypatch):
    """A folder with them, and in it: 12 DSP blocks and 60 of block RAM, of which 70 % are free."""
    (tmp_path / "tiny.yaml").write_text(
        "{name: tiny, resources: {dsp: {total: 12}, bram18k: {total: 60}}}"
    )
    (tmp_path / "thirds.yaml").write_text(THIRDS)
    (tmp_path / "two.yaml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("metric", "limit", "whole", "fuse"),
    [
        ("dsp", "5.59", "2.8", False),
        ("bram18k", "27.9", "14", False),
        ("dsp", "5.61", "5.6", False),
        ("dsp", "4", "2.8", True),
        ("bram18k", "41", "28", True),
        ("bram18k", "14.01", "14", True),
    ],
)
def test_limits_between_shares_have_one_answer(thirds, metric, limit, whole, fuse):
    question = {"workload": "two.yaml", "fuse": fuse}
    truth = ithaca.codesign("thirds.yaml", **question, limit={metric: whole})
    assert truth.status == "optimal"
    answers = [
        ithaca.codesign("thirds.yaml", **question, limit={metric: limit}),
        ithaca.codesign("thirds.yaml", **question, limit={metric: limit}, time_limit=600),
    ]
    study = ithaca.codesign("thirds.yaml", **question, vary={metric: [limit]})
    answers += [point.answer for point in study.points.values()]
    front = ithaca.codesign(
        "thirds.yaml", **question, objectives=f"latency,{metric}", limit={metric: limit}
    )
    answers.append(front.points[0,].answer)
    for answer in answers:
        assert (answer.status, answer.value) == ("optimal", truth.value)
        size = answer.request.shares[metric]
        taken = sum(-(-array.resources[metric] // size) * size for array in answer.arrays)
        assert taken <= Fraction(limit)
        answer.save("answer.json")
        assert ithaca.load("answer.json").value == truth.value


def test_splits_are_a_study_of_networks(thirds):
    study = ithaca.codesign("thirds.yaml", "two.yaml", vary={"dsp": [2, 3, 6]})
    assert [point.answer.value for point in study.points.values()] == [None, 46, 23]
    assert study.to_dataframe()["shares.dsp"].tolist()[1:] == [1, 2]
    study.save("study.json")
    assert ithaca.load("study.json") == study
    document = study.document
    document["points"][2]["network"]["partition"]["shares"]["dsp"] = 2.7
    (thirds / "forged.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"points\[2\] differs in partition.shares, no axis"):
        ithaca.load("forged.json")


@pytest.mark.ci
def test_repeated_layers_are_the_same_however_arrays_divide_them(thirds):
    again = SMALL + "  - {op: kernel, name: c, kernel: mm, sizes: {i: 2, j: 2, k: 2}}\n"
    Path("two.yaml").write_text(again)
    study = ithaca.codesign("thirds.yaml", "two.yaml", vary={"dsp": [4, 6]})
    study.save("study.json")
    rows = [point["network"]["layers"] for point in study.document["points"]]
    assert len({tuple(map(tuple, (row["sources"] for row in own))) for own in rows}) == 2
    assert ithaca.verify("study.json").confirmed


@pytest.mark.ci
def test_shares_beyond_the_doubles_are_refused_in_one_line(thirds):
    document = ithaca.codesign("thirds.yaml", "two.yaml").document
    document["partition"]["shares"]["bram18k"] = 1e308
    Path("r.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"arrays take 2\.000e\+308 of bram18k, whose limit is"):
        ithaca.load("r.json")


@pytest.mark.parametrize("options", [(), ("--time-limit", "600")])
@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ("dsp=2.79", "limit dsp = 2.79 cannot be met; the smallest that could be met with the "
         "other limits as they are is 2.8 (design [i] C)"),
        ("bram18k=13", "limit bram18k = 13 cannot be met; the smallest that could be met with "
         "the other limits as they are is 14 (design [i] C)"),
    ],
)  # fmt: skip
def test_less_than_a_share_cannot_be_met(thirds, limit, line, options):
    words = ("codesign", "thirds.yaml", "two.yaml", "--limit", limit, *options, "-o", "none.json")
    done = command(*words)
    assert done.returncode == 1
    assert f"infeasible: a, b: {line}" in done.stderr
    assert ithaca.load("none.json").status == "infeasible"
    assert "proven by another argument" in succeed("verify", "none.json").stdout


#: Limits on both, in shares of each from a whole number of them.
PAIRS = [
    (Fraction(a) + Fraction(x, 2), Fraction(b) + Fraction(y, 2))
    for a in range(4)
    for b in range(4)
    for x, y in ((0, 0), (1, 0), (0, 1), (1, 1))
    if a + Fraction(x, 2) <= 3 and b + Fraction(y, 2) <= 3
]


#: All ways to run the layers in whole shares, but for worse ones: DSP blocks, block RAM, latency.
ROWS = np.array([[5.6, 28, 23], [2.8, 14, 46]])
SIZES = {"dsp": 2.8, "bram18k": 14.0}


def check_both_limits(pairs):
    """Compare the arrays within limits on both resources with all ways; the statuses."""
    statuses = set()
    for shares in pairs:
        limits = [float(n) * size for n, size in zip(shares, SIZES.values(), strict=True)]
        keep = ROWS[:, :2] <= np.array(limits) + 1e-9
        values = ROWS[keep.all(axis=1), 2]
        limit = dict(zip(SIZES, limits, strict=True))
        answer = ithaca.codesign("thirds.yaml", "two.yaml", limit=limit)
        expected = ("optimal", values.min()) if values.size else ("infeasible", None)
        assert (answer.status, answer.value) == expected, limit
        statuses.add(answer.status)
        falls = {(s.metric, s.smallest) for r in answer.layers for s in r.answer.shortfalls}
        for column, metric in enumerate(SIZES):
            within = ROWS[keep[:, 1 - column], column]
            if not values.size and within.size:  # to raise it alone helps
                named = [n for name, n in falls if name == metric]
                assert float(max(named)) == pytest.approx(within.min()), limit
    return statuses


@pytest.mark.ci
@pytest.mark.usefixtures("thirds")
def test_both_limits_between_shares_equal_enumeration():
    pairs = [(Fraction(1, 2), Fraction(5, 2)), (Fraction(3, 2), Fraction(1, 2))]
    assert check_both_limits(pairs) == {"infeasible"}
    assert check_both_limits([(Fraction(5, 2), Fraction(3, 2))]) == {"optimal"}


@pytest.mark.slow
@pytest.mark.usefixtures("thirds")
def test_all_limits_between_shares_equal_enumeration():
    request = ithaca.codesign("thirds.yaml", "two.yaml").request
    assert {metric: float(size) for metric, size in request.shares.items()} == SIZES
    designs = common_designs(find_network("two.yaml"), request, "multi-array")
    rows = pipelines([list(each) for each in designs], [0, 1], 2, slowest=True, shares=SIZES)
    assert sorted(rows[:, :3].tolist()) == sorted(ROWS.tolist())
    assert check_both_limits(PAIRS) == {"optimal", "infeasible"}


@pytest.mark.slow
@pytest.mark.usefixtures("counted_time")
def test_fronts_that_are_cut_short_are_not_proven(thirds):
    def front(**options):
        study = ithaca.codesign("thirds.yaml", "two.yaml", objectives="latency,dsp", **options)
        return study.status, [point.answer.value for point in study.points.values()]

    whole, proven = front(), 0
    assert whole[0] == "optimal"
    for cut in range(14):
        status, values = front(time_limit=1e-3 * 1.15**cut)
        proven += status == "optimal"
        assert status != "optimal" or values == whole[1]
    assert 0 < proven < 14


@pytest.mark.ci
def test_a_round_of_networks_is_what_several_are(thirds):
    (thirds / "one.yaml").write_text(
        SMALL.replace("two", "one").partition("  - {op: kernel, name: b")[0]
    )
    answer = ithaca.codesign("thirds.yaml", ["two.yaml:2", "one.yaml"])
    assert [(part.name, part.runs) for part in answer.network.parts] == [("two", 2), ("one", 1)]
    counts = {layer.layer.name: layer.layer.count for layer in answer.layers}
    assert counts == {"two/a": 2, "two/b": 2, "one/a": 1}
    assert answer.status == "optimal"
    answer.save("round.json")
    assert ithaca.load("round.json").value == answer.value


def test_arrays_store_tensors_as_they_are_needed(thirds):
    line = refused("codesign", "thirds.yaml", "resnet-dmazerunner")
    assert "states extents in memory; allowed with space thirds" in line
