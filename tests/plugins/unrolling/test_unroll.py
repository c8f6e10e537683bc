"""Pipelines of layers: the best folding against enumeration, and files of FINN and hls4ml."""

import json
from itertools import product
from math import ceil
from random import Random

import pytest
import yaml

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.unrolling.formulations.hls4ml import valid_factors
from ithaca.plugins.unrolling.formulations.layers import WeightLayer
from ithaca.plugins.unrolling.formulations.stage import least_factors
from ithaca.workloads.networks.find import find_network
from tests.command_line import refused, succeed

#: FINN's published folding of CNV with one bit for weights and activations (finn-examples).
CNV_FOLDING = [(16, 3), (32, 32), (16, 32), (16, 32), (4, 32), (1, 32), (1, 4), (1, 8), (5, 1)]

FEATURES = {"batch": 1, "channels": 4, "height": 6, "width": 6}

CNV = {
    "name": "cnv",
    "source": "Umuroglu et al., FINN, FPGA 2017",
    "input": {"batch": 1, "channels": 3, "height": 32, "width": 32},
    "layers": [
        {"op": "conv", "name": "conv1", "channels": 64, "kernel": 3},
        {"op": "conv", "name": "conv2", "channels": 64, "kernel": 3},
        {"op": "pool", "kernel": 2, "stride": 2},
        {"op": "conv", "name": "conv3", "channels": 128, "kernel": 3},
        {"op": "conv", "name": "conv4", "channels": 128, "kernel": 3},
        {"op": "pool", "kernel": 2, "stride": 2},
        {"op": "conv", "name": "conv5", "channels": 256, "kernel": 3},
        {"op": "conv", "name": "conv6", "channels": 256, "kernel": 3},
        {"op": "linear", "name": "fc1", "features": 512},
        {"op": "linear", "name": "fc2", "features": 512},
        {"op": "linear", "name": "fc3", "features": 10},
    ],
}


def written(folder, layers, *, name="net", **more):
    """A network file, and its name."""
    path = folder / f"{name}.yaml"
    fields = {"name": name, "source": "a test", "input": FEATURES}
    path.write_text(yaml.safe_dump({**fields, "layers": layers, **more}))
    return path


def small(folder, random):
    """A drawn network of three or four layers, and inputs, outputs, positions and kind of each."""
    channels, side, layers, known = 4, 6, [], []
    for place in range(random.choice((2, 3))):
        if random.random() < 0.4:
            layers.append({"op": "depthwise", "name": f"l{place}", "kernel": 3})
            side -= 2
            known.append((9, channels, side * side, True))
        else:
            outputs, kernel = random.choice((2, 3, 6)), random.choice((1, 2))
            layers.append(
                {"op": "conv", "name": f"l{place}", "channels": outputs, "kernel": kernel}
            )
            side -= kernel - 1
            known.append((channels * kernel**2, outputs, side * side, False))
            channels = outputs
        if side < 3:
            break
    layers.append({"op": "linear", "name": "last", "features": 5})
    known.append((channels * side * side, 5, 1, False))
    return written(folder, layers), known


def divisors(n):
    return [each for each in range(1, n + 1) if n % each == 0]


def blocks(lanes, words, bits):
    """Block RAM for so many words of so many lanes, by the shapes of AMD's UG573."""
    shapes = ((1, 16384), (2, 8192), (4, 4096), (9, 2048), (18, 1024), (36, 512))
    return min(ceil(lanes * bits / width) * ceil(words / depth) for width, depth in shapes)


def enumerated(known, bits, limits, order, *, resource=False):
    """The least metrics in an order over all foldings that keep to the limits."""
    options = []
    for inputs, outputs, positions, channelwise in known:
        own = set()
        for pe, simd in product(divisors(outputs), divisors(inputs)):
            if (channelwise or resource) and simd > 1 and pe < outputs:
                continue
            reuse = inputs * outputs // (pe * simd)
            own.add((reuse * positions, pe * simd, blocks(pe * simd, reuse, bits)))
        options.append(sorted(own))
    best = None
    for choice in product(*options):
        figures = {
            "interval": max(each[0] for each in choice),
            "multipliers": sum(each[1] for each in choice),
            "bram18k": sum(each[2] for each in choice),
        }
        if all(figures[name] <= bound for name, bound in limits.items()):
            values = tuple(figures[name] for name in order)
            best = values if best is None else min(best, values)
    return best


