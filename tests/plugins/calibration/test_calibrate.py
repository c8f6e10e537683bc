"""Platforms from synthesis reports: coefficients come out as they went in, and limits hold."""

import csv
import io
import json

import numpy as np
import pytest
import yaml

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.calibration.formulations.fitting import errors, fitted
from tests.command_line import refused, succeed

#: What a hypothetical tool makes of arrays: look-up tables for each PE and MAC unit, and a base.
BASE, PE, MAC_BIT = 1000, 300, 2


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """Arrays of two designs with the look-up tables of a tool that is known."""
    folder = tmp_path_factory.mktemp("samples")
    rows = []
    for dataflow in ("i,j", "i"):
        path = folder / f"{len(rows)}.csv"
        ithaca.seed(
            "mm", "csv", path, sizes={"i": 16, "j": 16, "k": 16}, dataflow=dataflow, count=10
        )
        rows += csv.DictReader(io.StringIO(path.read_text()))
    for row in rows:
        lanes = 1
        for loop in row["dataflow"].split(","):
            part, hidden = (json.loads(row[c])[loop] for c in ("array_part", "latency_hiding"))
            lanes *= part // hidden
        row["lut"] = BASE + PE * lanes + MAC_BIT * 32 * lanes * int(row["simd"])
        row["ff"] = row["lutram"] = ""
    return rows


def table(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_coefficients_come_out_as_they_went_in(samples, tmp_path):
    reports = table(tmp_path / "reports.csv", samples)
    line = ithaca.calibrate(reports, tmp_path / "mine.yaml", total={"lut": 100_000})
    assert "lut of fp32 by 20 arrays, 0.0 % off on average and 0.0 % at most" in line
    mine = yaml.safe_load((tmp_path / "mine.yaml").read_text())
    (fit,) = mine["logic"]
    stated = {"base": BASE, "pes": PE, "mac_bits": MAC_BIT}
    assert fit == {"resource": "lut", "types": ["fp32"], **stated}
    assert mine["name"] == "mine"
    assert mine["resources"]["lut"] == {"total": 100_000, "usable": 0.7}


def test_limits_on_a_fit_are_proven(samples, tmp_path):
    reports = table(tmp_path / "reports.csv", samples)
    ithaca.calibrate(reports, tmp_path / "mine.yaml", total={"lut": 100_000})
    words = {"sizes": {"i": 8, "j": 8, "k": 8}, "dataflow": "i", "platform": tmp_path / "mine.yaml"}
    free, tight = (ithaca.solve("mm", limit=f"lut={n}", **words) for n in (100_000, 1_500))
    assert [each.certificate.status.value for each in (free, tight)] == ["optimal"] * 2
    assert free.value < tight.value
    lanes = tight.best.configuration["lanes.i"]
    simd = tight.best.metrics["comp"] / lanes
    assert tight.best.metrics["lut"] == BASE + PE * lanes + MAC_BIT * 32 * lanes * simd <= 1_500
    # of all arrays that fit, told apart by what the tool is known to make of them, none is faster
    values = {}
    for count in range(1, 9):
        for width in (1, 2, 4, 8):
            if BASE + PE * count + MAC_BIT * 32 * count * width <= 1_500:
                require = [f"lanes.i == {count}", f"comp == {count * width}"]
                own = ithaca.solve("mm", require=require, limit="lut=none", **words)
                values[count, width] = own.value
    assert min(v for v in values.values() if v is not None) == tight.value
    assert tight.verify().confirmed


def test_shares_and_other_types_are_kept(samples, tmp_path):
    shares = [{**row, "lut": f"{row['lut'] / 1000}%"} for row in samples]
    reports = table(tmp_path / "reports.csv", shares)
    ithaca.calibrate(reports, tmp_path / "one.yaml", total="lut=100000")
    others = [{**row, "dtype": "int8/32", "lut": 2 * row["lut"]} for row in samples]
    ithaca.calibrate(
        table(tmp_path / "int8.csv", others), tmp_path / "two.yaml", platform=tmp_path / "one.yaml"
    )
    fits = yaml.safe_load((tmp_path / "two.yaml").read_text())["logic"]
    assert {(*fit["types"], fit["base"]) for fit in fits} == {("fp32", BASE), ("int8", 2 * BASE)}
    for dtype, factor in (("fp32", 1), ("int8", 2)):
        result = ithaca.solve(
            "mm",
            sizes={"i": 4, "j": 4, "k": 4},
            dtype=dtype,
            dataflow="i",
            platform=tmp_path / "two.yaml",
            require="comp == 1",
        )
        assert result.best.metrics["lut"] == factor * (BASE + PE + 32 * MAC_BIT)


def test_errors_are_of_arrays_that_were_held_out():
    draw = np.random.default_rng(3)
    features = draw.uniform(1, 10, (12, 3))
    counts = features @ [5, 0, 2]
    assert np.allclose(fitted(features, counts), [5, 0, 2])
    assert abs(errors(features, counts)).max() < 1e-9
    counts[0] *= 2  # which no fit to the others foresees
    assert errors(features, counts)[0] == pytest.approx(-0.5)
    assert abs(errors(features, counts)[1:]).max() > 1e-3


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"lut": "0"}, "row 2: lut is '0'; allowed: a finite number > 0"),
        ({"lut": "many"}, "row 2: lut is 'many'; allowed: a finite number > 0"),
        ({"ff": "3%"}, "row 2: ff is '3%'; allowed: a count, or --total ff=…"),
        ({"app": "/etc/hostname"}, "row 2: app is '/etc/hostname'; allowed: attention_"),
        ({"app": "mm.yaml"}, "or --workload"),
        ({"simd": "x"}, "row 2: simd is 'x'"),
        ({"lut": "3000000000"}, "row 2: lut is '3000000000'; allowed: at most 1,000,000,000"),
        ({"dtype": "int8"}, "has 1 array of int8 with lut; allowed: at least 8 of a data type"),
    ],
)
def test_reports_are_refused_in_one_line(change, line, samples, tmp_path):
    rows = [
        {"dtype": "", **row, **(change if place == 0 else {})} for place, row in enumerate(samples)
    ]
    reports = table(tmp_path / "reports.csv", rows)
    assert line in refused("calibrate", reports, "-o", tmp_path / "mine.yaml")
    assert not (tmp_path / "mine.yaml").exists()


