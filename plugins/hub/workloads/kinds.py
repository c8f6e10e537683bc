"""Kinds of decoders: the choices that their configurations do not state, and names of fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    "phi3": Kind(),
    "qwen2_moe": Kind(qkv_bias=True),
    "qwen3_moe": Kind(head_norms=True),
    "granite": Kind(tied=True),
    "olmo": Kind(norm="LayerNormalization", scaled=False),
    "olmo2": Kind(whole_norms=True),
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
    "qwen2_moe": {"num_experts": "num_local_experts"},
    "qwen3_moe": {"num_experts": "num_local_experts"},
}

#: Choices of a kind that are read in one way alone.
FIXED: Mapping[str, Mapping[str, Any]] = {
    "stablelm": {"qk_layernorm": False, "use_parallel_residual": False},
    "cohere": {"use_qk_norm": False},
    "starcoder2": {"use_bias": True},
    "opt": {"do_layer_norm_before": True, "enable_bias": True},
    "gpt2": {"add_cross_attention": False},
    "falcon": {"bias": False},
    "qwen2_moe": {"decoder_sparse_step": 1, "mlp_only_layers": []},
    "qwen3_moe": {"decoder_sparse_step": 1, "mlp_only_layers": []},
}


def renamed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the names of fields that all kinds share.

    Raises `InputError` if it makes a choice that is not modelled.
    """
    kind = document["model_type"]
    for field, value in FIXED.get(kind, {}).items():
        if document.get(field, value) != value:
            own, allowed = (json.dumps(each) for each in (document[field], value))
            raise InputError(f"{field} is {own}; allowed for {kind}: {allowed}")
    names = RENAMED.get(kind, {})
    return {names.get(name, name): value for name, value in document.items()}
