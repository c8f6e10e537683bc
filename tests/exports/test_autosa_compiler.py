"""``--compiler autosa``: what it answers exports, says what it costs, and is refused where AutoSA builds
nothing."""

import json
from fractions import Fraction

import pytest

import ithaca
from ithaca.exports.autosa.requirements import obstacles
from ithaca.exports.configuration import ArrayConfiguration
from ithaca.files.errors import InputError
from ithaca.formulations.compiler import Compiler
from ithaca.formulations.systolic.design import systolic
from ithaca.results.systolic.result_view import compiler_text
from ithaca.solver.certificate import Certificate, Status, relative_gap
from ithaca.solver.result import Unrestricted
from tests.command_line import ithaca as command
from tests.command_line import succeed

#: A product whose optimum keeps the reduction in one tile.
SMALL = ("mm", "-s", "i=64,j=64,k=16", "--dtype", "int8")


def reasons(solution):
    design = systolic(solution.problem)
    return obstacles(
        ArrayConfiguration(
            design.nest, design.array, design.data, solution.tiling, design.technology
        )
    )


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    path = tmp_path_factory.mktemp("target") / "r.json"
    done = succeed("solve", *SMALL, "--compiler", "autosa", "-o", path)
    return path, done.stdout


def test_a_configuration_that_autosa_does_not_build_is_refused_in_a_result_for_it(
    tmp_path,
):
    words = {"dtype": "int8", "dataflow": "i,k", "permutation": "C", "edition": "exact"}
    ithaca.solve("mm", i=64, j=64, k=16, **words).save(tmp_path / "free.json")
    document = json.loads((tmp_path / "free.json").read_text())
    (tmp_path / "changed.json").write_text(json.dumps(document | {"space": {"compiler": "autosa"}}))
    with pytest.raises(InputError, match="is not in the design space"):
        ithaca.load(tmp_path / "changed.json")


def proof(value, bound):
    status = Status.OPTIMAL if value == bound else Status.FEASIBLE
    return Certificate(status, bound, relative_gap(value, bound), "exact", 1, 1.0)


@pytest.mark.parametrize(
    ("other", "bound", "said"),
    [
        (
            80,
            80,
            "proven optimal among what AutoSA builds; that costs 25.00%: the unrestricted optimum is 80",
        ),
        (
            100,
            100,
            "proven optimal among what AutoSA builds; that costs nothing: without the restriction nothing is better",
        ),
        (
            80,
            50,
            "builds; that costs 25.00% to 100.00%: the unrestricted optimum is between 50 and 80",
        ),
        (100, None, "builds; that costs 0.00% to –: the unrestricted optimum is between – and 100"),
        (0, 0, "builds; that costs –: the unrestricted optimum is 0"),
        (-100, -100, "builds; that costs 200.00%: the unrestricted optimum is -100"),
    ],
)
def test_costs_are_bounds_where_the_optimum_is_open(other, bound, said):
    value, least = Fraction(100), None if bound is None else Fraction(bound)
    found = Unrestricted(Fraction(other), proof(Fraction(other), least))
    assert compiler_text(Compiler.AUTOSA, value, proof(value, value), found).endswith(said)
    assert (
        compiler_text(Compiler.AUTOSA, value, proof(value, None), None)
        == "the best found, not proven, among what AutoSA builds"
    )


def test_the_time_limit_is_for_both_questions():
    found = ithaca.solve("mm", i=64, j=64, k=64, compiler="autosa", time_limit=1e-6)
    assert found.unrestricted is None or found.unrestricted.certificate.lower_bound is None


def test_networks_restrict_every_layer_and_say_what_the_total_costs():
    free, found = (
        ithaca.network("vgg16", layers=["conv5_1"], dtype="int8", dataflow="r,i", compiler=t)
        for t in (None, "autosa")
    )
    assert free.unrestricted is None
    assert free.value is not None
    assert found.value is not None
    assert found.unrestricted.value == free.value
    assert not reasons(found.layers[0].answer)
    with pytest.raises(
        InputError, match=r"layer bottleneck1_1\.depthwise: compiler autosa: AutoSA cannot build"
    ):
        ithaca.network("mobilenetv2", layers=["bottleneck1_1*"], compiler="autosa")


def test_studies_vary_what_they_are_for():
    asked = ("--dataflow", "i,k", "--permutation", "C", "--edition", "exact")
    words = ("whatif", *SMALL, *asked, "--vary", "compiler=none,autosa", "--json")
    document = json.loads(command(*words).stdout)
    none, autosa = (point["objective"]["value"] for point in document["points"])
    restricted = {"dtype": "int8", "dataflow": "i,k", "edition": "exact", "compiler": "autosa"}
    assert none < autosa == ithaca.solve("mm", i=64, j=64, k=16, **restricted).value
    both = command(*words, "--compiler", "autosa")
    assert (both.returncode, both.stderr) == (
        2,
        "ithaca: --vary 'compiler' is fixed by another option, too; allowed: one of them\n",
    )
