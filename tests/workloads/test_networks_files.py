"""Network files: what a user can write, and what is refused."""

import textwrap

import pytest

from ithaca.files.errors import InputError
from ithaca.files.yaml_documents import parse_yaml
from ithaca.workloads.library import workload
from ithaca.workloads.networks.find import find_network
from ithaca.workloads.networks.network import OmissionKind
from ithaca.workloads.networks.network_files import read_network
from ithaca.workloads.statement import parse_statement
from tests.refusals import refusals


def read(text, **sizes):
    return read_network(parse_yaml(textwrap.dedent(text), "net.yaml"), "net.yaml", sizes)


IMAGE = "input: {batch: 1, channels: 3, height: 32, width: 24}\n"


def convolution(fields):
    """The nest of one convolution that reads 3 channels of 32×24."""
    return read(f"name: n\n{IMAGE}layers: [{{op: conv, name: c, {fields}}}]").layers[0]


def test_a_file_of_the_users_is_found_by_its_ending(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\nlayers:\n  - {op: kernel, name: a, kernel: mm, sizes: {i: 2, j: 3, k: 4}, count: 5}\n"
    )
    network = find_network(str(path))
    assert (network.name, network.operations) == ("mine", 120)
    assert network.layers[0].nest == workload("mm", {"i": 2, "j": 3, "k": 4})


def test_the_example_in_the_documentation():
    from ithaca.workloads.networks import network_files

    example = (network_files.__doc__ or "").split("::\n", 1)[1].split("\n\nEach", 1)[0]
    network = read(example)
    assert {layer.name: layer.nest.sizes for layer in network.layers}["fc"] == {
        "i": 1,
        "j": 10,
        "k": 16 * 8 * 8,
    }
    assert [layer.name for layer in network.layers] == [
        "conv1",
        "conv2",
        "stage1.conv",
        "fc",
        "product",
    ]
    assert network.layers[2].sources == ("stage1.conv", "stage2.conv")
    assert [(o.operator, o.count, o.kind) for o in network.unsupported] == [
        ("Relu", 2, OmissionKind.ELEMENTWISE)
    ]
    assert read(example, batch=3).layers[0].count == 3


@pytest.mark.parametrize(
    ("fields", "size", "count"),
    [
        ("channels: 8, kernel: 1", (32, 24), 1),
        ("channels: 8, kernel: 5", (28, 20), 1),
        ("channels: 8, kernel: 3, stride: 2, padding: 1", (16, 12), 1),
        ("channels: 8, kernel: [1, 7], padding: [0, 3]", (32, 24), 1),
        ("channels: 8, kernel: 3, dilation: 2, padding: 2", (32, 24), 1),
        ("channels: 6, kernel: 3, padding: 1, groups: 3", (32, 24), 2),
    ],
)
def test_feature_maps_follow_from_kernel_stride_and_padding(fields, size, count):
    layer = convolution(fields)
    assert (layer.nest.sizes["r"], layer.nest.sizes["c"]) == size
    assert layer.count == count


def test_a_side_layer_leaves_the_feature_map():
    network = read(f"""\
        name: n
        {IMAGE}
        layers:
          - {{op: conv, name: shortcut, channels: 9, kernel: 1, stride: 2, side: true}}
          - {{op: conv, name: main, channels: 8, kernel: 1}}
        """)
    assert network.layers[1].nest.sizes["i"] == 3
    assert network.layers[1].nest.sizes["r"] == 32


def test_published_sizes_are_checked_at_the_parameters_own_values():
    text = """\
        name: n
        parameters: {image: 32}
        input: {batch: 1, channels: 3, height: image, width: image}
        layers: [{op: conv, name: c, channels: 8, kernel: 3, output: 30}]
        """
    assert read(text).layers[0].nest.sizes["r"] == 30
    assert read(text, image=16).layers[0].nest.sizes["r"] == 14
    with pytest.raises(InputError, match=r"net.yaml: layers\[0\]: output is 31×31; allowed: 30×30"):
        read(text.replace("output: 30", "output: 31"))


CONV = "{op: conv, name: c, channels: 8, kernel: 3}"


@pytest.mark.parametrize(
    ("text", "told"),
    refusals("workloads-networks_files", "bad_files_are_refused_in_one_line"),
)
def test_bad_files_are_refused_in_one_line(text, told):
    with pytest.raises(InputError, match=told) as error:
        read(text)
    assert str(error.value).startswith("net.yaml: ")
    assert "\n" not in str(error.value)


def test_repeated_blocks_are_limited():
    """Nested repetitions end at the limit, before they take time."""
    inner = "{op: pool, kernel: 1}"
    for name in "ab":
        inner = f"{{op: block, name: {name}, repeat: 9999, layers: [{inner}]}}"
    with pytest.raises(InputError, match="more than 10000"):
        read(f"name: n\n{IMAGE}layers: [{inner}]")


@pytest.mark.parametrize(
    ("fields", "nest", "operations"),
    [
        ("kernel: [3, 5], stride: [2, 1], padding: [1, 2]", "r*2+p c+q", 8 * 16 * 24 * 4 * 15),
        ("kernel: 3, stride: [1, 3], padding: 1", "r+p c*3+q", 8 * 32 * 8 * 4 * 9),
        ("kernel: 3, padding: 2, dilation: [1, 2]", "r+p c+q*2", 8 * 34 * 24 * 4 * 9),
    ],
)
def test_steps_may_differ_along_rows_and_columns(fields, nest, operations):
    network = read(f"""
        name: n
        input: {{batch: 1, channels: 4, height: 32, width: 24}}
        layers: [{{op: conv, name: c, channels: 8, {fields}}}]
        """)
    rows, columns = nest.split()
    statement = f"cout[r][c][o] += cin[{rows}][{columns}][i] * w[o][p][q][i]"
    assert network.operations == operations
    assert network.layers[0].nest.inputs == parse_statement(statement)[1]


def test_a_file_of_a_single_nest_is_a_network_of_one_layer(tmp_path):
    statement = "name: n\nstatement: C[i,j] += A[i,k] * B[j,k]\nextents: {i: 4, j: 4, k: 4}\n"
    (tmp_path / "n.yaml").write_text(statement)
    network = find_network(str(tmp_path / "n.yaml"), {"i": 2})
    assert network.operations == 2 * 4 * 4
    assert "is taken for a kernel, a network of one layer" in network.remarks[0]
