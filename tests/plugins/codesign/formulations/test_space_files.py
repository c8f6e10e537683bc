"""Hardware spaces in files: what they state, what is refused, and documents that read back as they
were."""

import json
import pickle
from fractions import Fraction
from pathlib import Path

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.hardware.accelerator import Trend
from ithaca.plugins.codesign.formulations.files import (
    find_space,
    read_space,
    space_fields,
    space_names,
)
from tests.refusals import refusals

TINY = """
name: tiny
architecture: simple
quantities:
  words: {powers_of_two: [16, 128], unit: words}
  rows: {range: [2, 16], step: 2}
  kind: {choices: [small-one, large]}
figures:
  RF.words: words
  RF.mesh_x: rows
  RF.read_energy: {of: kind, table: {small-one: 0.5, large: 1.25}}
rules: [words * rows <= 1024, 4 divides rows]
costs: {area: {of: words * rows / 100, unit: mm²}}
limits: {area: 5}
"""


def space_file(folder, *changes):
    text = TINY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "tiny.yaml"
    path.write_text(text)
    return str(path)


def test_the_memory_study_has_its_published_capacities_and_energies():
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
    assert (best["RF.words"], best["RF.read_energy"], best["SPM.read_energy"]) == (
        512,
        Fraction("0.03"),
        4,
    )


def test_a_file_states_values_figures_rules_and_costs(tmp_path):
    space = find_space(space_file(tmp_path))
    assert [q.values for q in space.quantities] == [
        (16, 32, 64, 128),
        tuple(range(2, 17, 2)),
        (1, 2),
    ]
    point = Configuration({"words": 64, "rows": 16, "kind": 2})
    assert space.allows(point)
    assert space.at(point) == {"RF.words": 64, "RF.mesh_x": 16, "RF.read_energy": Fraction("1.25")}
    assert space.cost(point) == {"area": Fraction("10.24")}
    assert not space.allows(Configuration({**point, "rows": 6}))
    assert not space.allows(Configuration({**point, "words": 128}))


@pytest.mark.parametrize("name", space_names())
def test_spaces_read_back_from_documents_and_survive_processes(name):
    space = find_space(name)
    assert read_space(json.loads(json.dumps(space_fields(space))), "result.json") == space
    assert pickle.loads(pickle.dumps(space)) == space


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    refusals("formulations-hardware-space_files", "what_contradicts_itself_is_refused_with_field_value_and_what_is_allowed"),
)  # fmt: skip
def test_what_contradicts_itself_is_refused_with_field_value_and_what_is_allowed(
    tmp_path, old, new, complaint
):
    with pytest.raises(InputError, match=complaint) as caught:
        find_space(space_file(tmp_path, (old, new)))
    assert "\n" not in str(caught.value)


def test_contradicting_rules_are_named_and_no_others(tmp_path):
    rules = "rules: [words <= 128, rows * words >= 1024, 7 divides rows, rows <= 12, kind <= 2]"
    path = space_file(tmp_path, ("rules: [words * rows <= 1024, 4 divides rows]", rules))
    with pytest.raises(
        InputError, match="no accelerator keeps '7 divides rows' and 'rows <= 12'; allowed"
    ):
        find_space(path)


def test_names_that_are_no_spaces_are_refused():
    with pytest.raises(
        InputError,
        match=r"unknown space 'hasco'; known: .*dmazerunner-memory.*; or a path to a .yaml file",
    ):
        find_space("hasco")


ACCELERGY = """
name: tabled
architecture: simple
quantities:
  words: {values: [128, 256], unit: words}
  buffer_kb: {values: [64, 128], unit: kB}
figures: {RF.words: words, Buffer.words: 512 * buffer_kb}
tables:
  wires: {of: words * buffer_kb, table: {8192: 1, 16384: 2, 32768: 4}}
accelergy:
  - {of: words, parts: [RF], ert: {128: small/ERT.yaml, 256: large/ERT.yaml}, art: {128: small/ART.yaml, 256: large/ART.yaml}}
  - {of: buffer_kb, parts: [Buffer, mac], ert: {64: small/ERT.yaml, 128: large/ERT.yaml}}
costs:
  area: {of: (256 * RF.area + buffer_kb * 1000) / 1000000, unit: mm²}
  cables: {of: 2 * wires}
"""


