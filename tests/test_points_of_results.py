"""Results exported as tables of configurations and evaluated: the metrics of the solve, on whatever
platform and with whatever options it was asked."""

import json

import pytest

import ithaca
from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.platform_files import load_platform
from ithaca.formulations.systolic.point_settings import technology_text
from tests.command_line import refused, succeed

#: Options of solves, each of which changes metrics of some configuration.
ASKED = {
    "ports": {"platform": "u280", "ports": 4},
    "ports of fewer channels": {"platform": "u250", "ports": 2, "dtype": "int8"},
    "uram": {"platform": "u280", "uram": True, "ports": 2},
    "rows": {"platform": "u55c", "no_host_serialize": True},
    "rows and ports": {"platform": "u280", "no_host_serialize": True, "ports": 2},
    "two levels": {"two_level": True, "divisors_only": True},
    "blocks": {"block_sparse": "A=2/4"},
    "exact": {"edition": "exact", "platform": "u280", "ports": 2},
    "odyssey": {"edition": "odyssey"},
    "int16": {"dtype": "int16", "platform": "zcu102"},
    "accumulator": {"dtype": "int8", "accumulator": 16},
    "hls": {"regime": "hls"},
    "silicon": {"platform": "asic-28nm", "dtype": "int8", "objective": "latency"},
    "open": {"platform": "rtl-open"},
}


@pytest.mark.parametrize("name", ASKED)
def test_a_table_of_a_result_has_its_metrics(name, tmp_path):
    asked = {"limit": {"dsp": 24}} | ASKED[name]
    if load_platform(asked.get("platform", "u250")).resources.get("dsp") is None:
        asked["limit"] = {}
    found = ithaca.solve("mm", i=8, j=8, k=8, dataflow="i,j", **asked)
    ithaca.evaluate(found).save_table(tmp_path / "p.csv")
    (row,) = ithaca.evaluate("mm", points=tmp_path / "p.csv").rows
    known = {metric: float(value) for metric, value in found.best.metrics.items()}
    assert {metric: row["metrics"][metric] for metric in known} == pytest.approx(known, rel=1e-12)
    assert row["meets_bounds"]


#: Four ports of B, 8 lanes each two; a channel of a slow memory moves less than a pack.
POINTS = (
    "dataflow,reuse,edition,sizes,array_part,latency_hiding,simd,pack,ports\n"
    '"i,j",C,cycle,"{""i"":32,""j"":32,""k"":64}","{""i"":32,""j"":32,""k"":32}",'
    '"{""i"":4,""j"":4}",8,"{""A_IO_L2_in"":16,""B_IO_L2_in"":16,""C_drain_IO_L1_out"":4}",'
    '"{""A"":1,""B"":%d,""C_drain"":1}"\n'
)


def test_ports_are_as_fast_as_the_platform_says(tmp_path):
    """14.375 GB/s a channel are 47 bytes a cycle: a pack of 64 takes longer than a cycle."""
    file = tmp_path / "p.csv"
    file.write_text(POINTS % 4)
    (fast,) = ithaca.evaluate("mm", points=file).rows
    (slow,) = ithaca.evaluate("mm", points=file, platform="u280").rows
    assert fast["metrics"]["latency"] < slow["metrics"]["latency"]
    design, _ = ithaca.evaluate("mm", points=file, platform="u280").points[0]
    assert design.technology.memory.port == 460 * 1000 // (32 * 300) == 47
    assert "as fast as their packs" in _stderr("evaluate", "mm", "--points", file)


def _stderr(*words):
    return succeed(*words).stderr


def test_ports_keep_the_rules_of_ports(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text(POINTS % 3)  # three ports do not share 8 lanes
    (row,) = ithaca.evaluate("mm", points=file, platform="u280").rows
    assert not row["meets_bounds"]
    file.write_text(POINTS % 8)
    assert refused("evaluate", "mm", "--points", file, "--platform", "u250") == (
        f"ithaca: {file} row 2: ports are 8 of a tensor; allowed: up to 4, the memory channels "
        "of platform u250\n"
    )


def test_tables_say_what_they_are_of(tmp_path):
    file = tmp_path / "p.csv"
    found = ithaca.solve(
        "mm",
        i=8,
        j=8,
        k=8,
        dataflow="i,j",
        limit={"dsp": 8},
        platform="u280",
        ports=1,
        dtype="int8",
    )
    ithaca.evaluate(found).save_table(file)
    at = ("evaluate", "mm", "--points", file)
    assert "technology is not that of platform rtl-open" in refused(*at, "--platform", "rtl-open")
    assert "allowed: int16, the data type asked for" in refused(*at, "--dtype", "int16")
    succeed(*at, "--platform", "u280", "--dtype", "int8")


def test_what_a_platform_lacks_is_refused(tmp_path):
    file = tmp_path / "p.csv"
    head, row = (POINTS % 1).splitlines()
    row = row.rpartition(',"{""A""')[0]
    file.write_text(f"{head},in_uram\n{row},,true\n")
    line = refused("evaluate", "mm", "--points", file, "--platform", "zcu102")
    assert "in_uram is true; allowed: false, as zcu102 has no uram" in line
    line = refused("evaluate", "--arch", "simple", "--points", file, "--platform", "u280")
    assert "--platform cannot be given with --arch" in line


def test_the_usual_technology_is_that_of_u250():
    """Tables without a platform are of the platform that solves take by default."""
    for data in DATA_TYPES.values():
        assert technology_text(data.on(load_platform("u250")), data.energies()) == ""
        assert data.on(load_platform("u250")).machine == data.energies().machine


def test_simulated_points_wait_for_the_ports_of_their_table(tmp_path):
    file, told = tmp_path / "p.csv", tmp_path / "told.csv"
    file.write_text(POINTS % 4)
    ithaca.evaluate("mm", points=file, platform="u280").save_table(told)
    cycles = [
        json.loads(succeed("simulate", "mm", "--points", each, "--json").stdout)["points"][0]
        for each in (file, told)
    ]
    assert cycles[0]["cycles"] < cycles[1]["cycles"]


def test_columns_that_are_not_read_are_named(tmp_path):
    nest = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    ithaca.evaluate(nest).save_table(tmp_path / "own.csv")
    assert "not read" not in succeed("evaluate", "mm", "--points", tmp_path / "own.csv").stderr
    header, row = (tmp_path / "own.csv").read_text().splitlines()
    (tmp_path / "more.csv").write_text(f"{header},speed,note\n{row},7,x\n")
    stderr = succeed("evaluate", "mm", "--points", tmp_path / "more.csv").stderr
    assert "more.csv: not read: 2 columns 'speed', 'note'" in stderr.replace("\n      ", " ")