@pytest.mark.parametrize("seed", range(6))
def test_best_foldings_are_those_of_enumeration(tmp_path, seed):
    random = Random(seed)
    path, known = small(tmp_path, random)
    bits = random.choice((1, 8, 400))
    least = len(known)
    for order, limits in (
        (("interval", "multipliers"), {"multipliers": random.randint(least, 40)}),
        (("interval", "multipliers"), {"multipliers": 30, "bram18k": random.randint(least, 60)}),
        (("multipliers", "interval"), {"interval": random.randint(20, 2000)}),
        (("bram18k", "multipliers"), {"interval": random.randint(20, 2000)}),
    ):
        expected = enumerated(known, bits, limits, order)
        answer = ithaca.unroll(path, weight_bits=bits, limit=limits, objective=",".join(order))
        if expected is None:
            assert answer.failure
            assert answer.document["status"] == "infeasible"
            continue
        assert answer.document["status"] == "optimal"
        assert tuple(answer.document["metrics"][name] for name in order) == expected
        # an expression over metrics is another engine's
        if "bram18k" not in limits:
            other = ithaca.unroll(path, weight_bits=bits, limit=limits, objective=f"2*{order[0]}")
            assert other.document["value"] == 2 * expected[0]


def test_the_published_folding_of_cnv(tmp_path):
    network = written(tmp_path, CNV["layers"], name="cnv", input=CNV["input"])
    nodes = {f"MVAU_hls_{n}": {"PE": p, "SIMD": s} for n, (p, s) in enumerate(CNV_FOLDING)}
    nodes = {"Defaults": {}, "Thresholding_rtl_0": {"PE": 1}, **nodes}
    folding, best = tmp_path / "folding.json", tmp_path / "best.json"
    folding.write_text(json.dumps(nodes))
    done = succeed("unroll", network, "--folding", folding, "-o", best)
    assert "neither counted nor chosen: 1 Thresholding_rtl" in done.stderr
    # FINN states 3,051 images a second at 100 MHz
    assert "file       interval 32,768, multipliers 2,273" in done.stdout
    assert 100e6 // 32768 == 3051
    assert "objective  interval 28,224  (optimal" in done.stdout
    again = json.loads(succeed("unroll", network, "--folding", best, "--json").stdout)
    assert again["file"]["metrics"] == again["metrics"] == {"interval": 28224, "multipliers": 2193}
    assert json.loads(best.read_text())["Thresholding_rtl_0"] == {"PE": 1}


def test_nodes_of_finn_by_kind_default_and_name(tmp_path):
    network = written(
        tmp_path,
        [
            {"op": "depthwise", "name": "dw", "kernel": 3},
            {"op": "conv", "name": "pw", "channels": 8, "kernel": 1},
        ],
    )
    folding, best = tmp_path / "folding.json", tmp_path / "best.json"
    nodes = {
        "Defaults": {"PE": [2, ["VVAU_hls"]]},
        "ConvolutionInputGenerator_rtl_0": {"SIMD": 2},
        "VVAU_hls_0": {"resType": "lut"},
        "MVAU_rtl_0": {"PE": 4, "SIMD": 4},
    }
    folding.write_text(json.dumps(nodes))
    answer = ithaca.unroll(network, folding=folding, limit={"multipliers": 1000}, output=best)
    dw, pw = answer.document["file"]["layers"]
    assert (dw["pe"], dw["simd"], dw["interval"]) == (2, 1, 9 * 2 * 16)
    assert (pw["pe"], pw["simd"], pw["interval"]) == (4, 4, 2 * 16)
    # all 4 channels are side by side, and so is the window that feeds them
    own = json.loads(best.read_text())
    assert own["VVAU_hls_0"]["PE"] == own["ConvolutionInputGenerator_rtl_0"]["SIMD"] == 4
    folding.write_text(json.dumps({"pw": {"PE": 8, "SIMD": 1}, "dw": {"PE": 1}}))
    named = ithaca.unroll(network, folding=folding).document["file"]
    assert [row["pe"] for row in named["layers"]] == [1, 8]


