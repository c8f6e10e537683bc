"""One way to say things: workloads by place, numbers as people write them, names nearly right."""

import json
import sys
from fractions import Fraction
from subprocess import run

import pytest

import ithaca
from ithaca import cli
from ithaca.commands.api.parsing import parse_search
from ithaca.files.errors import InputError
from ithaca.files.messages import meant
from ithaca.files.numbers import fraction, json_number, scaled_number
from ithaca.files.words import TIMES, parse_integer, parse_number
from ithaca.formulations.limits import parse_limits
from ithaca.formulations.platform import Share
from ithaca.plugins.codesign.studies.workloads import weighted
from ithaca.workloads.kernel_files import statement_nest
from tests.command_line import ithaca as command
from tests.command_line import succeed

SMALL = ("-s", "i=4,j=4,k=4")


@pytest.mark.parametrize(
    ("text", "number"),
    [("2k", 2000), ("1.5M", 1_500_000), ("1e6", 10**6), ("3G", 3 * 10**9), ("7", 7)],
)
def test_numbers_are_read_as_people_write_them(text, number):
    assert scaled_number(text) == number
    assert parse_integer("--samples", text, least=1) == number
    assert parse_limits([f"dsp={text}"]) == {"dsp": number}


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("2e1m", 1200)]
)
def test_times_have_units(text, seconds):
    assert parse_number("--time-limit", text, units=TIMES) == seconds
    assert parse_search(text).time_limit == seconds


def test_gaps_and_bounds_may_be_shares():
    assert parse_search(None, "1%").gap == 0.01
    assert parse_limits(["dsp=50%"]) == {"dsp": Share(Fraction(50))}


@pytest.mark.parametrize("text", ["10x", "m", "1k2", "--1", "1e5m5", "5 m", "2K"])
def test_other_letters_are_no_units(text):
    assert scaled_number(text, TIMES) is None
    with pytest.raises(InputError, match="--time-limit is '"):
        parse_search(text)


def test_fractions_are_no_counts():
    with pytest.raises(InputError, match=r"--samples is '1.5'; allowed: an integer ≥ 1"):
        parse_integer("--samples", "1.5", least=1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("statment: C[i,j] += A[i,k] * B[k,j]", "statement"),
        ("statement: C[i,j] += A[i,k] * B[k,j]\nuntiled: [jj]", "j"),
        ("layers: [{op: conv, name: a, kernell: 3}]", "kernel"),
        ("layers: [{op: cov, name: a}]", "conv"),
    ],
)
def test_the_field_of_a_file_that_was_meant_is_said(text, name, tmp_path):
    network = text.startswith("layers")
    own = "name: x\n" + (
        "input: {channels: 3, height: 8, width: 8}\n"
        if network
        else "extents: {i: 4, j: 4, k: 4}\n"
    )
    (tmp_path / "own.yaml").write_text(own + text + "\n")
    done = command("network" if network else "solve", "own.yaml", cwd=tmp_path)
    assert done.stderr.endswith(f"; did you mean {name}?\n"), done.stderr


def test_nothing_is_said_to_be_meant_where_nothing_is_near():
    assert meant("speed", ["latency", "dsp"]) == ""
    assert meant("MM", ["mm", "mv"]) == "; did you mean mm?"


def test_letters_that_changed_places_are_seen_first():
    assert meant("dps", ["edp", "dsp"]) == "; did you mean dsp?"


def test_sizes_of_a_workload_are_asked_for():
    for words in (
        ("solve",),
        ("map", "--arch", "simple"),
        ("pareto", "--objectives", "latency,dsp"),
    ):
        done = command(words[0], "mm", "-s", "j=4", *words[1:])
        assert done.returncode == 2
        assert done.stderr == (
            "ithaca: sizes of i, k of mm are missing; allowed: --sizes i=N,k=N\n"
        )
    for words in (("match", "mm"), ("codesign", "hasco-gemm", "mm")):
        done = command(*words, "-s", "j=4")
        assert done.stderr.startswith("ithaca: sizes of i, k of mm are missing; allowed: --sizes")
    done = command("codesign", "hasco-gemm", "mm", "mv", "-s", "i=4,j=4,k=4,l=4")
    assert done.stderr.startswith("ithaca: --sizes: no workload has 'l'; allowed: loops and param")
    designs = ("list", "designs", "conv2d", "-s")
    listed = {succeed(*designs, sizes, "--json").stdout for sizes in ("o=4", "o=8,i=2", "p=5")}
    assert len(listed) == 2  # as the help says, those of tiled loops do not matter
    with pytest.raises(InputError, match="sizes of i, j, k of mm are missing"):
        ithaca.list_designs("mm")
    with pytest.raises(InputError, match="sizes of o, r, c of conv2d are missing; allowed: sizes"):
        ithaca.solve("conv2d", i=4)
    done = command("whatif", "mm", "-s", "j=4", "--vary", "i=4,8")
    assert done.stderr == "ithaca: sizes of k of mm are missing; allowed: --sizes k=N\n"


def test_a_workload_stands_by_its_place_or_by_name():
    words = ("--arch", "simple", *SMALL, "--json")
    placed, named = (
        json.loads(succeed("map", *how, *words).stdout) for how in (("mm",), ("--problem", "mm"))
    )
    assert placed["best"]["tiling"] == named["best"]["tiling"]
    done = command("map", "mm", "--problem", "mm", *words)
    assert "--problem is given beside a workload; allowed: one of them" in done.stderr
    done = command("codesign", "hasco-gemm", "mm", "-w", "mm")
    assert "--workload is given beside workloads; allowed: one of them" in done.stderr
    done = command("codesign", "hasco-gemm", "mm", "mn:2")
    assert "unknown network 'mn'" in done.stderr


