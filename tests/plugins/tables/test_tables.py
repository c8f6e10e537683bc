"""Tables of layers of other tools, against what is counted row by row."""

import time
from math import prod

import pytest

from ithaca.files.errors import InputError
from ithaca.workloads.networks.find import find_network, is_network
from ithaca.workloads.networks.network import OmissionKind
from tests.command_line import ithaca, succeed
from tests.layer_tables import EQUATIONS, MAESTRO, PRODUCTS, TOPOLOGY


def network(folder, text, name="layers.csv", **sizes):
    path = folder / name
    path.write_text(text)
    return find_network(str(path), sizes)


def counts(network):
    """Multiply-accumulates by layer."""
    return {layer.name: layer.operations for layer in network.layers}


def windows(extent, window, stride):
    """Places of a window, one by one."""
    return len(range(0, extent - window + 1, stride))


def test_the_work_of_rows_that_are_too_wide_is_counted(tmp_path):
    read = network(tmp_path, "Layer,M,N,K,\na,2,3,8,\nb,1,2000000,8,\n")
    (omission,) = read.unsupported
    assert (omission.sources, omission.operations) == (("b",), 16_000_000)
    assert not read.share.uncounted


def test_a_topology_of_scale_sim(tmp_path):
    read = network(tmp_path, TOPOLOGY)
    conv, depthwise = (layer.nest for layer in read.layers)
    places = windows(8, 3, 2) * windows(9, 3, 2)
    assert counts(read) == {"Conv1": places * 8 * 4 * 9, "DP1": 6 * 6 * 4 * 9}
    assert (conv.short_sizes, depthwise.name) == ("o8 r3 c4 i4 p3 q3 s2", "depthwise_conv2d")
    path = tmp_path / "layers.csv"
    taken, partial = read.remarks
    assert taken == f"{path} is taken for a topology of SCALE-Sim, of convolutions"
    assert "1 of 2 layers have a rest that no window covers" in partial


@pytest.mark.parametrize(
    ("header", "row", "sizes"),
    [
        (
            "Layer, IFMAP Width, IFMAP Width, Filter Height, F, C, N, S",
            "a, 9, 9, 3, 3, 4, 8, 1",
            "",
        ),
        (
            "Layer name\tIFMAP Height\tW\tFilter Height\tF\tC\tN\tS\t",
            "a\t9\t9\t3\t3\t4\t8\t1\t",
            "",
        ),
        (
            "\ufeffLayer name, Ifmap height, w, filter height, f, c, n, s,",
            "a, 9, 9, 3, 3, 4, 8, 1,",
            "",
        ),
        (
            "Layer, IFMAP Height, W, Filter Height, F, C, N, Stride Height, Stride Width,",
            "a, 9, 9, 3, 3, 4, 8, 2, 1,",
            " sr2",
        ),
        ("name,H,W,kernel,Cin,Cout", "a,9,9,3,4,8", ""),
        ("Layer;C;K;P;Q;R;S", "a;4;8;7;7;3;3", ""),
        ("layer,in_channels,out_channels,H,W,kh,kw,stride_h,padding", "a,4,8,9,9,3,3,2,0", " sr2"),
        ("name,C,K,H,W,R,S", '"a",4,8,9.0,9,3,3\n\n,,\n', ""),
        ("# by hand\nsep=;\nname;C;K;H;W;kernel;stride", "# none\na;4;8;9;9;3x3;(2, 1)", " sr2"),
        ("name,type,nif,nof,ofm_h,ofm_w,kernel", 'a,Conv2d,4,8,7,7,"[3, 3]"', ""),
    ],
)
def test_headers_of_many_kinds(tmp_path, header, row, sizes):
    """One layer, of 9 × 9 elements and 4 channels, however its table is written."""
    (layer,) = network(tmp_path, f"{header}\n{row}\n").layers
    rows = windows(9, 3, 2 if sizes else 1)
    assert (layer.name, layer.nest.short_sizes) == ("a", f"o8 r{rows} c7 i4 p3 q3{sizes}")


