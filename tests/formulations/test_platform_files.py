"""Platforms: the packaged ones, a user's own, and everything that is refused."""

import re
import time
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DATA_TYPES, data_type
from ithaca.formulations.platform import Memory, Resource, Share
from ithaca.formulations.platform_files import MAX_BYTES, load_platform, platform_names
from tests.refusals import refusals

OWN = """\
name: mine
description: my board
clock_mhz: 250.5
resources:
  dsp: {total: 1000, usable: 0.7}
  bram18k: {total: 500}
"""


def refusal(path):
    """The error line of a file, without its path."""
    with pytest.raises(InputError) as caught:
        load_platform(str(path))
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= 700
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).removeprefix(": ")


@pytest.mark.parametrize(
    ("name", "dsp", "bram18k", "uram"),
    [
        ("u250", 12288, 5376, 1280),
        ("u280", 9024, 4032, 960),
        ("u55c", 9024, 4032, 960),
        ("vck190", 1968, 1934, 463),
        ("vu9p", 6840, 4320, 960),
        ("zcu102", 2520, 1824, 0),
    ],
)
def test_packaged_platforms(name, dsp, bram18k, uram):
    platform = load_platform(name)
    assert platform.name == name
    assert platform.description
    assert platform.clock_mhz == 300
    resources = dict(platform.resources)
    assert resources.pop("bandwidth") == platform.memory.bandwidth
    assert {kind: r.total for kind, r in resources.items()} == {
        "dsp": dsp,
        "bram18k": bram18k,
        "uram": uram,
    }
    assert all(resource.usable == Fraction(7, 10) for resource in resources.values())
    assert set(platform.sources) == {"resources", "memory"}


@pytest.mark.parametrize(
    ("name", "channels", "bits", "megatransfers"),
    [
        ("u250", 4, 64, 2400),
        ("vu9p", 4, 64, 2400),
        ("zcu102", 1, 64, 2400),
        ("vck190", 1, 64, 3200),
        ("u280", 32, 64, 1800),
    ],
)
def test_bandwidth_is_that_of_the_channels(name, channels, bits, megatransfers):
    """Data sheets round: 77 GB/s for 76.8, 460 for 460.8."""
    memory = load_platform(name).memory
    assert memory.channels == channels
    assert float(memory.bandwidth.limit) == pytest.approx(
        channels * bits / 8 * megatransfers / 1000, rel=0.003
    )


def test_own_memory(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN + "memory: {kind: LPDDR4, channels: 2, bandwidth: 12.8, usable: 0.75}\n")
    platform = load_platform(str(path))
    assert platform.memory == Memory("LPDDR4", 2, Resource(Fraction("12.8"), Fraction("0.75")))
    assert platform.resources["bandwidth"].limit == Fraction("9.6")


def test_bounds_replace_extend_and_lift():
    platform = load_platform("u250")
    given = {"bram18k": Share(Fraction(50)), "bandwidth": None, "latency": Fraction(10)}
    assert platform.bounds(given) == {
        "dsp": Fraction("8601.6"),
        "bram18k": 2688,
        "uram": 896,
        "latency": 10,
    }
    with pytest.raises(
        InputError,
        match=r"^limit 'area' is a share, but u250 .* share of dsp, bram18k, uram, bandwidth$",
    ):
        platform.bounds({"area": Share(Fraction(5))})


def test_energies_of_its_own_hold_for_every_data_type(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN + "energy: {dram: 160, mac_pj: 4.6}\n")
    own, typical = load_platform(str(path)), load_platform("u250")
    assert {data.on(own) for data in DATA_TYPES.values()} == {own.technology}
    assert (own.technology.dram, own.technology.buffer, own.technology.mac_pj) == (
        160,
        6,
        Fraction("4.6"),
    )
    per_mac = {
        name: data.on(typical).mac * data.on(typical).mac_pj for name, data in DATA_TYPES.items()
    }
    assert per_mac == {name: Fraction(pj) for name, pj in MAC_PJ.items()}
    # a word of int16 costs Eyeriss's ratios to its operation, others in proportion to their bits
    assert data_type("int16").on(typical).dram == 200 * Fraction("0.85")
    assert data_type("fp32").on(typical).dram == 4 * data_type("int8").on(typical).dram


#: Horowitz, ISSCC 2014, Fig. 1.1.9: addition and multiplication (pJ); int16 and bf16 as
#: `data_types` derives them.
MAC_PJ = {"fp32": "4.6", "fp16": "1.5", "bf16": "0.955", "int16": "0.85", "int8": "0.23"}


def test_names_are_the_packaged_files():
    assert platform_names() == (
        "asic-28nm",
        "rtl-open",
        "u250",
        "u280",
        "u55c",
        "vck190",
        "vu9p",
        "zcu102",
    )
    found = [entry.name for entry in files("ithaca.formulations.platforms").iterdir()]
    assert {f"{name}.yaml" for name in platform_names()} <= set(found)


