"""Kinds of models whose configurations come with their weights: parameters as published, and
choices that are not modelled."""

import json
from math import prod

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.decoders import DecoderConfiguration, decoder
from ithaca.plugins.hub.workloads.kinds import DEFAULTS, FIXED, renamed
from ithaca.plugins.hub.workloads.phases import positions, spread
from ithaca.plugins.hub.workloads.source import ARCHITECTURES
from ithaca.workloads.networks.find import find_network

SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")


def dense(kind, sizes, heads_of_keys, vocabulary, **more):
    """The configuration of a decoder."""
    fields = dict(zip(SIZES, sizes, strict=True))
    keys = {} if heads_of_keys is None else {"num_key_value_heads": heads_of_keys}
    return {"model_type": kind, **fields, **keys, "vocab_size": vocabulary, **more}


def latent(sizes, routed, expert, **more):
    """The configuration of a DeepSeek-V2."""
    own = {"n_routed_experts": routed, "moe_intermediate_size": expert, "n_shared_experts": 2}
    ranks = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
    own |= ranks | {"v_head_dim": 128, "num_experts_per_tok": 6, "first_k_dense_replace": 1}
    return dense("deepseek_v2", sizes, None, 102400, **own, **more)


GPT2 = {"vocab_size": 50257, "n_positions": 1024, "n_inner": None}
OPT = {"vocab_size": 50272, "max_position_embeddings": 2048}
OSS = {"num_local_experts": 32, "head_dim": 64, "sliding_window": 128}
SMALLEST = (768, 3072, 12, 12)
EXPERTS = {"num_experts": 128, "num_experts_per_tok": 8, "head_dim": 128}

