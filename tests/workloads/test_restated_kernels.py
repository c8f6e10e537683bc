"""The library's kernels restated by one's own statements: the same nest, the same answer."""

import json
import re

import pytest

import ithaca
from ithaca.solver.engines import Method
from ithaca.solver.portfolio import solve_designs
from ithaca.workloads.library import read_nest, workload, workload_names
from ithaca.workloads.networks.network import Layer, Network
from tests.command_line import succeed
from tests.studies.network.tiny import tiny_request

#: Extents that are solved at once.
SMALL = {"s": 1, "d": 1, "p": 2, "q": 2}


@pytest.mark.parametrize("name", workload_names())
def test_a_statement_of_the_library_is_the_librarys_nest(name):
    kernel = workload(name)
    nest = read_nest(kernel.template or str(kernel), kernel.settings)
    assert nest == kernel
    assert (nest.untiled, nest.simd, nest.loops) == (kernel.untiled, kernel.simd, kernel.loops)


@pytest.mark.parametrize("name", workload_names())
def test_other_names_have_the_same_space_and_optimum(name):
    kernel = workload(name).with_sizes(
        {loop: SMALL.get(loop, 4) for loop in workload(name).settings}
    )
    statement = kernel.template or str(kernel)
    names = {word: f"{word}x" for word in re.findall(r"[A-Za-z_]\w*", statement)}
    text = re.sub(r"[A-Za-z_]\w*", lambda word: names[word[0]], statement)
    own = read_nest(text, {names[n]: size for n, size in kernel.settings.items()})
    assert own.loops == tuple(names[loop] for loop in kernel.loops)
    assert own.untiled == {names[loop] for loop in kernel.untiled}
    assert own.simd == names[kernel.simd]
    answers = []
    for nest in (kernel, own):
        network = Network("one", (Layer("one", nest, 1, ("one",)),))
        problems = tiny_request(dataflow=nest.loops[:1]).pose(network)[0].problems
        found = solve_designs(problems, method=Method.EXACT)
        answers.append(
            [(s.value, s.certificate.nodes, len(s.problem.space.quantities)) for s in found]
        )
    assert answers[0] == answers[1]


CONV = "out[o,y,x] += image[c,2*y+r,2*x+t] * w[o,c,r,t]"
SIZES = {"o": 4, "y": 4, "x": 4, "c": 4, "r": 2, "t": 2}


def test_literal_strides_slide_windows_too():
    nest = ithaca.nest(CONV, sizes=SIZES)
    assert (nest.untiled, nest.simd) == ({"r", "t"}, "c")
    assert nest.loops == ("o", "y", "x", "c", "r", "t")
    assert ithaca.nest(CONV, sizes=SIZES, untiled=["t"]).untiled == {"t"}
    assert ithaca.nest(CONV, sizes=SIZES, untiled=[]).untiled == frozenset()


def test_windows_stay_tiled_where_nothing_else_could_be_vectorised():
    nest = ithaca.nest("y[i] += h[k] * x[i + k]", sizes={"i": 8, "k": 4})
    assert nest.untiled == frozenset()


def test_options_say_which_loops_are_untiled_and_vectorised():
    sizes = ",".join(f"{name}={n}" for name, n in SIZES.items())
    words = (CONV, "-s", sizes, "--dataflow", "o", "--edition", "exact")
    told = succeed("solve", *words)
    assert "r, t run inside PEs, c over SIMD lanes" in told.stdout
    kernel = json.loads(succeed("solve", *words, "--untiled", "t", "--simd", "c", "--json").stdout)[
        "workload"
    ]["kernel"]
    assert (kernel["untiled"], kernel["simd"]) == (["t"], "c")
    none = json.loads(succeed("solve", *words, "--untiled", "none", "--json").stdout)
    assert none["workload"]["kernel"]["untiled"] == []
