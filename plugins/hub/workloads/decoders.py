"""Decoders of text: Llama and its kin, with dense layers or experts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.files.messages import quoted
from ithaca.plugins.hub.workloads.fields import Configuration, Experts, Flag, Size
from ithaca.plugins.hub.workloads.kinds import KINDS, Kind
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
from ithaca.workloads.nest import MAX_EXTENT


class DecoderConfiguration(Configuration):
    """The configuration of a decoder."""

    hidden_size: Size
    intermediate_size: Size | None = None
    """Four times the hidden size where nothing is said and the kind has no gate."""
    num_hidden_layers: Annotated[int, Field(ge=1, le=1000)]
    num_attention_heads: Size
    num_key_value_heads: Size | None = None
    head_dim: Size | None = None
    vocab_size: Size
    tie_word_embeddings: Flag = None
    attention_bias: Flag = None
    mlp_bias: Flag = None
    sliding_window: Annotated[int, Field(ge=0, le=MAX_EXTENT)] | None = None
    sliding_window_pattern: Size | None = None
    layer_types: list[str] | None = None
    num_local_experts: Experts | None = None
    num_experts_per_tok: Size | None = None
    moe_intermediate_size: Size | None = None
    shared_expert_intermediate_size: Annotated[int, Field(ge=0, le=MAX_EXTENT)] = 0
    max_position_embeddings: Size | None = None
    partial_rotary_factor: Annotated[float, Field(ge=0, le=1)] = 1
    """The part of a head that positions rotate."""
    word_embed_proj_dim: Size | None = None
    use_qkv_bias: Flag = None
    multi_query: Flag = None
    parallel_attn: Flag = None
    alibi: Flag = None
    new_decoder_architecture: Flag = None
    num_ln_in_parallel_attn: Annotated[int, Field(ge=1, le=2)] | None = None

    @property
    def kind(self) -> Kind:
        """The choices of its kind, and those that Falcon's fields state."""
        kind = KINDS[self.model_type]
        if self.model_type != "falcon":
            return kind
        norms = self.num_ln_in_parallel_attn or (2 if self.new_decoder_architecture else 1)
        norms = 2 if self.parallel_attn is False else norms
        return replace(kind, norms=norms, rotary=not self.alibi)

    @property
    def inner(self) -> int:
        """Words between the matrices of a dense feed-forward part, or of an expert."""
        own = self.moe_intermediate_size if self.num_local_experts else None
        if (size := own or self.intermediate_size) is not None:
            return size
        if self.kind.gated:
            raise InputError("intermediate_size is missing; allowed: a positive integer")
        return 4 * self.hidden_size

    @property
    def tables(self) -> int:
        """Words of the embedding, and of positions where they have a table."""
        if self.word_embed_proj_dim not in (None, self.hidden_size):
            raise InputError(
                f"word_embed_proj_dim is {self.word_embed_proj_dim}; allowed: {self.hidden_size}, "
                "hidden_size"
            )
        placed = self.kind.placed
        if placed is not None and self.max_position_embeddings is None:
            raise InputError("max_position_embeddings is missing; allowed: a positive integer")
        rows = 0 if placed is None else placed + (self.max_position_embeddings or 0)
        return (self.vocab_size + rows) * self.hidden_size

    @property
    def groups(self) -> int:
        """Heads of keys and values."""
        if self.model_type == "falcon" and not self.new_decoder_architecture:
            return self.num_attention_heads if self.multi_query is False else 1
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
        if not self.sliding_window or self.kind.local == (0, 1):
            return 0
        if self.layer_types is not None:
            return self._stated_windows(self.layer_types)
        local, of = self.kind.local
        if self.sliding_window_pattern is not None and of > 1:
            local, of = self.sliding_window_pattern - 1, self.sliding_window_pattern
        rounds, rest = divmod(self.num_hidden_layers, of)
        return rounds * local + min(rest, local)

    def _stated_windows(self, types: list[str]) -> int:
        """Layers that attend to a window, of as many as there are."""
        for place, each in enumerate(types):
            if each not in ("sliding_attention", "full_attention"):
                raise InputError(
                    f"layer_types[{place}] is {quoted(each)}; allowed: sliding_attention, "
                    "full_attention"
                )
        if len(types) != self.num_hidden_layers:
            raise InputError(
                f"layer_types has {len(types)} entries; allowed: {self.num_hidden_layers}, "
                "num_hidden_layers"
            )
        return types.count("sliding_attention")


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


def experts_taken(taken: int | None, name: str, experts: int) -> int:
    """Experts that a position takes.

    Parameters
    ----------
    taken : int, optional
        What the configuration states.
    name : str
        The field that states how many there are.
    experts : int
        How many there are.

    Raises
    ------
    InputError
        If nothing is stated, or more than there are.
    """
    if taken is None or taken > experts:
        stated = "missing" if taken is None else taken
        raise InputError(
            f"num_experts_per_tok is {stated}; allowed: a positive integer, at most {experts}, "
            f"{name}"
        )
    return taken