def test_an_array_counts_once(samples, tmp_path):
    """Copies would be in the fit and held out of it."""
    reports = table(tmp_path / "reports.csv", [*samples, samples[0]])
    line = refused("calibrate", reports, "-o", tmp_path / "mine.yaml")
    assert f"row {len(samples) + 2}: is the array of" in line


def test_reports_state_what_was_measured(samples, tmp_path):
    reports = table(tmp_path / "reports.csv", [{**row, "lut": ""} for row in samples])
    with pytest.raises(InputError, match="states no resource; allowed: columns lut, lutram, ff"):
        ithaca.calibrate(reports, tmp_path / "mine.yaml")
    for total, line in (
        ({"dsp": 3}, "total 'dsp' is unknown"),
        ("lut=1", "total lut is 1; allowed"),
    ):
        with pytest.raises(InputError, match=line):
            ithaca.calibrate(reports, tmp_path / "mine.yaml", platform="rtl-open", total=total)


@pytest.mark.parametrize(
    ("stated", "line"),
    [
        ("types: [fp33]", "logic[0].types"),
        ("types: [fp32], pes: -1", "logic[0].pes is -1; allowed: a number that is not negative"),
        ("types: [fp32], pes: 0.1234567", "pes of lut is 0.1234567; allowed: 0 to 1,000,000"),
        ("types: [fp32], pse: 1", "did you mean pes?"),
        ("types: [fp32], base: .inf", "logic[0].base"),
    ],
)
def test_coefficients_of_platform_files_are_checked(stated, line, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"name: x\nresources: {{dsp: {{total: 9}}}}\nlogic:\n- {{resource: lut, {stated}}}\n"
    )
    with pytest.raises(InputError) as refusal:
        ithaca.solve("mm", sizes={"i": 4, "j": 4, "k": 4}, platform=path)
    assert line in str(refusal.value)


def test_the_command_says_what_it_wrote(samples, tmp_path):
    table(tmp_path / "reports.csv", samples)
    words = ("calibrate", "reports.csv", "-o", "mine.yaml", "--total", "lut=100000", "--json")
    document = json.loads(succeed(*words, cwd=tmp_path).stdout)
    assert document["wrote"] == "mine.yaml"
    assert document["what"].startswith("lut of fp32 by 20 arrays")
    listed = succeed("solve", "mm", "-s", "i=4,j=4,k=4", "--platform", "mine.yaml", cwd=tmp_path)
    assert "LUTs" in listed.stdout
