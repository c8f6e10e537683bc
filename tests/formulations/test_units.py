"""Units of bounds: the same in every command, and named where something is refused."""

import json
from fractions import Fraction

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.formulations.design import Metric
from ithaca.formulations.limits import amount, parse_limits
from ithaca.formulations.systolic.metrics import METRICS
from tests.command_line import refused, succeed

PES = Metric("pes", "PEs", "that work", most=True, scarce=True)
SMALL = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--divisors-only", "--edition", "exact")


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3W", "W", 3),
        ("500mW", "W", "0.5"),
        ("2e3 uW", "W", "0.002"),
        ("2µW", "W", "0.000002"),
        ("1.5kW", "W", 1500),
        ("2mm2", "mm²", 2),
        ("2mm^2", "mm²", 2),
        ("500000um2", "mm²", "0.5"),
        ("1cm²", "mm²", 100),
        ("20GB/s", "GB/s", 20),
        ("512MB/s", "GB/s", "0.512"),
        ("1GiB/s", "GB/s", "1.073741824"),
        ("3nJ", "pJ", 3000),
        ("40us", "ms", "0.04"),
        ("1s", "ms", 1000),
        ("64KiB", "B", 65536),
        ("1MB", "kB", 1000),
        ("2k", "cycles", 2000),
        ("2cycles", "cycles", 2),
        ("1.5Top/s", "Gop/s", 1500),
        ("7", "", 7),
        ("3V", "W", None),
        ("3W", "mm²", None),
        ("3W", "blocks", None),
        ("3mB2", "mm²", None),
        ("W", "W", None),
        ("-3W", "W", None),
    ],
)
def test_amounts_are_read_in_any_unit_of_their_kind(text, unit, value):
    assert amount(text, unit) == (None if value is None else Fraction(value))


def test_every_metric_reads_its_own_unit():
    for metric in METRICS.values():
        spelled = metric.unit.replace("µ", "u")
        assert parse_limits([f"{metric.name}<=3{metric.unit}"], METRICS) == {metric.name: 3}
        if spelled != metric.unit:
            assert parse_limits([f"{metric.name}<=3{spelled}"], METRICS) == {metric.name: 3}


def test_a_bare_number_is_in_the_unit_that_is_printed():
    """One watt was a milliwatt, though the output said watts."""
    done = json.loads(succeed("solve", *SMALL, "--limit", "power=1", "--json").stdout)
    metrics = done["best"]["metrics"]
    # pJ over ms is nW
    assert metrics["power"] == pytest.approx(metrics["energy"] / metrics["time"] / 1e9)
    assert 0.01 < metrics["power"] <= 1
    assert done["platform"]["limits"]["power"] == 1
    assert done["platform"]["units"] == {"power": "W"}
    for text in ("power=1W", "power=1000mW"):
        again = json.loads(succeed("solve", *SMALL, "--limit", text, "--json").stdout)
        assert again["platform"] == done["platform"]
    lines = succeed("solve", *SMALL, "--limit", "power=1").stdout
    assert " of 1 W (" in lines


def test_python_takes_the_same_words():
    sizes = {"i": 4, "j": 4, "k": 4, "dataflow": "i,j", "divisors_only": True}
    limited = ithaca.solve("mm", **sizes, limit={"power": "200mW"})
    assert {x.metric: x.bound for x in limited.limits}["power"] == Fraction(1, 5)
    study = ithaca.whatif("mm", **sizes, vary={"power": ["300mW", 0.2]})
    assert [axis.labels for axis in study.axes] == [(0.3, 0.2)]
    assert [axis.unit for axis in study.axes] == ["W"]


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        ("power=3V", "--limit: 'power' is '3V'; allowed: a finite number of W"),
        ("power=3V", "or with a unit such as 3W"),
        ("area=1W", "'area' is '1W'; allowed: a finite number of mm²"),
        ("area=1W", "such as 3mm2"),
        ("dsp=3W", "'dsp' is '3W'; allowed: a finite number of blocks"),
    ],
)
def test_refusals_name_the_unit(limit, line):
    assert line in refused("solve", *SMALL, "--limit", limit)


def test_limits_state_their_unit(tmp_path):
    path = tmp_path / "r.json"
    succeed("solve", *SMALL, "--limit", "power=1", "-o", str(path))
    document = json.loads(path.read_text())
    del document["platform"]["units"]
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=r"power is in null; allowed: W"):
        ithaca.load(path)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"total": 16_000_000}, "resources.area.total is 16000000"),
        ({"total": 16}, None),
    ],
)
def test_areas_of_platforms_are_in_square_millimetres(words, line, tmp_path):
    path = tmp_path / "chip.yaml"
    chip = {"name": "chip", "resources": {"area": words}, "cost_tables": "maestro-28nm"}
    path.write_text(json.dumps(chip))
    if line is None:
        assert " of 11.2 mm² (" in succeed("solve", *SMALL, "--platform", str(path)).stdout
    else:
        assert line in refused("solve", *SMALL, "--platform", str(path))


def test_limits_on_what_is_better_the_more_there_is_say_which_way():
    scaled = "2*throughput=5"
    for words in ("throughput=5", {"throughput": 5}, "throughput/dsp=5", scaled):
        with pytest.raises(InputError, match=r"more of it is better; allowed: '\S+>=5' .*<=5'"):
            parse_limits(words, METRICS)
    assert parse_limits("throughput<=5", METRICS) == {"throughput": 5}
    assert parse_limits("throughput >= 500Mop/s,dsp=3", METRICS) == {
        "throughput >= 0.5": 0,
        "dsp": 3,
    }
    assert parse_limits({"throughput": None}, METRICS) == {"throughput": None}
    with pytest.raises(InputError, match=r"upper limits only.*--require 'dsp >= 3'"):
        parse_limits("dsp>=3", METRICS)


def test_lower_and_upper_limits_of_one_metric_are_two():
    both = {"throughput": 2, "throughput >= 0.1": 0}
    assert parse_limits("throughput<=2,throughput>=0.1", METRICS) == both
    assert parse_limits("throughput>=0.1,throughput<=2", METRICS) == both
    assert parse_limits("2*throughput>=3", METRICS) == {"2*throughput >= 3": 0}
    for twice in ("throughput<=2,throughput<=3", "throughput>=2,throughput>=1"):
        with pytest.raises(InputError, match="'throughput' is given twice"):
            parse_limits(twice, METRICS)


def test_refused_limits_say_what_the_command_has():
    with pytest.raises(InputError, match=r"unknown name 'throughptu'.*mean throughput\?"):
        parse_limits("throughptu>=1", METRICS)
    with pytest.raises(InputError, match=r"allowed: .*METRIC>=VALUE where more is better"):
        parse_limits("throughput>5", METRICS)
    with pytest.raises(InputError, match=r"METRIC<=VALUE$"):
        parse_limits("dsp>=3", METRICS, requirements=False)


def test_of_what_is_scarce_a_limit_is_an_upper_one():
    for words in ("pes=8", "2*pes=8", "1e1*pes=8"):
        assert [*parse_limits(words, {"pes": PES}).values()] == [8]
    with pytest.raises(InputError, match="more of it is better"):
        parse_limits("pes/latency=8", {"pes": PES, "latency": METRICS["latency"]})
