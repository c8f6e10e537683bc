"""C files with triangular nests as recurrences, against the sums that they are."""

import numpy as np
import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.recurrences.workloads.c.nests import c_nests
from ithaca.plugins.recurrences.workloads.kind import find_recurrence, is_recurrence
from tests.command_line import refused, succeed
from tests.plugins.recurrences.test_arrays import computed, random_inputs

TRIANGLE = """\
#define N 7
float L[N][N], x[N], y[N];
#pragma scop
for (int i = 0; i < N; i++) {
  y[i] = 0;
  for (int j = 0; j <= i; j++)
    y[i] += L[i][j] * x[j];
}
#pragma endscop
"""

RANK = """\
#define N 5
#define M 3
#pragma scop
for (int i = 0; i < N; i++)
  for (int j = i; j < N; j++)
    for (int k = 0; k < M; k++)
      C[i][j] -= A[k][i] * (float) B[k][j] / D[k];
#pragma endscop
"""

ELIMINATION = """\
#define N 6
#pragma scop
{
  float now[N][N], rest[N][N], row[N][N], factor[N][N];
  for (int step = 0; step < N; step++)
    for (int c = step; c < N; c++)
      for (int r = step; r < N; r++) {
        if (step > 0)
          now[r][c] = rest[r][c];
        else
          now[r][c] = A[r][c];
        if (c != step) {
          row[r][c] = row[r][c - 1];
          if (!(r > step)) {
            factor[r][c] = now[r][c] / row[r][c];
            L[r][c] = factor[r][c];
          } else
            factor[r][c] = factor[r - 1][c];
          rest[r][c] = now[r][c] - factor[r][c] * row[r][c];
        } else {
          row[r][c] = now[r][c];
          U[c][r] = row[r][c];
        }
      }
}
#pragma endscop
"""


def nest_of(tmp_path, text, name="own"):
    path = tmp_path / f"{name}.c"
    path.write_text(text)
    assert is_recurrence(path)
    return find_recurrence(path, {})


def matrix(values, name):
    """The elements of a tensor as an array; 0 where there is none."""
    own = {element: value for (tensor, element), value in values.items() if tensor == name}
    made = np.zeros(tuple(max(column) + 1 for column in zip(*own, strict=True)))
    for element, value in own.items():
        made[element] = value
    return made


def test_a_triangular_product_is_that_of_numpy(tmp_path):
    nest = nest_of(tmp_path, TRIANGLE)
    inputs = random_inputs(nest, 1)
    results = computed(nest, inputs)
    expected = np.tril(matrix(inputs, "L")) @ matrix(inputs, "x")
    assert np.allclose(matrix(results, "y"), expected)
    assert len(nest.iterations) == 28


def test_what_a_sum_begins_with_is_an_input(tmp_path):
    nest = nest_of(tmp_path, RANK)
    inputs = random_inputs(nest, 2)
    assert {tensor for tensor, _ in inputs} == {"A", "B", "C_in", "D"}
    product = matrix(inputs, "A").T @ (matrix(inputs, "B") / matrix(inputs, "D")[:, None])
    expected = np.triu(matrix(inputs, "C_in") - product)
    assert np.allclose(matrix(computed(nest, inputs), "C"), expected)


def test_elimination_is_that_of_the_library(tmp_path):
    nest = nest_of(tmp_path, ELIMINATION)
    known = find_recurrence("lu", {"n": 6})
    inputs = random_inputs(nest, 3)
    assert inputs == random_inputs(known, 3)
    assert computed(nest, inputs) == computed(known, inputs)


BRANCHES = """\
#define N 5
#pragma scop
{
  float seen[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      if (j == 0)
        seen[i][j] = b[i];
      else
        seen[i][j] = seen[i][j - 1];
      if (i < j)
        S[i][j] = A[i][j] * seen[i][j];
      else
        S[i][j] = B[i][j] - seen[i][j];
    }
}
#pragma endscop
"""


