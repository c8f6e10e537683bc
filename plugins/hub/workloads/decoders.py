"""Decoders of text: Llama and its kin, with dense layers or experts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.fields import Configuration, Flag, Size
from ithaca.plugins.hub.workloads.parts import (
    GATE,
    MAP,
    NORM,
    Block,
    Elementwise,
    Matrix,
    Model,
    Part,
    Product,
    Runs,
    vocabulary,
)
from ithaca.plugins.hub.workloads.phases import Phase, spread


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of decoder: the choices that its configuration does not state."""

    qkv_bias: bool = False
    output_bias: bool = False
    """A bias of attention's last matrix."""
    feed_bias: bool = False
    head_bias: bool = False
    """A bias of the matrix to the vocabulary."""
    gated: bool = True
    """Whether the feed-forward part multiplies two products."""
    norms: int = 2
    """In each layer."""
    norm: str = "RMSNorm"
    shifted: bool = False
    """Whether norms have shifts beside their scales."""
    head_norms: bool = False
    """Whether queries and keys of a head are normalised."""
    activation: str = "SiLU"
    tied: bool = False
    """Whether the matrix to the vocabulary is the embedding, where nothing is said."""
    local: tuple[int, int] = (0, 1)
    """Layers with a sliding window, of so many in a row."""


#: Kinds by `model_type`.
KINDS = {
    "llama": Kind(),
    "mistral": Kind(local=(1, 1)),
    "mixtral": Kind(local=(1, 1)),
    "qwen2": Kind(qkv_bias=True),
    "qwen3": Kind(head_norms=True),
    "gemma": Kind(activation="Gelu", tied=True),
    "gemma2": Kind(activation="Gelu", tied=True, norms=4, local=(1, 2)),
    "gemma3_text": Kind(activation="Gelu", tied=True, norms=4, head_norms=True, local=(5, 6)),
    "phi": Kind(
        qkv_bias=True,
        output_bias=True,
        feed_bias=True,
        head_bias=True,
        gated=False,
        norms=1,
        norm="LayerNormalization",
        shifted=True,
        activation="Gelu",
    ),
    "phi3": Kind(),
}

#: Kinds whose windows count only where the configuration says so.
_WINDOWED = "use_sliding_window"