#: Parameters of released weights, and the fields of their configurations that count.
MODELS = {
    "llama3.2-3b": (
        3_212_749_824,
        dense("llama", (3072, 8192, 28, 24), 8, 128256, tie_word_embeddings=True),
    ),
    "qwen2.5-0.5b": (
        494_032_768,
        dense("qwen2", (896, 4864, 24, 14), 2, 151936, tie_word_embeddings=True),
    ),
    "qwen1.5-moe": (
        14_315_784_192,
        dense(
            "qwen2_moe",
            (2048, 5632, 24, 16),
            16,
            151936,
            num_experts=60,
            num_experts_per_tok=4,
            moe_intermediate_size=1408,
            shared_expert_intermediate_size=5632,
            mlp_only_layers=[],
        ),
    ),
    "qwen3-30b-a3b": (
        30_532_122_624,
        dense("qwen3_moe", (2048, 6144, 48, 32), 4, 151936, moe_intermediate_size=768, **EXPERTS),
    ),
    "qwen3-235b-a22b": (
        235_093_634_560,
        dense("qwen3_moe", (4096, 12288, 94, 64), 4, 151936, moe_intermediate_size=1536, **EXPERTS),
    ),
    "deepseek-v2-lite": (
        15_706_484_224,
        latent((2048, 10944, 27, 16), 64, 1408, q_lora_rank=None),
    ),
    "deepseek-v2": (235_741_434_880, latent((5120, 12288, 60, 128), 160, 1536, q_lora_rank=1536)),
    "gemma2-2b": (2_614_341_888, dense("gemma2", (2304, 9216, 26, 8), 4, 256000, head_dim=256)),
    "gemma3-1b": (999_885_952, dense("gemma3_text", (1152, 6912, 26, 4), 1, 262144, head_dim=256)),
    "phi4": (14_659_507_200, dense("phi3", (5120, 17920, 40, 40), 10, 100352)),
    "phi4-mini": (
        3_836_021_760,
        dense("phi3", (3072, 8192, 32, 24), 8, 200064, tie_word_embeddings=True),
    ),
    "granite3.1-8b": (
        8_170_848_256,
        dense("granite", (4096, 12800, 40, 32), 8, 49155, tie_word_embeddings=True),
    ),
    "olmo-1b": (
        1_176_764_416,
        dense("olmo", (2048, 8192, 16, 16), 16, 50304, tie_word_embeddings=True),
    ),
    "olmo-7b": (6_888_095_744, dense("olmo", (4096, 11008, 32, 32), 32, 50304)),
    "olmo2-7b": (7_298_617_344, dense("olmo2", (4096, 11008, 32, 32), 32, 100352)),
    "command-r": (34_980_831_232, dense("cohere", (8192, 22528, 40, 64), 64, 256000)),
    "stablelm-3b": (2_795_443_200, dense("stablelm", (2560, 6912, 32, 32), 32, 50304)),
    "stablelm2-1.6b": (
        1_644_515_328,
        dense("stablelm", (2048, 5632, 24, 32), 32, 100352, use_qkv_bias=True),
    ),
    "starcoder2-3b": (3_030_371_328, dense("starcoder2", (3072, 12288, 30, 24), 2, 49152)),
    "starcoder2-7b": (7_173_923_840, dense("starcoder2", (4608, 18432, 32, 36), 4, 49152)),
    "pythia-160m": (162_322_944, dense("gpt_neox", (768, 3072, 12, 12), None, 50304)),
    "pythia-6.9b": (6_857_302_016, dense("gpt_neox", (4096, 16384, 32, 32), None, 50432)),
    "gpt2": (
        124_439_808,
        {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, **GPT2},
    ),
    "gpt2-xl": (
        1_557_611_200,
        {"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, **GPT2},
    ),
    "opt-125m": (
        125_239_296,
        {
            "model_type": "opt",
            "hidden_size": 768,
            "ffn_dim": 3072,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "word_embed_proj_dim": 768,
            **OPT,
        },
    ),
    "opt-6.7b": (
        6_658_473_984,
        {
            "model_type": "opt",
            "hidden_size": 4096,
            "ffn_dim": 16384,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "word_embed_proj_dim": 4096,
            **OPT,
        },
    ),
    "bloom-560m": (
        559_214_592,
        {
            "model_type": "bloom",
            "n_embed": 1024,
            "n_layer": 24,
            "num_attention_heads": 16,
            "vocab_size": 250880,
        },
    ),
    "bloom-7b1": (
        7_069_016_064,
        {
            "model_type": "bloom",
            "hidden_size": 4096,
            "n_layer": 30,
            "n_head": 32,
            "vocab_size": 250880,
        },
    ),
    "falcon-7b": (
        6_921_720_704,
        {
            "model_type": "falcon",
            "hidden_size": 4544,
            "num_hidden_layers": 32,
            "num_attention_heads": 71,
            "num_kv_heads": 71,
            "multi_query": True,
            "parallel_attn": True,
            "new_decoder_architecture": False,
            "bias": False,
            "vocab_size": 65024,
        },
    ),
    "falcon-40b": (
        41_303_293_952,
        {
            "model_type": "falcon",
            "hidden_size": 8192,
            "num_hidden_layers": 60,
            "num_attention_heads": 128,
            "num_kv_heads": 8,
            "new_decoder_architecture": True,
            "vocab_size": 65024,
        },
    ),
    "mamba-2.8b": (
        2_768_345_600,
        {
            "model_type": "mamba",
            "hidden_size": 2560,
            "num_hidden_layers": 64,
            "state_size": 16,
            "conv_kernel": 4,
            "expand": 2,
            "time_step_rank": 160,
            "vocab_size": 50280,
        },
    ),
    "mamba2-130m": (
        128_989_632,
        {
            "model_type": "mamba2",
            "hidden_size": 768,
            "num_hidden_layers": 24,
            "state_size": 128,
            "conv_kernel": 4,
            "expand": 2,
            "num_heads": 24,
            "head_dim": 64,
            "n_groups": 1,
            "vocab_size": 50288,
            "tie_word_embeddings": True,
        },
    ),
    "whisper-large-v3": (
        1_543_490_560,
        {
            "model_type": "whisper",
            "d_model": 1280,
            "encoder_layers": 32,
            "encoder_attention_heads": 20,
            "encoder_ffn_dim": 5120,
            "decoder_layers": 32,
            "decoder_attention_heads": 20,
            "decoder_ffn_dim": 5120,
            "num_mel_bins": 128,
            "max_source_positions": 1500,
            "max_target_positions": 448,
            "vocab_size": 51866,
        },
    ),
    "gpt-oss-20b": (20_914_757_184, dense("gpt_oss", (2880, 2880, 24, 64), 8, 201088, **OSS)),
    "olmoe-7b": (
        6_919_161_856,
        dense("olmoe", (2048, 1024, 16, 16), 16, 50304, num_experts=64, num_experts_per_tok=8),
    ),
    "olmo3-7b": (7_298_011_136, dense("olmo3", (4096, 11008, 32, 32), 32, 100278)),
    "bert-large": (
        335_141_888,
        dense("bert", (1024, 4096, 24, 16), None, 30522, max_position_embeddings=512),
    ),
    "roberta-base": (
        124_645_632,
        dense("roberta", SMALLEST, None, 50265, max_position_embeddings=514, type_vocab_size=1),
    ),
    "distilbert": (
        66_362_880,
        {
            "model_type": "distilbert",
            **{"dim": 768, "hidden_dim": 3072, "n_layers": 6, "n_heads": 12},
            "vocab_size": 30522,
            "max_position_embeddings": 512,
        },
    ),
    "vit-b16": (
        86_567_656,
        {
            "model_type": "vit",
            **dict(zip(SIZES, SMALLEST, strict=True)),
            "image_size": 224,
            "patch_size": 16,
        },
    ),
}


#: Those that are always read: one of each way to state fields.
QUICK = ("qwen1.5-moe", "deepseek-v2-lite", "gpt2", "falcon-7b", "mamba2-130m")


def written(folder, fields):
    path = folder / "config.json"
    path.write_text(json.dumps(fields))
    return str(path)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.ci) for name in MODELS]
)
def test_parameters_are_those_of_the_released_weights(name, tmp_path):
    parameters, fields = MODELS[name]
    path = written(tmp_path, fields)
    assert find_network(path).run.weights == parameters
    phase = "image" if name.startswith("vit") else "prefill"
    plain, whole = (find_network(path, phase=phase, elementwise=each) for each in (False, True))
    assert plain.run == whole.run
    assert len(whole.layers) > len(plain.layers)