def test_products_are_what_they_are_however_they_are_written(tmp_path):
    """SCALE-Sim's older topologies write a product as a filter as wide as the map."""
    read = network(tmp_path, PRODUCTS)
    assert counts(read) == {"q": 4 * 6 * 8}
    assert read.layers[0].nest.sizes == {"i": 4, "j": 6, "k": 8}
    header = TOPOLOGY.splitlines()[0]
    wide = network(tmp_path, f"{header}\nq, 4, 8, 1, 8, 1, 6, 1,\ng, 1, 1, 1, 1, 8, 6, 1,\n")
    assert counts(wide) == {"q": 4 * 6 * 8, "g": 6 * 8}
    assert wide.layers[0].nest.short_sizes == "o6 r4 c1 i8 p1 q1"
    assert wide.layers[1].nest.sizes == {"i": 1, "j": 6, "k": 8}


def test_columns_that_are_not_read_are_named(tmp_path):
    read = network(tmp_path, "name,C,K,P,Q,R,S,colour\na,4,8,7,7,3,3,red\n")
    assert read.remarks[1] == f"{tmp_path / 'layers.csv'}: not read: column 'colour'"


def test_kinds_of_rows_count(tmp_path):
    """A filter for each channel, a product, a transposed convolution, and what does not multiply."""
    header = "name,type,C,K,H,W,R,S,stride,padding"
    rows = ["d,DepthwiseConv,8,1,9,9,3,3,1,0", "e,dw-conv,8,16,9,9,3,3,1,0"]
    rows += [
        "p,MaxPool,8,8,9,9,2,2,2,0",
        "f,FC,32,10,1,1,1,1,1,0",
        "m,aten::addmm,32,10,1,1,1,1,1,0",
    ]
    read = network(tmp_path, "\n".join([header, *rows, "t,deconv,4,2,8,8,2,2,2,0"]) + "\n")
    each = windows(9, 3, 1) ** 2 * 9
    assert read.operations == 24 * each + 2 * 32 * 10 + 2 * 4 * 64 * 4
    (pool,) = read.unsupported
    assert (pool.operator, pool.kind, pool.sources) == ("MaxPool", OmissionKind.ELEMENTWISE, ("p",))


def test_kinds_are_whole_words(tmp_path):
    """Normal convolutions do not normalise; kinds that nobody knows count, and are named."""
    kinds = ["normal", "Loading", "int8", "ConvBNReLU", "GroupNorm", "LRN", "ReLU6", "input"]
    rows = (f"{kind},{kind},8,8,9,9,3,3" for kind in (*kinds, "DWSConv", "PW"))
    read = network(tmp_path, "\n".join(["name,type,C,K,H,W,R,S", *rows]) + "\n")
    each = windows(9, 3, 1) ** 2 * 9 * 8
    assert read.operations == 5 * 8 * each + each
    assert [omission.operator for omission in read.unsupported] == kinds[4:]
    assert read.remarks[1].endswith("taken for plain layers: kinds 'normal', 'Loading', 'int8'")


@pytest.mark.ci
def test_two_columns_of_words_are_words(tmp_path):
    """The last name counts, and all words of kinds; numbers may be stated twice alike."""
    header = "Layer,Name,Type,Op,C,K,H,W,kernel,R,S,groups"
    (layer,) = network(tmp_path, f"{header}\n1,a,int8,depthwise,8,8,9,9,3x3,3,3,8\n").layers
    assert (layer.name, layer.operations) == ("a", windows(9, 3, 1) ** 2 * 9 * 8)


@pytest.mark.ci
def test_a_topology_may_have_kinds(tmp_path):
    header = f"{TOPOLOGY.splitlines()[0]} Type,"
    rows = ("a, 9, 9, 3, 3, 8, 8, 1, conv,", "b, 9, 9, 3, 3, 8, 8, 1, dw,")
    read = network(tmp_path, "\n".join([header, *rows, "p, 9, 9, 3, 3, 8, 8, 1, MaxPool,"]))
    each = windows(9, 3, 1) ** 2 * 9 * 8
    assert counts(read) == {"a": 8 * each, "b": each}
    assert [omission.operator for omission in read.unsupported] == ["MaxPool"]