def tabled(folder, *, leak=0):
    for name, factor in (("small", 1), ("large", 2)):
        (folder / name).mkdir()
        read = [
            {"name": "read", "arguments": {}, "energy": factor},
            {"name": "leak", "arguments": {}, "energy": leak},
        ]
        write = [*read, {"name": "write", "arguments": {}, "energy": 1.5 * factor}]
        parts = [
            ("RF[1..256]", write),
            ("Buffer[1..1]", write),
            ("mac[1..256]", [{"name": "compute", "energy": 0.5}]),
        ]
        tables = [{"name": f"system.chip.{part}", "actions": actions} for part, actions in parts]
        (folder / name / "ERT.yaml").write_text(
            json.dumps({"ERT": {"version": "0.4", "tables": tables}})
        )
        areas = [{"name": "system.chip.PE[1..256].RF[1..1]", "area": 100 * factor}]
        (folder / name / "ART.yaml").write_text(
            json.dumps({"ART": {"version": "0.4", "tables": areas}})
        )
    path = folder / "tabled.yaml"
    path.write_text(ACCELERGY)
    return str(path)


def test_energies_and_areas_by_files_of_accelergy(tmp_path):
    space = find_space(tabled(tmp_path))
    point = Configuration({"words": 256, "buffer_kb": 64})
    assert space.at(point) == {
        "RF.words": 256,
        "Buffer.words": 32_768,
        **{
            f"RF.{name}_energy": energy
            for name, energy in {"read": 2, "write": 3, "update": 3}.items()
        },
        **{
            f"Buffer.{name}_energy": energy
            for name, energy in {"read": 1, "write": 1.5, "update": 1.5}.items()
        },
        "RF.leak": 0,
        "Buffer.leak": 0,
        "mac.energy": Fraction(1, 2),
    }
    assert space.cost(point) == {"area": Fraction(256 * 200 + 64_000, 10**6), "cables": 4}
    least = {name: figure.range(space.box).low for name, figure in space.costs.items()}
    assert least == {"area": Fraction(256 * 100 + 64_000, 10**6), "cables": 2}
    assert read_space(json.loads(json.dumps(space_fields(space))), "result.json") == space


def test_what_leaks_by_a_table_is_a_figure_that_hurts(tmp_path):
    space = find_space(tabled(tmp_path, leak=0.25))
    assert space.at(Configuration({"words": 256, "buffer_kb": 64}))["RF.leak"] == Fraction(1, 4)
    assert (space.accelerator.trends["RF.leak"], space.accelerator.trends["RF.mesh_x"]) == (
        Trend.HURTS,
        Trend.HELPS,
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    refusals("formulations-hardware-space_files", "tables_that_do_not_fit_are_refused"),
)  # fmt: skip
def test_tables_that_do_not_fit_are_refused(tmp_path, old, new, complaint):
    path = Path(tabled(tmp_path))
    assert old in ACCELERGY
    path.write_text(ACCELERGY.replace(old, new))
    with pytest.raises(InputError, match=complaint):
        find_space(str(path))