#: The text of models of images and text: gemma-3-4b's as it is released, and Qwen2-VL's flat.
GEMMA = {"model_type": "gemma3_text", **dict(zip(SIZES[:3], (2560, 10240, 34), strict=True))}
QWEN = MODELS["qwen2.5-0.5b"][1]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("fields", "parameters"),
    [
        ({"text_config": GEMMA}, 3_880_263_168),
        (QWEN | {"model_type": "qwen2_vl"}, 494_032_768),
        (
            {
                "model_type": "qwen2_5_vl",
                "text_config": QWEN | {"model_type": "qwen2_5_vl_text"},
                "tie_word_embeddings": False,
            },
            494_032_768,
        ),
    ],
)
def test_text_of_a_model_of_images_is_read_and_the_rest_named(fields, parameters, tmp_path):
    beside = {"vision_config": {"hidden_size": 8}, "quantization_config": {"quant_method": "awq"}}
    network = find_network(written(tmp_path, fields | beside))
    assert network.run.weights == parameters
    _, parts, formats = network.remarks
    assert "its text alone is counted: vision_config and what" in parts
    assert "quantization_config is not read: --dtype" in formats


@pytest.mark.ci
@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"model": {"decoder": {"hidden_size": 64}}}, "a configuration of ONNX Runtime's gen"),
        ({"input_model": {}, "passes": {}}, "a workflow of Olive"),
    ],
)
def test_a_file_that_names_a_model_is_no_model(fields, kind, tmp_path):
    with pytest.raises(InputError, match=f"is {kind}.* allowed: the model itself, as ONNX"):
        find_network(written(tmp_path, fields))