@pytest.mark.parametrize(
    ("nodes", "complaint"),
    [
        ({"MVAU_0": {"PE": 1}}, "has 1 nodes with weights (MVAU, VVAU); allowed: 2"),
        ({"MVA_0": {"PE": 1, "SIMD": 1}}, "(MVAU, VVAU), and 'MVA_0' of no known kind; allowed"),
        ({"MVAU_0": {"PE": 1}, "VVAU_0": {"PE": 1}}, "'MVAU_0' stands where layer dw does"),
        ({"VVAU_0": {"PE": 3}, "MVAU_0": {}}, "PE is 3; allowed: a divisor of 4, the outputs"),
        ({"VVAU_0": {"PE": 2, "SIMD": 3}, "MVAU_0": {}}, "SIMD is 3 with PE 2; allowed: 1"),
        ({"VVAU_0": {"PE": 0}, "MVAU_0": {}}, "PE is 0; allowed: a positive integer"),
        ({"a": 1}, "is no folding; allowed: nodes of FINN"),
    ],
)
def test_foldings_of_other_layers_are_refused(tmp_path, nodes, complaint):
    layers = [
        {"op": "depthwise", "name": "dw", "kernel": 3},
        {"op": "conv", "name": "pw", "channels": 8, "kernel": 1},
    ]
    network, folding = written(tmp_path, layers), tmp_path / "folding.json"
    folding.write_text(json.dumps(nodes))
    assert complaint in refused("unroll", network, "--folding", folding)


def test_valid_reuse_factors_are_those_that_hls4ml_accepts():
    def accepted(inputs, outputs, factor):  # the rule of its documentation, word by word
        limit = ceil(inputs * outputs / min(inputs, factor))
        function = limit % outputs == 0 or factor >= inputs
        function = function and (factor % inputs == 0 or factor < inputs)
        return function and inputs * outputs % factor == 0

    for inputs, outputs in product((1, 4, 6, 9, 16), (1, 5, 8, 12)):
        expected = [n for n in range(1, inputs * outputs + 1) if accepted(inputs, outputs, n)]
        assert valid_factors(WeightLayer("l", inputs, outputs, 1)) == expected


def test_of_factors_with_as_many_multipliers_the_least_is_kept():
    for weights in range(1, 201):
        least = {}
        for factor in range(1, weights + 1):
            least.setdefault(ceil(weights / factor), factor)
        assert least_factors(weights).tolist() == sorted(least.values())


def test_a_layer_of_seven_weights_with_latency(tmp_path):
    network = tmp_path / "seven.csv"
    network.write_text("name,M,N,K\nfc,1,7,1\n")
    path = tmp_path / "config.yml"
    path.write_text(yaml.safe_dump({"Model": {"ReuseFactor": 3, "Strategy": "Latency"}}))
    document = ithaca.unroll(network, folding=path).document
    assert document["file"]["metrics"] == document["metrics"] == {"interval": 3, "multipliers": 3}
    assert (document["status"], document["value"]) == ("optimal", 3)


def dense(folder):
    return written(
        folder,
        [
            {"op": "conv", "name": "conv", "channels": 6, "kernel": 3},
            {"op": "linear", "name": "fc1", "features": 8},
        ],
        name="dense",
    )


