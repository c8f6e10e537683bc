"""Quick mode of every experiment: whole files, readable, and claims whose signs hold."""

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from pathlib import Path

import pytest

from benchmarks.paper import __main__ as command
from benchmarks.paper import dmazerunner_table, figure_9, methods_compared
from benchmarks.paper.convolutions import dataflow_text
from benchmarks.paper.experiment import (
    NAMES,
    PUBLICATION,
    Claim,
    Experiment,
    Mode,
    Outcome,
    Run,
    Table,
    find_experiment,
)
from benchmarks.paper.files import ENDINGS, write_experiment
from ithaca.exports.charts.chart import LineChart, Series
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.plugins.peers.studies.recorder import SampleBudget
from tests.command_line import ithaca

#: Its claims are about what is found in so many seconds: on a busy machine they may differ.
TIMED = "figure-9"


def small_outcome(how):
    """The outcome of an experiment without work."""
    how.step("nothing")
    chart = LineChart("title", "x", "y", (Series("", (1.0, 2.0), (1.0, 4.0)),))
    claims = (
        Claim("one is less than two", "1", "number", 1, "<", 2),
        Claim("a third", "0.3", "number", Fraction(1, 3), "=", 0),
    )
    return Outcome(
        Table(("x", "y"), ((1, Fraction(1, 2)), (None, Fraction(4)))), claims, chart, {"size": 2}
    )


SMALL = Experiment("small", "a small one", "1", "", small_outcome)


paper = partial(ithaca, main=command.main)


def figures_of_table_3(outcome):
    """Throughput 0.61 and 1.00, DSP 60 and 100 %, BRAM 99 %; 48 % are 46."""
    table = outcome.table
    assert {(row[2], row[3]): row[4] for row in table.rows} == {
        ("divisors", "proven"): 1_052_673,
        ("divisors", "published"): 1_052_673,
        ("all", "published"): Fraction("644713.5"),
        ("all", "proven"): Fraction("637832.25"),
    }
    columns = ("throughput / published best", "DSP (%)", "BRAM18K (%)")
    for factors, figures in (("divisors", [0.612, 59.5, 45.7]), ("all", [1.0, 100.0, 99.4])):
        (published,) = table.records(factors=factors, source="published")
        assert [published[name] for name in columns] == figures
    assert [claim.statement for claim in outcome.claims if claim.differs] == [
        "the published design of divisors takes 48 % of the block RAM"
    ]


def figures_of_table_6(outcome):
    holders = ("A", "B", "C", "PE")
    for row in PUBLICATION["table 6"]:
        of = {"permutation": row["permutation"], "source": "published block RAM"}
        (here,) = outcome.table.records(**of)
        assert here["BRAM18K"] == row["BRAM18K"]
        assert round(here["PEs / least"], 2) == row["PEs"]
        assert [round(here[f"{holder} (%)"]) for holder in holders] == list(row["shares"].values())
        assert here["latency / first"] == pytest.approx(row["latency"], abs=0.021)
    (proven,) = outcome.table.records(permutation="C", source="proven, odyssey")
    assert (proven["BRAM18K"], proven["latency (cycles)"]) == (3621, Fraction("797115.25"))


def figures_of_table_7(outcome):
    """The 16 published figures, and the proven optima beside them."""
    table = outcome.table
    for row in PUBLICATION["table 7"]:
        of = {"layer": row["layer"], "dataflow": dataflow_text(row["dataflow"])}
        (here,) = table.records(**of, source="published DSP, a cycle for each sum")
        assert here["DSP"] == row["DSP"]
        for what in ("latency", "PE", "fo"):
            assert here[f"{what} / unit"] == pytest.approx(row[what], abs=0.01)
        assert round(here["DSP efficiency (%)"]) == row["efficiency"]
    assert outcome.settings["unit"] == 201_152
    columns = "layer", "dataflow", "latency (10^5 cycles)", "DSP"
    assert [[row[name] for name in columns] for row in table.records(source="proven, exact")] == [
        ["CONV1", "[h,i]", 3.889, 1500],
        ["CONV1", "[o,h]", 8.036, 1120],
        ["CONV2", "[h,i]", 12.966, 7360],
        ["CONV2", "[o,h]", 11.661, 8320],
    ]


