"""Folders of hardware from strangers: what Ithaca generates is made again byte for byte, anything
else is named, and nothing of it is run unless it is trusted."""

import json
import random
import shutil
import subprocess
from contextlib import contextmanager

import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.writing import write_folder
from ithaca.plugins.rtl.commands import building
from ithaca.plugins.rtl.exports import folder as written
from ithaca.plugins.rtl.exports.again import READ, differences, made_again
from ithaca.plugins.rtl.exports.folder import rtl_tool
from ithaca.plugins.rtl.exports.generated import tool_of
from ithaca.plugins.rtl.exports.record import RECORD
from ithaca.plugins.rtl.exports.tools import Bench, Run
from tests.command_line import ithaca as command
from tests.command_line import refused
from tests.plugins.rtl.exports.cases import (
    SPARSE,
    configuration,
    layers_of,
    random_case,
    two_level_case,
)


def shared():
    tool = rtl_tool()
    assert tool.shared is not None
    return tool.shared(layers_of("mm", "ij"))


def recurrence():
    """An array of a family that generates its own."""
    pytest.importorskip("ithaca.plugins.recurrences")
    result, tool = ithaca.solve("lu", n=3, dataflow="k,j"), tool_of("recurrence")
    assert result.best is not None
    return tool.export(tool.configured(result.best))


def at_random(seed, *, memory="stream", blocks=False):
    name = SPARSE[seed % len(SPARSE)] if blocks else None
    chosen, sum_bits = random_case(seed, name, most_turns=3000, blocks=blocks)
    return rtl_tool(sum_bits, memory).export(chosen)


def two_levels():
    chosen, sum_bits = two_level_case(3, "mm", ("i", "j"))
    return rtl_tool(sum_bits).export(chosen)


KINDS = {
    "shared": shared,
    "recurrence": recurrence,
    "two levels": two_levels,
    "masters": lambda: at_random(2, memory="axi4"),
    "blocks": lambda: at_random(1, blocks=True),
    "random": lambda: at_random(7),
}


def same(files, folder):
    write_folder(folder, files)
    again = made_again(folder)
    assert again == files
    assert differences(folder, again) == ()


@pytest.mark.parametrize("kind", KINDS)
def test_hardware_is_made_again_from_its_record(kind, folder):
    same(KINDS[kind](), folder)


@pytest.mark.parametrize("seed", range(40))
def test_random_hardware_is_made_again_from_its_record(seed, folder):
    memory = "axi4" if seed % 2 else "stream"
    try:
        files = at_random(seed, memory=memory, blocks=seed % 4 > 1)
    except InputError:
        pytest.skip("it cannot be written")
    same(files, folder)


def test_it_is_made_again_where_it_cannot_be_simulated(plain, hardware, monkeypatch):
    def missing(*_):
        raise InputError("numba is not installed")

    with monkeypatch.context() as patch:
        patch.setattr(written, "simulate_network", missing)
        assert made_again(hardware) == plain
        bare = rtl_tool().export(configuration("mm", "ij", 1)[0])
    assert json.loads(bare["expected.json"])["rtl"]["simulated"] is None
    write_folder(hardware, bare)
    assert made_again(hardware) == bare


# -- folders that were changed -----------------------------------------------------------


def append(name, text):
    return lambda folder: (folder / name).write_text((folder / name).read_text() + text)


def put(name, text=""):
    return lambda folder: (folder / name).write_text(text)


def link(name):
    def change(folder):
        moved = (folder / name).rename(folder.parent / "moved")
        (folder / name).symlink_to(moved)

    return change


def state(name, **fields):
    def change(folder):
        document = json.loads((folder / name).read_text())
        (document.get("rtl") or document["layers"][""]).update(fields)
        (folder / name).write_text(json.dumps(document, indent=2) + "\n")

    return change


CHANGES = {
    "bench": (append("bench.sv", 'initial $system("touch x");'), "bench.sv is not as written"),
    "library": (append("library/ithaca_fifo.sv", "\n"), "library/ithaca_fifo.sv is not as written"),
    "script": (append("synthesize.ys", "exec -- touch x\n"), "synthesize.ys is not as written"),
    "vectors": (put("vectors/A.hex", "0\n"), "vectors/A.hex is not as written"),
    "cycles": (state("expected.json", cycle=7), "expected.json is not as written"),
    "claim": (state("expected.json", proven=True), "expected.json is not as written"),
    "missing": (lambda folder: (folder / "array_pe.sv").unlink(), "array_pe.sv is missing"),
    "linked file": (link("array.sv"), "array.sv is a link"),
    "linked folder": (link("vectors"), "vectors/A.hex is a link"),
    "further link": (lambda folder: (folder / "x").symlink_to("/etc"), "x was not written"),
    "makefile": (put("Makefile", "all:\n\ttouch x\n"), "Makefile was not written"),
    "simulated": (state(RECORD, simulated=7), "hardware.json is not as written"),
    "tile": (
        state(RECORD, tiling={"array_part": {"i": 4, "j": 8, "k": 8}, "simd": 4}),
        "hardware.json: layers.: tiling.latency_hiding is missing",
    ),
    "no record": (lambda folder: (folder / RECORD).unlink(), "hardware.json: no such file"),
} | {ending: (put(f"library/x{ending}"), f"x{ending} was not written") for ending in READ}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.usefixtures("_nothing_runs")
def test_what_was_changed_is_named_and_nothing_is_run(change, hardware):
    make, said = CHANGES[change]
    make(hardware)
    line = refused("build", hardware)
    assert said in line
    assert "--trust" in line


