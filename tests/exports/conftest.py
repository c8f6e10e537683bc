"""Configurations for the tests of exports."""

from typing import NamedTuple

import pytest

from ithaca.exports.configuration import ArrayConfiguration
from ithaca.formulations.data_types import data_type
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.workloads.library import workload


class Row(NamedTuple):
    """A small matrix multiplication of extents 5 × 7 × 9, and its options, written by hand."""

    dataflow: str
    t1: dict[str, int]
    t2: dict[str, int]
    simd: int
    pack: dict[str, int]
    sa_sizes: str
    data_pack_sizes: str


ROWS = (
    Row(
        "i",
        {"i": 4, "j": 3, "k": 8},
        {"i": 2, "j": 1},
        4,
        {"A": 4, "B": 8, "C_drain": 1},
        "{kernel[]->space_time[0];kernel[]->array_part[4,3,8];kernel[]->latency[2,1];kernel[]->simd[1,4]}",
        "{kernel[]->A[16,16,16];kernel[]->B[32,32,32];kernel[]->C[4,4,4]}",
    ),
    Row(
        "j",
        {"i": 6, "j": 4, "k": 4},
        {"i": 3, "j": 2},
        2,
        {"A": 4, "B": 2, "C_drain": 2},
        "{kernel[]->space_time[1];kernel[]->array_part[4,6,4];kernel[]->latency[2,3];kernel[]->simd[2]}",
        "{kernel[]->A[16,16,16];kernel[]->B[8,8,8];kernel[]->C[8,8,8]}",
    ),
    Row(
        "k",
        {"i": 4, "j": 6, "k": 8},
        {"i": 1, "j": 3},
        4,
        {"A": 4, "B": 4, "C": 2},
        "{kernel[]->space_time[2];kernel[]->array_part[8,4,6];kernel[]->latency[1,3];kernel[]->simd[4,1]}",
        "{kernel[]->A[16,16,16];kernel[]->B[16,16,16];kernel[]->C[8,8,8]}",
    ),
    Row(
        "ij",
        {"i": 4, "j": 6, "k": 8},
        {"i": 2, "j": 3},
        2,
        {"A": 8, "B": 2, "C_drain": 1},
        "{kernel[]->space_time[3];kernel[]->array_part[4,6,8];kernel[]->latency[2,3];kernel[]->simd[2]}",
        "{kernel[]->A[32,32,32];kernel[]->B[8,8,8];kernel[]->C[4,4,4]}",
    ),
    Row(
        "ik",
        {"i": 6, "j": 4, "k": 4},
        {"i": 3, "j": 4},
        2,
        {"A": 2, "B": 2, "C": 4},
        "{kernel[]->space_time[4];kernel[]->array_part[6,4,4];kernel[]->latency[3,4];kernel[]->simd[2,1]}",
        "{kernel[]->A[8,8,8];kernel[]->B[8,8,8];kernel[]->C[16,16,16]}",
    ),
    Row(
        "jk",
        {"i": 3, "j": 6, "k": 8},
        {"i": 1, "j": 3},
        4,
        {"A": 4, "B": 4, "C": 1},
        "{kernel[]->space_time[5];kernel[]->array_part[6,8,3];kernel[]->latency[3,1];kernel[]->simd[4,1]}",
        "{kernel[]->A[16,16,16];kernel[]->B[16,16,16];kernel[]->C[4,4,4]}",
    ),
)


@pytest.fixture(params=ROWS, ids=lambda row: row.dataflow)
def row(request):
    """One row per buildable dataflow of a matrix multiplication."""
    return request.param


@pytest.fixture
def configure():
    """Make a configuration; by default the (i,j) design of the table, with changes."""

    def make(
        row=ROWS[3],
        dtype="fp32",
        sizes=None,
        permutation="C",
        t1=None,
        t2=None,
        simd=None,
        pack=None,
    ):
        nest = workload("mm", {"i": 5, "j": 7, "k": 9, **(sizes or {})})
        array = derive(nest, tuple(row.dataflow), permutation)
        packs = {group.name: row.pack.get(group.name, 1) for group in array.packed_groups}
        tiling = Tiling(
            {**row.t1, **(t1 or {})},
            {**row.t2, **(t2 or {})},
            simd or row.simd,
            {**packs, **(pack or {})},
        )
        return ArrayConfiguration(nest, array, data_type(dtype), tiling)

    return make


@pytest.fixture
def table():
    """All rows."""
    return ROWS
