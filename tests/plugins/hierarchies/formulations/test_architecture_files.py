"""The architectures that come with Ithaca: sizes as published, energies by the rule that their
files state."""

from math import sqrt

import pytest

from ithaca.files.errors import InputError
from ithaca.plugins.hierarchies.formulations.library import (
    architecture_names,
    find_architecture,
    fitted,
)
from ithaca.workloads.library import workload
from tests.command_line import ithaca

#: Of each: storage in bytes that its publication states, by level, and multipliers.
PUBLISHED = {
    "eyeriss": (
        {
            "GLB": 108 * 1024,
            "ifmap_spad": 168 * 24,
            "weights_spad": 168 * 448,
            "psum_spad": 168 * 48,
        },
        168,
    ),
    "simba-like": (
        {
            "GlobalBuffer": 64 * 1024,
            "InputBuffer": 16 * 8 * 1024,
            "WeightBuffer": 16 * 32 * 1024,
            "AccumulationBuffer": 16 * 3 * 1024,
        },
        1024,
    ),
    "nvdla-like": ({"ConvolutionBuffer": 16 * 32 * 1024}, 2048),
    "tpu-like": (
        {"UnifiedBuffer": 24 * 2**20, "WeightFIFO": 4 * 65536, "Accumulators": 4 * 2**20},
        65536,
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_the_published_ones(name):
    found, (sizes, multipliers) = find_architecture(name), PUBLISHED[name]
    stored = {
        level.name: level.instances * (level.words or 0) * level.word_bits // 8
        for level in found.levels
    }
    assert {level: stored[level] for level in sizes} == sizes
    assert found.compute.instances == multipliers


#: Bytes of a memory, or of a bank, whose energies follow the square-root rule.
BANKS = {
    "simba-like": {
        "GlobalBuffer": 65536,
        "InputBuffer": 8192,
        "WeightBuffer": 32768,
        "AccumulationBuffer": 3072,
        "WeightRegister": 1,
    },
    "nvdla-like": {"ConvolutionBuffer": 32768, "Accumulators": 128, "WeightRegister": 1},
    "tpu-like": {
        "UnifiedBuffer": 24 * 2**20 // 256,
        "WeightFIFO": 2**18 // 256,
        "Accumulators": 2**22 // 256,
        "WeightRegister": 1,
    },
}


@pytest.mark.parametrize("name", BANKS)
def test_energies_follow_the_rule_their_files_state(name):
    for level in find_architecture(name).levels:
        if level.name == "DRAM":
            assert level.read_energy * 8 == 1300  # Horowitz's least for 64 bits
            continue
        byte = 1.25 * sqrt(max(BANKS[name][level.name], 16) / 8192)
        assert float(level.read_energy) == pytest.approx(byte * level.word_bits / 8, rel=5e-3)
        assert level.write_energy == level.read_energy == level.update_energy


@pytest.mark.parametrize("name", architecture_names())
@pytest.mark.parametrize("kernel", ["conv2d", "depthwise_conv2d", "mm"])
def test_every_architecture_keeps_a_workloads_own_tensors(name, kernel):
    nest = workload(kernel)
    kept = [
        fitted(find_architecture(name), nest).levels[index].keeps
        for index in range(len(find_architecture(name).levels))
    ]
    assert frozenset().union(*(keeps or frozenset() for keeps in kept)) <= {
        access.tensor for access in nest.accesses
    }
    for tensor in (access.tensor for access in nest.accesses):
        assert any(keeps is None or tensor in keeps for keeps in kept[1:])


def test_tensors_are_told_apart_by_role():
    eyeriss = fitted(find_architecture("eyeriss"), workload("conv2d"))
    kept = {level.name: level.keeps for level in eyeriss.levels}
    assert kept == {
        "DRAM": None,
        "GLB": {"cin", "cout"},
        "ifmap_spad": {"cin"},
        "weights_spad": {"w"},
        "psum_spad": {"cout"},
    }


def test_an_unknown_architecture_is_refused_with_those_known():
    with pytest.raises(InputError, match=r"unknown architecture 'eyeris'; known: .*eyeriss"):
        find_architecture("eyeris")
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        find_architecture("nowhere.yaml")


def test_architectures_are_listed_with_their_sources():
    told = ithaca("list", "architectures").stdout
    for name in architecture_names():
        assert f"{name}: {find_architecture(name).source}"[:100] in told.replace("\n", " ")
        for level in find_architecture(name).levels:
            assert level.name in told
