"""Inputs that are allowed, but hardly ever asked: nests of one iteration, totals that are not above
0, odd names, numbers and disks."""

import errno
import json
import os
import re
from fractions import Fraction
from xml.etree import ElementTree

import pytest

import ithaca
from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.exports.charts.files import save_plot
from ithaca.exports.layers import fresh_folder
from ithaca.files import writing
from ithaca.files.messages import escaped
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.limits import parse_limits
from ithaca.formulations.platform import Share
from tests.command_line import ithaca as command
from tests.command_line import succeed

MM = "{op: kernel, name: %s, kernel: mm, sizes: {i: %d, j: %d, k: %d}}"


def network_file(folder, *layers):
    path = folder / "net.yaml"
    path.write_text(
        "name: net\nlayers:\n" + "".join(f"  - {MM % layer}\n" for layer in layers),
        encoding="utf-8",
    )
    return path


# -- extents of 1 ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "exact", "enumeration", "cpsat", "gp", "nlp", "evolve"])
@pytest.mark.parametrize("workload", ["mm", "conv2d"])
def test_one_iteration_has_one_mapping(workload, method):
    """Words of DRAM, 200 pJ each, one of each tensor; with nothing kept further in, a
    multiply-accumulate of 1 pJ."""
    loops = "ijk" if workload == "mm" else "orcipq"
    sizes = dict.fromkeys(loops, 1)
    result = ithaca.map(workload, arch="simple", objective="energy", method=method, sizes=sizes)
    only = result.best.problem.metrics(Configuration({}))
    assert (result.status, result.value, dict(result.best.configuration)) == (
        "optimal",
        only["energy"],
        {},
    )
    if method == "exact":
        free = ithaca.map(workload, arch="simple", objective="energy", bypass="free", sizes=sizes)
        assert (free.status, free.value) == ("optimal", 3 * 200 + 1)


@pytest.mark.parametrize(
    "arch", ["eyeriss", "nvdla-like", "simba-like", "tpu-like", "dmazerunner-256"]
)
def test_one_iteration_maps_onto_every_hierarchy(arch):
    result = ithaca.map("mm", arch=arch, objective="latency", i=1, j=1, k=1)
    assert (result.status, result.best.metrics["computes"]) == ("optimal", 1)


def test_a_network_of_layers_of_one_iteration_is_mapped_and_explained(tmp_path):
    file = network_file(tmp_path, ("a", 1, 1, 1), ("b", 2, 1, 1))
    succeed("network", file, "--arch", "simple", "-o", tmp_path / "n.json")
    explained = command("explain", tmp_path / "n.json")
    assert (explained.returncode, explained.stderr) == (0, "")


# -- totals that are not above 0 ---------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "told"),
    [
        ("latency-1e12", "; latency-1e12 is -1,999,999,999,"),
        ("0*latency", "; 0*latency is 0 ("),
        ("latency-57", "; latency-57 is "),
    ],
)
def test_a_network_whose_total_is_not_above_0_is_explained_by_cycles(objective, told, tmp_path):
    """Shares are of the latency, which every layer takes some of; the total is stated beside it."""
    file, result, page = (
        network_file(tmp_path, ("a", 4, 4, 4), ("b", 2, 3, 4)),
        tmp_path / "n.json",
        tmp_path / "n.html",
    )
    plot = tmp_path / "n.svg"
    asked = (
        "network",
        file,
        "--dataflow",
        "i,j",
        "--objective",
        objective,
        "-o",
        result,
        "--plot",
        plot,
    )
    succeed(*asked)
    explained = command("explain", result)
    assert (explained.returncode, explained.stderr) == (0, "")
    assert told in explained.stdout
    shares = json.loads(command("explain", result, "--json").stdout)
    assert shares["what"] == "latency"
    assert sum(Fraction(str(layer["share"])) for layer in shares["layers"]) == pytest.approx(1)
    assert all(layer["value"] > 0 for layer in shares["layers"])
    succeed("report", result, "-o", page)
    succeed("network", file, "--dataflow", "i,j", "--objective", objective, "--compare", result)


def test_a_codesign_whose_total_is_not_above_0_is_explained(tmp_path):
    file, result = network_file(tmp_path, ("a", 4, 4, 4), ("b", 2, 3, 4)), tmp_path / "c.json"
    asked = (
        "codesign",
        "dmazerunner-memory",
        "-w",
        file,
        "--objective",
        "latency-1e12",
        "-o",
        result,
    )
    succeed(*asked)
    explained = command("explain", result, "--quick")
    assert (explained.returncode, explained.stderr) == (0, "")
    assert "of the latency." in explained.stdout


# -- numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1e-07",
        "2.5E-7",
        "0.00021333333333333335",
        "637.1234567890123",
        "12345678901234567890",
        ".5e+3",
    ],
)
def test_limits_are_read_as_results_print_numbers(text):
    assert parse_limits([f"time<={text}"]) == {"time": Fraction(text)}
    assert parse_limits([f"time - 1<=-{text}"]) == {"time - 1": -Fraction(text)}
    assert parse_limits([f"dsp={text}%"]) == {"dsp": Share(Fraction(text))}


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e999", "1_0", "٣", "0x10", "1e", "1e-"])
def test_what_is_no_limit_is_refused_in_one_line(text):
    with pytest.raises(ithaca.InputError, match="allowed: a finite number that is not negative"):
        parse_limits([f"time={text}"])


