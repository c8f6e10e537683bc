"""Flow graphs of components, against figures worked out by hand, enumerations and simulations of
single cycles."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.flow.formulations.component import library
from ithaca.plugins.flow.formulations.graph import find_graph, graph_names
from ithaca.plugins.flow.formulations.run import run_graph
from tests.formulations.flows import (
    COPIES,
    DENSITY,
    RATE,
    STEPS,
    WINDOW,
    binomial,
    cycles_of,
    expected_most,
    parts,
    run,
    simulated,
    small,
    waiting,
)
from tests.refusals import refusals


def test_pipelined_components_take_the_longest_and_others_the_sum():
    beside = run(small())
    assert parts(beside) == {
        "buffer": (12, Fraction(3 * 128 * 5, 32)),
        "unit": (24, Fraction("76.8")),
    }
    assert (beside.cycles, beside.error, beside.draws) == (24, 0, 0)
    assert [part.name for part in beside.binding] == ["unit"]
    after = run(small(edges=[{"of": "buffer.out -> unit.in", "pipelined": False}]))
    assert after.cycles == 36
    assert parts(after) == parts(beside)
    assert after.energy == Fraction(60) + Fraction("76.8")


def test_intervals_follow_each_other_as_often_as_they_are_repeated():
    inputs = {"buffer.in": {"of": "x", "shape": ["n"], "steps": 1}}
    intervals = {
        "first": {"repeat": "2*n", "inputs": inputs},
        "then": {"inputs": {"unit.weights": {"of": "x", "shape": [5]}, **inputs}},
    }
    done = run(small(parameters={"n": 4}, intervals=intervals))
    assert done.cycles == 9 * 4
    assert run(small(parameters={"n": 4}, intervals=intervals), n=6).cycles == 13 * 6


@pytest.mark.parametrize("size", [0, 1, 64, 1000])
def test_a_dma_takes_291_cycles_and_0_24_a_byte(size):
    """Section 4.1.2 of the dissertation."""
    document = small(
        components={"dma": "dma"},
        edges=[],
        intervals={"move": {"inputs": {"dma.in": {"of": "x", "shape": [size, "1/2"]}}}},
    )
    assert run(document).cycles == 291 + Fraction("0.24") * size
    assert run(document).parts[0].energy == 0


#: A step of 96 values of 8 bits, a quarter of them not zero, positions of 4 bits: cycles.
ALONE = [
    ("dram", {}, 0),
    ("sram", {"width": 8, "ports": 2}, ceil(24 * 12 / 16)),
    ("mac", {"multipliers": 5}, ceil(24 / 5)),
    ("unicast", {"width": 16, "links": 2, "hops": 3}, 3 + 9),
    ("broadcast", {"width": 16, "destinations": 4}, 18),
    ("mesh", {"width": 16, "rows": 3, "columns": 4}, 5 + 18),
    ("crossbar", {"width": 16, "sources": 3, "destinations": 9}, 6),
    ("encode", {"rate": 10}, 10),
    ("decode", {"rate": 10}, 3),
    ("index", {"window": 8, "rate": 16}, 12),
    ("index", {"window": 256, "rate": 16}, 2),
    ("intersect", {"window": 16, "rate": 1}, 12),
    ("intersect", {"window": 16, "rate": 2}, 6),
    ("mux", {"cycles": 1}, 1),
    ("synchronise", {}, 0),
]


@pytest.mark.parametrize(("kind", "parameters", "cycles"), ALONE)
def test_components_alone(kind, parameters, cycles):
    inputs = {
        f"it.{port}": {"of": "x", "shape": [96]} for port in library().components[kind].inputs
    }
    if kind == "intersect":
        inputs["it.b"]["of"] = "y"
    tensor = {"density": 0.25, "zeros": "balanced", "bits": 8, "format": "coo-1d", "index": 4}
    document = small(
        tensors={"x": tensor, "y": tensor | {"density": "1/2"}},
        components={"it": {"of": kind, "parameters": parameters}},
        edges=[],
        intervals={"once": {"inputs": inputs}},
    )
    assert run(document).cycles == cycles


def test_every_component_and_format_is_tried_above_or_below():
    assert {kind for kind, *_ in ALONE} | {"dma"} == {*library().components}
    assert all(component.source for component in library().components.values())


@pytest.mark.parametrize(
    ("name", "bits"),
    [("dense", 96 * 8), ("bitmap", 24 * 8 + 96), ("coo-1d", 24 * 12), ("rlc", 24 * 12)]
    + [(name, 24 * 12 + 4 * 32) for name in ("csr", "csc")],
)
def test_formats_store_bits(name, bits):
    tensor = {"density": 0.25, "zeros": "balanced", "bits": 8, "index": 4, "rows": 3}
    document = small(
        tensors={"x": tensor | {"format": name}},
        components={"dram": {"of": "dram", "parameters": {"energy": 1}}},
        edges=[],
        intervals={"once": {"inputs": {"dram.in": {"of": "x", "shape": [96]}}}},
    )
    assert run(document).energy == bits


def test_a_mux_passes_bits_and_bursts_of_both():
    document = small(
        tensors={"x": {"bits": 8}, "y": {"bits": 16}},
        components={"both": "mux", "dma": {"of": "dma", "parameters": {"energy": 1}}},
        edges=["both.out -> dma.in"],
        intervals={
            "once": {
                "inputs": {
                    "both.a": {"of": "x", "shape": [10]},
                    "both.b": {"of": "y", "shape": [10], "bursts": 3},
                }
            }
        },
    )
    assert run(document).cycles == 4 * 291 + 30 * Fraction("0.24")
    assert run(document).energy == 240


def nested(**parameters):
    """Two groups of three units, which receive the same, and send all to one collector."""
    units = {
        "components": {"unit": {"of": "mac", "parameters": {"outputs": 2, **parameters}}},
        "copies": "m",
    }
    group = {"components": {"units": units}, "copies": 2}
    return small(
        parameters={"m": 3},
        components={
            "buffer": {"of": "sram", "parameters": {"width": 32}},
            "group": group,
            "collector": {"of": "sram", "parameters": {"width": 16}},
        },
        edges=[
            "buffer.out -> group.units.unit.in",
            {"of": "group.units.unit.out -> collector.in", "pipelined": False},
        ],
    )


def test_supernodes_in_supernodes():
    done = run(nested(multipliers=8))
    assert {part.name: part.copies for part in done.parts} == {
        "buffer": 1,
        "group.units.unit": 6,
        "collector": 1,
    }
    # 8 values for each unit in a cycle, 2 of each of 6 units for the collector, one after the other
    assert parts(done)["collector"] == (3 * 12, 3 * 12 * Fraction(16 * 5, 32))
    assert parts(done)["group.units.unit"] == (3, 6 * 24 * Fraction("3.2"))
    assert done.cycles == 3 * (1 + 12)
    assert run(nested(multipliers=8), m=1).cycles == 3 * (1 + 4)


@pytest.mark.parametrize("every", [1, 2, 4])
def test_copies_that_wait_take_the_expected_largest(every):
    """Chances of nonzeros in a window, of windows together, and of the largest of copies."""
    one = cycles_of(binomial(WINDOW, DENSITY), lambda count: max(ceil(count / RATE), 1))
    together = [1.0]
    for _ in range(every):
        together = list(np.convolve(together, one))
    expected = 5 * STEPS / every * expected_most(together, COPIES)
    done = run(waiting(every=every))
    assert done.draws == 4096
    assert 0 < done.error < 0.01 * expected
    assert abs(float(done.cycles) - expected) < 4 * done.error
    mean = 5 * STEPS * sum(cycles * chance for cycles, chance in enumerate(one))
    assert float(parts(done)["pe.index"][0]) == pytest.approx(mean, rel=0.01)
    assert "pe.wait" in [part.name for part in done.binding]


@pytest.mark.parametrize("room", [1, 2, 5])
def test_copies_with_queues_take_what_a_simulation_of_cycles_does(room):
    generator = np.random.default_rng(7)
    counts = generator.binomial(WINDOW, DENSITY, (400, STEPS, COPIES))
    works = np.maximum(-(-counts // RATE), 1)
    times = [5 * simulated(work.tolist(), room) for work in works]
    done = run(waiting(queue=room))
    spread = float(np.std(times) / len(times) ** 0.5)
    assert abs(float(done.cycles) - np.mean(times)) < 4 * (done.error + spread)


def test_a_queue_of_one_step_is_a_barrier_and_a_long_one_none():
    assert run(waiting(queue=1)).cycles == run(waiting(every=1)).cycles
    assert run(waiting(queue=STEPS)).cycles == run(waiting(every=STEPS)).cycles
    assert run(waiting(queue=1)).cycles > run(waiting(queue=2)).cycles


def test_zeros_that_copies_share_are_the_same_for_all():
    """Pairs in a window: of activations that all copies have, with weights of their own."""
    copies = {
        "copies": COPIES,
        "components": {
            "pairs": {"of": "intersect", "parameters": {"window": WINDOW, "rate": 1}},
            "wait": "synchronise",
        },
        "edges": ["pairs.out -> wait.in"],
    }
    document = small(
        tensors={"x": {"bits": 8, "density": 0.5}, "y": {"bits": 8, "density": 0.25}},
        components={"buffer": {"of": "sram", "parameters": {"width": 10**6}}, "pe": copies},
        edges=["buffer.out -> pe.pairs.a"],
        intervals={
            "all": {
                "inputs": {
                    "buffer.in": {"of": "x", "shape": [WINDOW]},
                    "pe.pairs.b": {"of": "y", "shape": [WINDOW]},
                }
            }
        },
    )
    expected = sum(
        chance * expected_most(cycles_of(binomial(count, 0.25), lambda n: max(n, 1)), COPIES)
        for count, chance in enumerate(binomial(WINDOW, 0.5))
    )
    done = run(document)
    assert abs(float(done.cycles) - expected) < 4 * done.error


def test_the_same_seed_draws_the_same():
    first, again, other = (run(waiting() | {"seed": seed}) for seed in (0, 0, 1))
    assert first == again
    assert first.cycles != other.cycles
    assert abs(first.cycles - other.cycles) < 4 * (first.error + other.error)


def test_graphs_that_come_with_ithaca():
    """Dense ones take what their multipliers do; PEs of Cambricon-X, whose listing is printed."""
    assert graph_names() == ("cambricon-s", "cambricon-x", "eie", "zena")
    assert repr(ithaca.list_graphs()[3]) == "<FlowGraph zena: 9 components>"
    with pytest.raises(InputError, match=r"unknown graph 'cambricon-q'; known: .*did you mean"):
        ithaca.evaluate("cambricon-q")
    with pytest.raises(InputError, match=r"unknown workload 'mmm'; known: .*did you mean mm"):
        ithaca.evaluate("mmm")
    for name, multipliers in (("cambricon-x", 256), ("cambricon-s", 256), ("eie", 64)):
        done = run_graph(find_graph(name), {"density": Fraction(1), "vectors": Fraction(64)})
        assert (done.cycles, done.error) == (3072 * 768 * 64 / multipliers, 0)
    zena = {"density": Fraction(1), "activations": Fraction(1), "rows": Fraction(28)}
    assert run_graph(find_graph("zena"), zena).cycles == 576 * 2 * ceil(196 / 12)
    of_x, eie = (run_graph(find_graph(name)).parts for name in ("cambricon-x", "eie"))
    listed = {part.name: part.copies for part in of_x}
    assert listed["pe.function_unit"] == listed["pe.index"] == 16
    assert [part.name for part in of_x if part.energy is None] == ["pe.index", "demux"]
    # a PE of EIE takes 9.157 mW at 800 MHz (its Table II)
    busy = next(part.cycles for part in eie if part.name == "pe.mac")
    energies = [part.energy for part in eie]
    assert None not in energies
    inside = sum(float(part.energy or 0) for part in eie if part.name.startswith("pe."))
    assert inside / 64 / float(busy) * 0.8 == pytest.approx(9.157, rel=0.001)


@pytest.mark.parametrize(
    ("kind", "parameters", "energy"),
    [
        ("unicast", {"width": 16, "links": 2, "hops": 3}, 2 * 18),
        ("broadcast", {"width": 16, "destinations": 4}, 4 * 2 * 18),
        ("mesh", {"width": 16, "rows": 3, "columns": 4}, Fraction(5, 2) * 2 * 18),
        ("crossbar", {"width": 16, "sources": 3, "destinations": 9}, 2 * 18),
    ],
)
def test_networks_take_two_picojoules_for_sixteen_bits(kind, parameters, energy):
    """dMazeRunner's e_NET; 288 bits are 18 words."""
    document = small(
        components={"it": {"of": kind, "parameters": parameters}},
        edges=[],
        intervals={"once": {"inputs": {"it.in": {"of": "x", "shape": [18]}}}},
    )
    assert run(document).energy == energy


