"""Ithaca in Python."""

import base64
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

import ithaca
from tests.command_line import ithaca as command
from tests.command_line import refused
from tests.refusals import refusals


def test_the_answer_is_that_of_the_command_line():
    found = ithaca.solve("mm", i=8, j=8, k=8, dataflow=["i", "j"], permutation="C")
    assert found.status == "optimal"
    assert found.value == found.lower_bound == found.best.metrics["latency"]
    words = ("mm", "-s", "i=8,j=8,k=8", "--dataflow", "i,j", "--permutation", "C", "--json")
    told = json.loads(command("solve", *words).stdout)
    assert found.document["best"]["metrics"] == told["best"]["metrics"]
    assert found.document["best"]["tiling"] == told["best"]["tiling"]


@pytest.mark.parametrize(
    ("given", "line"),
    refusals("python", "bad_input_names_the_keyword"),
)
def test_bad_input_names_the_keyword(given, line):
    with pytest.raises(ithaca.InputError) as error:
        ithaca.solve("mm", **given)
    assert str(error.value).startswith(line)


def test_bad_input_names_functions_that_list_what_there_is():
    with pytest.raises(ithaca.InputError, match=r"\(ithaca\.list_architectures\(\)\)$"):
        ithaca.map("mm", i=4, j=4, k=4)
    with pytest.raises(ithaca.InputError, match=r"^workload is .*\(ithaca\.list_workloads\(\)\)$"):
        ithaca.map(arch="simple")
    assert "ithaca list architectures" in refused("map", "mm", "-s", "i=4,j=4,k=4")


def test_limits_may_be_shares_or_lifted():
    found = ithaca.solve(
        "mm",
        i=8,
        j=8,
        k=8,
        platform="zcu102",
        dataflow="i,j",
        limit={"bram18k": "50%", "bandwidth": None},
    )
    assert {limit.metric: limit.bound for limit in found.best.problem.limits} == {
        "dsp": 1764,
        "bram18k": 912,
    }


@pytest.mark.parametrize(
    "statement", ["C[i,j] += A[i,k] * B[k,j]", "C[i][j] += A[i][k] * B[k][j]", "ik,kj->ij"]
)
def test_statements_are_workloads(statement):
    found = ithaca.solve(statement, i=8, j=4, k=2, dataflow="i,j")
    assert found.status == "optimal"
    nest = found.problem.design.nest
    assert nest.sizes == {"i": 8, "j": 4, "k": 2}
    assert [str(access) for access in nest.accesses] == ["A[i][k]", "B[k][j]", "C[i][j]"]


def test_names_that_only_multiply_are_parameters():
    statement = "out[n,r] += inp[r*s+p*d,c] * w[n,p,c]"
    found = ithaca.solve(statement, n=4, r=4, p=3, c=2, s=2, d=1, dataflow="n")
    nest = found.problem.design.nest
    assert nest.sizes == {"n": 4, "r": 4, "p": 3, "c": 2}
    assert dict(nest.parameters) == {"s": 2, "d": 1}
    with pytest.raises(
        ithaca.InputError,
        match="sizes of c, p, s are missing; allowed: those of all of n, r, c, p, d, s",
    ):
        ithaca.solve(statement, n=4, r=4, d=1)


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import ithaca
from ithaca.commands.api.live_line import LiveLine

def hit(self, index, progress):
    if progress.value is not None:
        for _ in range({times}):
            os.kill(os.getpid(), signal.SIGINT)

LiveLine.report = hit
before = signal.getsignal(signal.SIGTERM)
try:
    found = ithaca.solve("mm", i=1024, j=1024, k=1024, dataflow="i,j", permutation="C")
    print(found.status, found.lower_bound is not None, found.best is not None, found.best.certificate.termination.value)
