"""Energies by estimators: what actions consist of, and the table that is written."""

import json
import sys
import types
from types import SimpleNamespace

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.compound_components import (
    Scope,
    compound_classes,
    primitive_actions,
)
from tests.refusals import refusals

CLASSES = """
compound_components:
  version: 0.4
  classes:
  - name: buffer
    attributes:
      technology: must_specify
      width: must_specify
      depth: must_specify
      wide: max(32, width)
      scale: width / wide * (depth / 64 if depth < 64 else 1) ** 0.5
    subcomponents:
    - {name: storage, class: SRAM, attributes: {width: wide, depth: depth}}
    - name: generators[0..1]
      class: adder
      attributes: {width: "max(1, ceil(log2(depth)))"}
    actions:
    - name: read
      subcomponents:
      - {name: storage, actions: [{name: read, energy_scale: scale}]}
      - {name: "generators[0]", actions: [{name: add}]}
    - &write
      name: write
      subcomponents:
      - {name: storage, actions: [{name: write, energy_scale: scale}]}
      - {name: "generators[1]", actions: [{name: add}]}
    - {<<: *write, name: update}
    - name: leak
      subcomponents:
      - {name: storage, actions: [{name: leak}]}
      - {name: "generators[0..1]", actions: [{name: leak}]}
  - name: file
    attributes: {width: must_specify}
    subcomponents:
    - {name: bits, class: register}
    - {name: "entries[1..4]", class: comparator}
    actions:
    - name: read
      subcomponents:
      - {name: "bits[1..width]", actions: [{name: read, repeat: 2}]}
      - {name: "entries[1..4]", actions: [{name: compare}]}
    - name: write
      subcomponents: [{name: "bits[1..width]", actions: [{name: write}]}]
"""

ARCHITECTURE = """
architecture:
  version: 0.4
  nodes:
  - !Container {name: chip, attributes: {technology: 45nm, global_cycle_seconds: 2e-9}}
  - !Component
    name: DRAM
    class: DRAM
    attributes: {type: LPDDR4, width: 64, datawidth: 16}
  - !Component
    name: glb
    class: storage
    subclass: buffer
    attributes: {width: 16, depth: 16, datawidth: 16}
  - !Component
    name: regs
    class: storage
    subclass: file
    attributes: {width: 16, depth: 4, datawidth: 16}
  - !Component
    name: mac
    class: intmac
    attributes: {multiplier_width: 8, adder_width: 16}
"""


@pytest.fixture
def classes(tmp_path):
    (tmp_path / "classes.yaml").write_text(CLASSES, encoding="utf-8")
    return compound_classes(load_timeloop(tmp_path / "classes.yaml"), "classes.yaml")


def parts(classes, kind, action, **attributes):
    scope = Scope(attributes, "x", Scope({"technology": "45nm"}, "x"))
    return [
        (part.kind, part.name, part.times, {n: part.scope.value(n) for n in part.scope.attributes})
        for part in primitive_actions(kind, action, scope, classes, iter(range(100)))
    ]


def test_an_action_consists_of_scaled_parts_with_calculated_attributes(classes):
    # by hand: wide = 32, so half of the width; depth 16 of 64, so the root of a quarter
    assert parts(classes, "buffer", "read", width=16, depth=16) == [
        ("SRAM", "read", 0.25, {"technology": "45nm", "width": 32, "depth": 16}),
        ("adder", "add", 1, {"technology": "45nm", "width": 4}),
    ]
    assert [each[2] for each in parts(classes, "buffer", "leak", width=64, depth=99)] == [1, 2]


def test_parts_with_ranges_happen_as_often_and_do_not_have_the_width_around(classes):
    assert parts(classes, "file", "read", width=16) == [
        ("register", "read", 32, {"technology": "45nm"}),
        ("comparator", "compare", 4, {"technology": "45nm"}),
    ]


def test_what_consists_of_nothing_is_itself(classes):
    assert parts(classes, "intmac", "compute", adder_width=16) == [
        ("intmac", "compute", 1, {"adder_width": 16})
    ]


@pytest.mark.parametrize(
    ("kind", "action", "attributes", "message"),
    refusals("formulations-spatial-energy_estimates", "what_cannot_be_calculated_is_named"),
)
def test_what_cannot_be_calculated_is_named(classes, kind, action, attributes, message):
    with pytest.raises(InputError, match=message):
        parts(classes, kind, action, **attributes)