class DecoderConfiguration(Configuration):
    """The configuration of a decoder."""

    hidden_size: Size
    intermediate_size: Size
    num_hidden_layers: Annotated[int, Field(ge=1, le=1000)]
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    vocab_size: Size
    tie_word_embeddings: Flag = None
    attention_bias: Flag = None
    mlp_bias: Flag = None
    sliding_window: Size | None = None
    sliding_window_pattern: Size | None = None
    use_sliding_window: Flag = None
    num_local_experts: Size | None = None
    num_experts_per_tok: Size | None = None

    @property
    def kind(self) -> Kind:
        """The choices of its kind."""
        return KINDS[self.model_type]

    @property
    def groups(self) -> int:
        """Heads of keys and values."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def head(self) -> int:
        """Words of a head."""
        if self.head_dim is not None:
            return self.head_dim
        return part_of("hidden_size", self.hidden_size, self.num_attention_heads)

    @property
    def windowed(self) -> int:
        """Layers that attend to a window."""
        if self.sliding_window is None or self.use_sliding_window is False:
            return 0
        local, of = self.kind.local
        if self.sliding_window_pattern is not None and of > 1:
            local, of = self.sliding_window_pattern - 1, self.sliding_window_pattern
        rounds, rest = divmod(self.num_hidden_layers, of)
        return rounds * local + min(rest, local)


def part_of(name: str, size: int, heads: int) -> int:
    """Words of each head.

    Parameters
    ----------
    name : str
        The field that states the words of all.
    size : int
        Words of all.
    heads : int
        How many heads there are.

    Raises
    ------
    InputError
        If the words cannot be divided.
    """
    if size % heads:
        raise InputError(f"{name} is {size}; allowed: a multiple of {heads}, the heads")
    return size // heads


def decoder(configuration: DecoderConfiguration, phase: Phase) -> Model:
    """A decoder in a phase."""
    c, kind = configuration, configuration.kind
    if c.num_attention_heads % c.groups:
        raise InputError(
            f"num_attention_heads is {c.num_attention_heads}; allowed: a multiple of {c.groups}, "
            "num_key_value_heads"
        )
    blocks, cache = [], 0
    for name, layers, context in _contexts(c, phase):
        blocks.append(_layers(name, layers, context, c, phase))
        cache += layers * 2 * phase.batch * context * c.groups * c.head
    tied = kind.tied if c.tie_word_embeddings is None else c.tie_word_embeddings
    table = c.vocab_size * c.hidden_size
    last = Elementwise(kind.norm, NORM, (phase.batch, 1, c.hidden_size))
    scales = 1 + kind.shifted
    blocks.append(vocabulary(c.vocab_size, last, scales=scales, bias=kind.head_bias, tied=tied))
    return Model(tuple(blocks), table, cache)


def _contexts(c: DecoderConfiguration, phase: Phase) -> Iterator[tuple[str, int, int]]:
    """Layers and the positions that they attend to: local ones, and global ones."""
    local, window = c.windowed, c.sliding_window or 0
    seen = min(phase.context, window + phase.tokens - 1)
    if not local or seen == phase.context:
        yield "layer", c.num_hidden_layers, phase.context
        return
    yield "local", local, seen
    if local < c.num_hidden_layers:
        yield "global", c.num_hidden_layers - local, phase.context


def _layers(name: str, repeat: int, context: int, c: DecoderConfiguration, phase: Phase) -> Block:
    """Layers that attend to so many positions."""
    kind = c.kind
    biased = kind.qkv_bias if c.attention_bias is None else c.attention_bias
    ending = kind.output_bias if c.attention_bias is None or kind.qkv_bias else c.attention_bias
    heads = c.num_attention_heads
    runs: Runs = ((phase.rows, 1),)
    projected = (heads + 2 * c.groups) * c.head
    grouped = phase.tokens * heads // c.groups
    parts: list[Part] = [
        Matrix("qkv", projected, c.hidden_size, runs, bias=biased),
        Product("scores", phase.batch * c.groups, grouped, context, c.head),
        Product("attend", phase.batch * c.groups, grouped, c.head, context, follows=True),
        Matrix("output", c.hidden_size, heads * c.head, runs, bias=ending),
    ]
    if c.num_local_experts is not None:
        taken = c.num_experts_per_tok or 1
        parts.append(Matrix("router", c.num_local_experts, c.hidden_size, runs))
        runs = spread(phase.rows * taken, c.num_local_experts, phase.experts)
    parts += _feed_forward(c, c.intermediate_size, runs, c.num_local_experts or 1)
    scales = c.hidden_size * kind.norms * (1 + kind.shifted) + 2 * c.head * kind.head_norms
    side, new, wide = phase.batch, phase.tokens, c.hidden_size
    elementwise = [
        Elementwise("Softmax", MAP, (side * heads, new, context)),
        Elementwise(kind.norm, NORM, (side, new, wide), kind.norms),
        Elementwise("RoPE", GATE, (side, new, heads * c.head)),
        Elementwise("RoPE", GATE, (side, new, c.groups * c.head)),
        Elementwise("Add", GATE, (side, new, wide), 2),
    ]
    if kind.head_norms:
        for each in (heads, c.groups):
            elementwise.append(Elementwise(kind.norm, NORM, (side * each, new, c.head)))
    if c.num_local_experts is not None:
        elementwise.append(Elementwise("Softmax", MAP, (side, new, c.num_local_experts)))
    elementwise += between(kind.activation, runs, c.intermediate_size, gated=kind.gated)
    return Block(name, repeat, tuple(parts), scales, tuple(elementwise))


def between(activation: str, runs: Runs, inner: int, *, gated: bool) -> Iterator[Elementwise]:
    """Operations between the matrices of a feed-forward part.

    Parameters
    ----------
    activation : str
        The activation's name in ONNX.
    runs : tuple
        Rows, and how many experts have so many.
    inner : int
        Columns.
    gated : bool
        Whether it is multiplied by another product.
    """
    for rows, count in runs:
        yield Elementwise(activation, MAP, (1, rows, inner), count)
        if gated:
            yield Elementwise("Mul", GATE, (1, rows, inner), count)


def _feed_forward(c: DecoderConfiguration, inner: int, runs: Runs, stored: int) -> list[Part]:
    """The feed-forward part of a layer, of one expert or of several."""
    biased = c.kind.feed_bias if c.mlp_bias is None else c.mlp_bias
    name, wide = ("gate_up", 2 * inner) if c.kind.gated else ("up", inner)
    return [
        Matrix(name, wide, c.hidden_size, runs, stored, biased),
        Matrix("down", c.hidden_size, inner, runs, stored, biased, follows=not c.kind.gated),
    ]