def test_a_layer_of_bert_on_cambricon_x():
    """Windows of 256 for 16 multipliers, PEs that wait for each other after each, or after every
    output: 9,216 cycles without zeros, 738 at the peak (Figure 4.9)."""
    assert ceil(9216 * 0.08) == 738
    chances = cycles_of(binomial(256, 0.08), lambda count: max(ceil(count / 16), 1))
    for every in (1, 3):
        together = [1.0]
        for _ in range(every):
            together = list(np.convolve(together, chances))
        expected = 192 * 3 / every * expected_most(together, 16)
        done = run_graph(find_graph("cambricon-x"), {"every": Fraction(every)})
        waited = next(part for part in done.parts if part.component == "synchronise")
        assert float(waited.cycles) == pytest.approx(expected, rel=0.01)
        assert 7.6 < 9216 / float(waited.cycles) < 8.1


@pytest.mark.ci
@pytest.mark.parametrize(
    ("fields", "line"), refusals("formulations-flow", "graphs_that_name_nothing_are_refused")
)
def test_graphs_that_name_nothing_are_refused(fields, line):
    with pytest.raises(InputError) as error:
        find_graph(small(**fields))
    assert str(error.value).startswith("graph: ")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def numbers(**values):
    """The graph of `small` with parameters for all that is a number."""
    feed = {"of": "x", "shape": ["n"], "steps": "s", "bursts": "b"}
    pe = {
        "copies": "c",
        "components": {"wait": {"of": "synchronise", "parameters": {"every": "e"}}},
    }
    defaults = {"n": 8, "s": 2, "b": 1, "c": 2, "e": 1, "d": 0.5, "r": 1, "w": 32}
    return small(
        parameters=defaults | values,
        tensors={"x": {"bits": 16, "density": "d"}},
        components={"buffer": {"of": "sram", "parameters": {"width": "w"}}, "pe": pe},
        edges=["buffer.out -> pe.wait.in"],
        intervals={"all": {"repeat": "r", "inputs": {"buffer.in": feed}}},
    )


