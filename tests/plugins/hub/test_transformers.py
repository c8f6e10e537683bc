"""Parameters of published models, and of drawn small ones, beside those of the modules that
`transformers` makes of the same configurations, where it and PyTorch are installed."""

import random

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.kinds import KINDS, RENAMED
from ithaca.workloads.networks.find import find_network
from tests.plugins.hub.test_kinds import MODELS, written

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.slow

#: Choices that kinds state, read or refused.
CHOICES = {
    "stablelm": ("use_qkv_bias", "use_parallel_residual", "qk_layernorm"),
    "starcoder2": ("use_bias",),
    "opt": ("enable_bias", "layer_norm_elementwise_affine", "_remove_final_layer_norm"),
    "falcon": ("bias", "alibi", "multi_query", "parallel_attn", "new_decoder_architecture"),
    "qwen2_moe": ("qkv_bias",),
    "qwen2": ("use_sliding_window",),
    "phi": ("qk_layernorm",),
    "cohere": ("use_qk_norm",),
    "gpt2": ("add_cross_attention",),
    "mamba": ("use_bias", "use_conv_bias"),
    "mamba2": ("use_bias", "use_conv_bias"),
}
#: Sizes of kinds beside those that all have, each of some values.
OWN = {
    "mixtral": {"num_local_experts": (4, 8), "num_experts_per_tok": (1, 2)},
    "qwen2_moe": {"num_experts": (4, 8), "moe_intermediate_size": (8, 24)},
    "qwen3_moe": {"num_experts": (8, 16), "moe_intermediate_size": (8, 24)},
    "olmoe": {"num_experts": (4, 8)},
    "gpt_oss": {"num_local_experts": (4, 8)},
    "phi3": {"pad_token_id": (0,)},
    "falcon": {"num_ln_in_parallel_attn": (1, 2)},
}
MAMBA = {"state_size": 8, "conv_kernel": 4, "expand": 2}
LATENT = {"n_routed_experts": 8, "num_experts_per_tok": 2, "kv_lora_rank": 16, "n_group": 1}
LATENT |= {"qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16, "topk_group": 1}


def drawn(kind, rng):
    """A small configuration of a kind, with some of its fields."""
    heads = rng.choice([2, 4, 8])
    width, layers = heads * rng.choice([8, 16]), rng.choice([1, 2, 3])
    fields = {"hidden_size": width, "num_hidden_layers": layers, "vocab_size": 128}
    flags = [*CHOICES.get(kind, ()), "tie_word_embeddings", "attention_bias", "mlp_bias"]
    if kind == "mamba":
        fields |= {**MAMBA, "time_step_rank": 4}
    elif kind == "mamba2":
        fields |= {**MAMBA, "num_heads": width // 4, "head_dim": 8, "n_groups": rng.choice([1, 2])}
    else:
        fields |= {"num_attention_heads": heads, "max_position_embeddings": 64}
        fields |= {} if kind == "bloom" else {"intermediate_size": rng.choice([width * 4, 72])}
    if kind.startswith("deepseek"):
        fields |= {**LATENT, "moe_intermediate_size": 24, "num_key_value_heads": heads}
        fields |= {"first_k_dense_replace": rng.choice([0, 1]), "n_shared_experts": 1}
        fields |= rng.choice([{}, {"q_lora_rank": None}, {"q_lora_rank": 16}])
    elif kind not in ("mamba", "mamba2", "gpt_neox", "gpt2", "opt", "bloom"):
        fields |= rng.choice([{}, {"num_key_value_heads": rng.choice([1, 2, heads])}])
    if kind.startswith(("llama", "qwen3", "gemma", "mi")):
        fields |= rng.choice([{}, {"head_dim": rng.choice([8, 32])}])
    fields |= {"word_embed_proj_dim": width} if kind == "opt" else {}
    fields |= {name: rng.choice(values) for name, values in OWN.get(kind, {}).items()}
    fields |= {flag: rng.random() < 0.5 for flag in flags if rng.random() < 0.3}
    native = {new: old for old, new in RENAMED.get(kind, {}).items() if old != "n_head"}
    native |= {"num_hidden_layers": "num_hidden_layers"} if kind == "falcon" else {}
    return {"model_type": kind, **{native.get(name, name): v for name, v in fields.items()}}


def parameters(fields):
    """Parameters of the module of a configuration, and scores' corrections, which are none."""
    kind = fields["model_type"]
    more = {"num_labels": 1000} if kind == "vit" else {}
    configuration = transformers.AutoConfig.for_model(**fields, **more)
    name = {"vit": "ImageClassification", "whisper": "SpeechSeq2Seq"}.get(kind, "CausalLM")
    encoder = kind in ("bert", "roberta", "distilbert")
    automatic = "AutoModel" if encoder else f"AutoModelFor{name}"
    with torch.device("meta"):
        module = getattr(transformers, automatic).from_config(configuration)
    module.tie_weights()
    corrections = [each for name, each in module.named_buffers() if "e_score" in name]
    return sum(each.numel() for each in (*module.parameters(), *corrections))


@pytest.mark.parametrize("name", MODELS)
def test_parameters_of_published_models_are_those_of_modules(name):
    expected, fields = MODELS[name]
    assert parameters(fields) == expected


@pytest.mark.parametrize("kind", [*KINDS, "deepseek_v2", "deepseek_v3", "mamba", "mamba2"])
def test_parameters_of_drawn_models_are_those_of_modules(kind, tmp_path):
    rng, read = random.Random(kind), 0
    for _ in range(40):
        fields = drawn(kind, rng)
        try:
            network = find_network(written(tmp_path, fields))
        except InputError:
            continue
        assert network.run.weights == parameters(fields), fields
        read += 1
    assert read > 5
