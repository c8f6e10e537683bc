"""Loop nests: what is derived from them, and what is refused."""

import pytest

from ithaca.files.errors import InputError
from ithaca.workloads.kernel_files import kernel_nest, statement_nest
from ithaca.workloads.library import documented_workload, workload, workload_document
from ithaca.workloads.nest import MAX_EXTENT, LoopNest
from ithaca.workloads.statement import parse_statement
from tests.refusals import refusals


def test_mm_is_derived():
    nest = workload("mm", {"i": 3})
    assert nest.band == ("i", "j", "k")
    assert nest.parallel_loops == ("i", "j")
    assert nest.reduction_loops == ("k",)
    assert nest.sizes == {"i": 3, "j": 1024, "k": 1024}
    assert nest.operations == 3 * 1024 * 1024
    assert str(nest) == "C[i][j] += A[i][k] * B[j][k]"


def test_conv2d_is_derived():
    nest = workload("conv2d")
    assert nest.band == ("o", "r", "c", "i")
    assert nest.reduction_loops == ("i", "p", "q")


def test_sizes_do_not_change_the_library():
    workload("mm", {"i": 7})
    assert workload("mm").sizes["i"] == 1024


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"x": 4}, "unknown loop 'x'"),
        ({"i": 0}, "loop 'i' is 0"),
        ({"i": -4}, "loop 'i' is -4"),
        ({"i": 10**9}, f"from 1 to {MAX_EXTENT}"),
    ],
)
def test_bad_sizes_are_refused(sizes, told):
    with pytest.raises(InputError, match=told):
        workload("mm", sizes)


def test_unknown_workload_lists_the_known():
    with pytest.raises(
        InputError,
        match=r"unknown workload 'nm'; known: attention_scores, .* or a path to a \.yaml file",
    ):
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
def test_bad_statements_are_refused(text, told):
    with pytest.raises(InputError, match=told):
        parse_statement(text)


def test_statements_keep_coefficients():
    _, (access,) = parse_statement("y[i] += x[2*i+3*p-1]")
    subscript = access.subscripts[0]
    assert dict(subscript.terms) == {"i": 2, "p": 3}
    assert subscript.constant == -1


@pytest.mark.parametrize(
    ("statement", "simd", "told"),
    refusals("workloads-nest", "bad_nests_are_refused"),
)
def test_bad_nests_are_refused(statement, simd, told):
    output, inputs = parse_statement(statement)
    with pytest.raises(InputError, match=told):
        LoopNest("test", (("i", 2), ("j", 2), ("k", 2)), output, inputs, simd)


@pytest.mark.parametrize(
    ("untiled", "told"),
    [
        ({"z"}, "unknown untiled loop 'z'"),
        ({"i", "j", "k"}, "no loop is tiled; allowed: at least one of i, j, k"),
    ],
)
def test_bad_untiled_loops_are_refused(untiled, told):
    output, inputs = parse_statement("C[i][j] += A[i][k] * B[j][k]")
    with pytest.raises(InputError, match=told):
        LoopNest("test", (("i", 2), ("j", 2), ("k", 2)), output, inputs, "k", frozenset(untiled))


def test_reductions_that_are_not_vectorised_are_sequential():
    assert workload("mm").sequential_loops == ()
    assert workload("conv2d").sequential_loops == ()
    assert workload("ttmc").sequential_loops == ("l",)
    assert workload("depthwise_conv2d").sequential_loops == ()


@pytest.mark.parametrize(
    ("sizes", "told"),
    [({"s": 0}, "parameter 's' is 0"), ({"d": 10**7}, "parameter 'd' is 10000000")],
)
def test_bad_parameters_are_refused(sizes, told):
    with pytest.raises(InputError, match=f"{told}; allowed: an integer from 1 to {MAX_EXTENT}"):
        workload("conv2d", sizes)


def test_unknown_sizes_list_loops_and_parameters():
    with pytest.raises(
        InputError,
        match="unknown loop 'x' in sizes: conv2d has loops o, r, c, i, p, q and parameters s, d",
    ):
        workload("conv2d", {"x": 2})


def test_a_parameter_of_several_loops_is_stated_for_each():
    """Steps that differ along rows and columns, against a statement that says them in numbers."""
    nest = workload("conv2d", {"sr": 2, "dq": 3})
    statement = "cout[r][c][o] += cin[r*2+p][c+q*3][i] * w[o][p][q][i]"
    assert nest.inputs == parse_statement(statement)[1]
    assert nest.parameters == (("sr", 2), ("sc", 1), ("dp", 1), ("dq", 3))
    assert nest.with_sizes({"sc": 5}).inputs[0].subscripts[1].coefficient("c") == 5
    assert workload("conv2d", {"s": 4, "sc": 3}).settings["sr"] == 4
    assert workload("conv2d", {"sr": 2, "sc": 2}) == workload("conv2d", {"s": 2})
    with pytest.raises(InputError, match="unknown loop 'so' in sizes: conv2d has loops"):
        workload("conv2d", {"so": 2})
    document = workload_document(nest)
    assert (
        documented_workload(
            document["name"], document["sizes"], document["parameters"], document["kernel"]
        )
        == nest
    )


def test_a_parameter_that_is_also_added_stays():
    fields = {"name": "n", "statement": "C[i][j] += A[i*s+k+s][j*s] * B[k]"}
    nest = kernel_nest(fields | {"extents": {"i": 4, "j": 4, "k": 3}, "parameters": {"s": 2}}, "n")
    other = nest.with_sizes({"sj": 1})
    assert other.parameters == (("si", 2), ("sj", 1), ("s", 2))
    assert other.inputs == parse_statement("C[i][j] += A[i*2+k+2][j] * B[k]")[1]


@pytest.mark.parametrize("loop", ["lambda", "in", "if", "max", "ceil"])
def test_loops_may_have_names_that_python_keeps(loop):
    nest = statement_nest(f"C[i] += A[i+2*{loop}] * is[{loop}]", {"i": 4, loop: 3})
    plain = statement_nest("C[i] += A[i+2*k] * B[k]", {"i": 4, "k": 3})
    assert nest.loops == ("i", loop)
    assert str(nest) == str(plain).replace("k", loop).replace("B", "is")