@pytest.mark.parametrize(
    ("name", "value", "line"),
    refusals("formulations-flow", "numbers_that_mean_nothing_are_refused"),
)
def test_numbers_that_mean_nothing_are_refused(name, value, line):
    assert run(numbers()).draws
    with pytest.raises(InputError) as error:
        run(numbers(**{name: value}))
    assert line in str(error.value)
    with pytest.raises(InputError, match="parameters: 'z' is unknown; allowed: n, s, b"):
        run(numbers(), z=1)


def test_what_divides_by_0_is_refused_where_it_cancels():
    """A drawn zero is seen where a minimum hides it, too."""
    own = {"of": {"cycles": "min(4/(in.items - 4), 3)*(in.items - 4)/(in.items - 4)"}}
    feed = {"of": "x", "shape": ["n"]}
    parts = {
        "library": own,
        "components": {"it": {"of": "of"}},
        "edges": [],
        "parameters": {"n": 8, "r": 3},
    }
    graph = small(**parts, intervals={"all": {"inputs": {"it.in": feed}}})
    assert run(graph).cycles == 1
    with pytest.raises(InputError, match="it divides by 0; allowed: other divisors"):
        run(graph, n=4)
    again = {"repeat": "r*(n - 8)/(n - 8)", "inputs": {"it.in": feed}}
    with pytest.raises(InputError, match="repeat divides by 0; allowed"):
        run(small(**parts, intervals={"all": again}))
    parts["library"] = {"of": {"cycles": "min(4/in.nonzeros, 3)"}}
    parts["tensors"] = {"x": {"bits": 8, "density": 0.1}}
    with pytest.raises(InputError, match="it divides by 0; allowed: other divisors"):
        run(small(**parts, intervals={"all": {"inputs": {"it.in": feed}}}))


