"""DeepSeek's decoders: attention on latent vectors, and layers of experts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.decoders import between, experts_taken
from ithaca.plugins.hub.workloads.fields import Configuration, Experts, Flag, Size
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
    vocabulary,
)
from ithaca.plugins.hub.workloads.phases import Phase, spread


class LatentConfiguration(Configuration):
    """The configuration of a decoder with latent attention."""

    hidden_size: Size
    intermediate_size: Size
    moe_intermediate_size: Size
    num_hidden_layers: Annotated[int, Field(ge=1, le=1000)]
    first_k_dense_replace: Annotated[int, Field(ge=0, le=1000)]
    n_routed_experts: Experts
    n_shared_experts: Annotated[int, Field(ge=0, le=1000)]
    num_experts_per_tok: Size
    num_attention_heads: Size
    q_lora_rank: Size | None = None
    moe_layer_freq: Annotated[int, Field(ge=1, le=1)] = 1
    kv_lora_rank: Size
    qk_nope_head_dim: Size
    qk_rope_head_dim: Size
    v_head_dim: Size
    vocab_size: Size
    tie_word_embeddings: Flag = None


def latent_decoder(c: LatentConfiguration, phase: Phase) -> Model:
    """A decoder with latent attention in a phase.

    Decoding multiplies queries into the latent space (keys and values stay compressed), as the
    report says (DeepSeek-V2, section 2.1.3); a prompt's keys and values are expanded. The module
    that predicts further tokens is not counted.
    """
    if c.first_k_dense_replace > c.num_hidden_layers:
        raise InputError(
            f"first_k_dense_replace is {c.first_k_dense_replace}; allowed: at most "
            f"{c.num_hidden_layers}, num_hidden_layers"
        )
    runs = ((phase.rows, 1),)
    dense = c.first_k_dense_replace
    moe = c.num_hidden_layers - dense
    chosen = experts_taken(c.num_experts_per_tok, "n_routed_experts", c.n_routed_experts)
    taken = spread(phase.rows * chosen, c.n_routed_experts, phase.experts)
    experts = [
        Matrix("router", c.n_routed_experts, c.hidden_size, runs, bias=False),
        *_feed_forward(c, "", c.moe_intermediate_size, taken, c.n_routed_experts),
    ]
    if c.n_shared_experts:
        shared = c.n_shared_experts * c.moe_intermediate_size
        experts += _feed_forward(c, "shared_", shared, runs, 1)
    common = _attention(c, phase)
    rank = c.q_lora_rank or 0  # none: queries have one matrix
    scales = 2 * c.hidden_size + rank + c.kv_lora_rank
    side, new, heads = phase.batch, phase.tokens, c.num_attention_heads
    both = (
        *(
            Elementwise("Softmax", MAP, (side * heads, some, seen))
            for _, some, seen in phase.blocks()
        ),
        Elementwise("RMSNorm", NORM, (side, new, c.hidden_size), 2),
        *(Elementwise("RMSNorm", NORM, (side, new, n)) for n in (rank, c.kv_lora_rank) if n),
        Elementwise("RoPE", GATE, (side * heads, new, c.qk_rope_head_dim)),
        Elementwise("RoPE", GATE, (side, new, c.qk_rope_head_dim)),
        Elementwise("Add", GATE, (side, new, c.hidden_size), 2),
    )
    blocks = []
    if dense:
        parts = (*common, *_feed_forward(c, "", c.intermediate_size, runs, 1))
        own = tuple(between("SiLU", runs, c.intermediate_size, gated=True))
        blocks.append(Block("dense", dense, parts, scales, (*both, *own)))
    if moe:
        # of version 3 each expert's correction of the router's score is a weight, too
        third = c.model_type == "deepseek_v3"
        vectors = scales + c.n_routed_experts * third
        own = (
            Elementwise("Sigmoid" if third else "Softmax", MAP, (side, new, c.n_routed_experts)),
            *between("SiLU", taken, c.moe_intermediate_size, gated=True),
        )
        if c.n_shared_experts:
            inner = c.n_shared_experts * c.moe_intermediate_size
            own += tuple(between("SiLU", runs, inner, gated=True))
        blocks.append(Block("moe", moe, (*common, *experts), vectors, (*both, *own)))
    table = c.vocab_size * c.hidden_size
    norm = Elementwise("RMSNorm", NORM, (side, 1, c.hidden_size))
    blocks.append(vocabulary(c.vocab_size, norm, tied=bool(c.tie_word_embeddings)))
    kept = c.kv_lora_rank + c.qk_rope_head_dim
    return Model(tuple(blocks), table, c.num_hidden_layers * phase.batch * phase.context * kept)


def _feed_forward(
    c: LatentConfiguration, prefix: str, inner: int, runs: tuple[tuple[int, int], ...], stored: int
) -> list[Matrix]:
    return [
        Matrix(f"{prefix}gate_up", 2 * inner, c.hidden_size, runs, stored),
        Matrix(f"{prefix}down", c.hidden_size, inner, runs, stored),
    ]


def _attention(c: LatentConfiguration, phase: Phase) -> list[Part]:
    heads, rank, nope, rope = (
        c.num_attention_heads,
        c.kv_lora_rank,
        c.qk_nope_head_dim,
        c.qk_rope_head_dim,
    )
    runs = ((phase.rows, 1),)
    expanded = heads * (nope + c.v_head_dim)
    queries = heads * (nope + rope)
    before: list[Part] = [Matrix("q", queries, c.hidden_size, runs)]
    if c.q_lora_rank is not None:
        before = [
            Matrix("q_a", c.q_lora_rank, c.hidden_size, runs),
            Matrix("q_b", queries, c.q_lora_rank, runs),
        ]
    before += [
        Matrix("kv_a", rank + rope, c.hidden_size, runs),
    ]
    after = Matrix("output", c.hidden_size, heads * c.v_head_dim, runs)
    if phase.name == "decode":
        rows = phase.tokens * heads
        return [
            *before,
            Matrix("kv_b", expanded, rank, ()),
            Product("absorb_k", heads, phase.rows, rank, nope),
            Product("scores", phase.batch, rows, phase.context, rank + rope),
            Product("attend", phase.batch, rows, rank, phase.context, follows=True),
            Product("absorb_v", heads, phase.rows, c.v_head_dim, rank),
            after,
        ]
    batch = phase.batch * heads
    return [
        *before,
        Matrix("kv_b", expanded, rank, ((phase.batch * phase.context, 1),)),
        *(
            product
            for place, new, seen in phase.blocks()
            for product in (
                Product(f"{place}scores", batch, new, seen, nope + rope),
                Product(f"{place}attend", batch, new, c.v_head_dim, seen, follows=True),
            )
        ),
        after,
    ]
