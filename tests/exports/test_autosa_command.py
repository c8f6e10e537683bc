"""The options given to AutoSA, against strings written by hand."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from ithaca.exports.autosa.folder import AUTOSA, data_pack_sizes, options, sa_sizes
from ithaca.workloads.writing import write_folder


def test_sizes(row, configure):
    chosen = configure(row)
    assert sa_sizes(chosen) == row.sa_sizes
    assert data_pack_sizes(chosen) == row.data_pack_sizes


def test_packs_are_in_bytes(configure, table):
    assert data_pack_sizes(configure(table[3], "int8")) == "{kernel[]->A[8,8,8];kernel[]->B[2,2,2];kernel[]->C[1,1,1]}"


def test_spatial_reduction_needs_more_options(row, configure):
    chosen = options(configure(row))
    reduces = "k" in row.dataflow
    assert ("--simd-touch-space" in chosen, "--local-reduce" in chosen, '--reduce-op="+"' in chosen) == (reduces,) * 3
    assert "--host-serialize" in chosen


def test_simd_info(row, configure, table):
    files = AUTOSA.export(configure(row))
    assert json.loads(files["simd_info.json"]) == {f"kernel{table.index(row)}": {"reduction": ["y"]}}


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


@pytest.mark.parametrize("host", ["hls", "opencl"])
def test_the_script_runs_the_compiler(host, configure, table, tmp_path):
    row = table[4]
    folder = tmp_path / "a folder"
    write_folder(folder, AUTOSA.export(configure(row)))
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    compiler.chmod(0o755)
    variables = {**os.environ, "AUTOSA": str(compiler), "AUTOSA_HOST": host}
    script = [str(folder / "autosa_command.sh"), "--fifo-depth=4"]
    result = subprocess.run(script, env=variables, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        f"{folder}/kernel.c",
        "--config=autosa_config/autosa_config.json",
        "--target=autosa_hls_c",
        f"--output-dir={folder}/output",
        f"--simd-info={folder}/simd_info.json",
        f"--sa-sizes={row.sa_sizes}",
        f"--data-pack-sizes={row.data_pack_sizes}",
        "--host-serialize",
        "--simd-touch-space",
        "--local-reduce",
        "--reduce-op=+",
        *(["--hls"] if host == "hls" else []),
        "--fifo-depth=4",
    ]
    assert (folder / "output" / "src").is_dir()


def test_the_folder_is_deterministic_and_complete(configure):
    files = AUTOSA.export(configure())
    assert files == AUTOSA.export(configure())
    assert sorted(files) == ["README.md", "autosa_command.sh", "kernel.c", "simd_info.json"]
    assert all(text.endswith("\n") for text in files.values())
