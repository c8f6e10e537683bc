"""The scripts in an exported folder: what mends the compiler's output, what compares it with what
was expected."""

import json
import subprocess
import sys

import pytest

from ithaca.exports.autosa.folder import AUTOSA
from ithaca.files.writing import write_folder

#: Fragments in the shape of the compiler's output, each with the fault that one mend is for.
KERNEL = """\
void PE(int idx, hls::stream<float> &fifo_C_1_in, hls::stream<float> &fifo_C_1_out) {
  for (ap_uint<3> c5 = 0; c5 <= 3; c5 += 1) {
    if (p0 >= 1)
      local_C[0][0] = fifo_C_1_in.read();
    if (p0 == 0) {
      local_C[0][0] = 0;
    }
    fifo_C_1_out.write(local_C[0][0]);
  }
}
void A_PE_dummy_in(int idx, hls::stream<A_t2> &fifo_A_in) {
  for (ap_uint<2> c0 = 0; c0 <= 1; c0 += 1) {
    for (ap_uint<3> c5 = 0; c5 <= 3; c5 += 1)
      A_t2 fifo_data;
      fifo_data = fifo_A_in.read();
  }
}
void C_1_PE_dummy_out(int idx, hls::stream<float> &fifo_C_1_out) {
  for (ap_uint<3> c5 = 0; c5 <= 3; c5 += 1)
    C_t1 fifo_data = 0;
    fifo_C_1_out.write(fifo_data);
}
void A_IO_L2_in(hls::stream<A_t4> &fifo_A_in, hls::stream<A_t4> &fifo_A_local_out) {
  for (ap_uint<2> c0 = 0; c0 <= 1; c0 += 1) {
    // array
    for (ap_uint<3> c3 = 0; c3 <= 3; c3 += 1) {
      fifo_A_local_out.write(fifo_A_in.read());
    }
  }
}
void A_IO_L2_in_serialize(A_t4 *A, hls::stream<A_t4> &fifo_A_local_out) {
  for (ap_uint<7> i = 0; i < 48; i++) {
    fifo_A_local_out.write(A[i]);
  }
}
"""
HEADER = """\
inline void host_serialize_A(float *A_to, float *A_from){
  unsigned int cnt = 0;
  for (int c0 = 0; c0 <= 1; c0 += 1)
    for (int c1 = 0; c1 <= 2; c1 += 1)
      for (int c2 = 0; c2 <= 1; c2 += 1) {
        // array
        for (int c3 = 0; c3 <= 3; c3 += 1)
          for (int c4 = 0; c4 <= 3; c4 += 1)
            A_to[cnt++] = A_from[16 * c0 + 4 * c3 + c4];
      }
}
"""
HOST = """\
int main() {
  for (int i = 0; i < 1; i++) {
    memcpy(buffer_C[i], dev_C, (48) * sizeof(float));
  }
  kernel0(buffer_A[0], buffer_B[0], buffer_C[21951]);
}
"""


@pytest.fixture
def exported(configure, tmp_path):
    folder = tmp_path / "exported"
    write_folder(folder, AUTOSA.export(configure()))
    return folder


def ran(script, folder):
    return subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, text=True, check=False
    )


FILES = {"kernel_kernel.cpp": KERNEL, "kernel_kernel.h": HEADER, "kernel_host.cpp": HOST}