def decoder(configuration: DecoderConfiguration, phase: Phase) -> Model:
    """A decoder in a phase."""
    c, kind = configuration, configuration.kind
    if c.num_attention_heads % c.groups:
        raise InputError(
            f"num_attention_heads is {c.num_attention_heads}; allowed: a multiple of {c.groups}, "
            "num_key_value_heads"
        )
    blocks, cache = [], 0
    for name, layers, window in _contexts(c, phase):
        blocks.append(_layers(name, layers, window, c, phase))
        context = phase.context
        if window is not None:
            context = min(context, window + phase.tokens - 1)
        cache += layers * 2 * phase.batch * context * c.groups * c.head
    tied = kind.tied if c.tie_word_embeddings is None else c.tie_word_embeddings
    last = Elementwise(kind.norm, NORM, (phase.batch, 1, c.hidden_size))
    scales = kind.scaled + kind.shifted
    if kind.first_norm:
        first = Elementwise(kind.norm, NORM, (phase.batch, phase.tokens, c.hidden_size))
        blocks.insert(0, Block("", 1, (), scales * c.hidden_size, (first,)))
    blocks.append(vocabulary(c.vocab_size, last, scales=scales, bias=kind.head_bias, tied=tied))
    return Model(tuple(blocks), c.tables, cache)


def _contexts(c: DecoderConfiguration, phase: Phase) -> Iterator[tuple[str, int, int | None]]:
    """Layers and the windows that they attend to: local ones, and global ones, which have none."""
    local, window = c.windowed, c.sliding_window or 0
    if not local or [*phase.blocks(window)] == [*phase.blocks()]:
        yield "layer", c.num_hidden_layers, None
        return
    yield "local", local, window
    if local < c.num_hidden_layers:
        yield "global", c.num_hidden_layers - local, None


def _layers(
    name: str, repeat: int, window: int | None, c: DecoderConfiguration, phase: Phase
) -> Block:
    """Layers that attend to so many positions, or to all."""
    kind = c.kind
    biased = kind.qkv_bias if c.attention_bias is None else c.attention_bias
    biased = biased if c.use_qkv_bias is None else c.use_qkv_bias
    ending = kind.output_bias if c.attention_bias is None else c.attention_bias
    heads = c.num_attention_heads
    runs: Runs = ((phase.rows, 1),)
    projected = (heads + 2 * c.groups) * c.head
    parts: list[Part] = [Matrix("qkv", projected, c.hidden_size, runs, bias=biased)]
    sides = phase.batch * c.groups
    for place, some, seen in phase.blocks(window):
        grouped = some * heads // c.groups
        parts += [
            Product(f"{place}scores", sides, grouped, seen, c.head),
            Product(f"{place}attend", sides, grouped, c.head, seen, follows=True),
        ]
    parts.append(Matrix("output", c.hidden_size, heads * c.head, runs, bias=ending))
    if c.num_local_experts is not None:
        taken = experts_taken(c.num_experts_per_tok, "num_local_experts", c.num_local_experts)
        parts.append(
            Matrix("router", c.num_local_experts, c.hidden_size, runs, bias=kind.router_bias)
        )
        runs = spread(phase.rows * taken, c.num_local_experts, phase.experts)
    parts += _feed_forward(c, "", c.inner, runs, c.num_local_experts or 1)
    shared = c.shared_expert_intermediate_size if c.num_local_experts else 0
    every: Runs = ((phase.rows, 1),)
    if shared:
        parts.append(Matrix("shared_gate", 1, c.hidden_size, every))
        parts += _feed_forward(c, "shared_", shared, every, 1)
    scales = c.hidden_size * kind.norms * (kind.scaled + kind.shifted)
    scales += 2 * c.head * kind.head_norms + (heads + c.groups) * c.head * kind.whole_norms
    scales += heads * kind.sinks
    side, new, wide = phase.batch, phase.tokens, c.hidden_size
    elementwise = [
        *(
            Elementwise("Softmax", MAP, (side * heads, some, seen + kind.sinks))
            for _, some, seen in phase.blocks(window)
        ),
        Elementwise(kind.norm, NORM, (side, new, wide), kind.norms),
    ]
    rotated = int(c.head * c.partial_rotary_factor) if kind.rotary else 0
    for each in (heads, c.groups) if rotated else ():
        elementwise.append(Elementwise("RoPE", GATE, (side, new, each * rotated)))
    elementwise.append(Elementwise("Add", GATE, (side, new, wide), 2))
    if kind.head_norms:
        for each in (heads, c.groups):
            elementwise.append(Elementwise(kind.norm, NORM, (side * each, new, c.head)))
    for each in (heads, c.groups) if kind.whole_norms else ():
        elementwise.append(Elementwise(kind.norm, NORM, (side, new, each * c.head)))
    if c.num_local_experts is not None:
        elementwise.append(Elementwise("Softmax", MAP, (side, new, c.num_local_experts)))
    if shared:
        elementwise += between(kind.activation, every, shared, gated=kind.gated)
        elementwise.append(Elementwise("Sigmoid", MAP, (side, new, 1)))
        elementwise.append(Elementwise("Mul", GATE, (side, new, wide)))
    elementwise += between(kind.activation, runs, c.inner, gated=kind.gated)
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


def _feed_forward(
    c: DecoderConfiguration, prefix: str, inner: int, runs: Runs, stored: int
) -> list[Part]:
    """The feed-forward part of a layer, of one expert or of several."""
    biased = c.kind.feed_bias if c.mlp_bias is None else c.mlp_bias
    name, wide = ("gate_up", 2 * inner) if c.kind.gated else ("up", inner)
    return [
        Matrix(f"{prefix}{name}", wide, c.hidden_size, runs, stored, biased),
        Matrix(
            f"{prefix}down", c.hidden_size, inner, runs, stored, biased, follows=not c.kind.gated
        ),
    ]