def test_one_key_serves_all_heads_of_a_falcon(tmp_path):
    network = find_network(written(tmp_path, MODELS["falcon-7b"][1]), {"context": 64})
    (scores,) = [layer.nest for layer in network.layers if layer.name.endswith("scores")]
    assert dict(scores.sizes) == {"b": 1, "i": 71, "j": 64, "k": 64}


@pytest.mark.ci
def test_texts_of_an_encoder_are_no_longer_than_its_table(tmp_path):
    path = written(tmp_path, MODELS["roberta-base"][1])
    assert find_network(path).run.tokens == 512
    network = find_network(path, {"tokens": 128, "batch": 2})
    sizes = {layer.name: dict(layer.nest.sizes) for layer in network.layers}
    assert sizes["layer1.scores"] == {"b": 24, "i": 128, "j": 128, "k": 64}
    with pytest.raises(InputError, match="tokens is 513; allowed: at most 512, by max_pos"):
        find_network(path, {"tokens": 513})


def test_a_shared_expert_takes_all_rows(tmp_path):
    network = find_network(written(tmp_path, MODELS["qwen1.5-moe"][1]), {"batch": 2})
    own = {layer.name: (layer.nest.sizes["i"], layer.count) for layer in network.layers}
    assert own["layer1.shared_gate_up"] == (2, 24)
    assert own["layer1.gate_up"] == (1, 24 * 8)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "changes", "line"),
    [
        ("qwen3-30b-a3b", {"decoder_sparse_step": 2}, "decoder_sparse_step is 2; allowed for"),
        ("qwen1.5-moe", {"mlp_only_layers": [3]}, r"mlp_only_layers is \[3\]; allowed for"),
        ("deepseek-v2", {"moe_layer_freq": 2}, "moe_layer_freq"),
        ("stablelm-3b", {"use_parallel_residual": True}, "use_parallel_residual is true; allowed"),
        ("falcon-7b", {"bias": True}, "bias is true; allowed for falcon: false"),
        ("opt-125m", {"word_embed_proj_dim": 512}, "word_embed_proj_dim is 512; allowed: 768"),
        ("gpt2", {"n_positions": None}, "max_position_embeddings is missing"),
        ("phi4", {"intermediate_size": None}, "intermediate_size is missing"),
        ("mamba2-130m", {"num_heads": 25}, "num_heads is 25, of 64 words each; allowed: 1536"),
        ("mamba2-130m", {"use_bias": True}, "use_bias is true; allowed for mamba2: false"),
        ("mamba2-130m", {"use_conv_bias": False}, "use_conv_bias is false; allowed for"),
        ("opt-125m", {"layer_norm_elementwise_affine": False}, "affine is false; allowed for opt"),
        ("opt-125m", {"_remove_final_layer_norm": True}, "_remove_final_layer_norm is true"),
        ("deepseek-v2", {"attention_bias": True}, "attention_bias is true; allowed for deepseek"),
        ("qwen2.5-0.5b", {"use_sliding_window": True}, "use_sliding_window is true; allowed"),
        (
            "qwen2.5-0.5b",
            {"attention_bias": False},
            "attention_bias is false; allowed for qwen2: t",
        ),
        ("llama3.2-3b", {"num_local_experts": 8}, "num_local_experts is 8; allowed for llama: n"),
        ("qwen3-30b-a3b", {"num_experts_per_tok": 129}, "tok is 129; allowed: .* at most 128, num"),
        ("deepseek-v2", {"num_experts_per_tok": 161}, "tok is 161; allowed: .* at most 160, n_r"),
        ("qwen3-30b-a3b", {"num_experts_per_tok": None}, "num_experts_per_tok is missing"),
        ("qwen3-30b-a3b", {"num_experts": 2**20}, "num_local_experts is 1048576; allowed: "),
        ("gemma3-1b", {"layer_types": ["linear"]}, r"layer_types\[0\] is 'linear'; allowed: sl"),
        ("gemma3-1b", {"layer_types": []}, "layer_types has 0 entries; allowed: 26"),
        ("gpt2", {"model_type": "t5"}, "model_type is 't5'; allowed: "),
        ("gpt2", {"text_config": {"model_type": "t5"}}, "n, text_config: model_type is 't5'; all"),
        ("gpt2", {"model_type": "gemma3", "text_config": [1]}, "text_config is .*; allowed: a map"),
        ("roberta-base", {"max_position_embeddings": 2}, "embeddings is 2; allowed: at least 3"),
        ("gpt-oss-20b", {"num_local_experts": None}, "num_local_experts is null; allowed for gpt"),
        ("gpt-oss-20b", {"moe_intermediate_size": 5}, "moe_intermediate_size is 5; allowed for g"),
        ("bert-large", {"is_decoder": True}, "is_decoder is true; allowed for bert: false"),
    ],
)
def test_choices_that_are_not_modelled_are_refused(kind, changes, line, tmp_path):
    with pytest.raises(InputError, match=line):
        find_network(written(tmp_path, MODELS[kind][1] | changes))


