"""Multiply-accumulates of ONNX models drawn at random, against a count by ONNX's own shapes."""

import random
from math import prod

import onnx
import pytest

from tests.plugins.onnx.graphs import Graph


class Drawn:
    """A model of random nodes in a row, and its multiply-accumulates, counted on the way."""

    def __init__(self, seed):
        self.draw, self.count = random.Random(seed), 0
        self.shape = [self.of(1, 2), self.of(1, 4), self.of(5, 10), self.of(5, 10)]
        self.graph, self.last = Graph(x=self.shape), "x"
        for _ in range(self.of(2, 6)):
            self.draw.choice((self.convolve, self.spread, self.multiply, self.recur, self.move))()

    def of(self, least, most):
        return self.draw.randint(least, most)

    def add(self, operator, *inputs, **attributes):
        """Add a node, if its output has elements; whether it has."""
        self.last = self.graph.add(operator, self.last, *inputs, **attributes)
        inferred = onnx.shape_inference.infer_shapes(self.graph.model()).graph
        (output,) = (each for each in inferred.output if each.name == self.last)
        self.shape = [each.dim_value for each in output.type.tensor_type.shape.dim]

    def convolve(self):
        if len(self.shape) != 4 or min(self.shape[2:]) < 3:
            return
        channels = self.shape[1]
        groups = self.draw.choice([n for n in range(1, channels + 1) if channels % n == 0])
        window = [self.of(1, 3), self.of(1, 3)]
        weights = self.graph.weight(groups * self.of(1, 3), channels // groups, *window)
        mode = self.draw.choice(("VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET"))
        pads = {"pads": [self.of(0, 2) for _ in range(4)]} if mode == "NOTSET" else {}
        steps = [self.of(1, 3), self.of(1, 3)]
        self.add("Conv", weights, group=groups, strides=steps, auto_pad=mode, **pads)
        self.count += prod(self.shape) * channels // groups * prod(window)

    def spread(self):
        """A transposed convolution: each output takes the elements that reach it."""
        if len(self.shape) != 4:
            return
        (batch, channels, *places), outputs = self.shape, self.of(1, 2)
        window, steps = ([self.of(1, 3), self.of(1, 3)] for _ in range(2))
        pads = [self.of(0, min(window) - 1) for _ in range(4)]
        wide = [(n - 1) * s + w for n, s, w in zip(places, steps, window, strict=True)]
        if any(n <= pads[axis] + pads[axis + 2] for axis, n in enumerate(wide)):
            return
        weights = self.graph.weight(channels, outputs, *window)
        self.add("ConvTranspose", weights, strides=steps, pads=pads)
        pairs = (
            sum((y + pads[axis] - p) % steps[axis] == 0 for y in range(n) for p in range(w))
            for axis, (n, w) in enumerate(zip(self.shape[2:], window, strict=True))
        )
        self.count += batch * channels * outputs * prod(pairs)

    def multiply(self):
        columns = self.of(1, 4)
        self.count += prod(self.shape) * columns
        self.add("MatMul", self.graph.weight(self.shape[-1], columns))

    def recur(self):
        if len(self.shape) != 3:
            return
        (steps, batch, inputs), hidden = self.shape, self.of(1, 3)
        operator, gates = self.draw.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
        way, ways = self.draw.choice((("forward", 1), ("bidirectional", 2)))
        weights = (self.graph.weight(ways, gates * hidden, n) for n in (inputs, hidden))
        self.add(operator, *weights, hidden_size=hidden, direction=way)
        self.count += ways * steps * batch * gates * hidden * (inputs + hidden)

    def move(self):
        """A layer that multiplies nothing, and changes the shape."""
        axis, axes = self.of(0, len(self.shape) - 1), [*range(len(self.shape))]
        self.draw.shuffle(axes)
        one = {"kernel_shape": [2, 2], "strides": [self.of(1, 2)] * 2, "ceil_mode": self.of(0, 1)}
        moves = {
            "Transpose": ((), {"perm": axes}),
            "Concat": ((self.last,), {"axis": axis}),
            "ReduceMean": ((), {"axes": [axis], "keepdims": self.of(0, 1)}),
            "Relu": ((), {}),
        }
        if len(self.shape) == 4 and min(self.shape[2:]) > 1:
            moves["MaxPool"] = ((), one)
        if len(self.shape) == 2:
            del moves["ReduceMean"]
        operator = self.draw.choice([*moves])
        self.add(operator, *moves[operator][0], **moves[operator][1])


def check(seed, folder):
    """Whether a model multiplies; if so, its count must be the import's."""
    drawn = Drawn(seed)
    if not drawn.count:
        return False
    network = drawn.graph.network(folder)
    left = sum(each.operations or 0 for each in network.unsupported)
    nodes = [node.op_type for node in drawn.graph.nodes]
    assert network.operations + left == drawn.count, (seed, nodes)
    return True


def test_drawn_models_have_the_counted_operations(tmp_path):
    assert sum(check(seed, tmp_path) for seed in range(20)) > 10


@pytest.mark.slow
def test_more_drawn_models_have_the_counted_operations(tmp_path):
    first = random.SystemRandom().randrange(10**9)
    assert sum(check(seed, tmp_path) for seed in range(first, first + 300)) > 100
