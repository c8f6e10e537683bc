"""Mappings as programs: exact at every point, solved elsewhere to the proven value, read back."""

import pyomo.environ as pyo
import pytest

import ithaca
from ithaca.exports.programs.formulas import functions_text
from ithaca.exports.programs.integer import integer_model, set_configuration
from ithaca.formulations.configuration import Configuration
from tests.command_line import succeed
from tests.exports.test_programs import FORMATS, points
from tests.plugins.cpsat.test_programs import least_of_cpsat

MM = {"i": 3, "j": 2, "k": 4}

#: Architectures with their editions.
KINDS = [
    ("simple", "timeloop"),
    pytest.param("simple", "uneven", marks=pytest.mark.slow),
    ("dmazerunner-256", "dmazerunner"),
    ("explainable-edge", "explainable"),
    ("hasco-gemm", "intrinsic"),
]


@pytest.mark.ci(every=2)
@pytest.mark.parametrize(("architecture", "edition"), KINDS)
def test_programs_of_mappings_are_exact(architecture, edition):
    """At feasible points every constraint holds and the objective is the model's; functions tell
    which points are feasible."""
    more = {} if edition == "intrinsic" else {"divisors_only": True}
    own = ithaca.map("mm", **MM, arch=architecture, edition=edition, **more).best.problem
    functions, program, feasible = {}, integer_model(own, metrics=()), 0
    exec(functions_text(own), functions)
    for row in points(own, 40):
        configuration = Configuration(own.space.completed(row))
        value = own.feasible_value(configuration)
        assert (value is None) == bool(functions["broken"](row))
        if value is None or feasible == 4:
            continue
        feasible += 1
        assert functions["objective"](row) == value
        set_configuration(program, configuration)
        assert pyo.value(program.objective) == pytest.approx(float(value), rel=1e-9)
        for rule in program.component_data_objects(pyo.Constraint):
            body = pyo.value(rule.body)
            room = 1e-6 * max(1, abs(body))
            assert rule.lower is None or body >= pyo.value(rule.lower) - room, rule.name
            assert rule.upper is None or body <= pyo.value(rule.upper) + room, rule.name
    assert feasible == 4


@pytest.mark.ci
def test_mappings_are_exported_and_read_back(tmp_path):
    path = tmp_path / "r.json"
    words = ("mm", "-s", "i=2,j=2,k=2", "--arch", "simple", "--divisors-only")
    succeed("map", *words, "--objective", "latency", "-o", str(path))
    result = ithaca.load(path)
    for to in (*FORMATS, "pyomo", "python", "latex", "cpsat"):
        succeed("export", str(path), "--to", to, "-o", str(tmp_path / to))
    assert least_of_cpsat(result.best) == ("OPTIMAL", pytest.approx(float(result.value)))
    line = succeed("programs", *words, "--to", "nl", "-o", str(tmp_path / "unsolved")).stdout
    assert "the 1 program of the question, unsolved" in line
    names = {}
    exec((tmp_path / "pyomo" / "model.py").read_text(), names)
    built, own = names["build"](), integer_model(result.best.problem)
    set_configuration(own, result.best.configuration)
    for variable in own.component_data_objects(pyo.Var):
        built.find_component(variable.name).set_value(variable.value)
    assert pyo.value(built.objective) == result.value
    for form in ("{}['{}']", "{}(_{}_)"):  # of names as solvers of .nl and .mps write them
        lines = (
            f"{form.format(*name.split('.', 1))} {value}"
            for name, value in result.best.configuration.items()
        )
        (tmp_path / "s.sol").write_text("\n".join(lines))
        printed = succeed("evaluate", str(path), "--points", str(tmp_path / "s.sol")).stdout
        assert "yes" in printed
