"""Designs as programs: exact at every point, solved elsewhere to the proven value, read back."""

import random
import re
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pyomo.environ as pyo
import pytest
from latex2mathml.converter import convert

import ithaca
from ithaca.commands.api.loading import load
from ithaca.exports.programs.folder import program_texts, pyomo_text
from ithaca.exports.programs.formulas import PYTHON, functions_text, latex_text
from ithaca.exports.programs.integer import integer_model, set_configuration
from ithaca.exports.programs.solutions import _of_file
from ithaca.files.errors import InputError
from ithaca.formulations.algebra.expression import (
    Maximum,
    Symbol,
    add,
    as_expression,
    multiply,
)
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.problem import Limit
from ithaca.workloads.library import workload
from tests.command_line import refused, succeed
from tests.problems import mm_problem
from tests.whole_spaces import some_row, tables_of

MM = ("mm", "-s", "i=6,j=5,k=4", "--dataflow", "i,j", "--permutation", "C")
RULES = ("lanes.i >= lanes.j", "words.A <= 4000")
FORMATS = ("nl", "gams", "bar", "lp", "mps")


def problem(edition="cycle", dataflow=("i", "j"), dsp="400"):
    rules = tuple(Limit(rule, Fraction(0)) for rule in RULES)
    return mm_problem((12, 7, 9), dataflow, edition=edition, dsp=dsp, more_limits=rules)


def points(problem, count, seed=1):
    """Random points of the space, legal or not, by the rows of its axes."""
    draw, tables = random.Random(seed), tables_of(problem.space)
    return [some_row(tables, draw.randrange) for _ in range(count)]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "r.json"
    rules = [word for rule in RULES for word in ("--require", rule)]
    succeed("solve", *MM, "--limit", "dsp=200", *rules, "-o", str(path))
    return path


@pytest.mark.ci(every=6)
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("dataflow", [("i", "j"), ("i", "k"), ("k",)])
def test_models_are_exact_at_feasible_points(dataflow, linear):
    """Every constraint holds there, and every expression has the value of the reference."""
    own = problem(dataflow=dataflow)
    model = integer_model(own, linear=linear, metrics=() if linear else None)
    feasible = [Configuration(own.space.completed(c)) for c in points(own, 600)]
    feasible = [(c, v) for c in feasible if (v := own.feasible_value(c)) is not None]
    assert len(feasible) >= 5
    for configuration, value in feasible[:8]:
        set_configuration(model, configuration)
        for rule in model.component_data_objects(pyo.Constraint):
            body = pyo.value(rule.body)
            room = 1e-6 * max(1, abs(body))
            assert rule.lower is None or body >= pyo.value(rule.lower) - room, rule.name
            assert rule.upper is None or body <= pyo.value(rule.upper) + room, rule.name
        for variable in model.component_data_objects(pyo.Var):
            assert variable.lb is None or variable.value >= variable.lb - 1e-9, variable.name
            assert variable.ub is None or variable.value <= variable.ub + 1e-9, variable.name
        assert pyo.value(model.objective) == pytest.approx(float(value), rel=1e-9)
        for name, number in {} if linear else own.metrics(configuration).items():
            assert pyo.value(model.component(name)) == pytest.approx(float(number), rel=1e-9)


@pytest.mark.ci
@pytest.mark.parametrize("more", [{}, {"require": ["lanes.i == 2*lanes.j"]}])
def test_models_are_solved_to_the_proven_value(more):
    """CP-SAT by another way: from Pyomo, by what names and numbers the model has."""
    question = {"dataflow": "i,j", "permutation": "C", "edition": "exact", "limit": {"dsp": 40}}
    small = ["t1.i <= 4", "t1.j <= 4", "t1.k <= 4", *more.get("require", [])]
    model = ithaca.model("mm", i=3, j=2, k=2, **question, require=small)
    answer = ithaca.solve("mm", i=3, j=2, k=2, **question, require=small)
    assert ithaca.solve_pyomo(model).value == answer.value
    (read,) = ithaca.evaluate(answer, points=model).rows
    assert read["valid"]
    assert read["metrics"]["latency"] == answer.value
    assert ithaca.solve("mm", i=3, j=2, k=2, **question, start=model).best.configuration


@pytest.mark.parametrize("edition", [pytest.param("cycle", marks=pytest.mark.ci), "odyssey"])
def test_functions_are_the_cost_model(edition):
    """At 1,000 points of the space, and at points outside of it."""
    own = problem(edition)
    names = {}
    exec(functions_text(own), names)
    wrong = random.Random(2)
    for place, row in enumerate(points(own, 1000 if edition == "cycle" else 100)):
        if place % 10 == 0:
            row[wrong.choice([*row])] += 1
        configuration = Configuration(row)
        feasible = own.feasible_value(configuration)
        assert (feasible is None) == bool(names["broken"](row))
        assert names["objective"](row) == own.value(configuration)
        if place < 100:
            assert names["metrics"](row) == own.metrics(configuration)