def test_data_in_several_steps_do_not_meet():
    feed = {"of": "x", "shape": [4], "steps": 2}
    intervals = {"all": {"inputs": {"unit.weights": feed, "buffer.in": feed | {"steps": 3}}}}
    with pytest.raises(InputError, match="unit receives 2 and 3 steps; allowed: as many"):
        run(small(intervals=intervals))


def test_components_of_a_users_own():
    own = {
        "parameters": {"rate": 2},
        "outputs": {"odd": {"items": "in.items/2"}, "even": {"items": "in.items/2"}},
        "cycles": "ceil(in.items/rate) + odd.items",
        "energy": "even.items*3",
    }
    document = small(
        library={"split": own},
        components={"it": {"of": "split", "parameters": {"rate": 3}}},
        edges=[],
        intervals={"all": {"inputs": {"it.in": {"of": "x", "shape": [8], "steps": 2}}}},
    )
    done = run(document)
    assert (done.cycles, done.energy) == (2 * (3 + 4), 2 * 12)


def test_means_of_many_intervals_are_near_those_of_real_matrices():
    """Weights of 48 × 512 with zeros drawn one by one, each PE a row: every window counted."""
    generator, found = np.random.default_rng(3), []
    for _ in range(100):
        weights = generator.random((48, 512)) < 0.21
        counts = weights.reshape(3, 16, 2, 256).sum(-1)
        found.append(np.maximum(-(-counts // 16), 1).max(1).sum())
    given = {"rows": 48, "columns": 512, "density": Fraction("0.21"), "every": 1}
    done = run_graph(find_graph("cambricon-x"), {n: Fraction(v) for n, v in given.items()})
    waited = next(part for part in done.parts if part.component == "synchronise")
    assert float(waited.cycles) == pytest.approx(np.mean(found), rel=0.02)
