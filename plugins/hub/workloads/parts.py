"""Parts of a model: weights and products, from which its layers and its sizes follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

#: Rows of activations, and how many times so many are multiplied.
Runs = tuple[tuple[int, int], ...]


class Part(Protocol):
    """A part of a block."""

    @property
    def words(self) -> int:
        """Words of its weights."""

    @property
    def read(self) -> int:
        """Words of weights that one run of the network reads."""

    def layers(self, *, apart: bool = False) -> Iterator[dict[str, Any]]:
        """Layers, as network files state them; ``apart``: what is element by element lies between
        them."""


def _kernel(
    name: str, kernel: str, sizes: dict[str, int], count: int = 1, *, follows: bool = False
) -> dict[str, Any]:
    layer: dict[str, Any] = {"op": "kernel", "name": name, "kernel": kernel, "sizes": sizes}
    if follows:
        layer["follows"] = True
    return layer if count == 1 else layer | {"count": count}


@dataclass(frozen=True, slots=True)
class Matrix:
    """Weights that rows of activations are multiplied by."""

    name: str
    outputs: int
    inputs: int
    runs: Runs
    """Empty for weights that are read in another form (by a `Product`)."""
    stored: int = 1
    """Matrices of this shape, such as experts."""
    bias: bool = False
    tied: bool = False
    """Whether the weights are those of the embedding, but for the bias."""
    follows: bool = False
    """Whether the rows are what the part before writes, element by element."""

    @property
    def _each(self) -> int:
        return self.outputs * (self.inputs + self.bias)

    @property
    def words(self) -> int:
        """Words of its weights."""
        return self.outputs * self.bias if self.tied else self.stored * self._each

    @property
    def read(self) -> int:
        """Words of weights that one run of the network reads."""
        used = sum(count for _, count in self.runs) if self.runs else self.stored
        return min(used, self.stored) * self._each

    def layers(self, *, apart: bool = False) -> Iterator[dict[str, Any]]:
        """A product of matrices for every number of rows."""
        for rows, count in self.runs:
            name = f"rows{rows}.{self.name}" if len(self.runs) > 1 else self.name
            sizes = {"i": rows, "j": self.outputs, "k": self.inputs}
            yield _kernel(name, "mm", sizes, count, follows=self.follows and not apart)


@dataclass(frozen=True, slots=True)
class Product:
    """Products of activations, or of activations and a part of weights counted elsewhere."""

    name: str
    batch: int
    rows: int
    columns: int
    inner: int
    follows: bool = False
    """Whether the rows are what the part before writes, element by element."""

    @property
    def words(self) -> int:
        """No words: activations, or weights counted elsewhere."""
        return 0

    @property
    def read(self) -> int:
        """No words, either."""
        return 0

    def layers(self, *, apart: bool = False) -> Iterator[dict[str, Any]]:
        """One batched product."""
        sizes = {"b": self.batch, "i": self.rows, "j": self.columns, "k": self.inner}
        yield _kernel(self.name, "batched_mm", sizes, follows=self.follows and not apart)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution, of channels each by itself where it is depthwise."""

    name: str
    outputs: int
    inputs: int
    window: tuple[int, int]
    size: tuple[int, int]
    """Rows and columns of what it writes."""
    count: int = 1
    stride: int = 1
    bias: bool = True
    depthwise: bool = False

    @property
    def words(self) -> int:
        """Words of its weights."""
        taps = self.window[0] * self.window[1] * (1 if self.depthwise else self.inputs)
        return self.outputs * (taps + self.bias)

    @property
    def read(self) -> int:
        """Words of weights that one run of the network reads: all."""
        return self.words

    def layers(self, *, apart: bool = False) -> Iterator[dict[str, Any]]:
        """One convolution an image."""
        kernel = "depthwise_conv2d" if self.depthwise else "conv2d"
        (p, q), (r, c) = self.window, self.size
        sizes = {"o": self.outputs, "r": r, "c": c, "p": p, "q": q}
        if not self.depthwise:
            sizes["i"] = self.inputs
        if self.stride > 1:
            sizes["s"] = self.stride
        yield _kernel(self.name, kernel, sizes, self.count)