@pytest.mark.usefixtures("_nothing_runs")
def test_many_changes_are_counted(hardware):
    for path in (hardware / "library").iterdir():
        path.write_text("")
    with pytest.raises(InputError, match=r"library/ithaca_add.sv is .*, and \d+ more diff"):
        ithaca.build(hardware)


def test_other_files_do_not_matter(hardware):
    (hardware / "notes.txt").write_text("mine")
    (hardware / "wave.vcd").write_text("")
    assert differences(hardware, made_again(hardware)) == ()


#: Stand-ins for tools: each writes beside its result what Verilator writes, and the result.
STAND_INS = {
    "verilator": """#!/bin/sh
while [ "$1" != -Mdir ]; do shift; done
mkdir -p "$2"
touch "$2/Vbench.cpp" "$2/Vbench.mk" "$2/verilated.vlt"
printf '#!/bin/sh\\necho ran $1; exit 3\\n' > "$2/Vbench"
chmod +x "$2/Vbench"
""",
    "iverilog": """#!/bin/sh
while [ "$1" != -o ]; do shift; done
touch "$2" "$(dirname "$2")/bench.v"
""",
    "vvp": "#!/bin/sh\necho ran $2; exit 3\n",
}


@pytest.mark.parametrize("tools", [("verilator",), ("iverilog", "vvp")], ids=" ".join)
def test_what_simulating_by_hand_leaves_is_no_difference(tools, hardware, tmp_path):
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    for name in (*tools, "sh", "dirname", "mktemp", "rm", "mkdir", "touch", "chmod"):
        if (text := STAND_INS.get(name)) is None:
            (programs / name).symlink_to(shutil.which(name))
            continue
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {"PATH": str(programs), "TMPDIR": str(work)}
    done = subprocess.run(
        ["sh", str(hardware / "simulate.sh"), "+stalls=1"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("ran +stalls=1\n", 3), done.stderr
    assert differences(hardware, made_again(hardware)) == ()
    assert list(work.iterdir()) == []  # and nothing is left elsewhere


def test_what_runs_is_what_was_made_again(hardware, plain, monkeypatch):
    seen = []

    @contextmanager
    def compiled(folder, **_):
        seen.append(folder)
        assert {str(p.relative_to(folder)) for p in folder.rglob("*.*")} == {*plain}
        yield Bench("Verilator", (), folder)

    monkeypatch.setattr(building, "compiled", compiled)
    monkeypatch.setattr(Bench, "run_layers", lambda *_, **__: (Run("Verilator", 7, False, 195, 0),))
    assert not ithaca.build(hardware).right
    assert seen[0] != hardware
    assert not seen[0].exists()
    state("expected.json", simulated=7, cycle=7, proven=True)(hardware)
    trusted = ithaca.build(hardware, trust=True)
    assert seen[1] == hardware
    assert trusted.lines == (
        "7 cycles; 195 elements right",
        "not what Ithaca generates: expected.json is not as written",
    )
    assert trusted.document["build"]["differs"] == ["expected.json is not as written"]


@pytest.mark.usefixtures("simulator")
def test_a_bench_that_calls_the_shell_does_not(hardware, tmp_path):
    (hardware / "bench.sv").write_text(
        (hardware / "bench.sv")
        .read_text()
        .replace("module bench;", 'module bench;\n  initial void\'($system("touch ../called"));')
    )
    assert "bench.sv is not as written" in refused("build", hardware)
    assert not (tmp_path / "called").exists()
    done = command("build", hardware, "--trust")
    assert (tmp_path / "called").exists()
    assert "not what Ithaca generates: bench.sv is not as written" in done.stdout
    assert "as proven" not in done.stdout
    assert "as simulated" not in done.stdout


# -- records that were changed -----------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"family": "spatial"}, "family is 'spatial'; allowed: systolic"),
        ({"memory": "tape"}, "memory is 'tape'; allowed: stream, axi4"),
        ({"layers": {}}, "layers"),
        ({"layers": {"../x": {}}}, "layers has '../x'; allowed: names as of folders"),
        ({"layers": {'"); $system("x': {}}}, "allowed: names as of folders"),
        ({"schema": "ithaca/1"}, "schema"),
    ],
)
def test_records_of_no_hardware_are_refused(change, said, hardware):
    document = json.loads((hardware / RECORD).read_text()) | change
    (hardware / RECORD).write_text(json.dumps(document))
    assert said in refused("build", hardware)


def mutated(value, draw):
    """A document with one value changed, or left out."""
    if isinstance(value, dict) and value:
        key = draw.choice([*value])
        if draw.random() < 0.1:
            return {name: own for name, own in value.items() if name != key}
        return value | {key: mutated(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.7:
        at = draw.randrange(len(value))
        return [*value[:at], mutated(value[at], draw), *value[at + 1 :]]
    return draw.choice([0, -1, 1, 3, 2**40, 1.5, "", "x", "k", None, True, [], {}, ["i"]])


@pytest.mark.parametrize("kind", ["plain", "shared", "recurrence"])
def test_mutated_records_are_refused_or_make_other_files(kind, folder):
    files = KINDS.get(kind, lambda: rtl_tool().export(configuration("mm", "ij", 1)[0]))()
    write_folder(folder, files)
    draw, record, lines = random.Random(43), json.loads(files[RECORD]), list[str]()
    for _ in range(150):
        changed = mutated(record, draw)
        if changed == record:
            continue
        (folder / RECORD).write_text(json.dumps(changed, indent=2) + "\n")
        try:
            again = made_again(folder)
        except InputError as error:
            lines.append(str(error))
        else:
            assert differences(folder, again)
    assert len(lines) > 50
    assert not any("\n" in line for line in lines)