except KeyboardInterrupt:
    print("raised")
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM) is before)
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("the next one is the caller's")
"""


@pytest.mark.parametrize(("times", "said"), [(1, "feasible True True interrupted"), (2, "raised")])
def test_ctrl_c_keeps_what_was_found_and_a_second_one_raises(times, said):
    script = INTERRUPTED.format(times=times)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.splitlines() == [said, "True True", "the next one is the caller's"], (
        done.stderr
    )
    assert not done.stderr


@pytest.fixture(scope="module")
def solved():
    return ithaca.solve("mm", i=16, j=16, k=16, edition="exact")


def test_tables_hold_what_solutions_state(solved):
    table, arrays = solved.to_dataframe(), solved.to_xarray()
    for solution in solved.designs:
        row = table.loc[solution.design]
        assert (row["value"], row["status"]) == (
            float(solution.value or 0),
            solution.certificate.status.value,
        )
        assert row["off_chip_words"] == float(solution.metrics["off_chip_words"])
        assert (
            row["t1.i"]
            == arrays["t1"].sel(design=solution.design, loop="i").item()
            == solution.tiling.array_part["i"]
        )
    assert arrays["latency"].attrs["units"] == "cycles"


def test_results_answer_like_functions(solved, tmp_path):
    path = tmp_path / "r.json"
    solved.save(path)
    again = ithaca.load(path)
    assert (again.status, again.value, again.best.tiling) == (
        solved.status,
        solved.value,
        solved.best.tiling,
    )
    of_file = [
        s.replace(f", as stated in {path}, not proven again", "")
        for s in ithaca.explain(path, quick=True).statements
    ]
    assert list(solved.explain(quick=True).statements) == of_file
    assert solved.verify(time_limit=20).confirmed
    grid = solved.grid(around=1)
    assert grid.best.value == float(solved.value)
    free = [name for name in grid.window.free if name.startswith(("t2.", "lanes."))]
    grid.plot(tmp_path / "around.svg", *free[:2])
    assert (tmp_path / "around.svg").stat().st_size > 1000
    with pytest.raises(ithaca.InputError, match=r"x is .nothing.; allowed: .* free in the grid"):
        grid.plot(tmp_path / "around.svg", "nothing", free[0])
    assert solved.export("timeloop", tmp_path / "t", nearest=True) == ithaca.export(
        path, "timeloop", tmp_path / "t", nearest=True
    )
    assert ithaca.evaluate(path).to_dataframe()["latency"].min() == float(solved.value)
    assert "16 seeds" in solved.seed("csv", tmp_path / "s.csv", count=16)
    with pytest.raises(
        ithaca.InputError,
        match=r"layer is 'fc'.* is no result of a network; allowed: without layer",
    ):
        solved.explain(layer="fc")


def test_notebooks_see_the_figures_and_the_array(solved):
    shown = solved._repr_html_()
    (image,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)
    drawing = ElementTree.fromstring(base64.b64decode(image))
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "PE 0,0" in {
        element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")
    }
    assert f"{int(solved.value):,}" in shown
    assert "Proven optimal" in shown
    assert len(repr(solved)) < 200
    none = ithaca.solve("mm", i=16, j=16, k=16, dataflow="i,j", limit={"dsp": 4})
    assert none.status == "infeasible"
    assert none.failure.startswith("infeasible: ")
    assert "infeasible" in none._repr_html_()


def test_the_live_line_of_notebooks_needs_no_widgets(monkeypatch):
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(("update", data["text/plain"]))

    def display(data, raw, display_id):
        shown.append(("display", data["text/plain"]))
        return Handle()

    shell = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel=None), display=SimpleNamespace(display=display)
    )
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", shell.display)
    monkeypatch.setattr("ithaca.commands.api.live_line.CELL_PERIOD", 0.0)
    ithaca.solve("mm", i=64, j=64, k=64, dataflow="i,j", permutation="C")
    assert [kind for kind, _ in shown] == ["display"] + ["update"] * (len(shown) - 1)
    assert "[i,j] C · incumbent" in shown[0][1]
    assert shown[-1] == ("update", "")


def test_what_is_varied_may_be_values_or_words():
    asked = {"i": 16, "j": 16, "k": 16, "dataflow": "i,j"}
    values = ithaca.whatif("mm", vary={"dsp": [40, 80.5], "dtype": ["fp32", "int8"]}, **asked)
    words = ithaca.whatif("mm", vary=["dsp=40,80.5", "dtype=fp32,int8"], **asked)
    assert [p.answer.value for p in values.points.values()] == [
        p.answer.value for p in words.points.values()
    ]
    assert values.status == "optimal"
    assert list(values.to_dataframe().index.names) == ["dsp_limit", "dtype"]
    with pytest.raises(ithaca.InputError, match="vary 'i' is fixed by another option, too"):
        ithaca.whatif("mm", vary={"i": [1, 2]}, **asked)


def test_searches_run_in_threads_of_the_host():
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(ithaca.solve, "mm", i=n, j=8, k=8, dataflow="i,j") for n in (8, 16)]
        assert [answer.result().status for answer in found] == ["optimal", "optimal"]


PLAIN = """
import ithaca
print("begins")
one = ithaca.solve("mm", i=8, j=8, k=8, divisors_only=True, threads=2)
print(one.status, int(one.value))
front = ithaca.pareto("mm", i=2, j=2, k=2, divisors_only=True, objectives="latency,dsp", threads=2)
print(front.status)
"""

KEPT = """
import os, signal
import ithaca
from ithaca.commands.api.live_line import LiveLine