@pytest.mark.ci
def test_comments_have_no_further_cells(tmp_path):
    """A layer, or a header, may begin as a comment does."""
    rows = ("# none,,", "#1,4,8,9,9,3,3", '"# b",4,8,9,9,3,3')
    read = network(tmp_path, "\n".join(["#", "# Name,C,K,H,W,R,S", *rows]) + "\n")
    (layer,) = read.layers
    assert (layer.sources, layer.count) == (("#1", "# b"), 2)
    note = "# of a, b and c, by hand"
    (layer,) = network(tmp_path, f"{note}\nC;K;H;W;R;S\n{note}\n4;8;9;9;3;3\n").layers
    assert layer.count == 1


def test_layers_of_maestro_of_other_types_are_listed(tmp_path):
    text = MAESTRO.replace("Network", "Layer l { Type: LSTM Dimensions { Z: 4 } } Network", 1)
    read = network(tmp_path, text, "net.m")
    assert counts(read) == counts(network(tmp_path, MAESTRO, "plain.m"))
    (left_out,) = read.unsupported
    assert "Type is 'LSTM'; allowed: CONV, DSCONV" in left_out.reason
    output = "Layer a { Type: CONV Dimensions { K 2, C 4, R 3, S 3, Y' 5, X' 6 } }"
    assert network(tmp_path, output, "o.m").operations == 2 * 4 * 9 * 5 * 6


def test_a_network_of_maestro(tmp_path):
    read = network(tmp_path, MAESTRO, "net.m")
    places = windows(8, 3, 1) * windows(9, 3, 2)
    assert counts(read) == {"a": 4 * places * 8 * 4 * 9, "b": 4 * 4 * 8}
    assert read.layers[0].nest.short_sizes == "o8 r6 c4 i4 p3 q3 sc2"
    assert read.parameters == (("T", 4),)
    assert counts(network(tmp_path, MAESTRO, "net.m", T=2))["b"] == 4 * 2 * 8
    assert "its dataflows are not read" in read.remarks[1]


