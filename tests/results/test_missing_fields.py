"""Every field left out of every kind of document, one at a time: it loads, or one line says why
not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import ithaca
from ithaca.files.errors import InputError
from tests.reference import unpack
from tests.refusals import MISSING, edited

DATA = Path(__file__).parent / "data"

#: Files of earlier versions, one of each kind.
FILES = (
    *("fused", "codesign", "codesign_front", "codesign_none", "mapped_fused", "shared_dataflow"),
    *("shared_array", "multi_array", "study_int8", "front_int8", "layers", "gap"),
)

#: A space whose layers' costs are stated, with a choice of their own.
STATED = {
    "name": "edge",
    "family": "custom",
    "metrics": {
        "compute": {"of": "layer.operations / pes", "unit": "cycles"},
        "trips": {"of": "ceil(layer.i / tile)"},
        "latency": {"of": "max(compute, 2 * layer.input1 + layer.input2 * trips)"},
    },
    "choices": {"tile": {"powers_of_two": ["1", "layer.i"]}},
    "conditions": ["tile * (layer.k + layer.j) <= 64"],
    "quantities": {"pes": {"values": [4, 8]}},
    "costs": {"area": {"of": "2/5 * pes"}},
}


def places(value, steps=()):
    """Paths to the fields of a document; of a list those of its first item, and of its last."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
        yield from ((*steps, key) for key in value)
    elif isinstance(value, list):
        items = {0: value[0], len(value) - 1: value[-1]}.items() if value else ()
    for key, child in items:
        yield from places(child, (*steps, key))


def check(document, path, most):
    """Drop fields one by one, at most so many, drawn."""
    every = list(places(document))
    for steps in random.Random(0).sample(every, min(most, len(every))):
        path.write_text(json.dumps(edited(document, steps, MISSING)))
        line = ""
        try:
            ithaca.load(path)
        except InputError as error:
            line = str(error)
        except Exception as error:
            pytest.fail(f"{steps}: {error!r}")
        assert line.isprintable(), steps


@pytest.fixture(scope="module")
def stated(tmp_path_factory):
    path = tmp_path_factory.mktemp("stated") / "r.json"
    ithaca.codesign(STATED, "mm", sizes={"i": 8, "j": 4, "k": 4}, objective="latency").save(path)
    return path


def test_a_configuration_without_a_choice_is_refused(stated, tmp_path):
    document = json.loads(stated.read_text())
    tilings = [(*steps, "tile") for steps in places(document) if steps[-1] == "tiling"]
    assert tilings
    for steps in tilings:
        (tmp_path / "x.json").write_text(json.dumps(edited(document, steps, MISSING)))
        with pytest.raises(InputError, match=r"tiling misses 'tile'; allowed: tile$"):
            ithaca.load(tmp_path / "x.json")


@pytest.mark.ci
def test_fields_of_stated_costs(stated, tmp_path):
    check(json.loads(stated.read_text()), tmp_path / "x.json", 1000)


def asked(kind):
    """A small answer of a kind."""
    sizes, few = {"i": 4, "j": 4, "k": 4}, {"dsp": 10}
    match kind:
        case "solve":
            return ithaca.solve("mm", **sizes, limit=few, dataflow="i,j", platform="u280", ports=2)
        case "recurrence":
            return ithaca.solve("lu", n=4)
        case "map":
            return ithaca.map("mm", **sizes, arch="simple", divisors_only=True)
        case "uneven":
            return ithaca.map("mm", **sizes, arch="simple", edition="uneven", divisors_only=True)
        case "front":
            return ithaca.pareto("mm", **sizes, objectives="latency,dsp", dataflow="i", limit=few)
        case "study":
            return ithaca.whatif("mm", **sizes, dataflow="i", vary={"dsp": [5, 10]}, marginal=5)
        case "match":
            return ithaca.match("mm", i=16, j=16, k=16, intrinsic="gemm")
    raise AssertionError(kind)


@pytest.mark.slow(every=3)
@pytest.mark.parametrize(
    "kind", ["solve", "recurrence", "map", "uneven", "front", "study", "match"]
)
def test_fields_of_answers(kind, tmp_path):
    asked(kind).save(tmp_path / "r.json")
    check(json.loads((tmp_path / "r.json").read_text()), tmp_path / "x.json", 150)


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    folder = tmp_path_factory.mktemp("older")
    unpack(DATA / "older.tar.xz", folder)
    return folder


@pytest.mark.slow(every=4)
@pytest.mark.parametrize("name", FILES)
def test_fields_of_files(older, name, tmp_path):
    check(json.loads((older / f"{name}.json").read_text()), tmp_path / "x.json", 150)
