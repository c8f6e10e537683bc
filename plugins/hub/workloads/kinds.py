"""Kinds of decoders: the choices that their configurations do not state, and names of fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ithaca.files.errors import InputError


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
    scaled: bool = True
    """Whether norms have scales."""
    shifted: bool = False
    """Whether norms have shifts beside their scales."""
    head_norms: bool = False
    """Whether queries and keys of a head are normalised."""
    whole_norms: bool = False
    """Whether queries and keys of all heads are normalised together."""
    activation: str = "SiLU"
    tied: bool = False
    """Whether the matrix to the vocabulary is the embedding, where nothing is said."""
    local: tuple[int, int] = (0, 1)
    """Layers with a sliding window, of so many in a row."""
    rotary: bool = True
    """Whether queries and keys are rotated by their positions."""
    placed: int | None = None
    """Rows of a table of positions beyond `max_position_embeddings`; None: no table."""
    first_norm: bool = False
    """Whether the embedding is normalised."""
    router_bias: bool = False
    """A bias of the matrix that chooses experts."""
    sinks: bool = False
    """Whether each head learns one more score, which no position has."""


#: Decoders with biases of all matrices in their layers.
_BIASED = Kind(
    qkv_bias=True,
    output_bias=True,
    feed_bias=True,
    gated=False,
    norm="LayerNormalization",
    shifted=True,
    activation="Gelu",
)

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
    "phi": replace(_BIASED, head_bias=True, norms=1),
    "phi3": Kind(local=(1, 1)),
    "qwen2_moe": Kind(qkv_bias=True),
    "qwen3_moe": Kind(head_norms=True),
    "granite": Kind(),
    "olmo": Kind(norm="LayerNormalization", scaled=False),
    "olmo2": Kind(whole_norms=True),
    "olmo3": Kind(whole_norms=True, local=(3, 4)),
    "olmoe": Kind(whole_norms=True),
    "gpt_oss": Kind(
        qkv_bias=True, output_bias=True, feed_bias=True, router_bias=True, sinks=True, local=(1, 2)
    ),
    "cohere": Kind(norm="LayerNormalization", norms=1, tied=True),
    "stablelm": Kind(norm="LayerNormalization", shifted=True),
    "starcoder2": replace(_BIASED, tied=True, local=(1, 1)),
    "gpt_neox": _BIASED,
    "gpt2": replace(_BIASED, tied=True, rotary=False, placed=0),
    "opt": replace(_BIASED, tied=True, rotary=False, placed=2, activation="Relu"),
    "bloom": replace(_BIASED, tied=True, rotary=False, first_norm=True),
    "falcon": Kind(
        gated=False, norm="LayerNormalization", shifted=True, activation="Gelu", tied=True
    ),
}

#: Kinds that the text of models of several kinds of input is, where they have a name of their own.
TEXTS = {
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
}

#: Names that fields have in configurations of a kind.
RENAMED: Mapping[str, Mapping[str, str]] = {
    "gpt2": {
        "n_embd": "hidden_size",
        "n_inner": "intermediate_size",
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
        "n_positions": "max_position_embeddings",
    },
    "opt": {"ffn_dim": "intermediate_size"},
    "bloom": {
        "n_embed": "hidden_size",
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
    },
    "falcon": {
        "ffn_hidden_size": "intermediate_size",
        "n_layer": "num_hidden_layers",
        "n_head": "num_attention_heads",
        "num_kv_heads": "num_key_value_heads",
    },
    "distilbert": {
        "dim": "hidden_size",
        "hidden_dim": "intermediate_size",
        "n_layers": "num_hidden_layers",
        "n_heads": "num_attention_heads",
    },
    "qwen2_moe": {"num_experts": "num_local_experts", "qkv_bias": "use_qkv_bias"},
    "qwen3_moe": {"num_experts": "num_local_experts"},
    "olmoe": {"num_experts": "num_local_experts"},
    "gpt_neox": {"rotary_pct": "partial_rotary_factor"},
    "gemma3_text": {"_sliding_window_pattern": "sliding_window_pattern"},
}

#: Fields where a configuration does not state them, if other than in all kinds: as
#: `transformers` has them.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "mistral": {"num_key_value_heads": 8, "sliding_window": 4096},
    "mixtral": {"num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen2": {"num_key_value_heads": 32},
    "qwen3": {"num_key_value_heads": 32, "head_dim": 128},
    "gemma": {"num_key_value_heads": 16, "head_dim": 256},
    "gemma2": {"num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096},
    "gemma3_text": {
        "vocab_size": 262208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "sliding_window": 4096,
    },
    "qwen2_moe": {
        "num_key_value_heads": 16,
        "num_local_experts": 60,
        "num_experts_per_tok": 4,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
    },
    "qwen3_moe": {
        "num_key_value_heads": 4,
        "num_local_experts": 128,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 768,
    },
    "olmo3": {"sliding_window": 4096},
    "olmoe": {"num_local_experts": 64, "num_experts_per_tok": 8},
    "gpt_oss": {
        "num_key_value_heads": 8,
        "head_dim": 64,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "sliding_window": 128,
    },
    "phi": {"partial_rotary_factor": 0.5},
    "stablelm": {"num_key_value_heads": 32, "partial_rotary_factor": 0.25},
    "gpt_neox": {"partial_rotary_factor": 0.25},
    "starcoder2": {"num_key_value_heads": 2},
    "opt": {"word_embed_proj_dim": 768},
    "deepseek_v2": {"q_lora_rank": 1536},
    "deepseek_v3": {"q_lora_rank": 1536},
    "bert": {"max_position_embeddings": 512, "type_vocab_size": 2},
    "roberta": {"max_position_embeddings": 512, "type_vocab_size": 2},
    "distilbert": {"max_position_embeddings": 512},
}

#: Choices of a kind that are read in one way alone.
FIXED: Mapping[str, Mapping[str, Any]] = {
    "qwen2": {"use_sliding_window": False},
    "qwen3": {"use_sliding_window": False},
    "phi": {"qk_layernorm": False},
    "stablelm": {"qk_layernorm": False, "use_parallel_residual": False},
    "cohere": {"use_qk_norm": False},
    "starcoder2": {"use_bias": True},
    "opt": {
        "do_layer_norm_before": True,
        "enable_bias": True,
        "layer_norm_elementwise_affine": True,
        "_remove_final_layer_norm": False,
    },
    "gpt2": {"add_cross_attention": False},
    "falcon": {"bias": False},
    "qwen2_moe": {"decoder_sparse_step": 1, "mlp_only_layers": [], "use_sliding_window": False},
    "qwen3_moe": {"decoder_sparse_step": 1, "mlp_only_layers": [], "use_sliding_window": False},
    "deepseek_v2": {"attention_bias": False, "mlp_bias": False},
    "deepseek_v3": {"attention_bias": False},
    **{
        name: {"is_decoder": False, "position_embedding_type": "absolute"}
        for name in ("bert", "roberta")
    },
    "distilbert": {"type_vocab_size": 0},
    "mamba": {"use_bias": False, "use_conv_bias": True},
    "mamba2": {"use_bias": False, "use_conv_bias": True, "rms_norm": True},
}

#: Fields that only some kinds have; of others their value is the kind's own.
_OWN: Mapping[str, tuple[str, ...]] = {
    "attention_bias": (
        *("llama", "qwen3", "gemma", "gemma2", "gemma3_text", "qwen3_moe", "granite"),
        *("olmo", "olmo2", "olmo3", "olmoe", "cohere", "gpt_neox"),
    ),
    "mlp_bias": ("llama", "granite"),
    "use_qkv_bias": ("stablelm", "qwen2_moe"),
    "num_local_experts": ("mixtral", "qwen2_moe", "qwen3_moe", "olmoe", "gpt_oss"),
    "shared_expert_intermediate_size": ("qwen2_moe",),
    "moe_intermediate_size": ("qwen2_moe", "qwen3_moe"),
}


def _fixed(kind: str) -> Iterator[tuple[str, Any]]:
    """The choices that are read in one way alone: those of a kind, and of fields of others."""
    yield from FIXED.get(kind, {}).items()
    if (own := KINDS.get(kind)) is not None:
        values = {
            "attention_bias": own.qkv_bias,
            "mlp_bias": own.feed_bias,
            "use_qkv_bias": own.qkv_bias,
            "num_local_experts": None,
            "shared_expert_intermediate_size": 0,
            "moe_intermediate_size": None,
        }
        yield from ((field, values[field]) for field in _OWN if kind not in _OWN[field])


def renamed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the names of fields that all kinds share, and the kind's values of
    those that it does not state.

    Raises `InputError` if it makes a choice that is not modelled.
    """
    kind = document["model_type"]
    fixed = dict(_fixed(kind))
    for field, value in fixed.items():
        if document.get(field, value) != value:
            own, allowed = (json.dumps(each) for each in (document[field], value))
            raise InputError(f"{field} is {own}; allowed for {kind}: {allowed}")
    names, rotary = RENAMED.get(kind, {}), document.get("rope_parameters")
    part = "partial_rotary_factor"
    nested = {part: rotary[part]} if isinstance(rotary, Mapping) and part in rotary else {}
    stated = {names.get(name, name): value for name, value in document.items() if name not in fixed}
    if stated.get("num_local_experts", 0) is None and kind in _OWN["num_local_experts"]:
        raise InputError(f"num_local_experts is null; allowed for {kind}: a positive integer")
    return {**DEFAULTS.get(kind, {}), **nested, **stated}