@pytest.mark.parametrize(
    ("kind", "dimensions", "operations"),
    [
        ("DSCONV", {"K": 1, "C": 5, "R": 3, "S": 3, "Y": 8, "X": 8}, 5 * 36 * 9),
        ("NGCONV", {"G": 3, "K": 2, "C": 4, "R": 3, "S": 3, "Y": 8, "X": 8}, 3 * 2 * 4 * 36 * 9),
        ("TRCONV", {"K": 2, "C": 4, "R": 2, "S": 2, "Y": 8, "X": 8}, 2 * 4 * 64 * 4),
    ],
)
def test_types_of_layers_of_maestro(tmp_path, kind, dimensions, operations):
    entries = ", ".join(f"{name} {value}" for name, value in dimensions.items())
    text = f"Network n {{ Layer a {{ Type: {kind} Stride {{ X: 2, Y: 2 }} Dimensions {{ {entries} }} }} }}"
    if kind != "TRCONV":
        text = text.replace("Stride { X: 2, Y: 2 }", "")
    assert network(tmp_path, text, "n.m").operations == operations


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.csv", "x,y\n1,2\n", "has columns 'x', 'y'; allowed: a topology of SCALE-Sim"),
        ("a.csv", "", "has columns none"),
        (
            "a.csv",
            "Layer, M, N, K,\nq, B, 2, 3,\n",
            "row 2: M is 'B'; allowed: a positive integer, or",
        ),
        ("a.csv", "Layer, M, N, K,\nq, 0, 2, 3,\n", "row 2: M is '0'"),
        ("a.csv", "Layer, M, N, K,\n", "it has no rows"),
        ("a.csv", "name,C,K,H,W,R,S\na,4,8,9,9,10,3\n", "window of 10 elements does not fit"),
        ("a.csv", "name,C,K,R,S\na,4,8,3,3\n", "the input's size along rows is missing"),
        ("a.csv", "C,K,P,Q,R,S,Cin\n", "columns 'C' and 'Cin' for one number; allowed: one of"),
        ("a.csv", "C,K,P,Q,R,S,stride\n4,8,7,7,3,3,0x1\n", "stride is '0x1'; allowed: positive"),
        (
            "a.csv",
            "name,type,C,K,P,Q\na,Pool,4,8,7,7\n",
            "each is of a few operations per element, as Pool",
        ),
        ("a.m", "Constant T 4;", "has no Layer"),
        ("a.m", "num_pes: 256", "is hardware of MAESTRO; allowed: a network"),
        ("a.m", "Dataflow { SpatialMap(1,1) K; }", "has a Dataflow of MAESTRO and no Layer"),
        ("a.m", "Layer a { Type: FC Dimensions { K: 4 } }", "line 1: Type is 'FC'; allowed: CONV"),
        ("a.m", "Layer a { Type: CONV Dimensions { Z: 4 } }", "dimension 'Z' is unknown"),
        ("a.m", "Constant T 4; Layer a { Type: CONV Dimensions { K: U } }", "K is 'U'; allowed: a"),
        ("a.m", "Layer a { Type: CONV Dimensions { K: 4", "ends early"),
        ("a.m", "Layer a {\n/* Type: CONV }", "line 2: a comment has no end"),
    ],
)
def test_what_is_no_table_of_layers_is_refused(tmp_path, name, text, told):
    with pytest.raises(InputError) as error:
        network(tmp_path, text, name)
    assert told in str(error.value)
    assert str(tmp_path / name) in str(error.value)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("C,K,H,W,kernel,R,S\n4,8,7,7,3x3,5,5\n", "R is '5'; allowed: 3, as kernel says"),
        ("C,K,H,W,R,S,kernel\n4,8,7,7,5,5,3\n", "kernel is '3'; allowed: 5, as R says"),
        ("cin,cout,h,w,kernel,s\n4,8,7,7,3,2\n", "'s' beside 'kernel'; allowed: stride"),
        ("cin,cout,h,w,kernel,p\n4,8,7,7,3,1\n", "'p' beside 'kernel'; allowed: padding"),
        (
            "type,C,K,H,W,R,S,g\ndw,4,4,7,7,3,3,1\n",
            "g is 1 where the kind is 'dw'; allowed: 4",
        ),
    ],
)
def test_numbers_that_columns_state_differently_are_refused(tmp_path, text, told):
    with pytest.raises(InputError) as error:
        network(tmp_path, text)
    assert told in str(error.value)


def test_letters_of_a_template_have_sizes(tmp_path):
    text = "Layer, M, N, K, note\nq, B, H, 3, B\nr, 2, B, H, H\n"
    read = network(tmp_path, text, "t.csv", B=4, H=5)
    assert counts(read) == {"q": 4 * 5 * 3, "r": 2 * 4 * 5}
    assert read.parameters == (("B", 4), ("H", 5))
    with pytest.raises(InputError, match=r"row 2: N is 'H'; allowed: .* or its size: -s H=8"):
        network(tmp_path, text, "t.csv", B=4)
    with pytest.raises(InputError, match=r"unknown size 'Q' of network .*; allowed: B, H"):
        network(tmp_path, text.replace("3, B", "3, Q"), "t.csv", Q=4)


def test_a_row_that_is_no_layer_is_listed_with_the_reason(tmp_path):
    read = network(tmp_path, "name,C,K,H,W,R,S\na,4,8,9,9,3,3\nb,4,8,2,9,3,3\n")
    (omission,) = read.unsupported
    assert omission.sources == ("b",)
    assert "row 3: a window of 3 elements does not fit into 2" in omission.reason
    assert read.share.uncounted