def test_limits_are_exact():
    resources = load_platform("u250").resources
    assert resources["dsp"].limit == Fraction("8601.6")
    assert resources["bram18k"].limit == Fraction("3763.2")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("own.yaml", OWN),
        ("own.YML", f"---\n{OWN}...\n"),
        ("bom.yaml", f"\ufeff{OWN}"),
        ("quoted.yaml", OWN.replace("mine", '"mine"').replace("my board", "'my board'")),
        (
            "own.json",
            '{"name": "mine", "description": "my board", "clock_mhz": 250.5,\n'
            '\t"resources": {"dsp": {"total": 1000, "usable": 0.7}, "bram18k": {"total": 500}}}',
        ),
    ],
)
def test_own_platform(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    platform = load_platform(str(path))
    assert (platform.name, platform.description, platform.clock_mhz) == (
        "mine",
        "my board",
        Fraction("250.5"),
    )
    assert platform.resources["dsp"].limit == 700
    assert platform.resources["bram18k"].usable == Fraction(7, 10)
    assert "uram" not in platform.resources


def test_defaults(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(
        "name: a\nresources: {dsp: {total: 1, usable: 1}, bram18k: {total: 0, usable: 1e-3}}"
    )
    platform = load_platform(str(path))
    assert (platform.description, platform.clock_mhz) == ("", 300)
    assert platform.resources["dsp"].usable == 1
    assert platform.resources["bram18k"].usable == Fraction(1, 1000)


@pytest.mark.parametrize("name", ["u2800", "", "U250", "u250 ", "x\n", "é" * 5000])
def test_unknown_name(name):
    with pytest.raises(
        InputError,
        match=r"^unknown platform '.*'; known: asic-28nm, rtl-open, u250, u280, u55c, vck190, vu9p, zcu102; or a path to a \.yaml file(; did you mean u2[58]0\?)?$",
    ) as caught:
        load_platform(name)
    assert str(caught.value).isprintable()


#: what is replaced in OWN, by what, and the words the error line must contain


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        *refusals("formulations-platform_files", "bad_fields"),
        ("total: 1000", f"total: {'9' * 5000}", ["line 5", "too long", "300 digits"]),
    ],
)
def test_bad_fields(tmp_path, old, new, words):
    assert OWN.count(old) >= 1
    path = tmp_path / "own.yaml"
    path.write_text(OWN.replace(old, new, 1), encoding="utf-8")
    message = refusal(path)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("own.yaml", b"", ["0 documents", "one"]),
        ("own.yaml", b"# nothing\n", ["0 documents", "one"]),
        ("own.yaml", OWN.encode() + b"---\na: 1\n", ["2 documents", "one"]),
        ("own.yaml", b"just text", ["the document is 'just text'", "a mapping"]),
        ("own.yaml", b"- 1\n- 2\n", ["the document is a list", "a mapping"]),
        ("own.yaml", OWN.encode("utf-16"), ["byte 0 is 0xff", "UTF-8"]),
        ("own.yaml", b"name: \xff", ["byte 6 is 0xff", "UTF-8"]),
        ("own.yaml", b"#" * (MAX_BYTES + 1), ["too large", "65536 bytes"]),
        ("own.yaml", b"[" * 60_000, ["too deeply", "8 levels"]),
        ("own.json", b"", ["not JSON at line 1, column 1", "a complete JSON document"]),
        ("own.json", b'{"name": "a"', ["not JSON at line 1", "a complete JSON document"]),
        ("own.json", b'{"name": "a", "name": "b"}', ["field 'name' occurs twice", "once"]),
        ("own.json", b'{"clock_mhz": NaN}', ["NaN", "a finite number"]),
        ("own.json", b'{"clock_mhz": 1e999}', ["1e999", "a finite number"]),
        ("own.json", b'{"clock_mhz": ' + b"9" * 10_000 + b"}", ["too long", "300 digits"]),
        ("own.json", b"[" * 60_000, ["nested too deeply"]),
    ],
)
def test_bad_files(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    message = refusal(path)
    for word in words:
        assert word in message


def test_files_that_cannot_be_read(tmp_path):
    assert "no such file" in refusal(tmp_path / "missing.yaml")
    folder = tmp_path / "folder.yaml"
    folder.mkdir()
    assert "is a directory" in refusal(folder)
    with pytest.raises(InputError, match=r"xxx … xxx.*\.yaml: cannot be read: File name too long$"):
        load_platform("x" * 5000 + ".yaml")
    memory = Path("/proc/self/mem")
    if memory.exists():
        assert "cannot be read: Input/output error" in refusal(memory)
    with pytest.raises(InputError, match="is no path"):
        load_platform("a\0.yaml")


def test_yaml_bomb_is_refused_at_once(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))
    start = time.process_time()
    assert "alias 'a0'" in refusal(path)
    assert time.process_time() - start < 5


WAITING = OWN + "memory: {kind: DDR4, channels: 1, bandwidth: 12.8, usable: 0.75, %s}\n"


@pytest.mark.parametrize(
    ("stated", "line"),
    [
        ("latency: -1", "memory.latency is -1; allowed: greater than or equal to 0"),
        ("refresh: 9", "memory: refresh needs a longer refresh_period; allowed: both, in cycles"),
        ("waits: 3", "memory.waits"),
    ],
)
def test_memory_that_waits_for_what_cannot_be_is_refused(tmp_path, stated, line):
    path = tmp_path / "own.yaml"
    path.write_text(WAITING % stated)
    with pytest.raises(InputError, match=re.escape(line)):
        load_platform(str(path))
