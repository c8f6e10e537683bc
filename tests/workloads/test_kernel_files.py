"""Kernel files: what they say, what they default to, and everything that is refused."""

from importlib.resources import files

import pytest

from ithaca.files.errors import InputError
from ithaca.formulations.systolic.derivation import designs
from ithaca.workloads import library
from ithaca.workloads.kernel_files import MAX_BYTES
from ithaca.workloads.library import (
    documented_workload,
    workload,
    workload_document,
    workload_names,
)
from tests.refusals import refusals

OWN = """\
name: mine
description: my layer
statement: y[f][t] += x[2*f+d*p][c] * w[t][p][c]
loops: [f, t, c, p]
extents: {f: 20, t: 8, c: 6, p: 3}
parameters: {d: 1}
untiled: [p]
simd: c
"""


def write(folder, text):
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path):
    """The error line of a file, without its path."""
    with pytest.raises(InputError) as caught:
        workload(str(path))
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= 700
    assert message.startswith(f"{path}")
    return message.removeprefix(f"{path}").removeprefix(": ")


# -- what a file says ----------------------------------------------------------------------


def test_own_kernel(tmp_path):
    nest = workload(str(write(tmp_path, OWN)))
    assert (nest.name, nest.description) == ("mine", "my layer")
    assert nest.extents == (("f", 20), ("t", 8), ("c", 6), ("p", 3))
    assert (nest.band, nest.untiled, nest.simd) == (("f", "t", "c"), {"p"}, "c")
    assert nest.reduction_loops == ("c", "p")
    assert str(nest) == "y[f][t] += x[2*f+p][c] * w[t][p][c]"


def test_parameters_are_set_like_sizes(tmp_path):
    path = str(write(tmp_path, OWN))
    nest = workload(path, {"d": 3, "f": 7})
    assert str(nest) == "y[f][t] += x[2*f+3*p][c] * w[t][p][c]"
    assert nest.settings == {"f": 7, "t": 8, "c": 6, "p": 3, "d": 3}
    assert nest.with_sizes({"d": 1, "f": 20}) == workload(str(path))


@pytest.mark.parametrize(
    ("einsum", "arrays", "statement"),
    [
        ("ik,jk->ij", "", "C[i][j] += A[i][k] * B[j][k]"),
        (" bik , bjk -> bij ", "", "C[b][i][j] += A[b][i][k] * B[b][j][k]"),
        ("ikl,kj,jl->ij", "[T, K, L, R]", "R[i][j] += T[i][k][l] * K[k][j] * L[j][l]"),
        ("k,k->", "[a, b, sum]", "sum[0] += a[k] * b[k]"),
    ],
)
def test_einsum(tmp_path, einsum, arrays, statement):
    extents = ", ".join(f"{letter}: 4" for letter in sorted(set(einsum) & set("abcdefghijklm")))
    more = f"arrays: {arrays}\n" if arrays else ""
    nest = workload(
        str(write(tmp_path, f'name: e\neinsum: "{einsum}"\nextents: {{{extents}}}\n{more}'))
    )
    assert str(nest) == statement


@pytest.mark.parametrize(
    ("statement", "untiled", "simd"),
    [
        ("C[i][j] += A[i][k] * B[j][k]", "", "k"),
        ("C[i] += A[i][j][k] * B[j][k]", "", "k"),  # the innermost reduction
        ("C[i] += A[i][j][k] * B[j][k]", "k", "j"),  # that is tiled
        ("C[i] += A[i+j][k] * B[j][k]", "k", ""),  # j is no subscript by itself, nor is i
        (
            "C[i][j] += A[k][i][j] * B[k][j]",
            "k",
            "j",
        ),  # no tiled reduction: last subscript everywhere
        ("C[j][i] += A[k][j][i] * B[k][j]", "k", "i"),  # j is not the last subscript of C
    ],
)
def test_default_simd(tmp_path, statement, untiled, simd):
    text = f"name: e\nstatement: {statement}\nextents: {{i: 4, j: 4, k: 4}}\nuntiled: [{untiled}]\n"
    nest = workload(str(write(tmp_path, text)))
    assert nest.simd == simd
    if not simd:
        with pytest.raises(
            InputError,
            match="simd is missing and no tiled loop is an obvious choice; allowed: one of i, j",
        ):
            designs(nest)


def test_subscripts_may_share_brackets_and_have_signs(tmp_path):
    text = "name: e\nstatement: C[i, j] += A[-k+i+9, 0] * B[(j)*2-1][k]\nextents: {i: 4, j: 4, k: 4}\nsimd: k\n"
    assert "SIMD loop 'k' is no subscript by itself in A[-1*k+i+9][0]" in refusal(
        write(tmp_path, text)
    )
    nest = workload(str(write(tmp_path, text.replace("simd: k", "simd: j").replace("*2", ""))))
    assert str(nest) == "C[i][j] += A[-1*k+i+9][0] * B[j-1][k]"


# -- the library ---------------------------------------------------------------------------


def test_the_library_is_its_files():
    found = {
        entry.name
        for entry in files("ithaca.workloads.kernels").iterdir()
        if entry.name.endswith(".yaml")
    }
    assert {f"{name}.yaml" for name in workload_names()} == found
    assert (
        list(workload_names())
        == [nest.name for nest in map(workload, workload_names())]
        == sorted(workload_names())
    )
    assert len(workload_names()) == 11
    assert all(nest.description for nest in map(workload, workload_names()))