@pytest.mark.parametrize("whole", [False, True])
def test_a_configuration_of_hls4ml(tmp_path, whole):
    network, path, best = dense(tmp_path), tmp_path / "config.yml", tmp_path / "best.yml"
    inner = {
        "Model": {"Precision": "fixed<16,6>", "ReuseFactor": 10, "Strategy": "Resource"},
        "LayerName": {"fc1": {"ReuseFactor": 7, "Strategy": "Latency"}, "softmax": {}},
    }
    path.write_text(yaml.safe_dump({"HLSConfig": inner, "Backend": "Vitis"} if whole else inner))
    done = succeed("unroll", network, "--folding", path, "--json", "-o", best)
    assert "layer conv: ReuseFactor 10 is taken as 9, the closest" in done.stderr
    assert "without weights here, so neither counted nor chosen: 'softmax'" in done.stderr
    document = json.loads(done.stdout)
    conv, fc1 = document["file"]["layers"]
    assert (conv["reuse"], conv["multipliers"], conv["interval"]) == (9, 24, 9 * 16)
    assert (fc1["reuse"], fc1["multipliers"], fc1["interval"]) == (7, ceil(96 * 8 / 7), 7)
    # the fewest cycles of the convolution, then as few multipliers as leave the interval
    own = [
        (max(a * 16, b), ceil(216 / a) + ceil(768 / b))
        for a in valid_factors(WeightLayer("conv", 36, 6, 16))
        for b in range(1, 769)
        if ceil(216 / a) + ceil(768 / b) <= 24 + 110
    ]
    assert (document["value"], document["metrics"]["multipliers"]) == min(own)
    again = yaml.safe_load(best.read_text())
    entries = (again["HLSConfig"] if whole else again)["LayerName"]
    assert entries["conv"] == {"ReuseFactor": document["layers"][0]["reuse"]}
    assert entries["fc1"]["Strategy"] == "Latency"


@pytest.mark.ci
def test_a_configuration_as_hls4ml_writes_it(tmp_path):
    """The model's name has a tag; layers may state all reuse factors, and must without `Model`."""
    network, path, best = dense(tmp_path), tmp_path / "config.yml", tmp_path / "best.yml"
    own = {"conv": {"ReuseFactor": 9, "Strategy": "Resource"}, "fc1": {"ReuseFactor": 7}}
    path.write_text(
        f"KerasModel: !keras_model 'a/model.h5'\n{yaml.safe_dump({'HLSConfig': {'LayerName': own}})}"
    )
    done = succeed("unroll", network, "--folding", path, "--json", "-o", best)
    assert [each["reuse"] for each in json.loads(done.stdout)["file"]["layers"]] == [9, 7]
    assert yaml.safe_load(best.read_text())["KerasModel"] == "a/model.h5"
    path.write_text(yaml.safe_dump({"LayerName": {"conv": own["conv"]}}))
    line = refused("unroll", network, "--folding", path)
    assert "layer fc1: has no ReuseFactor; allowed: one of its own, or in Model" in line


@pytest.mark.parametrize(
    ("inner", "complaint"),
    [
        ({"LayerName": {"fc2": {"ReuseFactor": 2}}}, "LayerName names none of the layers, such as"),
        ({"LayerName": {"fc1": 3}}, "LayerName.fc1 is 3; allowed: a mapping such as {ReuseFactor"),
        ({"LayerName": {"fc1": {}, "relu": []}}, "LayerName.relu is a list; allowed: a mapping"),
        ({"LayerName": 0}, "LayerName is 0; allowed: a mapping of names to entries"),
        ({"LayerType": 3}, "LayerType is 3; allowed: a mapping of names to entries"),
        ({"LayerType": {"Dense": 3}}, "LayerType.Dense is 3; allowed: a mapping"),
        ({"LayerType": {"Dense": {"ReuseFactor": 2}}}, "LayerType.Dense states ReuseFactor; all"),
        ({"LayerType": {"Dense": {"TargetCycles": 9}}}, "LayerType.Dense states TargetCycles; all"),
        (
            {"LayerName": {"fc1": {"Strategy": "Resource", "TargetCycles": 90}}},
            "layer fc1: TargetCycles is 90; allowed: null, as it is not modelled",
        ),
        ({"Model": {"ReuseFactor": 1, "TargetCycles": 90}}, "TargetCycles is 90; allowed: null"),
        ({"Model": {"ReuseFactor": 0}}, "ReuseFactor is 0; allowed: a positive integer"),
        ({"Model": {"Strategy": "da"}}, "Strategy is 'da'; allowed: Latency, Resource, Unrolled"),
        ({"Model": {"ReuseFactor": 1, "ParallelizationFactor": 2}}, "ParallelizationFactor is 2"),
    ],
)
def test_configurations_that_are_not_modelled_are_refused(tmp_path, inner, complaint):
    network, path = dense(tmp_path), tmp_path / "config.yml"
    path.write_text(yaml.safe_dump({"Model": {"ReuseFactor": 1}, **inner}))
    line = refused("unroll", network, "--folding", path, "-o", tmp_path / "best.yml")
    assert complaint in line