@pytest.mark.parametrize(
    ("loops", "limit"),
    [({"i": 2, "j": 2, "k": 2}, "1e-9*energy"), ({"i": 3, "j": 7, "k": 2}, "energy/7")],
)
def test_the_smallest_limit_is_met_as_it_is_printed(loops, limit):
    asked = (
        "map",
        "--arch",
        "simple",
        "--problem",
        "mm",
        "-s",
        ",".join(f"{n}={v}" for n, v in loops.items()),
    )
    refused = command(*asked, "--limit", f"{limit}<=1e-11")
    assert (refused.returncode, f"limit {limit} = 1e-11 cannot be met" in refused.stderr) == (
        1,
        True,
    )
    smallest = refused.stderr.partition(" as they are is ")[2].split()[0].replace(",", "")
    succeed(*asked, "--limit", f"{limit}<={smallest}")


@pytest.mark.parametrize("word", ["True", "TRUE", "true"])
def test_booleans_are_read_as_python_writes_them(word):
    text = f"a: {word}\nb: '{word}'\nc: on\nd: no\ne: False\nf: Null\ng: Yes"
    read = {"a": True, "b": word, "c": "on", "d": "no", "e": False, "f": None, "g": "Yes"}
    assert parse_yaml(text, "file") == read


@pytest.mark.parametrize("text", ["010", "-007", "+00"])
def test_numbers_that_readers_take_for_octal_are_refused(text):
    with pytest.raises(
        ithaca.InputError, match=rf"line 1: number '{re.escape(text)}' is octal to some"
    ):
        parse_yaml(f"a: {text}", "file")
    assert parse_yaml(f"{{a: '{text}', b: 0, c: -0, d: 0.5}}", "file")["a"] == text


# -- full disks --------------------------------------------------------------------------


@pytest.fixture
def full_disk(monkeypatch):
    def write(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing, "_write_new", write)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize(
    "asked",
    [
        ("whatif", "mm", "-s", "i=4,j=4,k=4", "--dataflow", "i,j", "--vary", "dsp=100,200"),
        ("network", "net.yaml", "--arch", "simple"),
        ("codesign", "dmazerunner-memory", "-w", "net.yaml"),
    ],
)
def test_a_full_disk_costs_what_is_kept_not_the_answer(asked, tmp_path):
    network_file(tmp_path, ("a", 2, 2, 2), ("b", 2, 2, 1))
    found = command(*asked, "--results", "kept", cwd=tmp_path)
    assert (found.returncode, "2 of 2" in found.stdout or "optimal" in found.stdout) == (0, True)
    assert found.stderr.startswith("ithaca: results are not kept: cannot write kept")
    assert found.stderr.endswith("No space left on device\n")
    assert found.stderr.count("\n") == 1


@pytest.mark.usefixtures("full_disk")
def test_an_answer_that_cannot_be_written_is_printed(tmp_path):
    asked = ("map", "--arch", "simple", "--problem", "mm", "-s", "i=1,j=1,k=1")
    found = command(*asked, "-o", "m.json", "--table", "m.csv", cwd=tmp_path)
    assert (found.returncode, "objective  1,274.25" in found.stdout) == (2, True)
    assert (
        found.stderr
        == "ithaca: "
        + "; ".join(f"cannot write {f}: No space left on device" for f in ("m.json", "m.csv"))
        + "\n"
    )
    assert list(tmp_path.iterdir()) == []
    assert (
        json.loads(command(*asked, "-o", "m.json", "--json", cwd=tmp_path).stdout)["objective"][
            "value"
        ]
        == 1274.25
    )


# -- nests that no loop is vectorised in ---------------------------------------------------


def test_nests_without_a_simd_loop_are_matched_and_mapped(tmp_path):
    """A 1-D convolution: p and r are no subscripts by themselves. On 4 lanes of a dot product, 3
    taps of 4 outputs: 4 calls."""
    statement, result = "y[p] += x[p+r] * w[r]", tmp_path / "m.json"
    found = ithaca.match(statement, intrinsic="dot", intrinsic_sizes={"i": 4}, p=4, r=3)
    assert [(dict(each.binding), each.whole.calls) for each in found.choices] == [({"i": "r"}, 4)]
    asked = (
        "map",
        "--arch",
        "simple",
        "--problem",
        statement,
        "-s",
        "p=4,r=3",
        "--objective",
        "latency",
        "-o",
        result,
    )
    succeed(*asked)
    succeed("verify", result)
    refused = command("solve", statement, "-s", "p=4,r=3")
    told = "ithaca: simd is missing and no tiled loop is an obvious choice; allowed: one of p, r\n"
    assert (refused.returncode, refused.stderr) == (2, told)