def figures_of_figure_1(outcome):
    lost = {row[1]: row[4] for row in outcome.table.rows if row[2] == "fastest"}
    assert lost["best"] == 0
    assert lost["divisors"] == pytest.approx(39.41, abs=0.01)
    assert lost["communication-pruned"] == pytest.approx(45.98, abs=0.01)


def figures_of_figure_11(outcome):
    fastest = outcome.table.values("layer", "latency (cycles)", **{"throughput / best": 1.0})
    assert fastest == {"CONV1": 388_909, "CONV2": 1_134_082}


def figures_of_figure_15(outcome):
    divisors = outcome.table.records(factors="divisors", permutation="C")
    two = {r["dataflow"]: r["latency (cycles)"] for r in divisors if len(str(r["dataflow"])) > 1}
    assert two == {"i,j": 1_052_673, "i,k": 1_051_649, "j,k": 1_052_161}
    assert max(record["DSP (%)"] for record in divisors) == 59.5


def figures_of_timeloops_mapper(outcome):
    rows = outcome.table.records(**{"found by": "proven"})
    proven = {(row["problem"], row["objective"]): row["value"] for row in rows}
    assert proven["simple, gemm", "edp"] == pytest.approx(4.269706e16, rel=1e-6)
    assert proven["eyeriss, resnet18_l1", "edp"] == pytest.approx(3.746823e14, rel=1e-6)
    assert proven["simple, gemm", "latency"] == 4_718_592


#: Figures that experiments find in quick mode.
FIGURES = {
    "table-3": figures_of_table_3,
    "table-6": figures_of_table_6,
    "table-7": figures_of_table_7,
    "figure-1": figures_of_figure_1,
    "figure-11": figures_of_figure_11,
    "figure-15": figures_of_figure_15,
    "timeloop-mapper": figures_of_timeloops_mapper,
}

#: Those that CI does not run: what figure 14 proves, figure 13 proves, too; and evolution.
SLOW = ("figure-5", "figure-14", "autosa-figure-13")


def mark(name):
    """The tests that an experiment belongs to."""
    return [pytest.mark.slow] if name in SLOW else [] if name == "table-3" else [pytest.mark.ci]


@pytest.mark.parametrize("name", [pytest.param(name, marks=mark(name)) for name in NAMES])
def test_quick_mode_makes_every_file_and_the_claims_hold(name, tmp_path, monkeypatch):
    monkeypatch.setattr(figure_9, "SECONDS", 0.5)  # those that it gives methods
    experiment, how = find_experiment(name), Run()
    assert experiment.name == name
    outcome = experiment.run(how)
    table, plot, document = write_experiment(tmp_path / "out", experiment, how, outcome)
    endings = sorted(f"{name}{ending}" for ending in ENDINGS)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == endings
    with table.open(newline="") as stream:
        columns, *rows = csv.reader(stream)
    assert columns == list(outcome.table.columns)
    assert len(rows) == len(outcome.table.rows) > 1
    assert plot.read_bytes().startswith(b"\x89PNG")
    read = json.loads(document.read_text())
    says = {"schema": "ithaca-experiment/1", "experiment": name, "mode": "quick", "seed": 0}
    assert read == read | says
    assert {claim["verdict"] for claim in read["claims"]} <= {"holds", "differs"}
    assert len(read["claims"]) == len(outcome.claims) > 0
    if name != TIMED:
        assert [claim.statement for claim in outcome.claims if claim.holds is claim.differs] == []
    FIGURES.get(name, lambda outcome: None)(outcome)


@pytest.mark.parametrize("seed", [10, 15])
def test_claims_about_seeded_evolution_do_not_hang_on_the_random_numbers(seed):
    outcome = find_experiment("figure-5").run(Run(seed=seed))
    assert [claim.statement for claim in outcome.claims if not claim.holds] == []


def test_figures_of_figure_14():
    """77 % of the peak on VGG16 and 57 % on ResNet50 are published."""
    table = find_experiment("figure-14").run(Run(Mode.FULL)).table
    columns = "network", "edition", "geometric mean / peak (%)"
    assert [[row[name] for name in columns] for row in table.records(dataflow="[o,h]")] == [
        ["vgg16", "odyssey", 80.85],
        ["vgg16", "exact", 79.81],
        ["resnet50", "odyssey", 61.44],
        ["resnet50", "exact", 62.99],
    ]