def test_entries_that_are_left_empty_state_nothing(tmp_path):
    network, path, best = dense(tmp_path), tmp_path / "config.yml", tmp_path / "best.yml"
    inner = {"LayerName": {"fc1": None}, "LayerType": None}
    path.write_text(yaml.safe_dump({"Model": {"ReuseFactor": 2, "TargetCycles": None}, **inner}))
    answer = ithaca.unroll(network, folding=path, output=best)
    assert [row["reuse"] for row in answer.document["file"]["layers"]] == [2, 2]
    entries = yaml.safe_load(best.read_text())["LayerName"]
    assert entries["fc1"] == {"ReuseFactor": answer.document["layers"][1]["reuse"]}


def test_a_model_that_is_named_by_its_configuration(tmp_path):
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="model/fc1/MatMul"),
        onnx.helper.make_node("MatMul", ["y", "v"], ["z"], name="model/fc2/MatMul"),
    ]
    weights = [
        onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, shape, [0.0] * shape[0] * shape[1])
        for name, shape in (("w", (4, 6)), ("v", (6, 3)))
    ]
    graph = onnx.helper.make_graph(
        nodes, "g", [value("x", 1, [1, 4])], [value("z", 1, [1, 3])], weights
    )
    onnx.save(onnx.helper.make_model(graph), tmp_path / "model.onnx")
    path = tmp_path / "config.yml"
    inner = {"Model": {"ReuseFactor": 2}, "LayerName": {"fc1": {"ReuseFactor": 4}}}
    path.write_text(yaml.safe_dump({"OnnxModel": "model.onnx", "HLSConfig": inner}))
    answer = ithaca.unroll(path)
    assert [row["reuse"] for row in answer.document["file"]["layers"]] == [4, 2]
    path.write_text(yaml.safe_dump({"PytorchModel": "model.pt", "HLSConfig": inner}))
    with pytest.raises(InputError, match=r"PytorchModel is 'model\.pt'; allowed: OnnxModel"):
        ithaca.unroll(path)


def test_limits_that_nothing_meets_and_options_that_do_not_go_together(tmp_path):
    network = dense(tmp_path)
    fc = ithaca.unroll(network, layers=["fc1"], limit={"multipliers": 16})
    assert [row["layer"] for row in fc.document["layers"]] == ["fc1"]
    assert fc.document["value"] == 96 * 8 / 16
    # fc1 multiplies 96 × 8 numbers, the convolution 36 × 6 at each of 16 positions
    assert fc.headline.endswith(", interval 48 of the 18.2 % counted")
    assert fc.document["counted"]["share"] == pytest.approx(768 / 4224)
    assert not fc.document["complete"]
    assert ithaca.unroll(network, limit={"multipliers": 20}).document["complete"]
    part = succeed("unroll", network, "--layers", "fc1", "--limit", "multipliers=16").stdout
    assert "(optimal of the 18.2 % counted: no configuration of this design" in part
    assert "counted    18.2 % of the multiply-accumulates: 768 of 4,224" in part
    answer = ithaca.unroll(network, limit={"multipliers": 1})
    assert answer.failure.startswith("no folding keeps to the limits (infeasible): ")
    assert "the smallest that could be met with the other limits as they are is 2" in answer.failure
    late = ithaca.unroll(network, limit={"multipliers": 20}, time_limit=1e-6)
    assert late.document["status"] == "unknown"
    assert late.failure == "time was over before a folding was found; allow more time"
    assert "-o needs --folding" in refused("unroll", network, "-o", tmp_path / "out.json")
    assert "--to is 'vitis'; allowed: finn, hls4ml" in refused("unroll", network, "--to", "vitis")
    assert "calls 'norm', which is not offered here" in refused(
        "unroll", network, "--objective", "norm(interval)"
    )
    assert "t.nc: tables are CSV; allowed: a name that does not end in .nc" in refused(
        "unroll", network, "--table", tmp_path / "t.nc"
    )
    assert "'latency' uses the unknown name 'latency'" in refused(
        "unroll", network, "--limit", "latency=3"
    )
    products = "{op: kernel, name: bmm, kernel: batched_mm, sizes: {b: 2, i: 4, j: 4, k: 4}}"
    batched = tmp_path / "batched.yaml"
    batched.write_text(f"name: b\nsource: a test\nlayers:\n  - {products}\n")
    assert "layer bmm has" in refused("unroll", batched)
    grouped = [{"op": "conv", "name": "c", "channels": 4, "kernel": 3, "groups": 2}]
    assert "layer c runs 2 times" in refused("unroll", written(tmp_path, grouped))
    rows = tmp_path / "rows.csv"
    rows.write_text("name,M,N,K,count\na,4,6,8,1\nb,4,6,8,2\n")
    assert "layer a runs 3 times" in refused("unroll", rows)
    rows.write_text("name,M,N,K\na,4,6,8\nb,4,6,8\n")
    two = ithaca.unroll(rows, limit={"multipliers": 12}).document
    assert [(each["layer"], each["interval"]) for each in two["layers"]] == [("a", 32), ("b", 32)]
    table = tmp_path / "table.csv"
    succeed("unroll", network, "--limit", "multipliers=20", "--table", table)
    assert table.read_text().startswith("layer,pe,simd,interval,multipliers\nconv,")