def test_a_class_that_is_part_of_itself_is_refused():
    own = {
        "name": "loop",
        "subcomponents": [{"name": "inner", "class": "loop"}],
        "actions": [
            {"name": "read", "subcomponents": [{"name": "inner", "actions": [{"name": "read"}]}]}
        ],
    }
    classes = compound_classes({"components": {"classes": [own]}}, "x")
    with pytest.raises(InputError, match="class loop is part of itself"):
        parts(classes, "loop", "read")


#: Joules of the estimators below, and what each takes of the attributes.
JOULES = {
    ("dramlpddr4", "read"): lambda a: 8e-12 * a["width"],
    ("dramlpddr4", "write"): lambda a: 8e-12 * a["width"],
    ("sram", "read"): lambda a: 1e-15 * a["size"],
    ("sram", "write"): lambda a: 2e-15 * a["size"],
    ("adder", "add"): lambda a: 1e-3 * a["tech_node"] * a["width"] / 45,
    ("register", "read"): lambda a: 1e-14 * a["width"],
    ("register", "write"): lambda a: 3e-14 * a["width"],
    ("comparator", "compare"): lambda a: 1e-13,
    ("intmac", "mac"): lambda a: 1e-14 * (a["multiplier_width"] + a["adder_width"]),
}
WATTS = {"dramlpddr4": 0.0, "sram": 1e-6, "adder": 5e-7, "intmac": 0.0}


@pytest.fixture
def estimators(monkeypatch):
    """Estimators in place of those of `hwcomponents`, with its functions."""

    def get_action_cost(kind, attributes, action, arguments, _return_estimation_object):
        assert _return_estimation_object
        assert arguments == {}
        if (kind, action) not in JOULES:
            raise RuntimeError(f"no action_cost\n| ValueError: {kind} has no {action}")
        energy = JOULES[kind, action](attributes)
        return SimpleNamespace(value=SimpleNamespace(energy=energy), model_name="Made")

    def get_leak_power(kind, attributes, _return_estimation_object):
        if kind not in WATTS:
            raise RuntimeError("no leak")
        return SimpleNamespace(value=WATTS[kind], model_name="Made")

    module = types.ModuleType("hwcomponents")
    model = SimpleNamespace(
        get_name=lambda: "Made", model_cls=type("Made", (), {"__module__": "yaml.made"})
    )
    module.get_action_cost, module.get_leak_power = get_action_cost, get_leak_power
    module.find_models = SimpleNamespace(installed_models=lambda _return_wrappers: [model])
    monkeypatch.setitem(sys.modules, "hwcomponents", module)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.2" * (name == "yaml"))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "arch.yaml").write_text(ARCHITECTURE, encoding="utf-8")
    (tmp_path / "components").mkdir()
    (tmp_path / "components" / "classes.yaml").write_text(CLASSES, encoding="utf-8")
    return tmp_path