def results_pages():
    """The pages on the paper's experiments, one after the other."""
    pages = sorted((Path(__file__).parents[2] / "docs").glob("results*.md"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def test_no_row_of_documents_and_items_is_missing():
    """Every item of Odyssey has a row with a verdict, and its experiment has a section."""
    page = results_pages()
    rows = re.findall(r"^\| ([^|]*)\| ([^|]*)\| ([^|]*)\| ([^|]*) \|$", page, re.MULTILINE)
    items = " ".join(item for _, item, _, _ in rows)
    for number in range(1, 8):
        assert f"Table {number}" in items
    for number in (1, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15):
        assert f"Figure {number}" in items
    verdicts = [verdict for *_, verdict in rows]
    assert not any("missing" in verdict for verdict in verdicts)
    sections = {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^## (.*)$", page, re.MULTILINE)
    }
    assert set(re.findall(r"\]\((?:results[a-z-]*\.md)?#([^)]*)\)", page)) <= sections


def test_no_verdict_is_kinder_than_its_section():
    """A row of the document table says that it differs where a section says so of a claim."""
    page = results_pages()
    verdicts = re.findall(r"^\|[^|]*\|[^|]*\|(.*)\| ([^|]*) \|$", page, re.MULTILINE)
    differing = 0
    for section in page.split("\n## ")[1:]:
        anchor = re.sub(r"[^\w -]", "", section.splitlines()[0].lower()).replace(" ", "-")
        own = [verdict for where, verdict in verdicts if f"#{anchor})" in where]
        if own and re.search(r"\*[^*\n]*: differs?\b[^*\n]*\*", section):
            differing += 1
            assert any(re.search(r"\b(differs?|but)\b", verdict) for verdict in own), anchor
    assert differing >= 10


def test_sizes_of_spaces_by_trying_every_tiling():
    """Factors of four slots that multiply to the extents; 256 PEs, register files of 256 words, 32
    banks of 1,024."""
    sizes = {"X": 8, "Y": 12, "K": 24}
    fit = tried = 0
    for x, y, k in product(*(list(ordered(extent)) for extent in sizes.values())):
        tried += 1
        pes = x[0] * y[0] * k[0]
        held, tiles = (
            [a * b, b * c, a * c]
            for a, b, c in ((x[1], k[1], y[1]), (prod(x[:3]), prod(k[:3]), prod(y[:3])))
        )
        banks = sum(-(-words // 1024) for words in tiles)
        fit += pes <= 256 and sum(held) <= 256 and banks <= 32
    found = dmazerunner_table.count(dmazerunner_table.nest_of(sizes))
    assert (found["tilings"], found["tilings that fit"]) == (tried, fit)
    assert fit < tried
    assert found["sizings"] == 8**3 * 12**3 * 24**3
    assert found["of divisors"] == (4 * 6 * 8) ** 3
    assert found["space"] == found["sizings"] * 36


def ordered(extent):
    """Four factors of a loop, in every order."""
    for inner in product(range(1, extent + 1), repeat=3):
        if extent % prod(inner) == 0:
            yield *inner, extent // prod(inner)


def test_layers_of_table_2_1_are_those_of_the_networks():
    """Layers agree but for excitation, a matrix product of one row there."""
    names = {
        "ResNet18": ("resnet18", "conv2_1.conv1"),
        "MobileNetV2": ("mobilenetv2", "bottleneck2_1.expand"),
        "EfficientNetB0": ("efficientnet-b0", "block2_2.expand"),
        "VGG-16": ("vgg16", "conv1_2"),
        "ResNet50": ("resnet50", "conv2_1.conv2"),
        "Vision Transformer": ("vit-b16", "patches"),
        "FasterRCNN-MobileNetV3": ("fasterrcnn-mobilenetv3", "block12.excite"),
        "YOLOv5": ("yolov5s", "conv1"),
        "Transformer": ("transformer", "vocabulary"),
        "BERT": ("bert-base", "layer*.reduce"),
        "Wav2Vec2": ("wav2vec2", "layer*.expand"),
    }
    rows = PUBLICATION["dissertation table 2.1"]
    assert [row["model"] for row in rows] == list(names)
    for row in rows:
        network, layer = names[row["model"]]
        nest = find_workloads([network], [layer])[0].nest
        known = sorted([*nest.sizes.values(), dict(nest.parameters).get("s", 1)])
        stated = sorted(row["sizes"].values())
        assert [n for n in stated if n > 1] == [n for n in known if n > 1]


@pytest.mark.parametrize(
    ("relation", "holds"), [("<", True), ("≤", True), ("=", False), ("≥", False), (">", False)]
)
def test_a_claim_can_fail(relation, holds):
    claim = Claim("", "", "", Fraction(1, 3), relation, Fraction(1, 2))
    assert claim.holds is holds
    assert claim.verdict == ("holds" if holds else "differs")


def test_claims_compare_exact_numbers_exactly():
    tiny = Fraction(1, 10**30)
    assert not Claim("", "", "", 1 + tiny, "=", Fraction(1)).holds


def test_an_unknown_relation_is_refused():
    with pytest.raises(ValueError, match="allowed"):
        Claim("", "", "", 1, "≈", 1)


def test_a_document_has_verdict_and_exact_numbers(tmp_path):
    table, _, document = write_experiment(
        tmp_path, SMALL, Run(Mode.FULL, seed=3), small_outcome(Run())
    )
    assert table.read_text() == "x,y\n1,0.5\n,4\n"
    read = json.loads(document.read_text())
    assert (read["mode"], read["seed"], read["settings"]) == ("full", 3, {"size": 2})
    assert [(c["verdict"], c["measured"], c["bound"]) for c in read["claims"]] == [
        ("holds", 1, 2),
        ("differs", 1 / 3, 0),
    ]


def test_a_clocked_experiment_records_its_threads(tmp_path):
    clocked = replace(SMALL, clock=frozenset({Mode.QUICK}))
    document = write_experiment(tmp_path, clocked, Run(threads=2), small_outcome(Run()))[2]
    assert json.loads(document.read_text())["settings"]["threads"] == 2


def test_seconds_of_a_run_are_kept_and_recorded(tmp_path):
    done = paper("figure-8", "--run-seconds", "0.2", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "figure-8.json").read_text())
    assert document["depends_on_clock"] is True
    assert all(budget.endswith(" or 0.2 s") for budget in document["settings"]["budgets"].values())
    unclocked = write_experiment(tmp_path, SMALL, Run(), small_outcome(Run()))[2]
    assert json.loads(unclocked.read_text())["depends_on_clock"] is False


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("network-arrays", "vgg16, up to 2 arrays"),
        pytest.param("hasco-tables", "mobilenetv2 on hasco-gemm", marks=pytest.mark.ci),
    ],
)
def test_seconds_that_are_too_few_are_refused(name, what, tmp_path):
    done = paper(name, "--run-seconds", "0.000001", "-o", str(tmp_path / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith(
        f"ithaca: nothing was found for {what}; allowed: more"
    )
    assert not (tmp_path / "out").exists()


def test_runs_side_by_side_find_the_same(tmp_path):
    budget = {"random": SampleBudget(50)}
    designs = [methods_compared.BEST_DESIGN, (("i",), "C")]
    one, two = (
        methods_compared.compare(["random"], designs, [0, 1], budget, 16, Run(threads=n))
        for n in (1, 2)
    )
    assert [c.trace.value for c in one] == [c.trace.value for c in two]
    assert all(0 < c.share(c.trace.value) <= 1 for c in one)


def test_the_command_lists_runs_and_writes(tmp_path):
    listed = paper()
    assert listed.returncode == 0
    assert all(name in listed.stdout for name in NAMES)
    assert paper("--list").stdout == listed.stdout
    done = paper("table-3", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "637,832.25" in done.stdout
    assert "holds" in done.stdout
    assert [line.partition(" ")[0] for line in done.stderr.splitlines()] == ["wrote"] * 3
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_the_results_page_names_every_experiment_and_no_other():
    commands = re.findall(r"^    python -m benchmarks.paper (\S+)", results_pages(), re.MULTILINE)
    assert sorted(commands) == sorted(NAMES)