@pytest.mark.parametrize(
    ("name", "statement", "extents"),
    [
        ("mm", "C[i][j] += A[i][k] * B[j][k]", {"i": 1024, "j": 1024, "k": 1024}),
        (
            "conv2d",
            "cout[r][c][o] += cin[r+p][c+q][i] * w[o][p][q][i]",
            {"i": 512, "o": 512, "r": 56, "c": 56, "p": 3, "q": 3},
        ),
        ("mttkrp", "D[i][j] += A[i][k][l] * B[k][j] * C[j][l]", dict.fromkeys("ijkl", 512)),
        ("ttmc", "D[i][j][k] += A[i][l][m] * B[l][j] * C[k][m]", dict.fromkeys("ijklm", 128)),
    ],
)
def test_published_sizes(name, statement, extents):
    nest = workload(name)
    assert str(nest) == statement
    assert nest.sizes == extents


def test_a_lookup_reads_one_file(monkeypatch):
    library._packaged.cache_clear()
    assert "ttm" in workload_names()
    workload("mm")
    assert library._packaged.cache_info().currsize == 1
    monkeypatch.undo()


# -- documents of results ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes"), [("mm", {"i": 5}), ("conv2d", {"s": 2, "o": 9}), ("depthwise_conv2d", {})]
)
def test_library_workloads_are_documented_by_their_sizes(name, sizes):
    nest = workload(name, sizes)
    document = workload_document(nest)
    assert document["sizes"] == nest.sizes
    assert "kernel" not in document
    assert ("parameters" in document) == (name != "mm")
    assert documented(document) == nest


def test_other_workloads_are_documented_whole(tmp_path):
    nest = workload(str(write(tmp_path, OWN)), {"d": 2})
    document = workload_document(nest)
    assert document["kernel"] == {
        "statement": "y[f][t] += x[2*f+d*p][c] * w[t][p][c]",
        "untiled": ["p"],
        "simd": "c",
    }
    assert documented(document) == nest


def test_a_kernel_that_borrows_a_name_is_documented_whole(tmp_path):
    text = "name: mm\nstatement: C[i][j] += A[i][k] * B[k][j]\nextents: {i: 4, j: 4, k: 4}\n"
    nest = workload(str(write(tmp_path, text)))
    assert workload_document(nest)["kernel"]["statement"] == "C[i][j] += A[i][k] * B[k][j]"
    assert documented(workload_document(nest)) == nest != workload("mm", {"i": 4, "j": 4, "k": 4})


def documented(document):
    return documented_workload(
        document["name"], document["sizes"], document.get("parameters", {}), document.get("kernel")
    )


@pytest.mark.parametrize(
    ("change", "told"),
    refusals("workloads-kernel_files", "bad_documents"),
)
def test_bad_documents(change, told):
    document = {**workload_document(workload("mm")), **change}
    with pytest.raises(InputError) as caught:
        documented(document)
    assert told in str(caught.value)


# -- what is refused -----------------------------------------------------------------------

#: what is replaced in OWN, by what, and the words the error line must contain


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        *refusals("workloads-kernel_files", "bad_fields"),
        ("statement: y", f"statement: {'(' * 400}y", ["cannot be read"]),
        ("statement: y", f"statement: {'y' * 600}", ["characters; allowed: at most 500"]),
    ],
)
def test_bad_fields(tmp_path, old, new, words):
    assert OWN.count(old) == 1
    message = refusal(write(tmp_path, OWN.replace(old, new)))
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("einsum", "arrays", "words"),
    refusals("workloads-kernel_files", "bad_einsums"),
)
def test_bad_einsums(tmp_path, einsum, arrays, words):
    more = f"arrays: {arrays}\n" if arrays else ""
    message = refusal(
        write(tmp_path, f'name: e\neinsum: "{einsum}"\nextents: {{i: 4, j: 4, k: 4}}\n{more}')
    )
    for word in words:
        assert word in message


def test_a_stride_can_forbid_a_simd_loop(tmp_path):
    text = "name: e\nstatement: y[f] += x[f*s][p] * w[p]\nextents: {f: 8, p: 4}\nparameters: {s: 1}\nuntiled: [p]\nsimd: f\n"
    path = str(write(tmp_path, text))
    assert workload(str(path)).simd == "f"
    with pytest.raises(
        InputError, match=r"SIMD loop 'f' is no subscript by itself in x\[2\*f\]\[p\]"
    ):
        workload(path, {"s": 2})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["0 documents", "one"]),
        (b"just text", ["the document is 'just text'", "a mapping"]),
        (b"- 1\n", ["the document is a list", "a mapping"]),
        (b"name: \xff", ["byte 6 is 0xff", "UTF-8"]),
        (b"#" * (MAX_BYTES + 1), ["too large", "65536 bytes"]),
        (b"name: {", ["not YAML", "line"]),
    ],
)
def test_bad_files(tmp_path, content, words):
    path = tmp_path / "own.yaml"
    path.write_bytes(content)
    message = refusal(path)
    for word in words:
        assert word in message


def test_paths_and_names():
    with pytest.raises(InputError, match=r"^/nowhere/k\.yaml: no such file"):
        workload("/nowhere/k.yaml")
    with pytest.raises(InputError, match=r"^k\.yml: no such file"):
        workload("k.yml")
    with pytest.raises(
        InputError, match=r"unknown workload 'k'; known: .*, mm, .*; or a path to a \.yaml file"
    ):
        workload("k")
