"""The options given to AutoSA, against strings written by hand."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ithaca
from ithaca.exports.autosa.folder import AUTOSA, data_pack_sizes, options, sa_sizes
from ithaca.files.writing import write_folder


def test_sizes(row, configure):
    chosen = configure(row)
    assert sa_sizes(chosen) == row.sa_sizes
    assert data_pack_sizes(chosen) == row.data_pack_sizes


def test_packs_are_in_bytes(configure, table):
    assert (
        data_pack_sizes(configure(table[3], "int8"))
        == "{kernel[]->A[8,8,8];kernel[]->B[2,2,2];kernel[]->C[1,1,1]}"
    )


def test_spatial_reduction_needs_more_options(row, configure):
    chosen = options(configure(row))
    reduces = "k" in row.dataflow
    assert (
        "--simd-touch-space" in chosen,
        "--local-reduce" in chosen,
        '--reduce-op="+"' in chosen,
    ) == (reduces,) * 3
    assert "--host-serialize" in chosen


def test_simd_info(row, configure, table):
    files = AUTOSA.export(configure(row))
    assert json.loads(files["simd_info.json"]) == {
        f"kernel{table.index(row)}": {"reduction": ["y"]}
    }


@pytest.mark.parametrize(
    ("sizes", "t1", "t2", "pack", "expected"),
    [
        (  # the design measured on a board
            (1040, 1024, 1024),
            (260, 256, 512),
            (20, 16),
            (16, 16, 4),
            "{kernel[]->space_time[3];kernel[]->array_part[260,256,512];kernel[]->latency[20,16];kernel[]->simd[8]}"
            "{kernel[]->A[64,64,64];kernel[]->B[64,64,64];kernel[]->C[16,16,16]}",
        ),
        (  # the proven optimum of 1024³
            (1024, 1024, 1024),
            (205, 172, 64),
            (41, 4),
            (16, 16, 4),
            "{kernel[]->space_time[3];kernel[]->array_part[205,172,64];kernel[]->latency[41,4];kernel[]->simd[8]}"
            "{kernel[]->A[64,64,64];kernel[]->B[64,64,64];kernel[]->C[16,16,16]}",
        ),
    ],
)
def test_known_designs(sizes, t1, t2, pack, expected, configure, table):
    def named(names, values):
        return dict(zip(names, values, strict=True))

    chosen = configure(
        table[3],
        sizes=named("ijk", sizes),
        t1=named("ijk", t1),
        t2=named("ij", t2),
        simd=8,
        pack=named(("A", "B", "C_drain"), pack),
    )
    assert sa_sizes(chosen) + data_pack_sizes(chosen) == expected
    if sizes[0] == 1040:
        assert "| latency (cycles) | 680,353 |" in AUTOSA.export(chosen)["README.md"]


#: Says where it is and what it was given, and writes a kernel like AutoSA.
COMPILER = """#!/bin/sh
printf '%s\\n' "$PWD" "$@" > "$SAID"
for word in "$@"; do
  case $word in --output-dir=*) output=${word#*=} ;; --config=*) cat "${word#*=}" ;; esac
done
test -f "$1" && printf '%s' "$WRITES" > "$output/src/kernel_kernel.cpp"
cp "$DESIGN"/* "$output/resource_est"
exit "${STATUS:-0}"
"""


@pytest.fixture
def compiler(tmp_path):
    """A stand-in for AutoSA, in a folder whose name it could not take."""
    path = tmp_path / "the target of it all" / "autosa"
    (path.parent / "autosa_config").mkdir(parents=True)
    (path.parent / "autosa_config" / "autosa_config.json").write_text("its own")
    path.write_text(COMPILER)
    path.chmod(0o755)
    return path


@pytest.fixture
def script(configure, table, tmp_path):
    """An exported script in a folder with spaces and "target" in its name."""
    folder = tmp_path / "a target folder"
    write_folder(folder, AUTOSA.export(configure(table[4])))
    return folder / "autosa_command.sh"


def design_of(expected, **more):
    """The compiler's report on a design that is as expected, but for some counts."""
    modules = {"PE": {"unroll": expected["simd"], "local_buffers": []}}
    for name, module in expected["modules"].items():
        held = [{"port_width": 4, "buffer_depth": words} for words in module.get("buffers", [])]
        modules[name] = {
            "ele_size": 4,
            "data_pack_inter": module.get("pack", 1),
            "local_buffers": held,
        }
    if sums := expected.get("accumulators"):
        modules["PE"]["local_buffers"] = [
            {"buffer_name": f"local_{expected['output']}", "buffer_depth": sums}
        ]
    counts = {
        "PE": expected["pes"],
        **{name: module["count"] for name, module in expected["modules"].items()},
        **more,
    }
    return {
        "design_info.json": json.dumps({"modules": modules}),
        "design_info.dat": "".join(f"module:{name}:{count}\n" for name, count in counts.items()),
    }


def run(script, compiler, folder, *words, **variables):
    known = {name: value for name, value in os.environ.items() if not name.startswith("AUTOSA")}
    said, design = str(folder / "said"), folder / "design"
    expected = json.loads((script.parent / "expected.json").read_text())
    write_folder(design, design_of(expected, **({"PE": 99} if variables.pop("WRONG", "") else {})))
    environment = {
        **known,
        "SAID": said,
        "DESIGN": str(design),
        "WRITES": "kernel",
        **({"AUTOSA": str(compiler)} if compiler else {}),
        **variables,
    }
    return subprocess.run(
        [str(script), *words],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("host", ["hls", "opencl"])
@pytest.mark.parametrize("given", ["compiler", "folder", "relative"])
def test_the_script_runs_the_compiler_from_any_folder(
    host, given, compiler, script, table, tmp_path
):
    row = table[4]
    named = {
        "compiler": compiler,
        "folder": compiler.parent,
        "relative": f"{compiler.parent.name}/autosa",
    }[given]
    done = run(script, named, tmp_path, "--fifo-depth=4", AUTOSA_HOST=host)
    assert (done.returncode, done.stderr) == (0, "")
    wrote, checked = done.stdout.splitlines()
    assert wrote == f"its ownwrote {script.parent}/output/src/kernel_kernel.cpp"
    assert checked.startswith("as expected: ")
    folder, source, *words = (tmp_path / "said").read_text().splitlines()
    assert Path(folder) == compiler.parent
    assert not any(
        " " in word or "target" in word
        for word in (source, *words)
        if not word.startswith("--target=")
    )
    work = source.removesuffix("/kernel.c")
    assert words == [
        "--config=autosa_config/autosa_config.json",
        "--target=autosa_hls_c",
        f"--output-dir={work}/output",
        f"--simd-info={work}/simd_info.json",
        f"--sa-sizes={row.sa_sizes}",
        f"--data-pack-sizes={row.data_pack_sizes}",
        "--host-serialize",
        "--simd-touch-space",
        "--local-reduce",
        "--reduce-op=+",
        *(["--hls"] if host == "hls" else []),
        "--fifo-depth=4",
    ]
    assert (script.parent / "output" / "src" / "kernel_kernel.cpp").read_text() == "kernel"
    assert not Path(work).exists()


def test_the_script_takes_another_configuration_and_another_place(compiler, script, tmp_path):
    (tmp_path / "my config.json").write_text("mine")
    done = run(
        script, compiler, tmp_path, AUTOSA_CONFIG="my config.json", AUTOSA_OUTPUT="the design"
    )
    assert done.stdout.startswith(f"minewrote {tmp_path}/the design/src/kernel_kernel.cpp\n")
    assert not (script.parent / "output").exists()


@pytest.mark.parametrize("variables", [{"WRITES": ""}, {"STATUS": "3"}])
def test_the_script_fails_if_no_kernel_was_written(variables, compiler, script, tmp_path):
    done = run(script, compiler, tmp_path, **variables)
    assert done.returncode == 1
    assert "AutoSA wrote no kernel" in done.stderr
    assert not list((script.parent / "output").iterdir())


def test_the_script_mends_and_checks_what_was_written(compiler, script, tmp_path):
    bare = "void A_PE_dummy_in(int idx) {\n  for (int c = 0; c <= 1; c += 1)\n    A_t2 fifo_data;\n    fifo_data = in.read();\n}\n"
    done = run(script, compiler, tmp_path, WRITES=bare)
    assert "mended A_PE_dummy_in: braces around what it does\n" in done.stdout
    assert done.returncode == 0
    assert (script.parent / "output" / "src" / "kernel_kernel.cpp").read_text().count("{") == 2
    done = run(script, compiler, tmp_path, WRONG="yes")
    assert (done.returncode, done.stderr) == (1, "PEs: 4 expected, 99 built\n")


@pytest.mark.parametrize("given", [None, "/nowhere/autosa", "/tmp"])
def test_the_script_says_what_it_needs(given, script, tmp_path):
    done = run(script, given, tmp_path, PATH="/usr/bin:/bin")
    assert done.returncode == 2
    assert (
        "is no compiler; set AUTOSA to the built autosa of github.com/UCLA-VAST/AutoSA, or its folder"
        in done.stderr
    )


def test_the_script_has_nothing_for_shellcheck_to_say(script):
    checker = shutil.which("shellcheck")
    if checker is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run([checker, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_readme_has_the_results_own_technology_and_small_times(tmp_path):
    found = ithaca.solve(
        "mm", i=16, j=16, k=16, dataflow="i,j", platform="asic-28nm", target="autosa"
    )
    ithaca.export(found, "autosa", tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text()
    shown = dict(re.findall(r"^\| (\w+) \([^)]*\) \| ([\d.,e-]+) \|$", text, re.M))
    for name in ("energy", "edp", "time"):
        assert float(shown[name].replace(",", "")) == pytest.approx(
            float(found.best.metrics[name]), rel=1e-3
        )
    assert "behind every failure" not in text


def test_the_folder_is_deterministic_and_complete(configure):
    files = AUTOSA.export(configure())
    assert files == AUTOSA.export(configure())
    names = [
        "README.md",
        "autosa_command.sh",
        "check.py",
        "expected.json",
        "kernel.c",
        "mend.py",
        "simd_info.json",
    ]
    assert sorted(files) == names
    assert all(text.endswith("\n") for text in files.values())
