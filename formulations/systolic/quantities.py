"""The tiling quantities the model is written in, and how they are named.

Per band loop ``x`` of extent ``N``: ``tiles.x`` = ceil(N/t1), ``t1.x`` (array partitioning factor),
``t2.x`` (latency hiding factor; SIMD factor of the SIMD loop), ``lanes.x`` = t1/t2. Per loop
``extent.x``; per I/O group ``pack.g`` (data packing factor, words), where tensors may be spread
over memory ports ``ports.g``; where tiles are tiled again, per parallel band loop ``inner.x``
(tiles of an outer tile) and ``outer.x`` = tiles/inner; and, where layers share an array,
``buffer.g`` (words of its buffers; `ACCUMULATORS` names those of a PE).
"""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.formulations.algebra.expression import Symbol

#: Unit and meaning of every kind of quantity.
MEANINGS: Mapping[str, tuple[str, str]] = {
    "lanes": ("", "t1/t2: PEs along a space loop, trips of the PE along any other"),
    "t1": ("iterations", "array partitioning factor"),
    "t2": ("iterations", "latency hiding factor; of the SIMD loop the SIMD factor"),
    "tiles": ("", "tiles, ceil(extent/t1)"),
    "pack": ("words", "data packing factor"),
    "inner": ("", "tiles of an outer tile"),
    "outer": ("", "outer tiles, tiles/inner"),
    "ports": ("", "memory ports of an I/O group"),
    "buffer": ("words", "words of the buffers of an I/O group, or of the accumulators of a PE"),
}

#: Name under which the accumulators of a PE stand among the buffers.
ACCUMULATORS = "PE"


def extent(loop: str) -> Symbol:
    """Trip count of a loop (iterations)."""
    return Symbol(f"extent.{loop}")


def tiles(loop: str) -> Symbol:
    """Tiles (trips of the array-partitioning loop), ceil(N/t1)."""
    return Symbol(f"tiles.{loop}")


def t1(loop: str) -> Symbol:
    """Array partitioning factor (iterations)."""
    return Symbol(f"t1.{loop}")


def t2(loop: str) -> Symbol:
    """Latency hiding factor, or the SIMD factor of the SIMD loop (iterations)."""
    return Symbol(f"t2.{loop}")


def lanes(loop: str) -> Symbol:
    """t1/t2: PEs along a space loop, trips of the PE along any other."""
    return Symbol(f"lanes.{loop}")


def inner(loop: str) -> Symbol:
    """Tiles of an outer tile."""
    return Symbol(f"inner.{loop}")


def outer(loop: str) -> Symbol:
    """Outer tiles, tiles/inner."""
    return Symbol(f"outer.{loop}")


def pack(group: str) -> Symbol:
    """Data packing factor of an I/O group (words)."""
    return Symbol(f"pack.{group}")


def ports(group: str) -> Symbol:
    """Memory ports that an I/O group is spread over."""
    return Symbol(f"ports.{group}")


def buffer(group: str) -> Symbol:
    """Words that a buffer of an I/O group, or of a PE (`ACCUMULATORS`), holds."""
    return Symbol(f"buffer.{group}")
