"""Loop nests from C: what is read, what is refused where, and that taking nests apart is right."""

import random
from itertools import product

import numpy as np
import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.inclusions import including
from ithaca.plugins.recurrences.workloads.c.nests import c_nest, c_nests
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from tests.command_line import refused, succeed

MM = """
#include "sizes.h"
#include <stdio.h>
/* a comment that ends
   later */
int main(void) {
  data_t A[I][K], B[J][K], C[I][J];
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      C[i][j] = 0;   // where a sum begins
      for (int k = 0; k < K; k++)
        C[i][j] = C[i][j] + A[i][k] * B[j][k];
    }
#pragma endscop
}
"""

SIZES = """
typedef float data_t;
//#define I 256
#define I 24
#define J (I / 2 + 1)
#define K 16
"""


@pytest.fixture
def written(tmp_path):
    """Write a C file; its path."""

    def write(text, name="file.c"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def scop(body, head=""):
    """A file with a body between pragmas, from line 4 on."""
    return f"{head}\nvoid f(void) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


def test_a_nest_of_autosa_is_read(written):
    written(SIZES, "sizes.h")
    nest = c_nest(written(MM, "mm.c"))
    assert (nest.name, nest.sizes) == ("mm", {"i": 24, "j": 13, "k": 16})
    assert str(nest) == "C[i][j] += A[i][k] * B[j][k]"
    assert workload(str(written(MM, "mm.c")), {"i": 8}).sizes["i"] == 8


@pytest.mark.parametrize(
    ("body", "statement", "sizes"),
    [
        (  # bounds, steps and offsets are counted from 0 by 1
            "for (i = 1; i <= N; ++i) for (j = 2; j < N; j += 3)"
            " for (k = 0; k < 4; k = k + 1) C[i - 1] += A[i][j + k] * B[j];",
            "C[i] += A[i+1][3*j+k+2] * B[3*j+2]",
            {"i": 8, "j": 2, "k": 4},
        ),
        (  # factors on either side of the sum, of three, in parentheses
            "for (int i = 0; i < N; i++) for (int k = 0; k < N; k++)"
            " C[i] = (A[i][k] * B[k]) * D[k][i] + C[i];",
            "C[i] += A[i][k] * B[k] * D[k][i]",
            {"i": 8, "k": 8},
        ),
        (  # macros with arguments and conditions
            "for (int i = 0; i < TWICE(N - 4); i++)\n#if N > 4 && defined(N)\n"
            "for (int k = 0; k < N; k++)\n#else\nfor (int k = 0; k < 1; k++)\n#endif\n"
            "AT(C, i) += AT(A, i + k) * AT(B, k);",
            "C[i] += A[i+k] * B[k]",
            {"i": 8, "k": 8},
        ),
        (  # constants that are variables
            "int m = N / 2; for (int i = 0; i < m; i++) for (int k = 0; k < n; k++)"
            " C[i] += A[i][k] * B[k];",
            "C[i] += A[i][k] * B[k]",
            {"i": 4, "k": 5},
        ),
        (  # a window, as convolutions have
            "for (int r = 0; r < 6; r++) for (int c = 0; c < 5; c++) for (int i = 0; i < 4; i++)"
            " for (int p = 0; p < 3; p++) Y[r][c] += X[2 * r + p][c][i] * W[p][i];",
            "Y[r][c] += X[2*r+p][c][i] * W[p][i]",
            {"r": 6, "c": 5, "i": 4, "p": 3},
        ),
    ],
)
def test_the_form(body, statement, sizes, written):
    head = "#define N 8\n#define TWICE(x) (2 * (x))\n#define AT(a, b) a[b]\nconst int n = 5;"
    nest = c_nest(written(scop(body, head)))
    assert (str(nest), dict(sorted(nest.sizes.items()))) == (statement, dict(sorted(sizes.items())))


def test_several_nests_are_a_network(written):
    text = scop(
        "for (int i = 0; i < 8; i++) { t[i] = 0.0f;\n"
        "for (int j = 0; j < 6; j++) t[i] += A[i][j] * x[j];\n"
        "for (int j = 0; j < 6; j++) y[j] += A[i][j] * t[i]; }\n"
        "#pragma endscop\n#pragma scop\n"
        "for (int i = 0; i < 8; i++) for (int j = 0; j < 6; j++) z[i] += A[i][j] * y[j];"
    )
    path = written(text, "atax.c")
    network = find_network(str(path))
    layers = {layer.name: (str(layer.nest), layer.nest.operations) for layer in network.layers}
    assert layers == {
        "t": ("t[i] += A[i][j] * x[j]", 48),
        "y": ("y[j] += A[i][j] * t[i]", 48),
        "z": ("z[i] += A[i][j] * y[j]", 48),
    }
    assert "has 3 nests, t, y, z; allowed here: one" in refused("solve", str(path))


LOOPS = "for (int i = 0; i < 8; i++)\nfor (int k = 0; k < 8; k++)\n"


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (f"{LOOPS}C[i] *= A[i][k];", "line 7: 'C[i] *= A[i][k]' is no sum"),
        (f"{LOOPS}C[i] += A[i][k];", "line 7: 'A[i][k]' is no product"),
        (f"{LOOPS}C[i] += alpha * A[i][k] * B[k];", "line 7: 'alpha' is no element of an array"),
        (f"{LOOPS}C[i] = A[i][k] * B[k];", "line 7: 'C[i] = A[i][k] * B[k]' sums up nothing"),
        (f"{LOOPS}C[i] += A[i * k] * B[k];", "line 7: 'i * k' is not affine"),
        (f"{LOOPS}C[i] += A[D[i]] * B[k];", "line 7: 'D[i]' is not affine"),
        (f"{LOOPS}C[i] += sqrt(A[k]) * B[k];", "line 7: 'sqrt(A[k])' is no element"),
        (f"{LOOPS}x += A[k] * B[k];", "line 7: 'x' is no element of an array"),
        (f"{LOOPS}if (k > 0) C[i] += A[i][k] * B[k];", "line 7: it depends on 'k > 0'"),
        (f"{LOOPS}while (1) ;", "is neither; allowed: loops, conditions, and assignments"),
        (
            f"{LOOPS}C[k + i] += A[i] * B[k];",
            "line 7: statement: workload file: subscript k+i of C",
        ),
        (
            "for (int i = 0; i < 8; i++)\nfor (int k = 0; k < i; k++)\nC[i] += A[i][k] * B[k];",
            "line 6: the bounds of loop k depend on loop i",
        ),
        ("for (int i = 0; i < N; i++) C[i] += A[i] * B[i];", "line 5: 'N' is no constant"),
        ("for (int i = 8; i > 0; i--) C[i] += A[i] * B[i];", "line 5: 'for (int i = 8; i > 0; i--"),
        ("for (int i = 0; i < 0; i++) C[i] += A[i] * B[i];", "line 5: loop i has no iteration"),
        ("C[0] += A[0] * B[0];", "line 5: it stands in no loop"),
        (f"{LOOPS}C[i] = 0;", "line 7: C[i] = 0 begins no sum"),
        (
            f"{LOOPS}{{ C[0] = 0; C[0] += A[i] * B[k]; }}",
            "line 7: C[0] = 0 begins no sum",
        ),
        (
            f"{LOOPS}C[i] += A[k] * B[k];\n{LOOPS}C[i] += D[i] * B[k];",
            "line 10: C is summed up in line 7 already",
        ),
        (
            f"{LOOPS}{{ C[i] += A[k] * B[i];\nA[k] += D[i] * E[k]; }}",
            "line 8: A[k] is used as A[k] in line 7 in the same loop",
        ),
        (f"{LOOPS}{{ int i = k; C[i] += A[k] * B[i]; }}", "line 7: i depends on a loop"),
        ("for (int i = 0; i < 8; i++)\nfor (int i = 0; i < 8; i++) C[i] += A[i] * B[i];", "line 6"),
        (f"{LOOPS}C[i] += A[i][k] * ;", "cannot be read as C"),
        (f"{LOOPS}C[i] += {'(' * 4000}A[k]{')' * 4000} * B[k];", "cannot be read as C"),
        ("for (int i = 0; i < 1/0; i++) C[i] += A[i] * B[i];", "line 5: '1 / 0' divides by 0"),
        ("", "has no statement between its pragmas"),
    ],
)
def test_what_is_outside_of_the_form_is_refused_with_line_and_reason(body, line, written):
    path = written(scop(body, "// head\n"))
    with pytest.raises(InputError) as refusal:
        c_nests(path)
    assert line in str(refusal.value)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int main() {}", "has no #pragma scop"),
        ("#pragma endscop\n#pragma scop\n", "do not match"),
        ("#pragma scop\n#pragma scop\n#pragma endscop\n", "do not match"),
        ("#if 1\n#pragma scop\n#pragma endscop\n", "#if has no #endif"),
        ("#endif\n", "line 1: #endif without #if"),
        ("#if 1 +\n#endif\n", "line 1: cannot be read as C"),
        ("#if 1 / 0\n#endif\n", "line 1: '1 / 0' divides by 0"),
        ("".join(f"#define A{n + 1} A{n} A{n}\n" for n in range(60)) + "A60\n", "too much of it"),
        ('#include "file.c"\n', "takes in more than 64 files"),
        ("".join(f"#define A{n + 1} A{n}\n" for n in range(9000)) + "A9000\n", "too deep"),
        (f"#define F(x) x\n{'F(' * 9000}1{')' * 9000}\n", "too much of it"),
        (scop(f"{LOOPS}C[i] += {'A[k] * ' * 3000}B[k];"), "expressions are too deep"),
    ],
)
def test_what_is_no_such_file_is_refused(text, line, written):
    with pytest.raises(InputError) as refusal:
        c_nests(written(text))
    assert line in str(refusal.value)