def test_estimates_are_written_beside_the_architecture_and_read_from_there(files, estimators):
    with pytest.raises(InputError, match="ithaca estimate"):
        ithaca.map("mm", sizes="i=4,j=4,k=4", arch=files, objective="energy")
    wrote = ithaca.estimate(files, components=[files / "components"])
    assert wrote == f"wrote {files / 'ert.yaml'}: energies of 4 components"
    architecture = read_architecture(files)
    # by hand, in pJ: 8 pJ a bit; 512 bits of SRAM at 1 fJ in quarters, and 4 bits of an adder
    dram, glb, regs = architecture.levels
    assert [float(dram.read_energy), float(dram.leak)] == [512, 0]
    assert float(glb.read_energy) == pytest.approx(512e-3 / 4 + 4)
    assert float(glb.update_energy) == pytest.approx(1024e-3 / 4 + 4)
    # a cycle of 2 ns
    assert float(glb.leak) == pytest.approx((1e-6 + 2 * 5e-7) * 2e-9 * 1e12)
    assert float(regs.read_energy) == pytest.approx(32 * 0.01 + 4 * 0.1)
    assert float(regs.update_energy) == pytest.approx(16 * 0.03)
    assert regs.leak == 0
    assert float(architecture.compute.energy) == pytest.approx(0.24)
    assert architecture.unpriced == ()
    result = ithaca.map("mm", sizes="i=4,j=4,k=4", arch=files, objective="energy")
    result.save(files / "result.json")
    kept = json.loads((files / "result.json").read_text(encoding="utf-8"))
    assert '"Made of yaml 1.2"' in json.dumps(kept)
    assert ithaca.verify(files / "result.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("intmac", "oddmac"), r"mac: no estimator knows compute of class oddmac \(ValueError: "),
        (("45nm", "thin"), "technology is 'thin'; allowed: a length such as 45nm"),
        (("type: LPDDR4", "type: core"), "DRAM: no estimator knows read of class DRAM"),
        (("subclass: file", "subclass: rack"), "regs: no estimator knows read of class rack"),
    ],
)
def test_components_that_no_estimator_knows_are_named(files, estimators, change, message):
    (files / "arch.yaml").write_text(ARCHITECTURE.replace(*change), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        ithaca.estimate(files, components=[files / "components"])
    assert not (files / "ert.yaml").exists()


def test_tables_that_there_are_stay(files, estimators):
    (files / "ert.yaml").write_text("ERT: {tables: []}", encoding="utf-8")
    with pytest.raises(InputError, match="is there already; allowed: -o"):
        ithaca.estimate(files)
    with pytest.raises(InputError, match="nowhere is no file or folder"):
        ithaca.estimate(files, files / "new.yaml", components=["nowhere"])


def test_energies_beside_the_architecture_win(files, estimators):
    own = "ERT: {tables: [{name: chip.glb, actions: [{name: read, energy: 1.5}]}]}"
    (files / "ert.yaml").write_text(own, encoding="utf-8")
    whole = files / "whole.yaml"
    wrote = ithaca.estimate(files, whole, components=[files / "components"])
    assert wrote == f"wrote {whole}: energies of 4 components"
    whole.replace(files / "ert.yaml")
    architecture = read_architecture(files)
    assert [float(each.read_energy) for each in architecture.levels] == [512, 1.5, 0.72]
    table = load_timeloop(files / "ert.yaml")["ERT"]
    assert table["sources"]["glb"] == "the table that was given"


def test_all_components_that_nothing_is_known_of_are_named(files, estimators):
    with pytest.raises(
        InputError, match=r"glb: no estimator .* class buffer.*; nothing is known of regs either$"
    ):
        ithaca.estimate(files)


CACTI = {
    "new": ("echo \"cacti: libc.so.6: version 'GLIBC_2.38' not found (required by c)\"; exit 1", 7),
    "alien": ("", 6),
    "runs": ("echo 'Invalid arguments -- how to use CACTI:'", 7),
}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "new",
            r"does not start on this machine \(version 'GLIBC_2.38' not found\); allowed: after ",
        ),
        ("alien", r"does not start on this machine \(Permission denied\); allowed: after rm -rf "),
        (
            "runs",
            r"no estimator knows read of class SRAM \(Exception: CACTI failed with exit code 1",
        ),
    ],
)
def test_a_cacti_that_does_not_start_is_named_with_what_to_do(
    files, estimators, monkeypatch, program, message
):
    folder = files / "hwcomponents_cacti" / "cacti"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    script, mode = CACTI[program]
    (folder / "cacti").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "cacti").chmod(mode << 6)
    monkeypatch.syspath_prepend(files)
    known = sys.modules["hwcomponents"].get_action_cost

    def failing(kind, *rest, **more):
        if kind == "sram":
            raise RuntimeError("none\n| Exception: CACTI failed with exit code 1. Please check")
        return known(kind, *rest, **more)

    monkeypatch.setattr(sys.modules["hwcomponents"], "get_action_cost", failing)
    with pytest.raises(InputError, match=message) as caught:
        ithaca.estimate(files, components=[files / "components"])
    assert "glb.storage: " in str(caught.value)
    assert (f"make -C {folder} " in str(caught.value)) == (program != "runs")
    # what needs no CACTI is estimated
    own = "ERT: {tables: [{name: glb, actions: [{name: read, energy: 1}]}]}"
    (files / "ert.yaml").write_text(own, encoding="utf-8")
    ithaca.estimate(files, files / "new.yaml", components=[files / "components"])


def test_without_estimators_the_packages_are_named(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "hwcomponents", None)
    with pytest.raises(InputError, match=r"pip install 'ithaca\[energy\]' with Python 3.12"):
        ithaca.estimate(files, components=[files / "components"])
