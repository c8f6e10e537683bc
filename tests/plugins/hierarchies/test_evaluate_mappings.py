"""`ithaca evaluate --arch`: mappings onto memory hierarchies."""

import csv
import io
import json
import shutil

import pytest

import ithaca
from tests.command_line import ithaca as run
from tests.command_line import refused, succeed
from tests.plugins.hierarchies.formulations.cases import golden
from tests.refusals import refusals


def rows(machine):
    return list(csv.DictReader((golden() / f"{machine}.csv").read_text().splitlines()))


def written(path, table):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    path.write_text(text.getvalue())
    return path


def test_levels_keep_what_rows_say(tmp_path):
    """Without counts of the tool a column ``K:<level>`` says it; without that, the architecture
    does, or its namesake."""
    known = [row for row in rows("eyeriss") if row["valid"] == "1"][:3]
    bare = [
        {name: text for name, text in row.items() if name[:2] in ("T:", "S:") or name == "workload"}
        for row in known
    ]
    keeps = {
        "GLB": "Inputs Outputs",
        "ifmap_spad": "Inputs",
        "weights_spad": "Weights",
        "psum_spad": "Outputs",
    }
    told = [row | {f"K:{level}": tensors for level, tensors in keeps.items()} for row in bare]
    energies = [float(row["energy_pJ"]) for row in known]
    arch = golden() / "eyeriss"
    said = ithaca.evaluate(arch=arch, points=written(tmp_path / "told.csv", told)).document[
        "points"
    ]
    assert [point["metrics"]["energy"] for point in said] == pytest.approx(energies)
    silent = ithaca.evaluate(arch=arch, points=written(tmp_path / "bare.csv", bare)).document[
        "points"
    ]
    assert [point["metrics"]["energy"] for point in silent] == pytest.approx(energies)
    renamed = tmp_path / "other"
    shutil.copytree(arch, renamed)
    for file in renamed.iterdir():
        file.write_text(file.read_text().replace("GLB", "Buffer"))
    other = [{name.replace("GLB", "Buffer"): text for name, text in row.items()} for row in bare]
    unknown = ithaca.evaluate(arch=renamed, points=written(tmp_path / "other.csv", other)).document[
        "points"
    ]
    assert not any(
        point["valid"] and "Buffer.Weights.reads" not in point["metrics"] for point in unknown
    )


@pytest.mark.parametrize(
    ("change", "message"),
    refusals("evaluate_mappings", "rows_that_state_no_mapping_are_refused"),
)
def test_rows_that_state_no_mapping_are_refused(tmp_path, change, message):
    bad = written(tmp_path / "points.csv", [rows("simple")[0] | change])
    refusal = refused(
        "evaluate", "--arch", str(golden() / "simple"), "--points", str(bad), "--json"
    )
    assert refusal.startswith(f"ithaca: {bad} row 2: ")
    assert message in refusal


def test_a_result_is_evaluated_afresh(tmp_path):
    solved = succeed(
        "solve",
        "mm",
        "-s",
        "i=4,j=4,k=4",
        "--arch",
        "simple",
        "--objective",
        "energy",
        "-o",
        tmp_path / "r.json",
        "--json",
    )
    best = json.loads(solved.stdout)["best"]
    (point,) = json.loads(run("evaluate", tmp_path / "r.json", "--json").stdout)["points"]
    assert point == {"valid": True, "reason": None, "metrics": point["metrics"]}
    assert point["metrics"] == best["metrics"]
    assert "yes" in run("evaluate", tmp_path / "r.json").stdout
    succeed("seed", tmp_path / "r.json", "--for", "csv", "--count", "3", "-o", tmp_path / "s.csv")
    seeds = json.loads(
        run("evaluate", "mm", "--arch", "simple", "--points", tmp_path / "s.csv", "--json").stdout
    )["points"]
    assert [seed["valid"] for seed in seeds] == [True] * 3
    assert seeds[0]["metrics"]["energy"] == best["metrics"]["energy"]
    refused = run("simulate", tmp_path / "r.json")
    assert (refused.returncode, refused.stderr) == (
        2,
        "ithaca: the result is of family spatial; allowed here: one of systolic arrays\n",
    )


def test_columns_that_are_not_read_are_named(tmp_path):
    known = [{"speed": "7", "notes": "", **row} for row in rows("simple")[:2]]
    words = ("evaluate", "--arch", golden() / "simple", "--points")
    stderr = succeed(*words, written(tmp_path / "more.csv", known)).stderr.replace("\n      ", " ")
    assert "more.csv: not read:" in stderr
    assert "'speed', 'notes'" in stderr
    table = tmp_path / "own.csv"
    succeed(*words, written(tmp_path / "more.csv", known), "--table", table)
    assert "not read" not in succeed(*words, table).stderr


