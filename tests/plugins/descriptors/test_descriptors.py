"""Published design descriptions: the same model object as the derivation, or one line of
refusal."""

import copy
import csv
import json
import os
import random
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from ithaca.files import reading
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import Expression
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.metrics import metric_values
from ithaca.formulations.systolic.systolic_array import Edition, Epilogue
from ithaca.formulations.systolic.tiling import Tiling, group_packs
from ithaca.plugins.descriptors.formulations import reader
from ithaca.plugins.descriptors.formulations.arrays import descriptor_array, load_descriptor
from ithaca.workloads.library import workload
from tests.reference import DESCRIPTORS, golden_text
from tests.refusals import refusals

MM = workload("mm")
CNN = workload("conv2d")

# Two small descriptions of our own, MM at permutation C: dataflow k reduces in space, with
# accumulating buffers in a DRAM module; dataflow i reduces in the PEs and drains.
DATA = Path(__file__).parent / "data"
OURS = {(loop,): json.loads((DATA / f"mm_{loop}_C.json").read_text()) for loop in "ki"}
CALL = {"type": "user", "child": {"user_expr": "S_0()"}}
LOOP = {"type": "for", "bounds": ["0", "i"], "child": CALL}

# -- the same as derived ------------------------------------------------------------------


def valued(thing, values):
    """A model object with every expression evaluated; the free order within a permutation left
    out."""
    if isinstance(thing, Expression):
        return thing.evaluate(values, FRACTION)
    if is_dataclass(thing):
        return {
            f.name: valued(getattr(thing, f.name), values)
            for f in fields(thing)
            if f.name != "order"
        }
    return [valued(part, values) for part in thing] if isinstance(thing, tuple) else thing


def random_values(nest, array, dice):
    values = {f"extent.{x}": Fraction(dice.randint(1, 100)) for x in nest.loops}
    for x in nest.band:
        t2, lanes = Fraction(dice.randint(1, 8)), Fraction(dice.randint(1, 9))
        values |= {
            f"t1.{x}": t2 * lanes,
            f"t2.{x}": t2,
            f"lanes.{x}": lanes,
            f"tiles.{x}": Fraction(dice.randint(1, 9)),
        }
    return values | {f"pack.{g.name}": Fraction(2 ** dice.randint(0, 4)) for g in array.groups}


def check_equal(described, derived, nest):
    dice = random.Random(6)
    for _ in range(3):
        values = random_values(nest, derived, dice)
        assert valued(described, values) == valued(derived, values)


@pytest.mark.parametrize("dataflow", OURS)
def test_own_description_is_the_derived_array(dataflow):
    described = descriptor_array(OURS[dataflow], MM, "own.json")
    check_equal(described, derive(MM, dataflow, "C", Edition.ODYSSEY), MM)
    assert described.order == ("i", "j", "k")


def test_quirks_of_the_published_estimator_are_kept():
    array = descriptor_array(OURS["k",], MM, "own.json")
    ((group, module),) = [(g, m) for g, m in array.modules if m.name == "C_IO_L2_out"]
    assert (group.locally_reducing, module.epilogue, module.serialized) == (
        True,
        Epilogue.ONE_CYCLE,
        True,
    )
    assert module.extra_words == module.intra + 1


def test_what_its_generator_may_choose_is_the_descriptions():
    document = copy.deepcopy(OURS["k",])
    document["attr"]["A_IO_L2_in"]["serialize"] = 0
    document["memory"]["A_IO_L1_in"] |= {"double_buffer": 0, "ele_size": 2}
    group = descriptor_array(document, MM, "own.json").groups[0]
    assert (group.name, group.double_buffered, group.packing.max_bytes) == ("A", False, 8)
    assert [module.serialized for module in group.modules] == [False, False]
    assert descriptor_array(OURS["k",], MM, "own.json").groups[0].modules[1].serialized


def test_loading_leaves_the_document_alone(tmp_path):
    document = copy.deepcopy(OURS["i",])
    descriptor_array(document, MM, "own.json")
    assert document == OURS["i",]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(document))
    assert (
        load_descriptor(path, MM)
        == load_descriptor(path, MM)
        == descriptor_array(document, MM, "another name")
    )


def nest_of(name):
    return MM if name.startswith("gemm") else CNN


@pytest.fixture(scope="module")
def published(reference):
    return cache(
        lambda name: load_descriptor(reference / "descriptors" / f"{name}.json", nest_of(name))
    )


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_published_description_is_the_derived_array(name, published):
    array, nest = published(name), nest_of(name)
    check_equal(array, derive(nest, array.dataflow, array.permutation, Edition.ODYSSEY), nest)


@pytest.mark.parametrize("kernels", ["gemm", "cnn"])
def test_published_descriptions_give_the_golden_metrics(kernels, published):
    rows = [
        row
        for row in csv.DictReader(golden_text(kernels).splitlines())
        if row["edition"] == "odyssey"
    ]
    assert rows
    for row in rows:
        array = published(f"{kernels}_{row['descriptor']}")
        assert (",".join(array.dataflow), array.permutation) == (row["dataflow"], row["reuse"])
        parts = (json.loads(row[column]) for column in ("array_part", "latency_hiding", "simd"))
        tiling = Tiling(*parts, group_packs(array, json.loads(row["pack"])))
        costs = evaluate(
            array, tiling.quantities(array, json.loads(row["sizes"])), DATA_TYPES["fp32"], FRACTION
        )
        for metric, value in metric_values(costs, row.keys()).items():
            assert float(value) == pytest.approx(float(row[metric]), rel=1e-9), (array.name, metric)