def mended(exported, folder, files):
    """All files after mending, and what was said."""
    write_folder(folder, files)
    done = ran(exported / "mend.py", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return {path.name: path.read_text() for path in folder.iterdir()}, done.stdout.splitlines()


@pytest.mark.parametrize("after_the_first", [">= 1", "== 1"])
def test_every_fault_is_mended_and_said(after_the_first, exported, tmp_path):
    kernel = KERNEL.replace("p0 >= 1", f"p0 {after_the_first}")  # of two PEs, the second
    texts, said = mended(exported, tmp_path / "src", {**FILES, "kernel_kernel.cpp": kernel})
    assert said == [
        "mended A_PE_dummy_in: braces around what it does",
        "mended C_1_PE_dummy_out: braces around what it does",
        "mended PE: takes what C_1_PE_dummy_out sends in the first PE, too",
        "mended host: C[0] for [21951]",
        "mended A_IO_L2_in_serialize, host: each tile once, not 6 times",
    ]
    kernel, header, host = (texts[name] for name in FILES)
    for declared, moved in (
        ("A_t2 fifo_data;", "fifo_data = fifo_A_in.read();"),
        ("C_t1 fifo_data = 0;", "fifo_C_1_out.write(fifo_data);"),
    ):
        loop = kernel[: kernel.index(moved)].rpartition("for (")[2]
        assert [line.strip() for line in loop.splitlines()][1:-1] == [
            "#pragma HLS PIPELINE II=1",
            declared,
        ]
        assert loop.splitlines()[0].endswith("c5 += 1) {")
    assert kernel.count("{") == kernel.count("}")
    assert f"if (p0 {after_the_first})" not in kernel
    assert "local_C[0][0] = fifo_C_1_in.read();" in kernel
    assert "if (p0 == 0) {" in kernel
    assert "kernel0(buffer_A[0], buffer_B[0], buffer_C[0]);" in host
    assert "memcpy(buffer_C[i]" in host
    assert [f"c{n} <= {last};" in header for n, last in enumerate((1, 0, 0, 3, 3))] == [True] * 5
    assert "i < 8; i++" in kernel


def test_a_case_is_mended_like_a_loop(exported, tmp_path):
    """A window inside the PE: one word for all of its places."""
    old, new = "c5 += 1)\n    C_t1", "c5 += 1)\n    if (c5 == 0)\n    C_t1"
    assert old in KERNEL
    texts, said = mended(
        exported, tmp_path / "src", {**FILES, "kernel_kernel.cpp": KERNEL.replace(old, new)}
    )
    assert "mended C_1_PE_dummy_out: braces around what it does" in said
    after = texts["kernel_kernel.cpp"].partition("if (c5 == 0)")[2]
    lines = [line.strip() for line in after.splitlines()[:4]]
    assert lines == ["{", "C_t1 fifo_data = 0;", "fifo_C_1_out.write(fifo_data);", "}"]


def test_what_is_right_stays_as_it_is(exported, tmp_path):
    once, _ = mended(exported, tmp_path / "once", FILES)
    assert mended(exported, tmp_path / "again", once) == (once, [])


def test_data_that_the_host_program_serializes_itself_are_mended_there(exported, tmp_path):
    files = {
        "kernel_kernel.cpp": KERNEL,
        "kernel_host.cpp": HEADER + HOST.replace("kernel0(", "krnl.setArg(2, "),
    }
    texts, said = mended(exported, tmp_path / "src", files)
    assert said[-2:] == [
        "mended host: C[0] for [21951]",
        "mended A_IO_L2_in_serialize, host: each tile once, not 6 times",
    ]
    assert "c1 <= 0;" in texts["kernel_host.cpp"]
    assert "buffer_C[0]);" in texts["kernel_host.cpp"]


@pytest.mark.parametrize(
    "buffer", ["A_t4 *buffer_A_tmp =", "OCL_CHECK(err,\n      cl::Buffer buffer_A_tmp("]
)
def test_every_port_keeps_its_own_data(buffer, exported, tmp_path):
    """A port that does not exist is mended; no other one is."""
    made = f"for (int i = 0; i < 2; i++) {{\n    {buffer} }}\n"
    host = made + "kernel0(buffer_A[0], buffer_A[1], buffer_B[7]);\n"
    texts, said = mended(exported, tmp_path / "src", {"kernel_host.cpp": host})
    assert said == ["mended host: B[0] for [7]"]
    assert "kernel0(buffer_A[0], buffer_A[1], buffer_B[0]);" in texts["kernel_host.cpp"]


def test_a_buffer_beside_dram_is_handed_no_neighbours_words(exported, tmp_path):
    kernel = """\
void x_IO_L2_in_inter_trans_boundary(int c0, x_t2 *x, x_t2 local_x[4], hls::stream<x_t2> &fifo_x_in, bool inter_trans_en) {
  local_x[0] = x[c0];
}
void x_IO_L2_in_inter_trans(int c0, x_t2 local_x[4], hls::stream<x_t2> &fifo_x_in, bool en) {
  local_x[0] = fifo_x_in.read();
}
void x_IO_L2_in_boundary(x_t2 *x, hls::stream<x_t2> &fifo_x_local_out) {
  x_IO_L2_in_inter_trans_boundary(
    /* host iter */ c0,
    /* array */ x,
    /* array */ local_x_pong,
    /* fifo */ fifo_x_in,
    /* enable */ inter_trans_en
  );
  x_IO_L2_in_inter_trans(
    /* fifo */ fifo_x_in,
    /* enable */ inter_trans_en
  );
}
"""
    texts, said = mended(exported, tmp_path / "src", {"kernel_kernel.cpp": kernel})
    assert said == ["mended x_IO_L2_in_inter_trans_boundary: no fifo_x_in"]
    head, *calls = texts["kernel_kernel.cpp"].split("inter_trans_boundary(")[1:]
    assert "fifo_x_in" not in head.partition(")")[0]
    assert "fifo_x_in" not in calls[0].partition(";")[0]
    assert texts["kernel_kernel.cpp"].count("fifo_x_in") == 3  # of the other module


#: What the compiler says of the design of `configure`, [i,j] with 2 × 2 PEs.
DESIGN = {
    "PE": {
        "unroll": 2,
        "local_buffers": [{"buffer_name": "local_C", "port_width": 4, "buffer_depth": 6}],
    },
    **{
        f"{x}_IO_L3_in{s}": {"data_pack_inter": p, "ele_size": 4}
        for x, p in (("A", 8), ("B", 2))
        for s in ("", "_serialize")
    },
    **{
        f"{x}_IO_L2_in{s}": {
            "data_pack_inter": p,
            "ele_size": 4,
            "local_buffers": [{"buffer_name": "b", "port_width": 4 * p, "buffer_depth": n // p}]
            * 2,
        }
        for x, p, n in (("A", 8, 16), ("B", 2, 24))
        for s in ("", "_boundary")
    },
    **{
        f"C_drain_IO_L1_out{s}": {
            "data_pack_inter": 1,
            "ele_size": 4,
            "local_buffers": [{"buffer_name": "local_C", "port_width": 4, "buffer_depth": 6}],
        }
        for s in ("", "_boundary")
    },
    **{f"C_drain_IO_L{n}_out": {"data_pack_inter": 1, "ele_size": 4} for n in (2, 3)},
}
COUNTS = """\
fifo:fifo_A_PE:6:8
module:PE:4
module:A_IO_L3_in:1
module:A_IO_L3_in_serialize:1
module:A_IO_L2_in:1
module:A_IO_L2_in_boundary:1
module:B_IO_L3_in:1
module:B_IO_L3_in_serialize:1
module:B_IO_L2_in:1
module:B_IO_L2_in_boundary:1
module:A_PE_dummy_in:2
module:B_PE_dummy_in:2
module:C_drain_IO_L1_out:2
module:C_drain_IO_L1_out_boundary:2
module:C_drain_IO_L2_out:1
module:C_drain_IO_L2_out_boundary:1
module:C_drain_IO_L3_out:1
module:C_drain_IO_L3_out_boundary_serialize:1
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", []),
        ("module:PE:4", "module:PE:3", ["PEs: 4 expected, 3 built"]),
        ("module:A_IO_L2_in:1\n", "", ["A_IO_L2_in: modules: 2 expected, 1 built"]),
        ('"unroll": 2', '"unroll": 1', ["SIMD factor: 2 expected, 1 built"]),
        (
            '"buffer_depth": 12',
            '"buffer_depth": 15',
            ["B_IO_L2_in: words of its buffers: [24, 24] expected, [30, 30] built"],
        ),
        (
            'L2_out": {"data_pack_inter": 1',
            'L2_out": {"data_pack_inter": 2',
            ["C_drain_IO_L2_out: words per transfer: 1 expected, 2 built"],
        ),
        (
            '"local_C", "port_width": 4, "buffer_depth": 6',
            '"local_C", "port_width": 4, "buffer_depth": 8',
            [
                "C_drain_IO_L1_out: words of its buffers: [6] expected, [8] built",
                "accumulators of a PE: [6] expected, [8] built",
            ],
        ),
    ],
)
def test_the_checker_names_every_difference(old, new, said, exported, tmp_path):
    output = tmp_path / "output"
    output.mkdir()
    files = {"design_info.json": json.dumps({"modules": DESIGN}), "design_info.dat": COUNTS}
    assert any(old in text for text in files.values())
    write_folder(
        output / "resource_est",
        {name: text.replace(old, new) if old else text for name, text in files.items()},
    )
    done = ran(exported / "check.py", output)
    assert done.stderr.splitlines() == said
    assert done.returncode == (1 if said else 0)
    if not said:
        assert done.stdout.startswith("as expected: ")


def test_the_checker_says_what_it_cannot_read(exported, tmp_path):
    done = ran(exported / "check.py", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("cannot read what AutoSA says of its design: ")
    assert done.stderr.count("\n") == 1