def printed(row, levels):
    """A row as Timeloop prints its mapping, levels and loops outermost first."""
    lines = []
    for level in levels:
        kept = {name.split(".")[1] for name in row if name.startswith(f"{level}.") and row[name]}
        tensors = sorted(kept & {"Weights", "Inputs", "Outputs"})
        head = f"{level} [ {' '.join(f'{tensor}:1 (1)' for tensor in tensors)} ] "
        lines += ["", head, "-" * len(head)]
        factors = dict(f.split("=") for f in row[f"T:{level}.factors"].split())
        order = row[f"T:{level}.permutation_innermost_first"][::-1]
        loops = [(name, factors[name], "") for name in order if name in factors]
        lanes = dict(f.split("=") for f in row.get(f"S:{level}.factors", "").split())
        for along in "XY":
            names = row.get(f"S:{level}.{along}", "")
            loops += [(n, lanes[n], f" (Spatial-{along})") for n in names]
        lines += [f"| {'  ' * d}for {n} in [0:{f}){on}" for d, (n, f, on) in enumerate(loops)]
    return "\n".join([*lines, "|   << Compute >>", ""])


def test_a_mapping_as_timeloop_prints_it_has_the_figures_of_the_tool(tmp_path):
    known = [row for row in rows("simple") if row["valid"] == "1"][:8]
    for row in known:
        path = tmp_path / "timeloop-mapper.map.txt"
        path.write_text(printed(row, ("DRAM", "Buffer", "RF")))
        problem = golden() / "simple" / f"problem_{row['workload']}.yaml"
        read = ithaca.evaluate(problem, arch=golden() / "simple", points=path)
        (point,) = read.document["points"]
        table = written(tmp_path / "row.csv", [row])
        stated = ithaca.evaluate(arch=golden() / "simple", points=table).document["points"]
        assert stated == [point]
        assert point["metrics"]["energy"] == pytest.approx(float(row["energy_pJ"]))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Total cycles: 7\n", "has no level with loops; allowed: a mapping that Timeloop prints"),
        ("| for K in [0:2)\n", "line 1: a loop is of no level"),
        ("DRAM [ A:1 (1) ]\n| for K in range(2)\n", "line 2: '| for K in range(2)' is no loop"),
        ("DRAM [ A:1 (1) ]\nDRAM [ A:1 (1) ]\n", "line 2: DRAM is there twice"),
        ("DRAM [ A:1 (1) ]\nBuffer [ A:1\n", "line 2: 'Buffer [ A:1' is no level"),
        ("DRAM [ A:1 (1) ]\nRF [ ]\n", "has no Buffer; allowed: a mapping onto all of DRAM, B"),
    ],
)
def test_a_text_that_is_no_mapping_is_refused(tmp_path, text, told):
    (tmp_path / "t.map.txt").write_text(text)
    found = refused("evaluate", "--arch", golden() / "simple", "--points", tmp_path / "t.map.txt")
    assert told in found.replace("\n      ", " ")


def test_factors_beyond_extents_are_told(tmp_path):
    """Four times the rows of a mapping are three quarters padding."""
    row = next(row for row in rows("simple") if row["valid"] == "1")
    factors = dict(f.split("=") for f in row["T:DRAM.factors"].split())
    more = factors | {"M": str(4 * int(factors["M"]))}
    changed = row | {"T:DRAM.factors": " ".join(f"{n}={f}" for n, f in more.items())}
    words = ("evaluate", "--arch", golden() / "simple", "--points")
    table = written(tmp_path / "p.csv", [row, changed])
    stderr = succeed(*words, table).stderr.replace("\n      ", " ")
    assert "1 of 2 mappings have factors beyond extents; of mapping 2 M runs 256 for 64" in stderr
    assert "75.0 % of its operations are padding" in stderr


@pytest.mark.parametrize(
    ("edition", "arch"),
    [("explainable", "explainable-edge"), ("intrinsic", "hasco-gemm"), ("uneven", "eyeriss")],
)
def test_seeds_of_mappings_without_a_table_are_refused(edition, arch, tmp_path):
    result = str(tmp_path / "r.json")
    question = ("--arch", arch, "--edition", edition, "-s", "i=4,j=4,k=4")
    succeed("map", "mm", *question, "-o", result)
    line = refused("seed", result, "--to", "csv", "-o", str(tmp_path / "s.csv"))
    assert (
        f"mappings of edition {edition} have no table; allowed: those of edition timeloop" in line
    )
    assert not (tmp_path / "s.csv").exists()
