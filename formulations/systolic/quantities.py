"""The tiling quantities the model is written in, and how they are named.

Per band loop ``x`` of extent ``N``: ``tiles.x`` = ceil(N/t1), ``t1.x`` (array partitioning factor),
``t2.x`` (latency hiding factor; SIMD factor of the SIMD loop), ``lanes.x`` = t1/t2. Per loop
``extent.x``; per I/O group ``pack.g`` (data packing factor, words), where tensors may be spread
over memory ports ``ports.g``; where tiles are tiled again, per parallel band loop ``inner.x``
(tiles of an outer tile) and ``outer.x`` = tiles/inner; and, where layers share an array,
``buffer.g`` (words of its buffers; `ACCUMULATORS` names those of a PE).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


def _symbols(kind: str) -> Callable[[str], Symbol]:
    """The symbols of a kind of quantity, by loop or I/O group."""
    return lambda owner: Symbol(f"{kind}.{owner}")


extent = _symbols("extent")
"""Trip count of a loop (iterations)."""
tiles = _symbols("tiles")
"""Tiles (trips of the array-partitioning loop), ceil(N/t1)."""
t1 = _symbols("t1")
"""Array partitioning factor (iterations)."""
t2 = _symbols("t2")
"""Latency hiding factor, or the SIMD factor of the SIMD loop (iterations)."""
lanes = _symbols("lanes")
"""t1/t2: PEs along a space loop, trips of the PE along any other."""
inner = _symbols("inner")
"""Tiles of an outer tile."""
outer = _symbols("outer")
"""Outer tiles, tiles/inner."""
pack = _symbols("pack")
"""Data packing factor of an I/O group (words)."""
ports = _symbols("ports")
"""Memory ports that an I/O group is spread over."""
buffer = _symbols("buffer")
"""Words that a buffer of an I/O group, or of a PE (`ACCUMULATORS`), holds."""
