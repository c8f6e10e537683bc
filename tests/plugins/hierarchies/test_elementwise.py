"""Work that is no product with a sum: on memory hierarchies proven, on arrays refused."""

import pytest

import ithaca
from tests.command_line import refused

#: Softmax (one tensor read), a gate (two, no sum), the sum of squares of a norm, and its scale.
WORK = {
    "O[h,i,j] += I[h,i,j]": {"h": 4, "i": 2, "j": 16},
    "O[i,j] += U[i,j] * G[i,j]": {"i": 8, "j": 16},
    "O[i] += I[i,j]": {"i": 8, "j": 16},
    "O[i,j] += I[i,j] * S[i]": {"i": 8, "j": 16},
}


@pytest.mark.parametrize("arch", ["simple", "eyeriss", "tpu-like", "simba-like"])
@pytest.mark.parametrize("work", WORK)
def test_hierarchies_prove_it_and_move_each_word_once(work, arch):
    answer = ithaca.map(work, sizes=WORK[work], arch=arch, objective="energy")
    assert answer.best.certificate.status.value == "optimal"
    nest, metrics = answer.best.problem.design.nest, answer.best.metrics
    for access in nest.accesses:
        words = 1
        for loop in access.loops:
            words *= WORK[work][loop]
        moved = "updates" if access.tensor == "O" else "reads"
        assert metrics[f"DRAM.{access.tensor}.{moved}"] == words


@pytest.mark.parametrize(
    ("work", "line"),
    [
        ("O[i] += A[i] * B[i]", "no reduction loop (every loop indexes O[i])"),
        ("O[i] += A[i,k]", "the statement reads 1 array"),
    ],
)
def test_arrays_refuse_it(work, line):
    refusal = refused("solve", work, "-s", "i=8" + (",k=4" if "k" in work else ""))
    assert line in refusal
    assert "with a reduction; others with --arch" in refusal.replace("\n      ", " ")


@pytest.mark.parametrize("arch", ["dmazerunner-256", "explainable-edge"])
@pytest.mark.parametrize("work", ["O[i] += A[i] * B[i]", "O[i] += A[i,k]"])
def test_published_editions_refuse_it(work, arch):
    size = "i=8" + (",k=4" if "k" in work else "")
    edition = arch.partition("-")[0]
    refusal = refused("map", work, "-s", size, "--arch", arch, "--edition", edition)
    assert "allowed in edition" in refusal