def test_what_either_of_two_statements_writes_is_one_output(tmp_path):
    nest = nest_of(tmp_path, BRANCHES)
    inputs = random_inputs(nest, 5)
    own = {name: matrix(inputs, name) for name in ("A", "B", "b")}
    grown = np.zeros((5, 5))
    grown[: own["A"].shape[0], : own["A"].shape[1]] = own["A"]
    column = own["b"][:, None]
    upper = np.arange(5)[:, None] < np.arange(5)
    assert np.allclose(
        matrix(computed(nest, inputs), "S"), np.where(upper, grown * column, own["B"] - column)
    )


@pytest.mark.ci
def test_commands_take_them(tmp_path):
    (tmp_path / "lu.c").write_text(ELIMINATION)
    own = succeed("solve", "lu.c", "--dtype", "fp32", cwd=tmp_path).stdout
    known = succeed("solve", "lu", "-s", "n=6").stdout
    latency = [next(x for x in said.splitlines() if "latency " in x) for said in (own, known)]
    assert [x.split("latency ")[1].split()[0] for x in latency[:1]] == [
        x.split("latency ")[1].split()[0] for x in latency[1:]
    ]
    value = [next(x for x in said.splitlines() if "objective" in x) for said in (own, known)]
    assert value[0].split()[:2] == value[1].split()[:2]


def test_rectangular_nests_stay_loop_nests(tmp_path):
    path = tmp_path / "mm.c"
    path.write_text(
        RANK.replace("int j = i", "int j = 0")
        .replace("-=", "+=")
        .replace("(float) ", "")
        .replace(" / D[k]", "")
    )
    assert not is_recurrence(path)
    assert [str(each.output.tensor) for each in c_nests(path)] == ["C"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("y[i] = 0", "y[i] = x[i]", "line 5: 'y[i] = x[i]' stands beside the innermost loop"),
        ("y[i] = 0;", "y[i] = 0;\n  Q[i] = 0;", "line 6: Q[i] = 0 begins no sum; allowed: before"),
        ("* x[j]", "* 2", "line 7: '2' is no element of an array"),
        ("* x[j]", "* y[j]", "y[j] comes from iterations at distances"),
        ("L[i][j] * x[j]", "x[i] * x[j]", "line 7: x[j] is read before it is written, or never"),
        ("j <= i; j++", "j <= i; j += 2", "line 6: loop j counts by 2; allowed: by 1"),
        (
            "    y[i] +=",
            "    if (j < i || j > 2) y[i] +=",
            "line 7: it depends on '(j < i) || (j > 2)'",
        ),
        ("    y[i] +=", "    if (j != 2) y[i] +=", "line 7: 'j != 2' holds on both sides"),
        ("#define N 7", "#define N 700", "line 6: more than 100,000 iterations"),
        ("j <= i", "j < i - 9", "there is no iteration"),
        ("j <= i", "j < i", "line 7: y[0] stays 0; allowed: sums of one iteration at least"),
    ],
)
def test_what_is_no_recurrence_is_refused_with_its_line(old, new, why, tmp_path):
    assert old in TRIANGLE
    with pytest.raises(InputError) as refusal:
        nest_of(tmp_path, TRIANGLE.replace(old, new))
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_array_of_the_file_alone_may_be_zeroed_and_never_read(tmp_path):
    text = TRIANGLE.replace("scop\nfor", "scop\n{\nfloat Q[N];\nfor").replace(
        "#pragma end", "}\n#pragma end"
    )
    nest = nest_of(tmp_path, text.replace("y[i] = 0;", "y[i] = 0; Q[i] = 0;"))
    assert {name for name, _ in computed(nest, random_inputs(nest, 4))} == {"y"}


def test_what_is_no_c_is_refused(tmp_path):
    (tmp_path / "own.c").write_text(TRIANGLE.replace("j++)", "j++"))
    assert "cannot be read as C" in refused("solve", "own.c", cwd=tmp_path)