#: Kernels in turn (see `OWN_KERNELS`): of functions of an element, such as softmax; of functions of
#: two; and of norms, the sum of a row's squares and a scale.
MAP, GATE, NORM = ("map",), ("gate",), ("row_sum", "scale")


@dataclass(frozen=True, slots=True)
class Elementwise:
    """Operations on each element of a tensor, or of its rows."""

    operator: str
    """Name in ONNX."""
    kernels: tuple[str, ...]
    """`MAP`, `GATE` or `NORM`."""
    shape: tuple[int, int, int]
    """Matrices, rows, columns."""
    count: int = 1

    def layers(self, names: Callable[[str], str]) -> Iterator[dict[str, Any]]:
        """One nest for each kernel, called by the names of the block."""
        batch, rows, columns = self.shape
        for kernel in self.kernels:
            own = f"_{kernel}" if len(self.kernels) > 1 else ""
            sizes = {"b": batch, "i": rows, "j": columns}
            yield _kernel(names(f"{self.operator.lower()}{own}"), kernel, sizes, self.count)


@dataclass(frozen=True, slots=True)
class Block:
    """Parts that are repeated."""

    name: str
    repeat: int
    parts: tuple[Part, ...]
    vectors: int = 0
    """Words of weights that are no matrices, such as scales of norms, in each."""
    elementwise: tuple[Elementwise, ...] = ()
    """Operations in each that are element by element."""

    @property
    def words(self) -> int:
        """Words of the weights of all."""
        return self.repeat * (self.vectors + sum(part.words for part in self.parts))

    @property
    def read(self) -> int:
        """Words of weights that one run of the network reads."""
        return self.repeat * (self.vectors + sum(part.read for part in self.parts))

    def layers(self, names: Callable[[str], str] | None) -> list[dict[str, Any]]:
        """The block as network files state it; its layers alone where it has no name.

        ``names`` makes a name one of its own, if what is element by element is among them.
        """
        apart = names is not None
        layers = [layer for part in self.parts for layer in part.layers(apart=apart)]
        if names is not None:
            layers += [layer for each in self.elementwise for layer in each.layers(names)]
        if not layers or not self.name:
            return layers
        repeat = {"repeat": self.repeat} if self.repeat > 1 else {}
        return [{"op": "block", "name": self.name, **repeat, "layers": layers}]


def vocabulary(
    words: int, norm: Elementwise, *, scales: int = 1, bias: bool = False, tied: bool = False
) -> Block:
    """The last norm of a decoder, and the matrix to its vocabulary.

    Parameters
    ----------
    words : int
        Words of the vocabulary.
    norm : Elementwise
        The norm, of the positions that are decoded.
    scales : int, optional
        Weights of the norm for each word of a row.
    bias : bool, optional
        Whether the matrix has a bias.
    tied : bool, optional
        Whether it is the embedding.
    """
    batch, _, width = norm.shape
    head = Matrix("lm_head", words, width, ((batch, 1),), bias=bias, tied=tied)
    return Block("", 1, (head,), scales * width, (norm,))


@dataclass(frozen=True, slots=True)
class Model:
    """A model in one phase."""

    blocks: tuple[Block, ...]
    embeddings: int = 0
    """Words of tables of which a run reads single rows."""
    cache: int = 0
    """Words of keys and values, or of other state, that a run finds in memory or leaves there."""

    @property
    def words(self) -> int:
        """Words of all weights: its parameters."""
        return self.embeddings + sum(block.words for block in self.blocks)

    @property
    def read(self) -> int:
        """Words of weights that one run reads."""
        return sum(block.read for block in self.blocks)

    def layers(self, *, elementwise: bool) -> list[dict[str, Any]]:
        """Layers, as network files state them, with what is element by element if that is asked."""
        known: dict[str, int] = {}

        def names(name: str) -> str:
            known[name] = number = known.get(name, 0) + 1
            return f"{name}{number}" if number > 1 else name

        own = names if elementwise else None
        return [layer for block in self.blocks for layer in block.layers(own)]

    @property
    def elementwise(self) -> dict[str, int]:
        """Operations that are element by element, by their name in ONNX."""
        counts: dict[str, int] = {}
        for block in self.blocks:
            for each in block.elementwise:
                counts[each.operator] = counts.get(each.operator, 0) + each.count * block.repeat
        return counts
