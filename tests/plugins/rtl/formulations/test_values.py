"""Arrays that compute: what they make of random tensors, against NumPy; and arrays wired wrongly,
which must not pass."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from ithaca import simulate, solve
from ithaca.files.errors import InputError
from ithaca.formulations.data_types import data_type
from ithaca.formulations.machine import Machine, Sums
from ithaca.formulations.processes import (
    Loop,
    Repeat,
)
from ithaca.formulations.systolic.choice import choose_designs
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.rtl.formulations.arrays import array_network
from ithaca.plugins.rtl.formulations.values import check_values
from ithaca.workloads.library import workload
from tests.command_line import ithaca
from tests.whole_spaces import small_arrays

#: Workloads and their parameters; of each every buildable design.
CASES = [
    (name, stride, array.dataflow)
    for name, stride in (
        ("mm", 0),
        ("conv2d", 1),
        ("conv2d", 2),
        ("depthwise_conv2d", 1),
        ("mttkrp", 0),
    )
    for array in choose_designs(workload(name), Edition.EXACT, None, workload(name).output.tensor)
]


def computed(name, stride, dataflow, sums, count):
    """Values that random arrays of random sizes and types compute."""
    for seed in range(count):
        draw = random.Random(seed)
        nest = workload(name)
        sizes = {
            loop: draw.choice([1, 3] if loop in nest.untiled else [4, 6, 7, 8])
            for loop in nest.loops
        }
        sized = nest.with_sizes(sizes | ({"s": stride} if stride else {}))
        array = derive(sized, dataflow, sized.output.tensor)
        design = SystolicDesign(sized, array, data_type(("fp32", "int8", "int16")[seed % 3]))
        for configuration in small_arrays(design, 1, seed):
            yield check_values(
                design,
                configuration,
                array_network(design, configuration, Machine(sums=sums)),
                sums,
            )


@pytest.mark.parametrize("sums", Sums)
@pytest.mark.parametrize(("name", "stride", "dataflow"), CASES)
def test_buildable_designs_compute_what_numpy_does(name, stride, dataflow, sums):
    kinds = set()
    for values in computed(name, stride, dataflow, sums, 3):
        assert not values.wrong
        assert values.result.any()
        kinds.add(values.exact)
        assert not values.exact or not values.allowed.any()
    assert kinds == {True, False}


def direct(name, t, stride):
    """The workload written out, from nothing but its definition."""
    if name == "mm":
        return t["A"] @ t["B"].T
    x, w = t["cin"], t["w"]
    p, q = w.shape[1:3] if name == "conv2d" else w.shape[:2]
    rows, columns = (x.shape[0] - p) // stride + 1, (x.shape[1] - q) // stride + 1
    found = 0
    for down in range(p):
        for right in range(q):
            part = x[
                down : down + stride * rows : stride, right : right + stride * columns : stride
            ]
            found = found + np.einsum("rci,oi->rco", part, w[:, down, right, :])
    return found


@pytest.mark.parametrize(
    ("name", "dataflow", "stride"),
    [("mm", ("i", "k"), 0), ("conv2d", ("o", "r"), 1), ("conv2d", ("c",), 2)],
)
def test_what_is_expected_is_the_workload_itself(name, dataflow, stride):
    for values in computed(name, stride, dataflow, Sums.FIRST, 4):
        tensors = {tensor: value.astype(np.float64) for tensor, value in values.tensors.items()}
        np.testing.assert_allclose(
            values.expected.astype(float), direct(name, tensors, stride), rtol=1e-9, atol=1e-9
        )


NEST = workload("mm", {"i": 12, "j": 12, "k": 8})
DESIGN = SystolicDesign(NEST, derive(NEST, ("i", "j"), "C"), data_type("int16"))
TILING = Tiling({"i": 6, "j": 6, "k": 4}, {"i": 2, "j": 2}, 2, {"A": 2, "B": 2, "C_drain": 2})
CONFIGURATION = DESIGN.configuration(TILING)
NETWORK = array_network(DESIGN, CONFIGURATION, Machine())


def wrong(network):
    return check_values(DESIGN, CONFIGURATION, network, Sums.FIRST).wrong


def rewired(name, change):
    """The network with the steps of some processes changed: those whose names begin so."""

    def changed(process):
        return (
            replace(process, steps=change(process.steps))
            if process.name.startswith(name)
            else process
        )

    return replace(NETWORK, processes=tuple(map(changed, NETWORK.processes)))


def renamed(names):
    """Loops with other FIFOs in the place of theirs."""

    def change(steps):
        def one(step):
            if isinstance(step, Repeat):
                return replace(step, body=change(step.body))
            if isinstance(step, Loop):
                reads, writes = (
                    tuple(names.get(fifo, fifo) for fifo in ends)
                    for ends in (step.reads, step.writes)
                )
                return replace(step, reads=reads, writes=writes)
            return step

        return tuple(map(one, steps))

    return change


def rest_first(steps):
    """Modules of a chain that pass on what is others' before they take or send their own."""
    (again,) = steps
    own = [step for step in again.body if not isinstance(step, Repeat)]
    rest = [step for step in again.body if isinstance(step, Repeat)]
    return (
        (replace(again, body=(*rest, *own)),)
        if len(own) == len(again.body) - 1 and len(own) < 3
        else steps
    )


