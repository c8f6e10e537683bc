"""AutoSA's back end for TAPA: command, what it does not build, and what is mended."""

import json

import pytest

from ithaca.exports.autosa.folder import autosa_tool
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.exports.test_autosa_scripts import mended
from tests.installed import needs

SMALL = ["mm", "-s", "i=16,j=16,k=16", "--dataflow", "i,j", "--dtype", "int16"]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    file = tmp_path_factory.mktemp("tapa") / "r.json"
    limits = ["--limit", "dsp=40,bram18k=60"]
    assert ithaca("solve", *SMALL, *limits, "--for", "autosa", "-o", file).returncode == 0
    return file


def test_the_script_asks_for_the_back_end(result, tmp_path):
    for target, option in (("hls", "autosa_hls_c"), ("tapa", "autosa_tapa")):
        folder = tmp_path / target
        run = ithaca("export", result, "--to", "autosa", "--target", target, "-o", folder)
        assert run.returncode == 0, run.stderr
        assert f"\ntarget={option}\n" in (folder / "autosa_command.sh").read_text()
        assert ("tapa g++" in (folder / "README.md").read_text()) == (target == "tapa")
    plain = ithaca("export", result, "--to", "autosa", "-o", tmp_path / "plain")
    assert plain.returncode == 0
    for file in (tmp_path / "plain").iterdir():
        assert file.read_text() == (tmp_path / "hls" / file.name).read_text()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        pytest.param(
            ["--to", "rtl", "--target", "tapa"],
            "--target does not go with --to rtl; allowed: --to autosa",
            marks=needs("rtl"),
        ),
        (
            ["--to", "autosa", "--target", "cuda"],
            "--target is 'cuda'; allowed: hls, tapa",
        ),
    ],
)
def test_other_targets_are_refused_in_a_line(options, line, result, tmp_path):
    run = ithaca("export", result, *options, "-o", tmp_path / "out")
    assert (run.returncode, run.stderr) == (2, f"ithaca: {line}\n")


@pytest.mark.parametrize("pack", [1, 2])
def test_buffers_that_add_up_vectors_are_none(pack):
    nest = workload("mm", {"i": 32, "j": 16, "k": 16})
    array = derive(nest, ("i", "k"), "C")
    tiles = {"i": 8, "j": 8, "k": 8}
    tiling = Tiling(tiles, {"i": 2, "j": 2}, 2, {"A": 2, "B": 2, "C": pack})
    configuration = ArrayConfiguration(nest, array, data_type("int16"), tiling)
    why = "C adds up 2 words at once in its buffers, which vectors of --target tapa do not"
    assert autosa_tool("tapa").obstacles(configuration) == (() if pack == 1 else (why,))
    assert autosa_tool().obstacles(configuration) == ()


def test_what_it_writes_is_mended_as_well(result, tmp_path):
    """Words for vectors of one, ports, FIFOs of no neighbour, loads that were hoisted."""
    folder = tmp_path / "out"
    ithaca("export", result, "--to", "autosa", "--target", "tapa", "-o", folder)
    kernel = """\
void x_IO_L2_in_inter_trans_boundary(int c0, tapa::read_only_mmap<x_t2> x, x_t2 local_x[4], \
tapa::istream<x_t2> &fifo_x_in, bool inter_trans_en) {
  local_x[0] = x[c0];
}
void x_IO_L2_in_boundary(tapa::read_only_mmap<x_t2> x) {
  x_IO_L2_in_inter_trans_boundary(
    /* array */ x,
    /* fifo */ fifo_x_in,
    /* enable */ inter_trans_en
  );
}
void A_IO_L2_in(tapa::istream<A_t4> &fifo_A_in) {
  for (ap_uint<2> c0 = 0; c0 <= 1; c0 += 1) {
    // array
  }
}
void A_IO_L2_in_serialize(tapa::read_only_mmap<A_t4> A) {
  for (ap_uint<7> i = 0; i < 48; i++) {
  }
}
"""
    sends = """\
void host_serialize_A(std::vector<short> &A_to, std::vector<short> &A_from){
  for (int c0 = 0; c0 <= 1; c0 += 1)
    for (int c1 = 0; c1 <= 2; c1 += 1) {
      // array
    }
}
"""
    host = """\
    for (int i = 0; i < 2; i++) {
      tapa::read_only_mmap<short> buffer_A_tmp(dev_A);
    }
    tapa::task().invoke(kernel0, buffer_A[1].vectorized<4>(), buffer_C[712].vectorized<1>());
"""
    files = {"kernel_kernel.cpp": kernel, "kernel_host.h": sends, "kernel_host.cpp": host}
    texts, said = mended(folder, tmp_path / "src", files)
    assert said == [
        "mended x_IO_L2_in_inter_trans_boundary: no fifo_x_in",
        "mended host: words for vectors of one",
        "mended host: C[0] for [712]",
        "mended A_IO_L2_in_serialize, host: each tile once, not 3 times",
    ]
    assert "fifo_x_in" not in texts["kernel_kernel.cpp"]
    assert "i < 16; i++" in texts["kernel_kernel.cpp"]
    assert "invoke(kernel0, buffer_A[1].vectorized<4>(), buffer_C[0]);" in texts["kernel_host.cpp"]
    assert "c1 <= 0;" in texts["kernel_host.h"]


def test_layers_of_a_network_have_it_too(tmp_path):
    file, folder = tmp_path / "n.json", tmp_path / "out"
    layers = ["vgg16", "--layers", "conv5_1", "--dtype", "int8", "--dataflow", "o,r"]
    limits = ["--limit", "dsp=100", "--for", "autosa", "--gap", "0.5"]
    assert ithaca("network", *layers, *limits, "-o", file).returncode == 0
    run = ithaca("export", file, "--to", "autosa", "--target", "tapa", "-o", folder)
    assert run.returncode == 0, run.stderr
    script = next(folder.glob("*/autosa_command.sh"))
    assert "\ntarget=autosa_tapa\n" in script.read_text()
    assert json.loads((script.parent / "expected.json").read_text())["output"]