@pytest.mark.ci
def test_tables_of_gamma(tmp_path):
    """The last column has kinds by number: 2 is depthwise, 0 dense, without sizes of maps."""
    rows = "K,C,Y,X,R,S,T\n16,3,10,10,3,3,1\n1,16,8,8,3,3,2\n"
    (first, each) = network(tmp_path, rows).layers
    assert (first.operations, each.operations) == (16 * 3 * 64 * 9, 16 * 36 * 9)
    assert "c" in each.nest.output.tensor or len(each.nest.loops) < len(first.nest.loops)
    dense = network(tmp_path, "O,I,0,0,0,0,T\n8,4,1,1,1,1,0\n")
    assert dense.operations == 32
    assert dense.remarks[-1].endswith("dense layers: no column says the sizes of maps or windows")
    product = network(tmp_path, "K,C,Y,X,R,S,T\n5,7,3,1,1,1,3\n16,3,10,10,3,3,\n").layers[0]
    assert product.nest.sizes == {"i": 5, "j": 7, "k": 3}  # the first three are M, N, K
    for convolutions in ("name,type,Cin,Cout\na,conv,16,32\n", "name,C,K,stride\na,3,4,2\n"):
        with pytest.raises(InputError, match="the input's size along rows is missing"):
            network(tmp_path, convolutions)
    other = network(tmp_path, "M,N,K,T\n2,3,4,5\n")
    assert other.remarks[-1].endswith("not read: column 'T'")


def test_the_command_says_what_it_takes_a_file_for(tmp_path):
    (tmp_path / "t.csv").write_text(PRODUCTS)
    words = ("network", tmp_path / "t.csv", "--dataflow", "i,j", "--divisors-only")
    done = succeed(*words)
    assert "t.csv is taken for a table of matrix products" in done.stderr.replace("\n      ", " ")
    fused = ithaca(*words, "--fuse")
    assert fused.returncode == 2
    assert "says nothing of what layers read" in fused.stderr.replace("\n      ", " ")


@pytest.mark.parametrize("unit", ["/*", "\n:", "{", "//\n", "Layer a ", "a", "1"])
def test_a_file_of_maestro_is_read_in_time_of_its_size(unit, tmp_path):
    """256 KiB that open comments took 8 s, a line for each token 13 s."""
    text = f"Layer a {{\n{unit * (2**18 // len(unit))}"
    began = time.process_time()
    with pytest.raises(InputError):
        network(tmp_path, text, "a.m")
    assert time.process_time() - began < 4


def test_equations_of_zigzag_and_stream(tmp_path):
    """Operations are the product of a layer's loops; what is no product is listed."""
    read = network(tmp_path, EQUATIONS, "layers.yaml")
    sizes = ((2, 8, 3, 7, 5, 3, 3), (1, 4, 8, 3, 3, 1, 1), (16, 8, 32), (4, 2, 9, 3))
    names = ("stem", "layer1", "layer4", "layer5")
    assert counts(read) == {name: prod(own) for name, own in zip(names, sizes, strict=True)}
    stem, _, _, last = (layer.nest for layer in read.layers)
    assert read.layers[0].count == 2
    steps = dict(stem.parameters)
    assert {steps[name] for name in steps if name.startswith("s")} == {3, 2}
    assert {steps[name] for name in steps if name.startswith("d")} == {2} or 2 in steps.values()
    (windows_of,) = [access for access in last.inputs if access.tensor == "i"]
    assert str(windows_of) == "i[c][2*x+f]"
    listed = {(each.operator, each.count, each.kind.value) for each in read.unsupported}
    assert listed == {("Add", 1, "elementwise"), ("Pooling", 1, "elementwise")}
    path = tmp_path / "layers.yaml"
    assert read.remarks == (
        f"{path} is taken for a workload of ZigZag or Stream",
        f"{path}: nothing here depends on operand_precision",
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("loop_sizes: [16, 8, 32]", "loop_sizes: [16, 8]", "loop_sizes has 2 sizes"),
        ("[D0, D1, D2]", "[D0, D0, D2]", "allowed: one for each"),
        ("ix=2*x + f", "ix=x-f", "dimension_relations has 'ix=x-f'"),
        ("O[d0][d1]+=I[d0][d2]*W[d2][d1]", "5", "[4]: equation is 5"),
        ("loop_dims: [K, C, X, F]", "loops: [K]", "[5]: loops is unknown"),
    ],
)
def test_equations_that_state_no_layer_are_refused(tmp_path, old, new, told):
    assert old in EQUATIONS
    with pytest.raises(InputError) as error:
        network(tmp_path, EQUATIONS.replace(old, new), "layers.yaml")
    assert told in str(error.value)


