"""Programs of CP-SAT as text: with names, and of the optimum of enumeration."""

import re
from dataclasses import replace

import pytest

import ithaca
from ithaca.commands.api.loading import load
from ithaca.files.errors import InputError
from ithaca.plugins.cpsat.exports.folder import cpsat_text
from tests.command_line import succeed
from tests.exports.test_programs import MM, RULES


@pytest.mark.ci
def test_programs_of_cpsat_have_names(tmp_path):
    from google.protobuf import text_format
    from ortools.sat import cp_model_pb2
    from ortools.sat.python import cp_model

    result = tmp_path / "r.json"
    rules = [word for rule in RULES for word in ("--require", rule)]
    succeed("solve", *MM, "--limit", "dsp=200", *rules, "-o", str(result))
    succeed("export", str(result), "--to", "cpsat", "-o", str(tmp_path / "c"))
    text = (tmp_path / "c" / "model.pbtxt").read_text()
    proto = text_format.Parse(text, cp_model_pb2.CpModelProto())
    names = [variable.name for variable in proto.variables]
    assert not [name for name in names if re.fullmatch(r"(product|sum|maximum)\.\d+", name)]
    assert any(name.startswith("product(") for name in names)
    model = cp_model.CpModel()
    model.proto.parse_text_format(text)
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    assert solver.objective_value == pytest.approx(float(load(result).value))


def least_of_cpsat(solution):
    """The status and the value that CP-SAT finds for a program."""
    from ortools.sat.python import cp_model

    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    model.proto.parse_text_format(cpsat_text(solution))
    solver.parameters.num_workers = 1
    return solver.status_name(solver.solve(model)), solver.objective_value


def test_cpsat_minimises_the_objective():
    question = {"i": 3, "j": 2, "k": 2, "dataflow": "i,k", "edition": "odyssey"}
    for objective in ("latency", "latency/7 - dsp + 1/3"):
        best = ithaca.solve("mm", **question, objective=objective).best
        assert least_of_cpsat(best) == ("OPTIMAL", pytest.approx(float(best.value)))
    quotient = ithaca.solve("mm", **question, objective="latency/dsp").best
    assert least_of_cpsat(quotient) == ("OPTIMAL", pytest.approx(0))  # its excess over the optimum
    with pytest.raises(InputError, match="objective 'latency/dsp' is a quotient, which CP-SAT"):
        cpsat_text(replace(quotient, configuration=None, value=None))