def test_latex_states_every_quantity_limit_and_metric():
    own = problem()
    formulas = re.findall(r"\\begin\{dmath\*\} (.*) \\end\{dmath\*\}", latex_text(own))
    for formula in formulas:
        assert "merror" not in convert(formula)
    text = "\n".join(formulas)
    assert text.count(r"\in \{") == len(own.space.quantities)
    assert r"\mathrm{lanes}_{\mathrm{i}}" in text
    assert r"\mathrm{dsp} \le 400" in text
    assert any(formula.startswith(r"\mathrm{latency} =") for formula in formulas)


@pytest.mark.parametrize("to", FORMATS)
def test_written_programs_name_quantities(to, result, tmp_path):
    succeed("export", str(result), "--to", to, "-o", str(tmp_path / to))
    files = {path.suffix: path.read_text() for path in (tmp_path / to).iterdir()}
    text = files[".col"] if to == "nl" else files[{"gams": ".gms"}.get(to, f".{to}")]
    for name in load(result).best.configuration:
        kind, owner = name.split(".")
        assert re.search(rf"\b{kind}[\[(_]{owner}[\])_]", text), name
    assert "export" not in files[".md"]
    assert "[i,j] C" in files[".md"]


def test_a_written_pyomo_model_is_the_model(result, tmp_path):
    succeed("export", str(result), "--to", "pyomo", "-o", str(tmp_path / "p"))
    names = {}
    exec((tmp_path / "p" / "model.py").read_text(), names)
    built, best = names["build"](), load(result).best
    own = integer_model(best.problem)
    set_configuration(own, best.configuration)
    for variable in own.component_data_objects(pyo.Var):
        built.find_component(variable.name).set_value(variable.value)
    assert pyo.value(built.objective) == best.value
    assert pyo.value(built.dsp) == best.metrics["dsp"]
    assert len([*built.rule]) == len([*own.rule])


def test_programs_of_a_question_are_those_of_its_designs(tmp_path):
    """Unsolved, each with a name of its own, and with the value of its proven optimum there."""
    rules = [word for rule in RULES for word in ("--require", rule)]
    words = (*MM[:3], "--limit", "dsp=200", *rules)
    line = succeed("programs", *words, "--to", "python", "-o", str(tmp_path / "p")).stdout
    assert "the 6 programs of the question, unsolved" in line
    solved = ithaca.solve("mm", i=6, j=5, k=4, limit="dsp=200", require=list(RULES))
    assert len(solved.designs) == 6
    for own in solved.designs:
        folder = tmp_path / "p" / "_".join(re.findall(r"\w+", own.design))
        assert "It is not solved." in (folder / "README.md").read_text()
        names = {}
        exec((folder / "model.py").read_text(), names)
        assert names["objective"](own.configuration) == own.value
    refusal = refused("programs", *words, "--to", "autosa", "-o", str(tmp_path / "a"))
    assert "--to is 'autosa'; allowed: pyomo, nl, lp" in refusal


@pytest.mark.parametrize("kernel", ["mttkrp", "ttmc"])
def test_what_can_be_one_value_alone_is_a_number_in_linear_programs(kernel, tmp_path):
    sizes = ",".join(f"{loop}=4" for loop in workload(kernel).loops)
    succeed("programs", kernel, "-s", sizes, "--to", "mps", "-o", str(tmp_path / "out"))
    assert len([*(tmp_path / "out").glob("*/*.mps")]) >= 5


@pytest.mark.parametrize("to", ["nl", "lp"])
def test_programs_of_tensors_of_different_formats_are_written(to, tmp_path):
    """Packs of whole packages divide largest values, which are stated first."""
    words = ("mm", "-s", "i=16,j=16,k=16", "--dataflow", "i,j", "--format", "W=int4,A=int8")
    succeed("programs", *words, "--limit", "dsp=32", "--to", to, "-o", str(tmp_path / "out"))
    assert [*(tmp_path / "out").glob(f"*/*.{to}")]


@pytest.mark.ci
def test_programs_of_parts_and_of_extremes_within_quotients_are_written():
    """The total of a metric beside one part of it; a ratio whose dividend has a maximum."""
    rule = {"require": ["bram18k.A_IO_L2_in <= 40"]}
    own = ithaca.solve("mm", i=3, j=2, k=2, dataflow="i,j", permutation="C", **rule).best
    names = {}
    exec(pyomo_text(own.problem), names)
    assert len(names["build"]().bram18k) == 2
    most = ithaca.solve("mm", i=2, j=2, k=2, dataflow="i,k", objective="throughput").best
    assert "ENDATA" in program_texts(most, "mps")["model.mps"]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "to"), [("pyscipopt", "nl"), ("highspy", "lp")])