def test_an_assignment_is_a_sum_over_the_other_loops():
    sizes = {"m": 4, "n": 5, "k": 6}
    one = statement_nest("O[m,n] = A[m,k]*B[k,n]", sizes)
    assert one == statement_nest("O[m,n] += A[m,k]*B[k,n]", sizes)
    answer = ithaca.solve("O[m,n] = A[m,k]*B[k,n]", **sizes, dataflow="m,n")
    assert answer.status == "optimal"


def test_tools_are_named_by_one_word(tmp_path):
    asked = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--count", "2", "-o", "s.json")
    texts = []
    for word in ("--to", "--for"):
        succeed("seed", *asked, word, "optuna", cwd=tmp_path)
        texts.append((tmp_path / "s.json").read_text())
    assert texts[0] == texts[1]
    assert "--to is 'optuma'; allowed: optuna" in command("seed", *asked, "--to", "optuma").stderr


def test_every_command_has_its_answer_as_a_document(tmp_path):
    commands = {name: cli.load(name) for name in cli.COMMANDS if name != "list"}
    listing = cli.load("list")
    lists = {f"list {name}": listing.get_command(None, name) for name in listing.commands}
    for name, each in (commands | lists).items():
        options = {option for parameter in each.params for option in parameter.opts}
        # the one prints no other, and the other has no answer
        assert "--json" in options or name in ("list schema", "serve"), name
    succeed("solve", "mm", *SMALL, "--dataflow", "i,j", "-o", "r.json", cwd=tmp_path)
    for words, what in (
        (("export", "r.json", "--to", "timeloop", "-o", "x"), "design [i,j] C, the result's best"),
        (("seed", "r.json", "--to", "csv", "-o", "x.csv"), "10 seeds for csv, design [i,j] C"),
        (("report", "r.json", "--quick", "-o", "x.html"), "design [i,j] C"),
    ):
        written = json.loads(succeed(*words, "--json", cwd=tmp_path).stdout)
        assert written["wrote"] == words[-1]
        assert written["what"].startswith(what)
        assert (tmp_path / words[-1]).exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("simulate mm -s i=8", "No such option: -s; sizes are for ithaca solve, whose answer"),
        (
            "verify mm",
            "mm: no such file; allowed: a result, such as mm.json that ithaca solve mm -o",
        ),
        (
            "explain vgg16",
            "vgg16: no such file; allowed: a result, such as vgg16.json that ithaca net",
        ),
    ],
)
@pytest.mark.ci
def test_questions_where_answers_are_read_are_told_apart(tmp_path, words, line):
    done = command(*words.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ithaca: {line}")


def test_numbers_beyond_the_doubles_are_read_as_they_are_written(tmp_path):
    value = Fraction(15647770750394301234 * 7 + 3, 70)
    number = json_number(value)
    assert abs(number - value) <= Fraction(1, 2)
    assert json_number(fraction(number)) == number
    sizes = {"i": 4096, "j": 4096, "k": 4096}
    answer = ithaca.map("mm", arch="simple", **sizes, time_limit=5, objective="edp*1.1")
    assert answer.value > 2**53
    answer.save(tmp_path / "m.json")
    assert ithaca.load(tmp_path / "m.json").document == answer.document


def test_simulations_and_mapped_layers_are_read_back(tmp_path):
    solved = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j")
    row = '"{""N"": 1, ""M"": 4, ""C"": 4, ""Ox"": 4, ""Oy"": 4, ""Fx"": 1, ""Fy"": 1}",1'
    tensors = '"{""I"": [1, 4, 4, 4], ""W"": [4, 4, 1, 1], ""O"": [1, 4, 4, 4]}"'
    (tmp_path / "l.csv").write_text(f"kind,extents,stride,tensors\nconv,{row},{tensors}\n")
    layers = ithaca.map(problems=tmp_path / "l.csv", arch="dmazerunner-256", edition="dmazerunner")
    for answer in (ithaca.simulate(solved), layers):
        answer.save(tmp_path / "a.json")
        again = ithaca.load(tmp_path / "a.json")
        assert type(again) is type(answer)
        assert again.document == answer.document
        assert ithaca.verify(again).confirmed
        edited = (tmp_path / "a.json").read_text()
        latency = "6611600" if answer is layers else '"cycles": '
        assert latency in edited
        (tmp_path / "a.json").write_text(edited.replace(latency, latency + "1", 1))
        with pytest.raises(InputError):
            ithaca.load(tmp_path / "a.json")


def test_drives_are_no_weights():
    given = [r"C:\x\net.onnx:2", r"C:\x\net.onnx", "C:net.onnx", "C:net.onnx:3", "mm:0.5"]
    names = [r"C:\x\net.onnx", r"C:\x\net.onnx", "C:net.onnx", "C:net.onnx", "mm"]
    weights = [2, 1, 1, 3, Fraction(1, 2)]
    assert list(weighted(given)) == list(zip(names, weights, strict=True))


def test_the_package_runs():
    done = run([sys.executable, "-m", "ithaca", "--version"], capture_output=True, text=True)
    assert done.stdout == f"ithaca {ithaca.__version__}\n"
