"""``ithaca export --nearest``: refused at once where no search could help."""

import pytest

from ithaca.commands.api import exporting
from ithaca.exports.autosa.requirements import design_obstacles, nest_obstacles
from ithaca.files.errors import InputError
from ithaca.formulations.systolic.derivation import derive, designs
from ithaca.workloads.library import workload
from tests.command_line import succeed


@pytest.fixture(scope="module")
def convolution(tmp_path_factory):
    """A result that AutoSA cannot take."""
    path = tmp_path_factory.mktemp("results") / "conv.json"
    words = [
        "solve",
        "depthwise_conv2d",
        "-s",
        "o=4,r=4,c=4,p=2,q=2",
        "--dataflow",
        "o",
        "-o",
        str(path),
        "--json",
    ]
    succeed(*words)
    return path


@pytest.mark.parametrize("nearest", [False, True])
def test_a_nest_that_autosa_never_takes_is_refused_before_anything_is_solved(
    convolution, tmp_path, nearest, monkeypatch
):
    monkeypatch.setattr(
        exporting, "solve_designs", lambda *arguments, **more: pytest.fail("searched")
    )
    with pytest.raises(
        InputError, match="AutoSA cannot build this workload: SIMD loop o is parallel"
    ) as error:
        exporting.export(convolution, "autosa", tmp_path / "out", nearest=nearest)
    assert "nearest" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_obstacles_of_nests_and_designs():
    mm, conv = workload("mm"), workload("depthwise_conv2d")
    assert nest_obstacles(mm) == ()
    assert nest_obstacles(conv)
    assert not any(design_obstacles(mm, array) for array in designs(mm) if array.permutation == "C")
    assert any(
        "permutation A" in reason for reason in design_obstacles(mm, derive(mm, ("i", "j"), "A"))
    )
    for array in designs(conv):
        assert set(nest_obstacles(conv)) <= set(design_obstacles(conv, array))