@pytest.mark.ci
def test_lists_of_layers_of_cosa(tmp_path):
    for name, k in (("a.1", 4), ("b", 8)):
        sizes = {"R": 3, "S": 3, "P": 5, "Q": 6, "C": 2, "K": k, "N": 1, "Hstride": 2}
        fields = "".join(f"  {field}: {value}\n" for field, value in sizes.items())
        (tmp_path / f"{name}.yaml").write_text(f"problem:\n  shape: cnn-layer\n{fields}")
    read = network(tmp_path, "- a.1\n- b\n- a.1\n", "layers.yaml")
    assert counts(read) == {"a.1": 2 * 5 * 6 * 9 * 2 * 4, "b": 5 * 6 * 9 * 2 * 8}
    for other in ("c", "../a.1", "c" * 5000):
        with pytest.raises(InputError, match=r"\[1\] is '[./a1c]+…?', but no such file is beside"):
            network(tmp_path, f"- b\n- {other}\n", "layers.yaml")
    with pytest.raises(InputError, match="is a list of names; allowed in "):
        network(tmp_path, "- layers\n", "layers.yaml")


@pytest.mark.ci
def test_lists_of_layers_in_the_current_folder_pass_on_what_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gemm = "operator_type: Gemm, equation: 'O[b][k]+=W[k][c]*I[b][c]', loop_dims: [B, K, C]"
    pool = "operator_type: MaxPool, equation: 'O[b][k]+=W[]*I[b][k]', loop_dims: [B, K]"
    text = f"- {{id: 0, {gemm}, loop_sizes: [4, 8, 8]}}\n- {{id: 1, {pool}, loop_sizes: [4, 8]}}\n"
    (tmp_path / "one.yaml").write_text(text)
    (tmp_path / "layers.yaml").write_text("[one, one]")
    read = find_network("layers.yaml")
    assert (read.name, read.operations) == (tmp_path.name, 2 * 4 * 8 * 8)
    assert [(each.operator, each.count) for each in read.unsupported] == [("MaxPool", 2)]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("m.yaml", "- name: Conv\n  spatial_mapping: {}\n", "is a mapping of ZigZag or Stream"),
        ("m.yaml", "layers:\n- core_allocation: [0]\n", "is a mapping of ZigZag or Stream"),
        ("a.yaml", "operational_array: {}\n", "is an accelerator of ZigZag or Stream"),
        ("a.csv", "Layer name, IFMAP Height Intraline Factor,\nl,1,\n", "is a layout of SCALE-Sim"),
    ],
)
def test_what_other_tools_state_beside_layers_is_named(tmp_path, name, text, told):
    with pytest.raises(InputError, match=told):
        network(tmp_path, text, name)
    if name == "a.yaml":
        done = ithaca("solve", name, cwd=tmp_path)
        assert told in done.stderr
        assert "takes it" not in done.stderr


@pytest.mark.ci
def test_fields_of_own_networks_are_refused_as_such(tmp_path):
    layer = "{op: kernel, name: a, kernel: mm, sizes: {i: 8, j: 8, k: 8}, cores: 3}"
    with pytest.raises(InputError, match=r"layers\[0\]: cores is unknown"):
        network(tmp_path, f"name: x\nlayers:\n- {layer}\n", "mine.yaml")


def test_equations_may_stand_where_loop_nests_or_networks_do(tmp_path):
    """A list of layers is a network to `whatif` and `pareto`, too."""
    (tmp_path / "layers.yaml").write_text(EQUATIONS)
    assert is_network(tmp_path / "layers.yaml")