# -- points on the machine that they state -------------------------------------------------


def test_points_state_how_sums_are_added(tmp_path):
    """A convolution that reduces over PEs: the table of a result, read again, has the result's
    cycles."""
    result, table, again = tmp_path / "r.json", tmp_path / "p.csv", tmp_path / "q.csv"
    sizes = "o=4,r=4,c=4,i=4,p=2,q=2"
    asked = (
        "solve",
        "conv2d",
        "-s",
        sizes,
        "--dataflow",
        "i",
        "--min-lanes",
        "2",
        "--sums",
        "last",
        "--regime",
        "hls",
    )
    succeed(*asked, "-o", result)
    succeed("evaluate", result, "--table", table)
    stated = json.loads(command("evaluate", result, "--json").stdout)
    points = ("evaluate", "conv2d", "--points", table)
    assert json.loads(command(*points, "--json").stdout) == stated
    assert command(*points, "--sums", "last").returncode == 2  # the table says it

    lines = table.read_text(encoding="utf-8").replace(",sums,", ",note,")
    again.write_text(lines, encoding="utf-8")
    points = ("evaluate", "conv2d", "--points", again, "--json")
    assert json.loads(command(*points, "--sums", "last").stdout) == stated
    assert (
        json.loads(command(*points, "--sums", "first").stdout)
        == json.loads(command(*points).stdout)
        != stated
    )
    refused = command(*points, "--sums", "middle")
    assert (refused.returncode, refused.stderr) == (
        2,
        "ithaca: --sums is 'middle'; allowed: first, last\n",
    )


# -- names ---------------------------------------------------------------------------------

#: Sequences that drive a terminal, what no XML can hold, what ends a line, turns the direction, or
#: is markup.
NAMES = (
    "\x1b[31mred",
    "nul\0x\x0b",
    "a\nb\tc",
    "\u202ertl\u202c<b>&\"'",
    "\ufffe\uffff",
    "\x85\u2028",
    "$x_{1}$",
    "=cmd|x",
)


def onnx_model(path, names):
    import onnx

    make, nodes, weights, before = onnx.helper, [], [], "x"
    for number, name in enumerate(names):
        nodes.append(make.make_node("Conv", [before, f"w{number}"], [f"y{number}"], name=name))
        weights.append(
            make.make_tensor(
                f"w{number}", 1, [4 + number, 3 + number, 1, 1], [0.0] * (4 + number) * (3 + number)
            )
        )
        before = f"y{number}"
    nodes.append(make.make_node("Odd\x1b", [before], ["z"], name="odd\x1b[0m", domain="other\0"))
    inputs, outputs = (
        [make.make_tensor_value_info("x", 1, ["N\x07", 3, 2, 2])],
        [make.make_tensor_value_info("z", 1, None)],
    )
    opsets = [make.make_opsetid("", 13), make.make_opsetid("other\0", 1)]
    onnx.save(
        make.make_model(
            make.make_graph(nodes, "g", inputs, outputs, weights), opset_imports=opsets
        ),
        path,
    )


def test_names_of_models_drive_no_terminal_and_break_no_picture(tmp_path):
    model, result = tmp_path / "m.onnx", tmp_path / "r.json"
    onnx_model(model, NAMES)
    asked = ("network", model, "--arch", "simple", "--objective", "latency")
    commands = [
        (*asked, "-o", result, "--table", tmp_path / "t.csv", "--plot", tmp_path / "p.svg"),
        (*asked, "--plot", tmp_path / "p.html"),
        ("explain", result),
        ("report", result, "-o", tmp_path / "r.html"),
    ]
    texts = []
    for words in commands:
        done = succeed(*words)
        texts += [done.stdout, done.stderr]
    assert [layer.layer.name for layer in ithaca.load(result).layers] == [
        escaped(name) for name in NAMES
    ]
    texts += [
        file.read_text(encoding="utf-8") for file in tmp_path.iterdir() if file.suffix != ".onnx"
    ]
    assert {c for text in texts for c in text if not c.isprintable()} <= {"\n", "\t"}
    ElementTree.parse(tmp_path / "p.svg")


def test_charts_of_results_that_state_such_names_are_drawn(tmp_path):
    """Results are files, too: whoever writes them may put anything into a name."""
    bars = tuple(Bar(name, 1.0, f"note {name}") for name in NAMES)
    chart = BarChart("title\x1b", "x\0", bars)
    for ending in ("svg", "html", "png"):
        save_plot(chart, tmp_path / f"c.{ending}")
    texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("c.svg", "c.html")]
    assert {c for text in texts for c in text if not c.isprintable()} <= {"\n", "\t"}
    ElementTree.parse(tmp_path / "c.svg")


def test_folders_of_layers_with_long_names_have_short_ones_that_differ():
    names = ["z" * 300, "z" * 299 + "y", "short"]
    folders = []
    for name in names:
        folders.append(fresh_folder(name, folders))
    assert [len(folder) for folder in folders] == [100, 100, 5]
    assert len(set(folders)) == 3
    assert fresh_folder(names[1], []) == folders[1]
