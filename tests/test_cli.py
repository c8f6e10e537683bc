"""The command line as a user meets it: answers, exit status, and one clear line for bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import begin, interrupted, ithaca, succeed

MM = ("mm", "-s", "i=16,j=16,k=16")


def test_json_is_one_document_with_the_promised_shape():
    done = ithaca(
        "solve", *MM, "--json", "--dataflow", "j,i", "--permutation", "C", "--edition", "odyssey"
    )
    document = json.loads(done.stdout)
    assert document["schema"] == "ithaca/2"
    assert document["workload"] == {
        "name": "mm",
        "sizes": {"i": 16, "j": 16, "k": 16},
        "dtype": "fp32",
    }
    assert document["platform"] == {
        "name": "u250",
        "limits": {"dsp": 8601.6, "bram18k": 3763.2, "bandwidth": 77},
    }
    assert document["edition"] == "odyssey"
    (design,) = document["designs"]
    assert design == document["best"]
    assert (design["dataflow"], design["permutation"], design["buildable"]) == (
        ["i", "j"],
        "C",
        True,
    )
    assert set(design["tiling"]) == {"array_part", "latency_hiding", "simd", "pack"}
    assert set(design["tiling"]["pack"]) == {"A_IO_L2_in", "B_IO_L2_in", "C_drain_IO_L1_out"}
    assert document["objective"] == {"expression": "latency", "value": design["metrics"]["latency"]}
    assert {"latency", "prologue", "main", "epilogue", "dsp", "bram18k", "off_chip_words"} <= set(
        design["metrics"]
    )
    certificate = design["certificate"]
    assert certificate["status"] == "optimal"
    assert certificate["lower_bound"] == design["metrics"]["latency"]
    assert certificate["gap"] == 0
    assert {"method", "nodes", "seconds"} <= set(certificate)


def test_export_refuses_what_autosa_cannot_build_with_the_reason(tmp_path):
    path = tmp_path / "one_pe.json"
    succeed("solve", *MM, "--limit", "dsp=5", "--dataflow", "i,j", "-o", str(path))
    done = ithaca("export", str(path), "--to", "autosa", "-o", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "lanes" in done.stderr
    assert "--nearest" in done.stderr
    assert not (tmp_path / "out").exists()
    # nor is there a buildable one within 5 DSP: two lanes each way need four PEs
    done = ithaca("export", str(path), "--to", "autosa", "-o", str(tmp_path / "out"), "--nearest")
    assert done.returncode == 2
    assert "no configuration" in done.stderr


def test_limits_may_be_expressions():
    free = json.loads(ithaca("solve", *MM, "--dataflow", "i,j", "--json").stdout)["best"]["metrics"]
    most = free["latency"] * free["dsp"] * 3 // 4
    limits = ("--limit", f"latency*dsp<={most},max(latency, dsp)=5000")
    document = json.loads(ithaca("solve", *MM, "--dataflow", "i,j", *limits, "--json").stdout)
    found = document["best"]["metrics"]
    assert document["best"]["certificate"]["status"] == "optimal"
    assert found["latency"] * found["dsp"] <= most
    assert max(found["latency"], found["dsp"]) <= 5000
    assert found["latency"] > free["latency"]


def test_two_engines_prove_and_verify_confirms(tmp_path):
    path = tmp_path / "result.json"
    small = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,k", "--limit", "dsp=80,bram18k=60")
    done = ithaca("solve", *small, "--prove-with", "exact,cpsat", "-o", str(path), "--json")
    assert json.loads(done.stdout)["best"]["certificate"]["method"] == "exact+cpsat"
    done = succeed("verify", str(path))
    assert "confirmed by enumeration" in done.stdout
    document = json.loads(path.read_text())
    for solution in (document["best"], *document["designs"]):
        solution["certificate"]["method"] = "exact+enumeration"
    path.write_text(json.dumps(document))
    assert "confirmed by cpsat" in ithaca("verify", str(path)).stdout


def test_infeasible_exits_1_and_names_the_limit_and_what_would_do():
    done = ithaca("solve", *MM, "--limit", "dsp=4", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["best"] is None
    assert done.stderr.count("\n") == 1
    assert "limit dsp = 4 cannot be met" in done.stderr
    assert "is 5 (design" in done.stderr


def test_units_stand_beside_cycles_and_words(tmp_path):
    """64³ in fp32, by hand: 1,609 cycles at 300 MHz, 16,384 words of four bytes."""
    asked = ("mm", "-s", "i=64,j=64,k=64", "--dataflow", "i,j", "--edition", "exact")
    shown = ithaca("solve", *asked, "-o", "r.json", cwd=tmp_path).stdout
    metrics = json.loads((tmp_path / "r.json").read_text())["best"]["metrics"]
    assert (metrics["latency"], metrics["off_chip_words"]) == (1609, 16384)
    assert "0.005363 ms; " in shown
    assert "0.06554 MB at 12.22 GB/s" in shown
    assert "bandwidth  12.2193 of 77 GB/s (15.9%)" in shown
    assert f"energy     {metrics['energy'] / 1e6:.4g} µJ" in shown
    for command in (("evaluate", "r.json"), ("whatif", *asked, "--marginal", "5")):
        table = ithaca(*command, cwd=tmp_path).stdout
        assert [unit in table for unit in ("ms", "GB/s", "µJ", "0.005363", "12.22")] == [True] * 5


def test_fp16_and_bf16_have_blocks_and_energies_of_their_own():
    asked = (*MM, "--limit", "latency=3000", "--objective", "dsp", "--json")
    found = {
        t: json.loads(ithaca("solve", *asked, "--dtype", t).stdout)["best"]["metrics"]
        for t in ("fp32", "fp16", "bf16")
    }
    assert {name: metrics["dsp"] / metrics["comp"] for name, metrics in found.items()} == {
        "fp32": 5,
        "fp16": 4,
        "bf16": 1,
    }


def test_a_full_disk_is_reported_and_leaves_no_file():
    with Path("/dev/full").open("w") as full, begin("list", "workloads", stdout=full) as process:
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert errors.count("\n") == 1


@pytest.mark.parametrize("words", [("list", "designs", "mm"), ("--help",)])
def test_a_closed_pipe_is_no_error(words):
    read, write = os.pipe()
    os.close(read)
    with begin(*words, stdout=write) as process:
        errors = process.communicate(timeout=60)[1]
    os.close(write)
    assert (process.returncode, errors) == (141, "")


def test_ctrl_c_prints_what_it_has(tmp_path):
    path = tmp_path / "result.json"
    words = (
        "solve",
        "mm",
        "-s",
        "i=4096,j=4001,k=4096",
        "--include-unbuildable",
        "--json",
        "-o",
        path,
    )
    status, output, errors = interrupted(*words)
    document = json.loads(output)
    assert "Traceback" not in errors
    assert document == json.loads(path.read_text())
    statuses = {d["certificate"]["status"] for d in document["designs"]}
    assert statuses & {"feasible", "unknown"}
    for design in document["designs"]:
        certificate = design["certificate"]
        if certificate["status"] == "unknown":
            assert certificate["gap"] is None
        elif certificate["status"] == "feasible":
            assert certificate["lower_bound"] <= design["metrics"]["latency"]
    assert status == (0 if document["best"] else 1)


def test_help_imports_nothing_heavy():
    heavy = [
        "numba",
        "numpy",
        "onnx",
        "ortools",
        "pandas",
        "pydantic",
        "pyomo",
        "rich",
        "vl_convert",
        "xarray",
        "yaml",
    ]
    # the command line needs typer, Python's functions do not
    code = "import sys, ithaca; print('typer' in sys.modules); import ithaca.cli; "
    code += f"print(sorted({{*{heavy}}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n[]\n"
    succeed("--help")
    assert ithaca("--version").stdout.startswith("ithaca ")


@pytest.mark.ci
def test_limits_are_not_blamed_for_an_empty_design_space():
    few = (
        "solve",
        "mm",
        "-s",
        "i=8,j=8,k=8",
        "--dataflow",
        "i,j",
        "--limit",
        "dsp=1e9,bram18k=1e8",
    )
    done = ithaca(*few, "--min-lanes", "1000")
    assert done.returncode == 1
    assert done.stderr == "infeasible: the design space itself is empty: relax --min-lanes\n"
