"""Loop nests: what is derived from them, and what is refused."""

from __future__ import annotations

import pytest

from ithaca.workloads.errors import InputError
from ithaca.workloads.library import LIBRARY, workload
from ithaca.workloads.nest import MAX_EXTENT, LoopNest
from ithaca.workloads.statement import parse_statement


def test_mm_is_derived() -> None:
    nest = workload("mm", {"i": 3})
    assert nest.band == ("i", "j", "k")
    assert nest.parallel_loops == ("i", "j")
    assert nest.reduction_loops == ("k",)
    assert nest.sizes == {"i": 3, "j": 1024, "k": 1024}
    assert nest.operations == 3 * 1024 * 1024
    assert str(nest) == "C[i][j] += A[i][k] * B[j][k]"


def test_conv2d_is_derived() -> None:
    nest = workload("conv2d")
    assert nest.band == ("o", "r", "c", "i")
    assert nest.reduction_loops == ("i", "p", "q")


def test_sizes_do_not_change_the_library() -> None:
    workload("mm", {"i": 7})
    assert LIBRARY["mm"].sizes["i"] == 1024


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"x": 4}, "unknown loop 'x'"),
        ({"i": 0}, "loop 'i' is 0"),
        ({"i": -4}, "loop 'i' is -4"),
        ({"i": 10**9}, f"from 1 to {MAX_EXTENT}"),
    ],
)
def test_bad_sizes_are_refused(sizes: dict[str, int], told: str) -> None:
    with pytest.raises(InputError, match=told):
        workload("mm", sizes)


def test_unknown_workload_lists_the_known() -> None:
    with pytest.raises(InputError, match="unknown workload 'nm'; known: conv2d, mm"):
        workload("nm")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("C[i][j] = A[i][k]", "does not accumulate"),
        ("C[i][j] += A[i*k]", "not affine"),
        ("C[i][j] += A[i][k] + B[j][k]", "no array access"),
        ("C += A[i]", "no array access"),
        ("C[i += A[i]", "cannot be read"),
        ("C[i] += A[i.real]", "not affine"),
        ("C[i] += A[True]", "not affine"),
    ],
)
def test_bad_statements_are_refused(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_statement(text)


def test_statements_keep_coefficients() -> None:
    _, (access,) = parse_statement("y[i] += x[2*i+3*p-1]")
    subscript = access.subscripts[0]
    assert dict(subscript.terms) == {"i": 2, "p": 3}
    assert subscript.constant == -1


@pytest.mark.parametrize(
    ("statement", "simd", "told"),
    [
        ("C[i][j] += A[i][z] * B[j][k]", "k", "unknown loop 'z'"),
        ("C[i][j] += A[i][k] * B[j][k]", "z", "SIMD loop 'z'"),
        ("C[i][j][k] += A[i][k] * B[j][k]", "k", "no reduction loop"),
        ("C[i][j] += A[i][k] * A[j][k]", "k", "repeat a name"),
    ],
)
def test_bad_nests_are_refused(statement: str, simd: str, told: str) -> None:
    output, inputs = parse_statement(statement)
    with pytest.raises(InputError, match=told):
        LoopNest("test", (("i", 2), ("j", 2), ("k", 2)), output, inputs, simd)
