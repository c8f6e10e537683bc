"""Hardware spaces in files: what they state, what is refused, and documents that read back as they were."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.feasibility import least_cost
from ithaca.formulations.hardware.files import find_space, read_space, space_fields, space_names
from ithaca.workloads.errors import InputError

TINY = """
name: tiny
architecture: simple
quantities:
  words: {powers_of_two: [16, 128], unit: words}
  rows: {range: [2, 16], step: 2}
  kind: {choices: [small, large]}
figures:
  RF.words: words
  RF.mesh_x: rows
  RF.read_energy: {of: kind, table: {small: 0.5, large: 1.25}}
rules: [words * rows <= 1024, 4 divides rows]
costs: {area: {of: words * rows / 100, unit: mm²}}
limits: {area: 5}
"""


def space_file(folder: Path, *changes: tuple[str, str]) -> str:
    text = TINY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "tiny.yaml"
    path.write_text(text)
    return str(path)


def test_the_memory_study_has_its_published_capacities_and_energies() -> None:
    """Energies by capacity: DMAZERUNNER.md, section 5."""
    space = find_space("dmazerunner-memory")
    assert space.box.count == 49
    at = space.at(Configuration({"rf_bytes": 256, "spm_kb": 512}))
    assert at == {
        "RF.words": 128,
        "SPM.words": 262_144,
        "RF.read_energy": Fraction("0.48"),
        "SPM.read_energy": Fraction("30.375"),
    }
    best = space.best(space.box)
    assert (best["RF.words"], best["RF.read_energy"], best["SPM.read_energy"]) == (512, Fraction("0.03"), 4)


def test_a_file_states_values_figures_rules_and_costs(tmp_path: Path) -> None:
    space = find_space(space_file(tmp_path))
    assert [q.values for q in space.quantities] == [(16, 32, 64, 128), tuple(range(2, 17, 2)), (1, 2)]
    point = Configuration({"words": 64, "rows": 16, "kind": 2})
    assert space.allows(point)
    assert space.at(point) == {"RF.words": 64, "RF.mesh_x": 16, "RF.read_energy": Fraction("1.25")}
    assert space.cost(point) == {"area": Fraction("10.24")}
    assert not space.allows(Configuration({**point, "rows": 6}))
    assert not space.allows(Configuration({**point, "words": 128}))
    assert least_cost(space, "area") == (Fraction("0.64"), Configuration({"words": 16, "rows": 4, "kind": 1}))


@pytest.mark.parametrize("name", space_names())
def test_spaces_read_back_from_documents_and_survive_processes(name: str) -> None:
    space = find_space(name)
    assert read_space(json.loads(json.dumps(space_fields(space))), "result.json") == space
    assert pickle.loads(pickle.dumps(space)) == space


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("{range: [2, 16], step: 2}", "{values: []}", "quantities.rows.values is a list; allowed: .* at least 1 item"),
        ("[16, 128]", "[17, 31]", r"quantities.words powers_of_two is \[17, 31\], which holds nothing; allowed: at least one"),
        ("[2, 16], step: 2", "[9, 2]", r"quantities.rows range is \[9, 2\], which holds nothing"),
        ("unit: words", "units: words", "quantities.words.units is unknown; allowed: values, range, step"),
        ("kind: {choices: [small, large]}", "kind: {unit: x}", "quantities.kind has nothing; allowed: one of values"),
        ("  RF.words", "  RG.words", "figures.RG.words is unknown; allowed: .*RF.words"),
        ("RF.words: words", "RF.words: bytes", "figures.RF.words: 'bytes' uses the unknown name 'bytes'; allowed: .*words"),
        ("RF.words: words", "RF.words: words / 32", "'RF.words' is 0.5; allowed: a positive integer .words=16."),
        ("RF.words: words", "RF.words: 1 / (rows - 4)", "RF.words divides by 0 at rows=4"),
        (", large: 1.25", "", "RF.read_energy has no entry for 2 .kind=large.; allowed by its table: 1"),
        ("words * rows <= 1024", "words * rows < 1024", r"rules\[0\] is .*; allowed: two expressions with <="),
        ("4 divides rows", "words >= 256", "rules: no accelerator keeps 'words >= 256'; allowed: rules that some"),
        ("architecture: simple", "architecture: none", "unknown architecture 'none'; known: "),
        ("architecture: simple", "architecture: simple\nedition: new", "edition is 'new'; allowed: timeloop, dmazerunner"),
        ("architecture: simple", "architecture: simple\nfamily: [a]", "family is a list; allowed: spatial"),
        ("{area: {of", "{latency: {of", "costs.latency is a metric of layers; allowed: other names"),
        ("name: tiny", "name: tiny\ntechnology: u250", "technology.name is u250, which has no cost tables"),
        ("name: tiny", "name: tiny\ntechnology: asic", "unknown platform 'asic'"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused_with_field_value_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        find_space(space_file(tmp_path, (old, new)))
    assert "\n" not in str(caught.value)


def test_contradicting_rules_are_named_and_no_others(tmp_path: Path) -> None:
    rules = "rules: [words <= 128, rows * words >= 1024, 7 divides rows, rows <= 12, kind <= 2]"
    path = space_file(tmp_path, ("rules: [words * rows <= 1024, 4 divides rows]", rules))
    with pytest.raises(InputError, match="no accelerator keeps '7 divides rows' and 'rows <= 12'; allowed"):
        find_space(path)


def test_names_that_are_no_spaces_are_refused() -> None:
    with pytest.raises(InputError, match=r"unknown space 'hasco'; known: .*dmazerunner-memory.*; or a path to a .yaml file"):
        find_space("hasco")
