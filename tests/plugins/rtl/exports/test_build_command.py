"""`ithaca build`: what it says of hardware that it ran, and of what it could not run."""

import json
import shutil
from contextlib import contextmanager

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.rtl.commands import building
from ithaca.plugins.rtl.commands.build import print_build
from ithaca.plugins.rtl.exports import tools
from ithaca.plugins.rtl.exports.tools import Bench, Resources, Run, count_cells
from tests.command_line import ithaca as command
from tests.plugins.rtl.exports.cases import configuration, write_case


@pytest.fixture
def hardware(tmp_path, monkeypatch):
    """Hardware of 13 × 15 elements that is proven to take 7 cycles, and may be changed."""
    monkeypatch.setattr(building, "made_again", content)
    write_case(tmp_path / "rtl", configuration("mm", "ij", 1))
    path = tmp_path / "rtl" / "expected.json"
    document = json.loads(path.read_text())
    document["rtl"] |= {"simulated": 7, "proven": True, "cycle": 7}
    path.write_text(json.dumps(document))
    return tmp_path / "rtl"


def content(folder):
    """The files of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def state(folder, **fields):
    """Change what is stated of hardware."""
    path = folder / "expected.json"
    document = json.loads(path.read_text())
    document["rtl"] |= fields
    path.write_text(json.dumps(document))


def answer(monkeypatch, run):
    """Let every simulation end so."""

    @contextmanager
    def compiled(folder, *, traced, work, note):
        yield Bench("Verilator", (), folder)

    monkeypatch.setattr(building, "compiled", compiled)
    monkeypatch.setattr(Bench, "run_layers", lambda self, **options: (run,))


@pytest.mark.parametrize(
    ("run", "fields", "line", "right"),
    [
        ((7, False, 195, 0), {}, "7 cycles, as proven; 195 elements right", True),
        ((7, False, 195, 0), {"proven": False}, "7 cycles, as simulated; 195 elements right", True),
        (
            (7, False, 195, 0),
            {"proven": False, "simulated": None},
            "7 cycles; 195 elements right",
            True,
        ),
        (
            (8, False, 195, 0),
            {},
            "8 cycles, but ithaca simulate says 7; 195 elements right",
            False,
        ),
        (
            (7, False, 193, 2),
            {},
            "7 cycles; of 195 elements 2 are wrong",
            False,
        ),
        (
            (99, True, 100, 0),
            {},
            "hangs: given up after 99 cycles; of 195 elements 95 never come",
            False,
        ),
        (
            (99, True, 0, 0),
            {"hangs": True},
            "hangs, as ithaca simulate says; of 195 elements 195 never come",
            False,
        ),
    ],
)
def test_what_is_said_of_a_run(
    run,
    fields,
    line,
    right,
    hardware,
    monkeypatch,
):
    state(hardware, **fields)
    answer(monkeypatch, Run("Verilator", *run))
    found = ithaca.build(hardware)
    assert found.lines[0] == line
    assert found.right == right


def test_a_closed_form_that_is_off_is_named(hardware, monkeypatch):
    state(hardware, simulated=8)
    answer(monkeypatch, Run("Verilator", 8, False, 195, 0))
    assert ithaca.build(hardware).lines == (
        "8 cycles, as simulated; 195 elements right",
        "the closed form: 7 cycles (-12.50%)",
    )


def test_what_is_said_of_masters(hardware, monkeypatch):
    state(hardware, memory={"latency": 3, "bandwidth": 256}, simulated=8)
    answer(monkeypatch, Run("Verilator", 16, False, 195, 0))
    found = ithaca.build(hardware)
    assert found.right
    assert found.lines == (
        "16 cycles from start to done, twice (memory: latency 3, bandwidth 256); 195 elements right",
        "ithaca simulate --memory latency=3,bandwidth=256: 8 cycles (-50.00%)",
    )
    found = ithaca.build(hardware, memory="bandwidth=8")
    assert found.right
    assert found.lines == (
        "16 cycles from start to done, twice (memory: latency 3, bandwidth 8); 195 elements right",
    )
    answer(monkeypatch, Run("Verilator", 16, False, 195, 0, ("m_axi_A breaks the last beat",)))
    found = ithaca.build(hardware)
    assert not found.right
    assert found.lines[-1] == "a rule is broken: m_axi_A breaks the last beat"


def test_memory_goes_with_masters_alone(hardware):
    with pytest.raises(InputError, match=r"memory does not go with .*, whose tensors are streams"):
        ithaca.build(hardware, memory="latency=3")
    state(hardware, memory={"latency": 3, "bandwidth": 256})
    with pytest.raises(InputError, match=r"memory is .delay.; allowed: latency, bandwidth"):
        ithaca.build(hardware, memory={"delay": 3})
    with pytest.raises(InputError, match="latency is 10000000000; allowed: 0 to"):
        ithaca.build(hardware, memory={"latency": 10**10})


def test_resources_are_shown_beside_the_model(hardware, monkeypatch, capsys):
    answer(monkeypatch, Run("Verilator", 7, False, 195, 0))
    made = Resources("yosys", 64, 3, 1000, 200, 2000)
    monkeypatch.setattr(building, "run_synthesis", lambda folder, **options: made)
    found = ithaca.build(hardware, synthesize=True, stalls=3)
    print_build(found)
    text = capsys.readouterr().out
    assert "with random stalls: 7 cycles; 195 elements right" in text
    assert [line.split() for line in text.splitlines() if "DSP48E2" in line] == [
        ["│", "DSP48E2", "│", "64", "│", "64", "│"]
    ]
    assert found.document["build"]["resources"]["ff"] == 2000


def test_cells_are_counted_by_what_they_are():
    cells = {"LUT2": 10, "LUT6": 5, "INV": 1, "SRL16E": 3, "RAM32M16": 2, "RAMB36E2": 2,
             "RAMB18E2": 1, "FDRE": 7, "FDSE": 1, "DSP48E2": 4, "CARRY4": 9, "$paramod$x": 3}  # fmt: skip
    assert count_cells("yosys", cells) == Resources("yosys", 4, 5, 16 + 19, 19, 8)


# -- refusals ----------------------------------------------------------------------------


def test_nothing_is_claimed_where_no_simulator_is(hardware, monkeypatch):
    monkeypatch.setattr(tools, "find_verilator", lambda: None)
    monkeypatch.setattr(tools, "find_program", lambda *names: None)
    with pytest.raises(InputError, match=r"nothing simulates .* here; allowed: pip install"):
        ithaca.build(hardware)


def test_nothing_is_claimed_where_no_compiler_is(hardware, monkeypatch):
    monkeypatch.setattr(tools, "find_compiler", lambda: None)
    monkeypatch.setattr(tools, "find_program", lambda *names: None)
    with pytest.raises(InputError, match=r"a C\+\+ compiler \(g\+\+ or clang\+\+\)"):
        ithaca.build(hardware)


def test_nothing_is_synthesized_where_no_yosys_is(hardware, monkeypatch):
    answer(monkeypatch, Run("Verilator", 7, False, 195, 0))
    monkeypatch.setattr(tools, "find_program", lambda *names: None)
    with pytest.raises(InputError, match="nothing synthesizes here; allowed: pip install"):
        ithaca.build(hardware, synthesize=True)


def test_bad_folders_are_refused_in_one_line(hardware, tmp_path):
    for folder, reason in (
        (tmp_path / "nowhere", "nowhere: no such folder; allowed: one that"),
        (tmp_path, "no exported hardware; allowed: what ithaca export --to rtl wrote"),
    ):
        with pytest.raises(InputError, match=reason):
            ithaca.build(folder)
    state(hardware, simulated="7")
    with pytest.raises(InputError, match=r"expected.json: rtl.simulated is '7'; allowed"):
        ithaca.build(hardware)
    state(hardware, simulated=7, vectors=False)
    with pytest.raises(InputError, match="too large to compute its result"):
        ithaca.build(hardware)
    state(hardware, vectors=True)
    done = command("build", hardware, "--stalls", "0")
    assert done.returncode == 2
    assert done.stderr == "ithaca: --stalls is '0'; allowed: an integer ≥ 1\n"


@pytest.mark.usefixtures("simulator")
def test_a_folder_that_does_not_compile_is_refused_in_one_line(hardware):
    (hardware / "array.sv").write_text("module array (;\n")
    with pytest.raises(InputError, match=r"verilator_bin fails in .*: %Error: array.sv:1") as error:
        ithaca.build(hardware)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("simulator")
def test_a_result_becomes_hardware_that_takes_the_proven_cycles(tmp_path):
    words = "-s", "i=8,j=8,k=8", "--dtype", "int8", "--platform", "rtl-open", "--limit", "dsp=4"
    result, folder = tmp_path / "r.json", tmp_path / "rtl"
    assert not command("solve", "mm", *words, "-o", result).returncode
    done = command("export", result, "--to", "rtl", "-o", folder, "--accumulator", "16")
    assert not done.returncode, done.stderr
    stated = json.loads(folder.joinpath("expected.json").read_text())["rtl"]
    assert stated["machine"]["mac"] == 4
    assert stated["accumulator"] == 16
    done = command("build", folder)
    assert done.stdout == f"{stated['simulated']:,} cycles, as proven; 64 elements right\n"


def test_the_models_logic_is_stated_where_it_is_known(tmp_path):
    result, folder = tmp_path / "r.json", tmp_path / "rtl"
    for platform, known in (("rtl-open", True), ("u250", False)):
        words = "-s", "i=8,j=8,k=8", "--dtype", "int8", "--platform", platform, "--limit", "dsp=4"
        assert not command("solve", "mm", *words, "-o", result).returncode
        assert not command("export", result, "--to", "rtl", "-o", folder).returncode
        metrics = json.loads(result.read_text())["best"]["metrics"]
        stated = json.loads(folder.joinpath("expected.json").read_text())["rtl"]
        for name in ("lut", "lutram", "ff"):
            assert (name in stated) == known
            assert stated.get(name) == metrics.get(name)


def test_hardware_without_its_vectors_is_refused(hardware):
    hardware.joinpath("vectors").rename(hardware / "elsewhere")
    with pytest.raises(InputError, match="vectors: no such folder"):
        ithaca.build(hardware)


def test_other_targets_and_widths_are_refused(tmp_path):
    result = tmp_path / "r.json"
    words = "-s", "i=8,j=8,k=8", "--dtype", "int8", "--dataflow", "i", "--limit", "dsp=4"
    assert not command("solve", "mm", *words, "-o", result).returncode
    for options, said in (
        (("autosa", "--accumulator", "16"), "--accumulator does not go with --to autosa"),
        (("autosa", "--memory", "axi4"), "--memory does not go with --to autosa"),
        (("rtl", "--memory", "axi"), "--memory is 'axi'; allowed: stream, axi4"),
        (("rtl", "--accumulator", "8"), "--accumulator of int8 is '8'; allowed: 16, 32"),
    ):
        done = command("export", result, "-o", tmp_path / "out", "--to", *options)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_builds_of_networks_say_how_long_the_other_layers_take(hardware, monkeypatch):
    """The second of three begins after 4 s: 8 s are left, of which 4 are the last one's."""
    folder, notes, clock = hardware.parent / "all", [], iter([10.0, 10.0, 14.0, 18.0])
    for name in "abc":
        shutil.copytree(hardware, folder / name)
    (folder / building.TABLE).write_text("")
    answer(monkeypatch, Run("Verilator", 7, False, 195, 0))
    monkeypatch.setattr(building, "folders_of", lambda path: ["a", "b", "c"])
    monkeypatch.setattr(building, "_note", notes.append)
    monkeypatch.setattr(building, "perf_counter", lambda: next(clock))
    assert ithaca.build(folder).right
    steps = [note for note in notes if " of 3: " in note]
    assert steps == ["1 of 3: a", "2 of 3: b, about 8 s left", "3 of 3: c, about 4 s left"]