hits = []

def hit(self, index, progress):
    if progress.value is not None and not hits:
        hits.append(index)
        os.kill(os.getpid(), signal.SIGINT)

LiveLine.report = hit
found = ithaca.solve("mm", i=1024, j=1024, k=1024, threads=2)
ends = {each.certificate.termination.value for each in found.designs}
print(found.status, found.lower_bound is not None, *sorted(ends & {"interrupted"}))
"""

LOCAL = """
import ithaca
print("begins")
found = ithaca.network("bert-base", layers=["*query*"], sequence=8, hidden=8, heads=2, feed_forward=8,
                       divisors_only=True, limit={"dsp": 40}, scheduler="local")
print(found.status)
"""


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (PLAIN, "begins\noptimal 55\noptimal\n"),
        (KEPT, "feasible True interrupted\n"),
        (LOCAL, "begins\noptimal\n"),
    ],
    ids=["threads", "interrupted", "cluster"],
)
def test_scripts_need_no_guard_for_threads(script, said, tmp_path):
    path = tmp_path / "plain.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, path], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_the_names_of_ithaca_are_those_that_are_public():
    assert dir(ithaca) == sorted(ithaca.__all__)
    assert {"Architecture", "HardwareSpace", "Network"} <= {*dir(ithaca)}
    stub, page = (
        (Path(ithaca.__file__).parent / name).read_text()
        for name in ("__init__.pyi", "docs/python.md")
    )
    for name in ("Architecture", "HardwareSpace", "LoopNest", "Network", "Platform"):
        assert getattr(ithaca, name).__doc__
        assert f"import {name} as {name}\n" in stub
        assert f"::: ithaca.{name}\n" in page


@pytest.mark.parametrize("name", [None, "front.png", "front.html"])
def test_plots_are_charts(name, tmp_path):
    front = ithaca.pareto("mm", i=2, j=2, k=2, dataflow="i,j", objectives="latency,dsp")
    plot = front.plot(None if name is None else tmp_path / name)
    points = plot.specification["data"]["values"]
    known = {(float(point.values[0]), float(point.values[1])) for point in front.points}
    assert {(row["x"], row["y"]) for row in points} == known
    assert [path.name for path in tmp_path.iterdir()] == ([] if name is None else [name])


def test_progress_is_heard_until_the_end():
    heard = []
    found = ithaca.solve("mm", i=16, j=16, k=16, divisors_only=True, progress=heard.append)
    values = [state.value for state in heard if state.value is not None]
    assert values == sorted(values, reverse=True)
    last = heard[-1]
    assert (last.value, last.lower_bound, last.done, last.total) == (found.value, found.value, 6, 6)
    seconds = [state.seconds for state in heard]
    assert seconds == sorted(seconds)
    for state in heard:
        assert state.lower_bound is None or state.lower_bound <= found.value
        assert state.value is None or state.value >= found.value


# processes report ten times a second: of a product of 1024 two of them may be done before
@pytest.mark.parametrize(
    ("threads", "size"), [(1, 1024), pytest.param(2, 16384, marks=pytest.mark.ci)]
)
@pytest.mark.parametrize("error", [False, True])
def test_who_hears_of_progress_may_end_the_search(error, threads, size, capsys):
    def enough(state):
        if error and state.value is not None:
            raise ValueError("enough")
        return state.value is not None

    answer = ithaca.solve("mm", i=size, j=size, k=size, progress=enough, threads=threads)
    assert answer.status == "feasible"
    assert answer.best is not None
    ends = {solution.certificate.termination for solution in answer.designs}
    assert "interrupted" in {end.value for end in ends if end is not None}
    said = "ithaca: progress raised ValueError: enough; the search ends with what it has\n"
    assert capsys.readouterr().err == (said if error else "")
    # the next search is not ended
    assert ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True).status == "optimal"


@pytest.mark.parametrize(
    "search",
    [
        lambda hear: ithaca.map("mm", i=8, j=8, k=8, arch="simple", progress=hear),
        lambda hear: ithaca.whatif("mm", i=8, j=8, k=8, vary={"dsp": [20, 40]}, progress=hear),
        lambda hear: ithaca.pareto(
            "mm", i=4, j=4, k=4, dataflow="i", objectives="latency,dsp", progress=hear
        ),
        lambda hear: ithaca.network(
            "bert-base", layers=["*query*"], arch="simple", sequence=8, progress=hear
        ),
    ],
)
def test_every_search_tells_of_its_progress(search):
    heard = []
    search(heard.append)
    assert heard
    assert all(state.doing for state in heard)
    with pytest.raises(ithaca.InputError, match="progress is 3; allowed: a function"):
        search(3)


def public_functions():
    return {
        name: getattr(getattr(ithaca, name), name, getattr(ithaca, name))
        for name in ithaca.__all__
        if hasattr(getattr(getattr(ithaca, name), name, getattr(ithaca, name)), "__signature__")
    }


def test_docstrings_speak_of_keywords_not_of_options():
    functions = public_functions()
    assert {"solve", "network", "export", "refine"} <= functions.keys()
    for name, function in functions.items():
        assert not re.search(r"--[a-z]|(?<![\w.`])ithaca [a-z]+ ", function.__doc__), name


@pytest.mark.ci
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"gap": True}, "gap is True; allowed: "),
        ({"threads": False}, "threads is False; allowed: "),
        ({"limit": (1, 2)}, "limit is a tuple; allowed: "),
        ({"dataflow": b"i"}, "dataflow is a bytes; allowed: "),
        ({"uram": "yes"}, "uram is 'yes'; allowed: bool"),
        ({"time_limit": float("nan")}, "time_limit is 'nan'; allowed: "),
    ],
)
def test_what_a_keyword_cannot_be_is_refused_by_its_name(wrong, said):
    with pytest.raises(ithaca.InputError) as refused:
        ithaca.solve("mm", i=4, j=4, k=4, **wrong)
    assert str(refused.value).startswith(said)


@pytest.mark.ci
def test_checks_and_words_are_one_line_in_python():
    result = ithaca.solve("mm", i=4, j=4, k=4, dataflow="i,j", divisors_only=True)
    assert repr(result.verify()) == "<Verification: confirmed; print says more>"
    assert "\n" not in repr(result.explain(quick=True))
    assert repr(result.explain(quick=True)).startswith("<Words: Result: mm (i=4, j=4, k=4)")


@pytest.mark.parametrize(
    ("function", "workload", "wrong", "meant"),
    [
        (ithaca.solve, "mm", {"time_limt": 5}, "time_limit"),
        (ithaca.network, "vgg16", {"time_limt": 5}, "time_limit"),
        (ithaca.solve, "mm", {"divisor_only": True}, "divisors_only"),
        (ithaca.seed, "mm", {"tool": "csv"}, "to"),
    ],
)
def test_the_keyword_that_is_meant_is_named(function, workload, wrong, meant):
    extents = {} if workload == "vgg16" else {"i": 4, "j": 4, "k": 4}
    with pytest.raises((ithaca.InputError, TypeError)) as refused:
        function(workload, **extents, **wrong)
    assert "\n" not in str(refused.value)
    assert f"'{meant}'" in str(refused.value) or str(refused.value).endswith(
        (
            f"did you mean {meant}?",
            f"such as {meant}",
        )
    )