def test_fields_of_one_value_are_of_kinds_that_there_are():
    assert FIXED.keys() | DEFAULTS.keys() <= ARCHITECTURES.keys()


#: Of each kind: changes to a small configuration, and how many parameters more they make.
SMALL = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1, "vocab_size": 100}
TABLE = 100 * 64


@pytest.mark.parametrize(
    ("kind", "before", "after", "more"),
    [
        ("gpt_neox", {}, {"attention_bias": False}, -(3 * 64 + 64)),
        ("granite", {"tie_word_embeddings": True}, {}, TABLE),
        ("qwen2_moe", {}, {"qkv_bias": False}, -3 * 64),
        ("phi", {}, {"tie_word_embeddings": True}, -TABLE),
        ("qwen3", {"head_dim": 16}, {}, 4 * 64 * 4 * (128 - 16) + 2 * (128 - 16)),
        ("falcon", {}, {"num_ln_in_parallel_attn": 2}, 2 * 64),
        *((kind, {"tie_word_embeddings": True}, {}, 0) for kind in ("cohere", "gpt2", "falcon")),
        *((kind, {"tie_word_embeddings": False}, {}, 0) for kind in ("olmo", "stablelm", "phi3")),
    ],
)
def test_what_a_choice_makes_of_the_parameters(kind, before, after, more, tmp_path):
    fields = {"model_type": kind, **SMALL, "num_attention_heads": 4, "num_key_value_heads": 4}
    fields["max_position_embeddings"] = 16
    weights = [
        find_network(written(tmp_path, fields | each)).run.weights for each in (before, after)
    ]
    assert weights[1] - weights[0] == more


def test_layers_of_a_window_may_be_stated(tmp_path):
    types = ["sliding_attention"] * 13 + ["full_attention"] * 13
    fields = MODELS["gemma3-1b"][1] | {"sliding_window": 8, "layer_types": types}
    network = find_network(written(tmp_path, fields), {"context": 64})
    assert network.run.cache == 13 * 2 * 256 * (8 + 64)


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("falcon-7b", {"alibi": True}, 0),
        ("falcon-7b", {}, 71 * 64 + 64),
        ("pythia-160m", {}, 2 * 12 * 16),
        ("pythia-160m", {"rotary_pct": 0.5}, 2 * 12 * 32),
        ("phi4", {"rope_parameters": {"partial_rotary_factor": 0.75}}, 50 * 96),
    ],
)
def test_positions_rotate_a_part_of_a_head(name, changes, words):
    configuration = DecoderConfiguration(**renamed(MODELS[name][1] | changes))
    layer = decoder(configuration, positions("decode", {}, "uniform")).blocks[0]
    assert sum(prod(own.shape) for own in layer.elementwise if own.operator == "RoPE") == words


def test_rows_are_skewed_over_the_most_experts():
    runs = spread(4096 * 8, 4096, "skewed")
    assert sum(rows * count for rows, count in runs) == 4096 * 8
