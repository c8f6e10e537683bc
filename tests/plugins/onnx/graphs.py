"""Models in ONNX's form, built node by node."""

from collections import Counter
from pathlib import Path

import onnx
from hypothesis import strategies as st
from onnx import TensorProto, helper

from ithaca.workloads.networks.find import find_network

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


class Graph:
    """A model under construction; weights have shapes, and data in a file that does not exist."""

    def __init__(self, **inputs):
        self.inputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in inputs.items()
        ]
        self.nodes = []
        self.weights = []

    def weight(self, *shape):
        tensor = TensorProto(name=f"w{len(self.weights)}", data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="elsewhere.bin")
        self.weights.append(tensor)
        return tensor.name

    def integers(self, *values):
        tensor = helper.make_tensor(
            f"w{len(self.weights)}", TensorProto.INT64, [len(values)], values
        )
        self.weights.append(tensor)
        return tensor.name

    def add(self, operator, *inputs, **attributes):
        output = f"{operator}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def model(self):
        output = helper.make_empty_tensor_value_info(self.nodes[-1].output[0])
        graph = helper.make_graph(self.nodes, "graph", self.inputs, [output], self.weights)
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
        return helper.make_model(graph, opset_imports=imports, ir_version=9)

    def network(self, folder, sizes=None):
        path = folder / "model.onnx"
        path.write_bytes(self.model().SerializeToString())
        return find_network(str(path), sizes)


def nests(network):
    return Counter({layer.nest: layer.count for layer in network.layers})


def listed(network):
    return {
        omission.operator: (omission.count, omission.kind, omission.reason)
        for omission in network.unsupported
    }


def vgg16():
    graph = Graph(image=["N", 3, 224, 224])
    x, channels = "image", 3
    for stage, width in zip((2, 2, 3, 3, 3), (64, 128, 256, 512, 512), strict=True):
        for _ in range(stage):
            x = graph.add(
                "Conv",
                x,
                graph.weight(width, channels, 3, 3),
                graph.weight(width),
                pads=[1, 1, 1, 1],
            )
            x, channels = graph.add("Relu", x), width
        x = graph.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x, features = graph.add("Flatten", x), 25_088
    for width in (4096, 4096, 1000):
        x, features = (
            graph.add("Gemm", x, graph.weight(width, features), graph.weight(width), transB=1),
            width,
        )
    return graph


def mobilenetv2():
    graph = Graph(image=[1, 3, 224, 224])
    x = graph.add("Conv", "image", graph.weight(32, 3, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER")
    channels = 32
    for expansion, width, blocks, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for block in range(blocks):
            inner, step = expansion * channels, stride if block == 0 else 1
            if expansion > 1:
                x = graph.add("Conv", x, graph.weight(inner, channels, 1, 1))
            window = {"group": inner, "strides": [step, step], "pads": [1, 1, 1, 1]}
            x = graph.add("Conv", x, graph.weight(inner, 1, 3, 3), **window)
            x = graph.add("Conv", x, graph.weight(width, inner, 1, 1))
            channels = width
    x = graph.add("Conv", x, graph.weight(1280, channels, 1, 1))
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x))
    graph.add("Gemm", x, graph.weight(1280, 1000))
    return graph


def bert_base():
    """The encoder as exporters write it: heads split by Reshape and Transpose, products by
    MatMul."""
    graph = Graph(tokens=["batch", "sequence", 768])
    x = "tokens"

    def linear(x, inputs, outputs):
        return graph.add(
            "Add", graph.add("MatMul", x, graph.weight(inputs, outputs)), graph.weight(outputs)
        )

    def heads(x, permutation):
        return graph.add(
            "Transpose", graph.add("Reshape", x, graph.integers(0, 0, 12, 64)), perm=permutation
        )

    for _ in range(12):
        query, key, value = (linear(x, 768, 768) for _ in range(3))
        scores = graph.add("MatMul", heads(query, [0, 2, 1, 3]), heads(key, [0, 2, 3, 1]))
        context = graph.add("MatMul", graph.add("Softmax", scores), heads(value, [0, 2, 1, 3]))
        context = graph.add(
            "Reshape", graph.add("Transpose", context, perm=[0, 2, 1, 3]), graph.integers(0, 0, 768)
        )
        x = linear(graph.add("Relu", linear(linear(context, 768, 768), 768, 3072)), 3072, 768)
    return graph


sizes = st.integers(1, 3)