def test_files_are_included_from_the_own_folder_and_those_that_are_named(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    body = "for (int i = 0; i < N; i++) for (int k = 0; k < 8; k++) C[i] += A[i][k] * B[k];"
    own = tmp_path / "own" / "file.c"
    own.write_text(scop(body, '#include "../other/n.h"\n#include <n.h>'))
    (tmp_path / "other" / "n.h").write_text("#define N 6\n")
    with pytest.raises(InputError, match=r"'N' is no constant; .*\(not found: \.\./other/n\.h"):
        c_nests(own)
    with including(tmp_path / "other"):
        assert c_nest(own).sizes == {"i": 6, "k": 8}
    done = succeed("solve", str(own), "--include-from", str(tmp_path / "other"), "--dataflow", "i")
    assert "file (i=6, k=8)" in done.stdout


def test_python_solves_a_file_and_its_result_needs_it_no_more(written, tmp_path):
    written(SIZES, "sizes.h")
    path = written(MM, "mm.c")
    result = ithaca.solve(path, i=8, j=4, k=8, dataflow="i,j", divisors_only=True)
    same = "C[i,j] += A[i,k] * B[j,k]"
    again = ithaca.solve(same, i=8, j=4, k=8, dataflow="i,j", divisors_only=True)
    assert (result.value, result.best.metrics) == (again.value, again.best.metrics)
    result.save(tmp_path / "r.json")
    path.unlink()
    assert ithaca.load(tmp_path / "r.json").value == result.value


# -- statements in common loops -------------------------------------------------------------


def drawn_program(draw):
    """A program of sums and zeros in a loop that they share, most in a further one: pairs of a loop
    and what is inside, or of a target and what is multiplied."""
    outer, *inner = draw.sample("ijk", 3)
    items, known = [], []
    for _ in range(draw.randint(2, 3)):
        loop = draw.choice(inner)
        target, *reads = (
            (draw.choice("ABCDEFGHIJ"), tuple(draw.sample((outer, loop), many)))
            for many in (1, draw.randint(1, 2), draw.randint(1, 2))
        )
        if (old := draw.choice([*known, reads[0]])) and {*old[1]} <= {outer, loop}:
            reads[0] = old
        if draw.random() < 0.4 and target[1] == (outer,):
            items.append((target, ()))
        if draw.random() < 0.2 and items and items[-1][0] == loop:
            items[-1][1].append((target, tuple(reads)))
        else:
            items.append((loop, [(target, tuple(reads))]))
        known.append(target)
    return [(outer, items)]


def c_text(items):
    lines = []
    for head, rest in items:
        if isinstance(head, str):
            lines.append(f"for (int {head} = 0; {head} < 3; {head}++) {{")
            lines += [*c_text(rest), "}"]
        else:
            name = lambda at: at[0] + "".join(f"[{x}]" for x in at[1])  # noqa: E731
            value = "0" if not rest else f"{name(head)} + {name(rest[0])} * {name(rest[1])}"
            lines.append(f"{name(head)} = {value};")
    return lines


def run(items, arrays, here):
    """Run a program, statement by statement."""
    for head, rest in items:
        if isinstance(head, str):
            for value in range(3):
                run(rest, arrays, {**here, head: value})
        else:
            element = lambda at: (at[0], *(here[x] for x in at[1]))  # noqa: E731
            old = arrays.get(element(head), 0)
            more = [arrays.get(element(at), element(at)[1] + len(at[1])) for at in rest]
            arrays[element(head)] = old + more[0] * more[1] if rest else 0


def statements(items, around=()):
    """The statements in order: what they set to 0 with their loops, or None for a sum."""
    for head, rest in items:
        if isinstance(head, str):
            yield from statements(rest, (*around, head))
        else:
            yield None if rest else (head, around)


def run_apart(nests, items, arrays):
    """Run one statement after the other, each in loops of its own; sums are the nests."""
    sums = iter(nests)
    for zero in statements(items):
        if zero is not None:
            (name, subscripts), around = zero
            for point in product(range(3), repeat=len(around)):
                here = dict(zip(around, point, strict=True))
                arrays[name, *(here[x] for x in subscripts)] = 0
            continue
        nest = next(sums)
        for point in product(*(range(n) for n in nest.sizes.values())):
            here = dict(zip(nest.loops, point, strict=True))

            def element(access, here=here):
                return access.tensor, *(
                    sum(c * here[x] for x, c in s.terms) + s.constant for s in access
                )

            target = element(nest.output)
            factors = [arrays.get(e, e[1] + len(e) - 1) for e in (element(a) for a in nest.inputs)]
            arrays[target] = arrays.get(target, 0) + int(np.prod(factors, dtype=object))


@pytest.mark.ci
def test_nests_taken_apart_compute_what_the_program_does(written):
    """Programs that are taken apart compute the same elements, of 1,000 that are drawn."""
    draw, several = random.Random(7), 0
    for _ in range(1000):
        items = drawn_program(draw)
        try:
            nests = c_nests(written(scop("\n".join(c_text(items)))))
        except InputError:
            continue
        ours, theirs = {}, {}
        run(items, theirs, {})
        run_apart(nests, items, ours)
        assert ours == theirs, c_text(items)
        several += len(nests) > 1
    assert several > 100
