"""Workloads of co-design: networks, files and objects, weighted."""

from fractions import Fraction

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.codesign.studies.workloads import find_workloads
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from tests.refusals import refusals


def test_layers_of_networks_count_runs_and_weight():
    network = find_network("resnet18")
    found = find_workloads(["resnet18:0.5", "mm"])
    assert [work.name for work in found] == [*(layer.name for layer in network.layers), "mm"]
    assert sum(work.factor * work.nest.operations for work in found[:-1]) == Fraction(
        network.operations, 2
    )
    assert (found[-1].factor, found[-1].nest) == (1, workload("mm"))
    assert find_workloads({"resnet18": "1/2", workload("mm"): 1}) == found
    assert find_workloads([network], ["conv5_*"]) == tuple(
        w for w in find_workloads(["resnet18"]) if w.name.startswith("conv5")
    )


def test_layers_of_files_keep_extents_in_memory():
    """dMazeRunner's ResNet layers: batch 4, inputs as padded (the published sheets)."""
    found = {work.name: work for work in find_workloads(["resnet-dmazerunner"])}
    assert list(found) == ["conv1", "conv2_2", "conv3_2", "conv4_2", "conv5_1", "conv5_2"]
    assert {work.nest.sizes["N"] for work in found.values()} == {4}
    assert dict(found["conv1"].stored)["I"] == (4, 3, 230, 230)
    assert sum(work.nest.operations for work in found.values()) == 4 * (
        118_013_952 + 4 * 115_605_504 + 57_802_752
    )


def test_files_of_nests_are_workloads(tmp_path):
    problem, kernel = tmp_path / "problem.yaml", tmp_path / "kernel.yaml"
    problem.write_text(
        "problem: {version: 0.4, shape: {name: product, dimensions: [M, N, K], data_spaces: ["
        "{name: A, projection: [[[M]], [[K]]]},"
        " {name: B, projection: [[[K]], [[N]]]}, {name: Z, projection: [[[M]], [[N]]], read_write: true}]},"
        " instance: {M: 2, N: 3, K: 4}}"
    )
    kernel.write_text(
        "name: own\nstatement: 'C[i][j] += A[i][k] * B[k][j]'\nextents: {i: 4, j: 4, k: 4}\nsimd: k\n"
    )
    found = find_workloads([str(problem), str(kernel)])
    assert [(work.workload, work.nest.operations) for work in found] == [
        ("product", 24),
        ("own", 64),
    ]


@pytest.mark.parametrize(
    ("given", "line"),
    refusals("studies-codesign-workloads", "what_is_no_workload_is_refused"),
)
def test_what_is_no_workload_is_refused(given, line):
    with pytest.raises(InputError) as refused:
        find_workloads(given)
    assert str(refused.value).startswith(line)


def test_an_unknown_name_is_told_all_kinds_of_workloads():
    with pytest.raises(
        InputError, match=r"; or layers resnet-dmazerunner; kernels .*\bmm\b.*; or a file$"
    ):
        find_workloads(["nosuch"])
