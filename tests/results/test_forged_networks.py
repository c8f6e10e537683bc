"""Forged studies and fronts of networks: whatever is changed in a file, ``ithaca verify`` does not
confirm it, but for what is no claim of the answers that it consists of."""

import json
import random
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import ithaca
from tests.results.forgeries import REVERSED, SHORTER
from tests.results.test_forged_files import confirmed, forgeries, no_claim, unsaid

PAIR = """\
name: pair
layers:
  - {op: kernel, name: wide, kernel: mm, sizes: {i: 2, j: 3, k: 2}}
  - {op: kernel, name: deep, kernel: mm, sizes: {i: 3, j: 2, k: 4}, count: 3}
"""
TERMS = {"dataflow": "i,j", "dtype": "int16", "divisors_only": True, "edition": "exact"}

KINDS = {
    "study of a network": lambda pair: ithaca.whatif(
        pair, **TERMS, limit={"bram18k": 40}, vary={"dsp": [2, 6]}, marginal=50
    ),
    "front of a network": lambda pair: ithaca.pareto(
        pair, **TERMS, limit={"bram18k": 40, "dsp": 6}, objectives="latency,dsp"
    ),
    "study of boards": lambda pair: ithaca.whatif(
        pair, **TERMS, vary={"platform": ["u250", "zcu102"]}, price={"u250": 9000}
    ),
}

#: An answer within the file: its own places are as in a file of its own.
WITHIN = re.compile(
    r"^(points\.\d+\.network|points\.\d+\.marginal\.\d+\.network|layers\.\d+\.front)\."
)

#: What the user states, which follows from nothing: prices; and what verify says is not checked.
STATED = r"^prices\.\w+$|^layers\.\d+\.(sources(\.\d+)?|folded|name)$|^network\.(name|parameters|omissions|run)\b"


@cache
def written(kind):
    """The text of a file of a kind, which is made once."""
    with TemporaryDirectory() as folder:
        pair, path = Path(folder) / "pair.yaml", Path(folder) / "file.json"
        pair.write_text(PAIR)
        KINDS[kind](pair).save(path)
        return path.read_text()


def claims(kind):
    """Every change of a place that is a claim."""
    for place, value, forged in forgeries(json.loads(written(kind))):
        inner = WITHIN.sub("", place)
        if inner == place and (re.search(STATED, place) or place.startswith("family")):
            continue
        if place == "prices" or (place.endswith(".marginal") and value in (SHORTER, REVERSED)):
            continue
        if not (inner != place and no_claim("", inner, value)):
            yield place, value, forged


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_is_confirmed(kind, tmp_path):
    (tmp_path / "honest.json").write_text(written(kind))
    assert ithaca.verify(tmp_path / "honest.json").confirmed


@pytest.mark.ci
def test_points_run_layers_as_often_as_each_other(tmp_path):
    kind = "study of a network"
    document = json.loads(written(kind))
    (tmp_path / "often.yaml").write_text(PAIR.replace("count: 3", "count: 2"))
    document["points"][1] = KINDS[kind](tmp_path / "often.yaml").document["points"][1]
    (tmp_path / "grafted.json").write_text(json.dumps(document))
    with pytest.raises(ithaca.InputError, match=r"points\[1\] differs in layers, no axis"):
        ithaca.load(tmp_path / "grafted.json")


def missed(kind, chosen, path):
    """The forgeries that are confirmed."""
    return [
        f"{place}: {value}"
        for place, value, forged in chosen
        if confirmed(forged, path, unsaid(WITHIN.sub("", place), value))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_forgery_is_confirmed(kind, tmp_path):
    assert not missed(kind, claims(kind), tmp_path / "forged.json")


@pytest.mark.parametrize("kind", KINDS)
def test_forgeries_are_not_confirmed(kind, tmp_path):
    known = [*claims(kind)]
    chosen = random.Random(kind).sample(known, 12)
    assert not missed(kind, chosen, tmp_path / "forged.json")


def forged(kind, change, path):
    document = json.loads(written(kind))
    change(document)
    path.write_text(json.dumps(document))
    return path


@pytest.mark.ci
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda d: d["points"][0]["network"].update(d["points"][1]["network"]),
            r"points\[0\](\.|: )at.dsp_limit",
        ),
        (
            lambda d: d["points"][0]["marginal"][0].update(limit="bram18k"),
            r"points\[0\].marginal\[0\].limit is 'bram18k', which is not raised",
        ),
        (
            lambda d: d["points"][0]["marginal"][0].update(network=d["points"][0]["network"]),
            r"points\[0\].marginal\[0\].limit is 'dsp', which is not raised",
        ),
        (
            lambda d: d["points"][0]["marginal"][0]["network"]["platform"]["limits"].update(
                bram18k=41
            ),
            r"points\[0\].marginal\[0\]",
        ),
        (
            lambda d: d["points"][1]["network"]["platform"]["limits"].update(bram18k=41),
            r"points\[1\]",
        ),
        (lambda d: d["axes"][0].update(unit="bits"), r"axes\[0\].unit"),
    ],
)
def test_points_are_of_their_labels(change, line, tmp_path):
    path = forged("study of a network", change, tmp_path / "forged.json")
    with pytest.raises(ithaca.InputError, match=line):
        ithaca.load(path)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda d: d["layers"][1].update(count=4), r"points\[0\].values"),
        (
            lambda d: d["layers"][1]["front"]["question"]["platform"]["limits"].update(bram18k=41),
            r"layers\[1\].front is of another question",
        ),
    ],
)
def test_fronts_are_the_sums_of_their_layers(change, line, tmp_path):
    path = forged("front of a network", change, tmp_path / "forged.json")
    with pytest.raises(ithaca.InputError, match=line):
        ithaca.load(path)


@pytest.mark.ci
def test_prices_are_of_devices(tmp_path):
    change = lambda d: d["prices"].update(u55c=3)  # noqa: E731
    with pytest.raises(ithaca.InputError, match="price names 'u55c'; allowed: u250, zcu102"):
        ithaca.load(forged("study of boards", change, tmp_path / "forged.json"))
