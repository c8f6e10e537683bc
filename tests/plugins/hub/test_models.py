"""Models from configurations: parameters as published, layers, phases, and what is refused."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ithaca
from ithaca.files.errors import InputError
from ithaca.plugins.hub.workloads.phases import spread
from ithaca.workloads.networks.find import find_network
from tests.command_line import refused, succeed

#: Parameters as published, or as the released weights have them.
PARAMETERS = {
    "llama2-7b": 6_738_415_616,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3.2-1b": 1_235_814_400,
    "qwen2.5-7b": 7_615_616_512,
    "qwen3-8b": 8_190_735_360,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "deepseek-v3": 671_026_419_200,
    "gemma-7b": 8_537_680_896,
    "gemma2-9b": 9_241_705_984,
    "phi2": 2_779_683_840,
    "phi3-mini": 3_821_079_552,
    "whisper-small": 241_734_912,
    "vit-l16": 304_326_632,
    "mamba-130m": 129_135_360,
    "stable-diffusion-1.5": 859_520_964,
}

#: Operations on two elements.
GATES = ("Add", "Mul", "RoPE", "Scan")

#: A small model of the kind of Llama.
SMALL = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 200,
    "torch_dtype": "bfloat16",
}


def written(folder, **changes):
    """The configuration of a small model in a folder."""
    fields = {name: value for name, value in (SMALL | changes).items() if value is not None}
    (folder / "config.json").write_text(json.dumps(fields))
    return folder / "config.json"


def nests(network):
    return {layer.name: (dict(layer.nest.sizes), layer.count) for layer in network.layers}


@pytest.mark.parametrize("name", PARAMETERS)
def test_elementwise_work_becomes_layers(name):
    plain, whole = find_network(name), find_network(name, elementwise=True)
    assert whole.run == plain.run
    assert whole.unsupported == ()
    own = {layer.nest: layer.count for layer in plain.layers}
    more = {layer.nest: layer.count for layer in whole.layers}
    assert {nest: more[nest] for nest in own} == own
    kernels = {nest.name: 0 for nest in more if nest not in own}
    assert kernels.keys() <= {"map", "gate", "scale", "row_sum"}
    for nest, count in more.items():
        if nest not in own:
            kernels[nest.name] += count
    norms = sum(o.count for o in plain.unsupported if "Norm" in o.operator)
    assert kernels["scale"] == kernels["row_sum"] == norms
    gates = sum(o.count for o in plain.unsupported if o.operator in GATES)
    assert kernels["gate"] == gates
    assert not any(run.follows for run in whole.order)


def test_a_models_softmax_has_all_its_scores():
    whole = nests(find_network("llama3-8b", {"tokens": 512}, phase="prefill", elementwise=True))
    assert whole["layer1.softmax"] == ({"b": 32, "i": 512, "j": 512}, 32)
    assert whole["layer1.rmsnorm_scale"] == ({"b": 1, "i": 512, "j": 4096}, 64)
    assert whole["layer1.silu"] == ({"b": 1, "i": 512, "j": 14336}, 32)


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_as_published(name):
    network = find_network(name)
    assert network.run.weights == PARAMETERS[name]
    assert f"{PARAMETERS[name]:,} parameters" in network.description


def test_words_that_a_token_reads_and_keeps():
    run = find_network("llama3-8b", {"context": 1}).run
    assert (run.read, run.cache) == (7_504_924_672, 65_536)
    assert find_network("llama3-8b", {"batch": 3, "context": 10}).run.cache == 30 * 65_536
    # of weights of 4 bits, 19.2 GB/s of a KV260 read 5.81 times a second those of Llama-2-7B
    read = find_network("llama2-7b").run.read
    assert read == 6_607_343_616
    assert 19.2e9 / (read / 2) == pytest.approx(5.81, abs=0.005)
    # 9 of 257 experts of 58 layers: 37 of 671 thousand million, as the report says
    assert 36 < find_network("deepseek-v3").run.read / 10**9 < 38


def test_layers_of_a_decode_step():
    network = find_network("llama3-8b", {"batch": 2, "context": 4096})
    assert network.parameters == (("batch", 2), ("tokens", 1), ("context", 4096))
    assert nests(network) == {
        "layer1.qkv": ({"i": 2, "j": 6144, "k": 4096}, 32),
        "layer1.scores": ({"b": 16, "i": 4, "j": 4096, "k": 128}, 32),
        "layer1.attend": ({"b": 16, "i": 4, "j": 128, "k": 4096}, 32),
        "layer1.output": ({"i": 2, "j": 4096, "k": 4096}, 32),
        "layer1.gate_up": ({"i": 2, "j": 28672, "k": 4096}, 32),
        "layer1.down": ({"i": 2, "j": 4096, "k": 14336}, 32),
        "lm_head": ({"i": 2, "j": 128256, "k": 4096}, 1),
    }
    counts = {each.operator: each.count for each in network.unsupported}
    assert counts == {"Softmax": 32, "RMSNorm": 65, "RoPE": 64, "SiLU": 32, "Mul": 32, "Add": 64}


def test_a_prompt_multiplies_as_many_rows_and_the_vocabulary_once():
    network = find_network("llama3-8b", {"tokens": 512}, phase="prefill")
    own = nests(network)
    assert own["layer1.qkv"][0]["i"] == 512
    assert own["layer1.scores"][0] == {"b": 8, "i": 2048, "j": 512, "k": 128}
    assert own["lm_head"][0]["i"] == 1
    longer = nests(find_network("llama3-8b", {"tokens": 128, "context": 512}, phase="prefill"))
    assert longer["layer1.scores"][0] == {"b": 8, "i": 512, "j": 512, "k": 128}


def test_windows_bound_what_local_layers_attend_to():
    network = find_network("gemma2-9b", {"context": 8192})
    own = nests(network)
    assert own["local1.scores"] == ({"b": 8, "i": 2, "j": 4096, "k": 256}, 21)
    assert own["global1.scores"] == ({"b": 8, "i": 2, "j": 8192, "k": 256}, 21)
    assert network.run.cache == 21 * 2 * (4096 + 8192) * 8 * 256


@pytest.mark.parametrize("blocks", [1, 3, 16])
def test_positions_in_blocks_attend_to_none_after_their_end(blocks):
    """Multiply-accumulates of scores, counted by position."""
    sizes = {"tokens": 16, "context": 20, "causal": blocks}
    for name, heads, head, layers in (("llama3-8b", 32, 128, 32), ("deepseek-v3", 128, 192, 61)):
        network = find_network(name, sizes, phase="prefill")
        ends = [n * 16 // blocks for n in range(1, blocks + 1)]
        visible = sum(4 + next(end for end in ends if place < end) for place in range(16))
        own = sum(
            run.count * run.nest.operations
            for run in network.order
            if run.source.endswith("scores")
        )
        assert own == layers * visible * heads * head
        assert network.run == find_network(name, {**sizes, "causal": 1}, phase="prefill").run
    assert network.parameters[-1] == ("causal", blocks)


def test_blocks_of_positions_are_within_their_window():
    """A window of 4,096 positions: of the last block of 1,024, all from 4,095 before its first."""
    sizes = {"tokens": 8192, "causal": 8}
    network = find_network("gemma2-9b", sizes, phase="prefill")
    own = {run.source: run.nest.sizes.get("j") for run in network.order}
    assert own["local1.to1024.scores"] == 1024
    assert own["local1.to8192.scores"] == 1024 + 4095
    assert own["global1.to8192.scores"] == 8192


def test_rows_of_experts_add_up_to_what_is_routed():
    own = nests(find_network("mixtral-8x7b", {"batch": 3}))
    assert own["layer1.gate_up"] == ({"i": 1, "j": 28672, "k": 4096}, 32 * 6)
    uneven = nests(find_network("mixtral-8x7b", {"batch": 3}, experts="4,1,1"))
    assert uneven["layer1.rows4.down"] == ({"i": 4, "j": 4096, "k": 14336}, 32)
    assert uneven["layer1.rows1.down"] == ({"i": 1, "j": 4096, "k": 14336}, 64)
    assert find_network("mixtral-8x7b", {"batch": 3}).operations == (
        find_network("mixtral-8x7b", {"batch": 3}, experts="skewed").operations
    )


@given(st.integers(1, 500), st.integers(1, 64))
def test_rows_are_spread_over_experts(pairs, experts):
    for how in ("uniform", "skewed"):
        rows = [r for r, count in spread(pairs, experts, how) for _ in range(count)]
        assert sum(rows) == pairs
        assert len(rows) <= experts
        assert min(rows) > 0
    even = [r for r, count in spread(pairs, experts, "uniform") for _ in range(count)]
    assert max(even) - min(even) <= (1 if pairs >= experts else 0)
    assert max(even) <= max(rows)


def test_latent_attention_has_two_forms():
    decode = nests(find_network("deepseek-v3", {"context": 4096}))
    assert decode["dense1.absorb_k"] == ({"b": 128, "i": 1, "j": 512, "k": 128}, 61)
    assert decode["dense1.scores"] == ({"b": 1, "i": 128, "j": 4096, "k": 576}, 61)
    prompt = nests(find_network("deepseek-v3", {"tokens": 64}, phase="prefill"))
    assert prompt["dense1.kv_b"] == ({"i": 64, "j": 32768, "k": 512}, 61)
    assert prompt["dense1.scores"] == ({"b": 128, "i": 64, "j": 64, "k": 192}, 61)


def test_speech_is_encoded_once():
    prompt = nests(find_network("whisper-small", phase="prefill"))
    assert prompt["encoder1.scores"] == ({"b": 12, "i": 1500, "j": 1500, "k": 64}, 12)
    assert prompt["conv2"][0] | {"p": 1} == {"o": 768, "r": 1, "c": 1500, "i": 768, "p": 1, "q": 3}
    assert "encoder1.scores" not in nests(find_network("whisper-small"))


def test_a_configuration_or_its_folder_is_read(tmp_path):
    path = written(tmp_path)
    network = find_network(str(path), {"batch": 2})
    assert network.name == tmp_path.name
    assert network == find_network(str(tmp_path), {"batch": 2})
    assert network.run.weights == 2 * 200 * 64 + 64 + 2 * (
        64 * (64 + 2 * 32) + 64 * 64 + 3 * 64 * 96 + 2 * 64
    )
    remark = f"{path} is taken for the configuration of a model (llama), phase decode"
    assert network.remarks == (remark,)
    assert find_network(str(written(tmp_path, _name_or_path="me/tiny"))).name == "tiny"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--phase", "decode", "--tokens", "5"], "tokens is 5 in phase decode; allowed: 1, or"),
        (["--phase", "prefill", "--tokens", "9", "--context", "8"], "allowed: at least 9"),
        (["--phase", "prefil"], "did you mean prefill?"),
        (["--elementwise"], "--elementwise does not go with systolic arrays"),
        (["--experts", "uniform"], "experts are stated, and the model has none"),
        (["--batch", "0"], "size 'batch' of network"),
        (["--phase", "prefill", "--tokens", "4", "-s", "causal=5"], "allowed: 1 to 4, the tokens"),
        (["-s", "causal=2"], "causal is 2 in phase decode; allowed: 1"),
        (["-s", "layers=2"], "unknown size 'layers' of network"),
        (["--batch", "2", "-s", "batch=3"], "batch is given twice"),
    ],
)
def test_phases_and_sizes_that_contradict_are_refused(tmp_path, words, line):
    assert line in refused("network", str(written(tmp_path)), *words).replace("\n      ", " ")


def test_networks_without_phases_refuse_them():
    with pytest.raises(InputError, match="phase is 'decode', but network resnet18 has no phases"):
        find_network("resnet18", phase="decode")
    with pytest.raises(InputError, match="elementwise is 'true', but network resnet18"):
        find_network("resnet18", elementwise=True)
    with pytest.raises(InputError, match="experts is 'uniform', but network resnet18"):
        find_network("resnet18", experts="uniform")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"model_type": None}, "model_type is missing; allowed: .*llama"),
        ({"model_type": "lama"}, "model_type is 'lama'; allowed: .*did you mean llama"),
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": "64"}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": 66}, "hidden_size is 66; allowed: a multiple of 4"),
        ({"num_key_value_heads": 3}, "num_attention_heads is 4; allowed: a multiple of 3"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ({"model_type": "deepseek_v3"}, "moe_intermediate_size"),
    ],
)
def test_configurations_that_are_none_are_refused(tmp_path, changes, line):
    with pytest.raises(InputError, match=line):
        find_network(str(written(tmp_path, **changes)))


def test_counts_of_experts_are_those_that_are_routed():
    for text in ("5,x", "5,", "-1,3", "9" * 20):
        with pytest.raises(InputError, match="allowed: uniform, skewed, or rows of each"):
            spread(2, 8, text)
    with pytest.raises(InputError, match="7 rows of 2 experts; allowed: 8 rows, of at most 8"):
        spread(8, 8, "3,4")


def test_the_answer_says_tokens_a_second(tmp_path):
    path, result = written(tmp_path), tmp_path / "r.json"
    words = ("--batch", "2", "--context", "32", "--dtype", "int8", "--dataflow", "i,j")
    words += ("--edition", "exact")
    printed = succeed("network", str(path), *words, "--platform", "u250", "-o", str(result)).stdout
    answer = ithaca.load(result)
    run, seconds = answer.network.run, answer.sum_of("latency") / (300 * 10**6)
    (rate,) = re.findall(r"^decode +([\d,.]+) tokens/s, 2 side by side; ", printed, re.MULTILINE)
    assert float(rate.replace(",", "")) == pytest.approx(float(2 / seconds), rel=1e-3)
    (read,) = re.findall(r"MB to be read each run: ([\d.]+) GB/s of 77", printed)
    assert float(read) == pytest.approx(float(run.read / seconds / 10**9), rel=1e-3)
    shares = re.findall(
        r"(\w+) ([\d.]+) %", re.findall(r"^shares +(.*);", printed, re.MULTILINE)[0]
    )
    names = ["qkv", "scores", "attend", "output", "gate_up", "down", "lm_head"]
    assert sorted(name for name, _ in shares) == sorted(names)
    assert sum(float(share) for _, share in shares) == pytest.approx(100, abs=0.5)
    assert "0.08736 MB, kept of earlier positions 0.008192" in printed
    document = json.loads(result.read_text())
    assert document["network"]["run"]["phase"] == "decode"
    document["network"]["run"]["batch"] = 0
    result.write_text(json.dumps(document))
    assert "batch" in refused("explain", str(result))


def test_memory_that_does_not_hold_a_model_is_said(tmp_path):
    text = (Path(__file__).parents[3] / "formulations" / "platforms" / "u250.yaml").read_text()
    board = tmp_path / "board.yaml"
    words = ("--dtype", "int8", "--dataflow", "i", "--context", "4", "--platform", str(board))
    words += ("--edition", "exact", "--gap", "0.9")
    board.write_text(text.replace("capacity: 68.7", "capacity: 0.00005"))
    assert "DO NOT FIT" in succeed("network", str(written(tmp_path)), *words).stdout
    part = (*words, "--format", "W=mxfp4", "--layers", "lm_head")  # says nothing of what is kept
    for capacity, fits in (("0.00005", True), ("0.00004", False)):
        board.write_text(text.replace("capacity: 68.7", f"capacity: {capacity}"))
        printed = succeed("network", str(written(tmp_path)), *part).stdout
        assert ("DO NOT FIT" not in printed) is fits
        assert ("at least 4.641e-05 GB of 4e-05" not in printed) is fits
    board.write_text(text.replace(", capacity: 68.7", ""))
    printed = succeed("network", str(written(tmp_path)), *words).stdout
    assert "no capacity of the memory is stated" in printed


def test_memory_hierarchies_count_cycles_and_words(tmp_path):
    ask = ("network", str(written(tmp_path)), "--arch", "simple", "--objective", "latency")
    words = (*ask, "--divisors-only", "--context", "8")
    part = succeed(*words, "--layers", "*.scores").stdout
    assert "cycles for" not in part
    assert "memory     weights" in part
    printed = succeed(*words).stdout
    (cycles,) = re.findall(r"^decode +([\d,]+) cycles for 1 token; ", printed, re.MULTILINE)
    assert f"total      latency {cycles} " in printed
    assert "weights 0.08736 million words, kept of earlier positions 0.001024 million" in printed


def test_hierarchies_prove_all_work_of_a_model(tmp_path):
    ask = ("network", str(written(tmp_path)), "--arch", "simple", "--objective", "latency")
    words = (*ask, "--phase", "prefill", "--tokens", "8", "--divisors-only")
    part, whole = succeed(*words).stdout, succeed(*words, "--elementwise").stdout
    totals = [
        int(re.findall(r"total +latency ([\d,]+)  \(optimal\)", text)[0].replace(",", ""))
        for text in (part, whole)
    ]
    assert totals[0] < totals[1]
    assert "left out" in part
    assert "left out" not in whole