FILES = {
    "not JSON": (b"hello", "not JSON"),
    "empty": (b"", "not JSON"),
    "truncated": (json.dumps(OURS["k",]).encode()[:-30], "not JSON"),
    "not UTF-8": (b'{"\xff": 1}', "allowed: UTF-8"),
    "deep": (b"[" * 200_000, "nested too deep"),
    "deep tree": (b'{"child":' * 200_000, "nested too deep"),
    "NaN": (b'{"params": NaN}', "is NaN"),
    "infinity": (b'{"params": -Infinity}', "is -Infinity"),
    "repeated key": (b'{"params": [], "io": {}, "params": []}', "'params' occurs twice"),
    "huge integer": (b'{"params": ' + b"9" * 10_000 + b"}", "too long"),
    "a list": (b"[]", "allowed: an object"),
    "a number": (b"12", "allowed: an object"),
    "null": (b"null", "allowed: an object"),
    "no section": (b"{}", "misses 'params'"),
}


def check_refusal(message, *parts):
    assert "\n" not in message
    assert message.isprintable()
    assert len(message) < 800
    for part in parts:
        assert part in message


@pytest.mark.parametrize(("content", "problem"), FILES.values(), ids=FILES)
def test_bad_file(content, problem, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as refusal:
        load_descriptor(path, MM)
    check_refusal(str(refusal.value), "bad.json")


def test_unreadable_paths(tmp_path, monkeypatch):
    large = tmp_path / "large.json"
    large.write_text(json.dumps(OURS["k",]))
    monkeypatch.setattr(reader, "MAX_BYTES", 1000)
    monkeypatch.setattr(reading, "_BEGIN", 0.01)
    os.mkfifo(tmp_path / "pipe")
    for path, problem in (
        (tmp_path, "is a directory"),
        (tmp_path / "pipe", "is a pipe with nothing to read"),
        (Path("/dev/zero"), "is a device"),
        (tmp_path / "absent.json", "no such file"),
        (large / "below", "cannot be read"),
        (tmp_path / ("x" * 5000), "cannot be read"),
        (tmp_path / "a\0b", "is no path"),
        (large, "is too large"),
    ):
        with pytest.raises(InputError, match=problem) as refusal:
            load_descriptor(path, MM)
        check_refusal(str(refusal.value))


MISSING = object()
DEEP = CALL
for _ in range(5_000):
    DEEP = {"type": "mark", "content": "m", "child": DEEP}

# Path, what to put there, the path reported (if another), a part of the message.


def changed(document, steps, value):
    """A copy of a document with something else at one place."""
    result = copy.copy(document)
    key = int(steps[0]) if isinstance(result, list) else steps[0]
    if len(steps) > 1:
        result[key] = changed(result[key], steps[1:], value)
    elif value is MISSING:
        del result[key]
    else:
        result[key] = value
    return result


@pytest.mark.parametrize(
    ("place", "value", "path", "problem"),
    [
        *refusals("formulations-descriptors", "bad_document"),
        ("latency.A_IO_L2_in.bounds.1", "(" * 9_000, "", "nested more than"),
        ("latency.A_IO_L2_in.child", MISSING, "latency.A_IO_L2_in", "misses 'child'"),
        ("latency.A_IO_L2_in", DEEP, "latency.A_IO_L2_in", "levels"),
        ("latency.A_IO_L1_in_intra", MISSING, "latency", "misses 'A_IO_L1_in_intra'"),
        ("latency.A_IO_L1_in", MISSING, "latency", "misses 'A_IO_L1_in'"),
        ("latency", MISSING, "own.json", "misses 'latency'"),
        ("memory.A_IO_L1_in.ele_size", MISSING, "memory.A_IO_L1_in", "misses 'ele_size'"),
        ("memory.A_IO_L1_in", MISSING, "memory", "misses 'A_IO_L1_in'"),
        ("attr.A_IO_L2_in", MISSING, "attr", "misses 'A_IO_L2_in'"),
        ("compute.PE", MISSING, "compute", "misses 'PE'"),
        ("params.0", MISSING, "params", "loops j, k do not match mm, which has i, j, k"),
        ("params.0.name", "i" * 100_000, "params[0].name", "allowed: letters"),
        (
            "params.0.split_by",
            MISSING,
            "params",
            "tiled loops j, k do not match mm, which tiles i, j, k",
        ),
        ("params.9.bounds", MISSING, "params[9]", "misses 'bounds'"),
        (
            "params.9",
            MISSING,
            "memory.A_IO_L1_in.data_pack_factor_inter",
            "data_pack_factor: p10, p11",
        ),
    ],
)
def test_bad_document(place, value, path, problem):
    with pytest.raises(InputError) as refusal:
        descriptor_array(changed(OURS["k",], place.split("."), value), MM, "own.json")
    check_refusal(str(refusal.value), "own.json", path, problem)


def test_description_of_another_nest():
    with pytest.raises(
        InputError, match="loops i, j, k do not match conv2d, which has c, i, o, p, q, r"
    ):
        descriptor_array(OURS["k",], CNN, "own.json")