def test_area_and_power_of_a_hierarchy_by_the_regressions(tmp_path):
    """Regressions of MAESTRO's tables, written out: PEs with L1 in blocks of 64 bytes, L2 of 32
    KiB, bus and arbiter."""
    path = tmp_path / "sized.yaml"
    path.write_text(
        "name: sized\narchitecture: simple\ntechnology: asic-28nm\n"
        "quantities: {rf: {values: [256, 512], unit: B}, side: {values: [8, 16]}, kb: {values: [128, 256]}}\n"
        "figures: {RF.words: rf / 2, RF.mesh_x: side, Buffer.words: 512 * kb}\n"
    )
    space = find_space(str(path))
    assert {name: metric.unit for name, metric in space.units.items()} == {
        "area": "mm²",
        "power": "W",
    }
    for rf, side, kb in ((256, 8, 128), (512, 16, 256)):
        pes, bandwidth = 16 * side, 32
        bus, arbiter = bandwidth * (14.662 * pes + 28.895), 1.2886 * pes**2 + 5.5814 * pes - 23.711
        area = (
            pes * (4470.9 + 4505.19 * (rf // 64))
            + 4161.536 * (kb // 32)
            + 101.7938 * bus
            + 395.473 * arbiter
        )
        power = (
            pes * (1.2223 + 0.2208 * (rf // 64)) + 4 * (kb // 32) + 0.0008 * bus + 0.00034 * arbiter
        )
        costs = space.cost(Configuration({"rf": rf, "side": side, "kb": kb}))
        assert float(costs["area"]) == pytest.approx(area / 1e6)
        assert float(costs["power"]) == pytest.approx(power / 1e3)


def test_the_technology_may_say_what_regressions_are_of(tmp_path):
    text = "name: tiny\ntechnology: {name: asic-28nm, pes: rows, lanes: 4, private_bytes: 100, shared_bytes: 0, bandwidth: 8}"
    path = space_file(
        tmp_path,
        ("name: tiny", text),
        ("words * rows / 100, unit: mm²", "1000 * area, unit: 1000 µm²"),
    )
    area = find_space(path).cost(Configuration({"words": 64, "rows": 4, "kind": 1}))["area"]
    bus = 8 * (14.662 * 4 + 28.895)
    assert float(area) == pytest.approx(
        (4 * (4 * 4470.9 + 2 * 4505.19) + 101.7938 * bus + 395.473 * 19.2322) / 1e3
    )


INLINE = """
name: inline
architecture:
  version: '0.4'
  nodes:
    - !Component {name: DRAM, class: DRAM, attributes: {word_bits: 16, read_energy: 200, write_energy: 200}}
    - !Container {name: PE, spatial: {meshX: 4}}
    - !Component {name: RF, class: regfile, attributes: {word_bits: 16, entries: 64, read_energy: 1, write_energy: 1}}
    - !Component {name: mac, class: intmac, attributes: {word_bits: 16, energy: 1}}
quantities: {words: {values: [32, 64]}, bits: [8, 16]}
figures: {RF.words: words, word_bits: bits}
"""


def test_architectures_inside_spaces_and_beside_them(tmp_path):
    path = tmp_path / "inline.yaml"
    path.write_text(INLINE)
    inline = find_space(str(path))
    assert [level.name for level in inline.accelerator.architecture.levels] == ["DRAM", "RF"]
    head, _, rest = INLINE.partition("architecture:\n")
    nodes, _, tail = rest.partition("quantities")
    tail = f"quantities{tail}"
    (tmp_path / "machine.yaml").write_text(f"architecture:\n{nodes}")
    path.write_text(f"{head}architecture: machine.yaml\n{tail}")
    beside = find_space(str(path))
    assert beside.accelerator.architecture.levels == inline.accelerator.architecture.levels
    (tmp_path / "machine.yaml").unlink()
    with pytest.raises(InputError, match=r"machine.yaml: no such file"):
        find_space(str(path))


def test_words_of_another_width_fill_the_same_bits(tmp_path):
    """Capacities that a space states are words of the width that it chooses; others are as many
    bits as they were."""
    path = tmp_path / "inline.yaml"
    path.write_text(INLINE.replace("RF.words: words, ", "DRAM.read_bandwidth: words, "))
    space = find_space(str(path))
    wide = space.accelerator.architecture_with(space.at(Configuration({"words": 32, "bits": 8})))
    assert (wide.levels[1].words, wide.levels[1].word_bits, wide.levels[0].read_bandwidth) == (
        128,
        8,
        32,
    )
    assert space.accelerator.trends["word_bits"] is Trend.HURTS
