"""Block-sparse tensors for AutoSA: options, the program's packages, mends, and what is refused.

The design of each case, built by the released compiler, was that of ``expected.json``, and passed
as a C simulation with modules one after the other and with every module a thread.
"""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from ithaca.exports.autosa.folder import AUTOSA, autosa_tool
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.kernel_files import with_sparsity
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.exports.test_autosa_program import needs_cc, run


def configuration(blocks, simd=8, packs=(16, 16, 4), dtype="fp32"):
    nest = with_sparsity(workload("mm", {"i": 10, "j": 9, "k": 24}), blocks, "block_sparse")
    design = derive(nest, ("i", "j"), "C")
    part, hidden = {"i": 4, "j": 8, "k": 16}, {"i": 2, "j": 4}
    tiling = Tiling(part, hidden, simd, dict(zip(("A", "B", "C_drain"), packs, strict=True)))
    return ArrayConfiguration(nest, design, data_type(dtype), tiling)


def test_the_compiler_is_told_by_its_own_options():
    files = AUTOSA.export(configuration("A=2/4"))
    command = files["autosa_command.sh"]
    assert '--block-sparse --block-sparse-ratio="{kernel[]->A[2,4]}"' in command.replace(
        " \\\n ", ""
    )
    # 4 packages: of 9 bytes between modules, of 16 in DRAM
    assert "kernel[]->A[36,36,64];kernel[]->B[64,64,64];kernel[]->C[16,16,16]" in command
    expected = json.loads(files["expected.json"])
    assert expected["simd"] == 8
    assert expected["modules"]["A_IO_L2_in"] == {"count": 2, "pack": 4, "buffers": [8, 8]}
    assert expected["modules"]["B_IO_L2_in"] == {"count": 2, "pack": 16, "buffers": [64, 64]}


@needs_cc
@pytest.mark.parametrize(
    ("blocks", "dtype"), [("A=2/4", "fp32"), ("B=3/8", "int16"), ("A=1/4", "int8")]
)
def test_programs_pass(blocks, dtype, tmp_path):
    simd = 16 if dtype == "int8" else 8
    program = AUTOSA.export(configuration(blocks, simd, (16, 16, 4), dtype))["kernel.c"]
    result = run(program, tmp_path)
    assert (result.stdout, result.returncode) == ("Passed\n", 0)


@needs_cc
def test_programs_store_what_is_not_zero(tmp_path):
    """Every package's values, at the places of its byte, are the block; all others are zero."""
    check = """
  for (int i = 0; i < PADDED_i; i++)
    for (int k = 0; k < PADDED_k; k += 4) {
      int at = 0;
      unsigned char bits = *(unsigned char *)&A_s[i][k / 4][2];
      for (int m = 0; m < 4; m++) {
        data_t wanted = bits >> m & 1 ? A_s[i][k / 4][at++] : 0;
        if (A[i][k + m] != wanted) errors++;
      }
      if (at != 2) errors++;
    }
  if (A_s[0][0][0] == 0) errors++;
"""
    program = AUTOSA.export(configuration("A=2/4"))["kernel.c"]
    changed = program.replace("\n  if (errors) {", check + "\n  if (errors) {")
    assert changed != program
    assert run(changed, tmp_path).stdout == "Passed\n"


FAULTS = """\
void w_IO_L2_in_intra_trans(int idx, w_s_t2 local_w[4][1], hls::stream<w_s_t1> &fifo_w_local_out) {
  for (ap_uint<2> n = 0; n < 2; n++) {
    data_split[n] = (w_s_t1){in_data_d(63, 0), in_data_i(7, 0)};
    in_data_d = in_data_d >> 64;
  }
}
void PE(hls::stream<cin_t4> &fifo_cin_in, hls::stream<w_s_t1> &fifo_w_in) {
  {
    float cin_tmp[1][4];
    fifo_data_cin = fifo_cin_in.read();
    for (ap_uint<3> n = 0; n < 4; n++) {
      union {unsigned int ui; float ut;} u;
      cin_tmp[0][0][n] = u.ut;
    }
    ap_uint<2> index[3];
    w_s_t1 s_tmp = fifo_data_w;
    ap_uint<1> pos = 0;
  }
  {
    fifo_data_w = fifo_w_in.read();
    w_s_t1 fifo_data = fifo_data_w;
  }
}
"""


def test_faults_of_blocks_are_mended_and_said(tmp_path):
    script, folder = tmp_path / "mend.py", tmp_path / "src"
    script.write_text(AUTOSA.export(configuration("A=2/4"))["mend.py"])
    folder.mkdir()
    (folder / "kernel_kernel.cpp").write_text(FAULTS)

    def mended():
        command = [sys.executable, str(script), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return (folder / "kernel_kernel.cpp").read_text(), done.stdout.splitlines()

    text, said = mended()
    assert said == [
        "mended w_IO_L2_in_intra_trans: the parts of the word that it splits",
        "mended PE: a count of values that is wide enough",
        "mended PE: the two dimensions of what it selects from",
        "mended PE: takes w before it selects by its places",
    ]
    assert "in_data.d = in_data.d >> 64;" in text
    assert "ap_uint<2> pos = 0;" in text
    assert "cin_tmp[0][n] = u.ut;" in text
    assert text.index("fifo_w_in.read();") < text.index("fifo_cin_in.read();")
    assert text.count("fifo_w_in.read();") == 1
    assert mended() == (text, [])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (("A=7/8", 8), "AutoSA rounds 8/7 and multiplies 6 of 7 values"),
        (("A=1/2", 16, (16, 16, 4), "int8"), "packages, of 4 bytes, are larger than blocks"),
        (("A=1/8", 8, (16, 16, 4)), "SIMD factor of one block of A=1/8"),
    ],
)
def test_what_the_compiler_does_not_build(changes, reason):
    with pytest.raises(InputError, match=reason):
        AUTOSA.export(configuration(*changes))


def test_back_ends_that_were_never_built_are_refused():
    with pytest.raises(InputError, match="never built for --target tapa; allowed: --target hls"):
        autosa_tool("tapa").export(configuration("A=2/4"))


def test_products_of_three_are_refused():
    nest = replace(workload("mttkrp"), sparse=None)
    blocks = f"{nest.inputs[0].tensor}=2/4"
    run = ithaca("solve", "mttkrp", "--block-sparse", blocks, "--for", "autosa")
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1


def test_solved_for_autosa_is_exported(tmp_path):
    file = tmp_path / "r.json"
    words = ["-s", "i=16,j=16,k=32", "--dataflow", "i", "--limit", "dsp=40"]
    solved = ithaca("solve", "mm", *words, "--block-sparse", "A=1/4", "--for", "autosa", "-o", file)
    assert solved.returncode == 0, solved.stderr
    assert json.loads(file.read_text())["best"]["tiling"]["simd"] == 8
    plain = tmp_path / "plain.json"
    one = ["--block-sparse", "A=1/8", "-o", plain]
    assert ithaca("solve", "mm", *words, *one).returncode == 0
    refused = ithaca("export", plain, "--to", "autosa", "-o", tmp_path / "none")
    assert refused.returncode == 2
    assert "-s i=16,j=16,k=32 --block-sparse A=1/8 --platform u250" in refused.stderr
    done = ithaca("export", file, "--to", "autosa", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