@pytest.mark.ci
def test_a_model_of_keras_that_is_named_by_its_configuration(tmp_path):
    layers = [
        {
            "class_name": "Dense",
            "config": {"name": name, "units": n, "batch_input_shape": [None, 4]},
        }
        for name, n in (("fc1", 6), ("fc2", 3))
    ]
    model = {"class_name": "Sequential", "config": {"name": "m", "layers": layers}}
    (tmp_path / "model.json").write_text(json.dumps(model))
    inner = {"Model": {"ReuseFactor": 2}, "LayerName": {"fc1": {"ReuseFactor": 4}}}
    path = tmp_path / "config.yml"
    path.write_text(yaml.safe_dump({"KerasJson": "model.json", "HLSConfig": inner}))
    answer = ithaca.unroll(path)
    assert [row["reuse"] for row in answer.document["file"]["layers"]] == [4, 2]


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        ({"Defaults": {}, "MVAU_0": {"PE": 4, "SIMD": 2}}, "a folding configuration of FINN"),
        ({"HLSConfig": {"Model": {"ReuseFactor": 2}}}, "a configuration of hls4ml"),
        ({"HLSConfig": {"LayerName": {}}, "KerasH5": "model.h5"}, "a configuration of hls4ml"),
        ({"Model": {"Precision": "fixed", "ReuseFactor": 2}}, "a configuration of hls4ml"),
        ({"Model": None, "LayerName": {"a": {"ReuseFactor": 2}}}, "a configuration of hls4ml"),
    ],
)
def test_a_configuration_is_no_network(tmp_path, document, kind):
    assert told_of(tmp_path, document).startswith(f"is {kind}, which says how layers are built")


def told_of(tmp_path, document):
    """The line about a document, after its path."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as error:
        find_network(str(path))
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.ci
@pytest.mark.parametrize("field", [{"preferred_impl_style": "rtl"}, {"partition_id": 0}])
def test_where_finn_builds_layers_is_no_network(tmp_path, field):
    line = told_of(tmp_path, {"Defaults": {}, "MVAU_0": field})
    assert line.startswith("says by what and where FINN builds layers")


@pytest.mark.ci
def test_a_plot_has_the_cycles_of_each_layer_and_the_interval():
    answer = ithaca.unroll("vgg16", layers=["fc7", "fc8"], limit={"multipliers": 20})
    cycles = [each["interval"] for each in answer.document["layers"]]
    chart = answer.plot().chart
    assert [bar.value for bar in chart.bars] == cycles
    assert chart.line[0] == max(cycles) == answer.solution.value
    with pytest.raises(InputError, match="path is 3; allowed: the path of a file"):
        answer.plot(3)
    with pytest.raises(InputError, match="no folding was found"):
        ithaca.unroll("vgg16", layers=["fc8"], limit={"multipliers": 0.5}).plot()
