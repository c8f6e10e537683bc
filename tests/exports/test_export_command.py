"""``ithaca export`` for every target: from a result file to a folder."""

from fractions import Fraction

import pytest

from ithaca.commands.api.exporting import export as export_result
from ithaca.exports.configuration import TARGETS as EVERY
from ithaca.files.errors import InputError
from ithaca.files.writing import document_text
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.results.files import result_document
from ithaca.solver.conclusion import conclude
from ithaca.solver.result import Result
from ithaca.solver.solution import best_solution, make_solution
from ithaca.workloads.library import workload
from tests.command_line import refused, succeed
from tests.refusals import refusals

#: Those for arrays.
TARGETS = [name for name, tool in EVERY.items() if tool.family == "systolic"]
CONV = {"o": 6, "r": 5, "c": 7, "i": 8, "p": 3, "q": 4}
PROGRAMS = {
    "pyomo": {"model.py"},
    "nl": {"model.nl", "model.col", "model.row"},
    "lp": {"model.lp"},
    "mps": {"model.mps"},
    "gams": {"model.gms"},
    "bar": {"model.bar"},
    "cpsat": {"model.pbtxt"},
    "latex": {"model.tex"},
    "python": {"model.py"},
}
FILES = {
    **{target: {"README.md", *names} for target, names in PROGRAMS.items()},
    "autosa": {
        "README.md",
        "autosa_command.sh",
        "check.py",
        "expected.json",
        "kernel.c",
        "mend.py",
        "simd_info.json",
    },
    "timeloop": {"README.md", "architecture.yaml", "mapping.yaml", "problem.yaml"},
    "scalesim": {"README.md", "layout.csv", "scale.cfg", "topology.csv"},
    "rtl": {
        "README.md",
        "array.sv",
        "array_pe.sv",
        "bench",
        "bench.sv",
        "expected.json",
        "hardware.json",
        "library",
        "simulate.sh",
        "synthesize.tcl",
        "synthesize.ys",
        "vectors",
    },
}


def result_file(folder, name, sizes, *dataflows, found=True):
    """A result of one configuration per dataflow, or of none as if the search had ended too
    early."""
    nest, data, objective = workload(name, sizes), data_type("int16"), parse_objective("latency")
    limits = (Limit("dsp", Fraction(8601)),)
    solutions = []
    for dataflow in dataflows:
        array = derive(nest, tuple(dataflow), nest.output.tensor)
        packs = {group.name: 2 for group in array.packed_groups}
        tiling = Tiling(
            dict.fromkeys(nest.band, 4), dict.fromkeys(array.latency_hiding_loops, 2), 2, packs
        )
        problem = Problem(SystolicDesign(nest, array, data), limits, objective)
        configuration = systolic(problem).configuration(tiling) if found else None
        value = problem.value(configuration) if configuration else None
        solutions.append(
            make_solution(problem, configuration, conclude(value, Fraction(1), method="exact"))
        )
    result = Result("u250", best_solution(solutions), tuple(solutions))
    path = folder / "result.json"
    path.write_text(document_text(result_document(result)))
    return path


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("name", "sizes", "dataflow"), [("mm", {"i": 9, "j": 9, "k": 9}, "ij"), ("conv2d", CONV, "oi")]
)
def test_every_target_takes_both_kernels(target, name, sizes, dataflow, tmp_path):
    path = result_file(tmp_path, name, sizes, dataflow)
    said = export_result(path, target, tmp_path / "out")
    design = f"[{','.join(dataflow)}] {workload(name).output.tensor}"
    what = f"design {design}, the result's best configuration"
    what = f"the program of design {design}" if target in PROGRAMS else what
    assert said == f"wrote {tmp_path / 'out'}: {what}"
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == FILES[target]


def test_existing_folders_keep_their_other_files(tmp_path):
    path = result_file(tmp_path, "mm", {"i": 9, "j": 9, "k": 9}, "ij")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    for target in TARGETS:
        export_result(path, target, tmp_path / "out")
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {"mine"}.union(
        *(FILES[target] for target in TARGETS)
    )
    assert not list(tmp_path.glob(".ithaca*"))


def test_results_without_a_configuration_are_refused(tmp_path):
    empty = result_file(tmp_path, "mm", {"i": 9, "j": 9, "k": 9}, "ij", found=False)
    with pytest.raises(InputError, match="holds no configuration"):
        export_result(empty, "autosa", tmp_path / "out")
    for target in {"timeloop", "scalesim"} & {*TARGETS}:
        with pytest.raises(InputError, match="holds no configuration"):
            export_result(empty, target, tmp_path / "out")
        with pytest.raises(InputError, match="it holds no configuration"):
            export_result(empty, target, tmp_path / "out", nearest=True)


def test_workloads_that_a_target_lacks_are_refused_in_one_line(tmp_path):
    path = result_file(tmp_path, "depthwise_conv2d", {"o": 8, "r": 5, "c": 7, "p": 3, "q": 3}, "or")
    with pytest.raises(
        InputError, match=r"cannot \w+ this workload: .*SIMD loop o is parallel"
    ) as error:
        export_result(path, "autosa", tmp_path / "out", nearest=True)
    assert "\n" not in str(error.value)
    if "timeloop" in TARGETS:
        export_result(path, "timeloop", tmp_path / "out")


def test_unknown_targets_are_refused(tmp_path):
    with pytest.raises(InputError, match=f"to is 'vivado'; allowed: {', '.join(EVERY)}"):
        export_result(tmp_path / "any.json", "vivado", tmp_path / "out")


@pytest.mark.parametrize(("words", "targets", "line"), refusals("exports", "hardware"))
def test_hardware_that_a_tool_lacks_is_refused(words, targets, line, tmp_path):
    succeed("solve", *words.split(), "-o", "r.json", cwd=tmp_path)
    for target in targets.split():
        said = refused("export", "r.json", "--to", target, "-o", target, cwd=tmp_path)
        assert line in said
        assert not (tmp_path / target).exists()