def test_networks_wired_wrongly_are_caught():
    assert wrong(NETWORK) == 0
    # words for two PEs exchanged: at the first of two rows, and between neighbours that hand on
    first, second = "A into PE 0,0", "A into PE 1,0"
    assert (
        wrong(rewired("A_IO_L2_in", renamed({first: second, second: first}))) == (2 * 2 * 2) * 12
    )  # rows of two lanes in two tiles
    first, second = "B from PE 0,0", "B from PE 0,1"
    assert wrong(rewired("PE 1", renamed({first: second, second: first})))
    # drains exchanged
    first, second = "C_drain from PE 0,0", "C_drain from PE 2,1"
    assert (
        wrong(rewired("C_drain_IO_L1", renamed({first: second, second: first}))) == 2 * (2 * 2) * 4
    )  # two PEs, four tiles
    # a chain that drains from its end
    assert wrong(rewired("C_drain_IO_L2", rest_first))


def test_words_out_of_turn_are_caught():
    # the first module of a chain takes its own words last: all others get those of the one before
    # them
    def late(steps):
        (again,) = steps
        own, rest, swap = again.body
        return (replace(again, body=(rest, own, swap)),)

    assert wrong(rewired("A_IO_L2_in 0 fill", late)) > 100

    # PEs that let sums go a visit too early
    def early(steps):
        (rounds,) = steps
        whole, before, last, *blocks = rounds.body
        return (replace(rounds, body=(whole, last, before, *blocks)),)

    assert wrong(rewired("PE 1,1", early))


def test_networks_that_lose_words_are_refused():
    def short(steps):
        (again,) = steps
        return (replace(again, times=again.times - 1),)

    with pytest.raises(InputError, match="waits for ever"):
        wrong(rewired("B_IO_L3_in", short))
    with pytest.raises(InputError, match="is not empty at the end"):
        wrong(rewired("C_drain_IO_L3_out", short))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("values") / "result.json"
    solve("mm", i=16, j=16, k=16, dataflow="i,j").save(path)
    return path


def test_the_command_says_that_values_are_right(result):
    ran = ithaca("simulate", result, "--check-values")
    assert not ran.returncode, ran.stderr
    assert "all 256 values of C equal NumPy's up to rounding" in ran.stdout.splitlines()[-1]
    found = json.loads(ithaca("simulate", result, "--check-values", "--json").stdout)["simulation"][
        "values"
    ]
    assert found["elements"] == 256
    assert found["wrong"] == 0
    assert 0 < found["error"] <= found["allowed"] < 1e-4
    assert "values" not in simulate(result).document["simulation"]


def test_values_of_many_points_are_not_checked(tmp_path):
    (tmp_path / "points.csv").write_text("dataflow\n")
    ran = ithaca("simulate", "mm", "--points", tmp_path / "points.csv", "--check-values")
    assert ran.returncode == 2
    assert (
        ran.stderr
        == "ithaca: --check-values shows one run; allowed: with a result, without --points\n"
    )


def test_large_arrays_are_refused(tmp_path):
    solve("mm", i=256, j=256, k=256, dataflow="i,j", divisors_only=True, edition="exact").save(
        tmp_path / "large.json"
    )
    ran = ithaca("simulate", tmp_path / "large.json", "--check-values")
    assert ran.returncode == 2
    assert not ran.stdout
    assert ran.stderr.startswith("ithaca: --check-values: ")
    assert ran.stderr.endswith(" words move and multiply; allowed: at most 4,000,000\n")
    assert len(ran.stderr.splitlines()) == 1