def test_other_solvers_come_to_the_proven_value(solver, to, result, tmp_path):
    package = pytest.importorskip(solver)
    succeed("export", str(result), "--to", to, "-o", str(tmp_path / to))
    path, solution = tmp_path / to / f"model.{to}", tmp_path / "s.sol"
    value = load(result).value
    if solver == "pyscipopt":
        model = package.Model()
        model.hideOutput()
        model.readProblem(str(path))
        model.optimize()
        assert model.getObjVal() == pytest.approx(float(value), abs=1e-3)
        model.writeBestSol(str(solution))
    else:
        model = package.Highs()
        model.setOptionValue("output_flag", False)
        model.readModel(str(path))
        model.run()
        assert model.getInfo().objective_function_value == pytest.approx(float(value), abs=1e-3)
        model.writeSolution(str(solution), 0)
    printed = succeed("evaluate", str(result), "--points", str(solution)).stdout
    assert "yes" in printed
    assert f" {value} " in printed


def test_solutions_are_read_back(result, tmp_path):
    best = load(result).best
    lines = [f"{name.replace('.', '(')})  {n}.0000001" for name, n in best.configuration.items()]
    path = tmp_path / "s.sol"
    path.write_text("objective value: 3\n" + "\n".join(lines))
    assert "yes" in succeed("evaluate", str(result), "--points", str(path)).stdout
    succeed("solve", *MM, "--limit", "dsp=200", "--start", str(path))
    for form in ("     7 {0}  {1}  0", '<variable name="{0}" index="1" value="{1}"/>', "{0} = {1}"):
        path.write_text("\n".join(form.format(*line.split()) for line in lines))
        assert "yes" in succeed("evaluate", str(result), "--points", str(path)).stdout
    path.write_text("\n".join(lines[1:]))
    name = next(iter(best.configuration))
    refusal = refused("evaluate", str(result), "--points", str(path))
    assert f"has no value of {name}; allowed: one of each quantity" in refusal
    path.write_text("\n".join([lines[0].replace(".0000001", ".5"), *lines[1:]]))
    assert "allowed: a whole number" in refused("solve", *MM, "--start", str(path))
    for more in (lines[0].replace(".0000001", "1"), lines[0].replace(".0000001", "e999")):
        path.write_text("\n".join([*lines, more]))
        assert f"has several values of {name}" in refused("solve", *MM, "--start", str(path))
    path.write_text("\n".join([lines[0].replace(".0000001", "e999"), *lines[1:]]))
    assert "is inf; allowed: a whole number" in refused("solve", *MM, "--start", str(path))
    path.write_text("nothing")
    assert "no lines of a name and a value" in refused("solve", *MM, "--start", str(path))


@pytest.mark.parametrize("unit", ["\n", " ", 'name="a" ', "<", "a", "1", "a ", "** ", "a="])
def test_a_solution_is_read_in_time_of_its_size(unit, tmp_path):
    """Blank lines of 64 KiB took minutes."""
    path = tmp_path / "s.sol"
    path.write_text(f"a{unit * (2**18 // len(unit))}!")
    began = time.process_time()
    with suppress(InputError):
        list(_of_file(path))
    assert time.process_time() - began < 3


def test_refusals(result):
    with pytest.raises(InputError, match="there are 6 designs"):
        ithaca.model("mm", i=4, j=4, k=4)
    with pytest.raises(InputError, match="linear does not go with relaxed"):
        ithaca.model("mm", i=4, j=4, k=4, dataflow="i,j", linear=True, relaxed=True)
    big = {"dataflow": "i,j", "permutation": "C", "objective": "latency*dsp*bram18k"}
    with pytest.raises(InputError, match="too large for a linear program"):
        ithaca.model("mm", i=4096, j=4096, k=4096, linear=True, **big)


def test_relaxed_programs():
    model = ithaca.model("mm", i=8, j=8, k=8, dataflow="i,j", permutation="C", relaxed=True)
    assert {*model.y} >= {"t2.i", "lanes.i", "pack.A"}
    assert Path(model.name)


def test_a_sum_that_is_subtracted_has_brackets():
    x, y = Symbol("x"), Symbol("y")
    nested = Maximum((x - multiply(-1, add(y, 10)) * -1, as_expression(0)))
    text = PYTHON.text(nested, {})
    assert eval(text, {"Fraction": Fraction, "x": 20, "y": 3}) == 7, text
