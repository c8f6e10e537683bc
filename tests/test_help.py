"""Finding things: help that fits and whose examples run, lists, and what shells complete."""

import re
import shlex
from inspect import unwrap
from pathlib import Path

import pytest

from ithaca.cli import COMMANDS, load
from ithaca.commands.api.keywords import declared
from ithaca.commands.listing import LISTS
from tests.command_line import ithaca, succeed


def spelled_options(name):
    """The options of a command, and of the function that it calls, as they are written."""
    command = COMMANDS[name]
    options = {*declared(command), *declared(unwrap(getattr(command, "calls", command)))}
    return {option.spelled for option in options if option.spelled.startswith("--")}


LISTED = [("list", name) for name in LISTS]


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), *LISTED], ids=" ".join)
def test_help_fits_80_columns(words):
    done = succeed(*words, "--help")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not re.search(
        r"\w-$|--[\w-]+, --", done.stdout, re.MULTILINE
    )  # names are whole, and one
    if words == () or words == ("list",):
        summaries = done.stdout.partition("Commands:")[2].partition("Examples:")[0]
        assert "..." not in summaries  # cut short


EXAMPLES = (Path(__file__).parents[1] / "commands/examples.txt").read_text().splitlines()[1:]


#: Commands with many options.
WIDE = ("solve", "network", "map", "whatif", "pareto", "seed", "programs", "codesign")


@pytest.mark.parametrize("name", WIDE)
def test_help_has_groups_and_shows_the_rest_on_demand(name):
    short = succeed(name, "--help").stdout
    assert len(short.splitlines()) <= 60
    whole = succeed(name, "--help-all").stdout
    spelled = spelled_options(name)
    shown = {option for option in spelled if re.search(rf"{option}\b", short)}
    assert spelled == {option for option in spelled if re.search(rf"{option}\b", whole)}
    assert f"Show {len(spelled - shown)} more options" in " ".join(short.split())
    heads = re.findall(r"^([A-Z][a-z]+):$", short, re.MULTILINE)
    order = ("Arguments", "Question", "Budget", "Search", "Output", "More")
    assert heads == [head for head in order if head in heads]
    assert re.findall(r"^([A-Z][a-z ]+):$", whole, re.MULTILINE)[-1] == "Rarely needed"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "list"])
def test_values_of_options_have_names(name):
    for parameter in load(name).params:
        flag = getattr(parameter, "is_flag", False) or parameter.name == "help"
        assert flag or (parameter.metavar and not parameter.metavar.startswith("<")), parameter.name
    assert not re.search(r"<(?:str|int|float|path|list|file)", succeed(name, "--help").stdout)


def test_every_command_has_examples():
    assert {line.split()[1] for line in EXAMPLES} == COMMANDS.keys()
    for name in COMMANDS:
        own = [line for line in EXAMPLES if line.startswith(f"ithaca {name} ")]
        assert ithaca(name, "--help").stdout.endswith(
            "\n".join(["", "  Examples:", *(f"    {line}" for line in own), ""])
        )


def test_the_examples_run_one_after_the_other(tmp_path):
    for line in EXAMPLES:
        # packages of the one not every Python has; the other ends with its input
        if line.split()[1] not in ("calibrate", "estimate", "serve"):
            succeed(*shlex.split(line)[1:], cwd=tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a result of a workload and one of a network."""
    folder = tmp_path_factory.mktemp("results")
    quick = ("--dataflow", "i,j", "--divisors-only", "--limit", "dsp=40", "-o")
    succeed("solve", "mm", "-s", "i=8,j=8,k=8", *quick, folder / "solved.json")
    words = (
        "network",
        "bert-base",
        "-s",
        "sequence=8,layers=1,hidden=16,heads=2,feed_forward=32",
        "--layers",
        "mm",
    )
    succeed(*words, *quick, folder / "bert.json")
    return folder


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ithaca s", ["solve", "simulate", "seed", "serve"]),
        (
            "ithaca list ",
            [
                "workloads",
                "networks",
                "platforms",
                "architectures",
                "spaces",
                "graphs",
                "designs",
                "schema",
            ],
        ),
        ("ithaca solve m", ["mm", "mttkrp", "mv"]),
        ("ithaca solve mm --pl", ["--platform"]),
        ("ithaca solve mm --platform zc", ["zcu102"]),
        ("ithaca solve conv2d --dataflow o", ["o", "o,r", "o,c", "o,i"]),
        ("ithaca solve mm --permutation ", ["A", "B", "C"]),
        ("ithaca map --arch s", ["simba-like", "simple"]),
        ("ithaca solve mm --limit dsp=3,bra", ["dsp=3,bram18k="]),
        ("ithaca solve mm --objective off", ["off_chip_words"]),
        ("ithaca solve mm -s i=4,", ["i=4,i=", "i=4,j=", "i=4,k="]),
        ("ithaca solve nowhere --dataflow ", []),
        ("ithaca network res", ["resnet18", "resnet50"]),
        ("ithaca codesign dm", ["dmazerunner-memory"]),
        ("ithaca codesign hasco-gemm --workload mob", ["mobilenetv2"]),
        ("ithaca network vgg16 --layers fc", ["fc6", "fc7", "fc8"]),
        ("ithaca network vgg16 -s ", ["batch=", "image="]),
        ("ithaca network vgg16 --mode shared", ["shared-dataflow", "shared-array"]),
        ("ithaca explain s", ["solved.json"]),
        ("ithaca explain solved.json --design ", ["i,j C"]),
        ("ithaca explain bert.json --layer layer1.ex", ["layer1.expand"]),
        ("ithaca evaluate solv", ["solved.json"]),
        ("ithaca seed solved.json --permutation ", ["A", "B", "C"]),
        ("ithaca export solved.json --to auto", ["autosa"]),
        ("ithaca list designs mtt", ["mttkrp"]),
    ],
)
def test_shells_complete(folder, typed, offered):
    words = {
        "_ITHACA_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
    }
    done = ithaca(cwd=folder, env=words)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(filter(None, done.stdout.splitlines())) == sorted(offered)


def test_completion_can_be_installed():
    done = succeed(
        "--show-completion", "bash", env={"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    )
    assert "complete -o default -F _ithaca_completion ithaca" in done.stdout
    assert "--install-completion" in ithaca("--help").stdout
