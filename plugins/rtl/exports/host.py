"""Runs the array with AXI4 masters on a board, by PYNQ: ``python host.py array_axi4.xclbin``.

Not tested on a board: Ithaca is tested without one. Written by Ithaca; licence 0BSD, use it in any
product. It reads ``expected.json`` and ``vectors/`` of the folder above, whose result is NumPy's.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONTROL, START, DONE = 0x00, 1, 2


def vector(folder: Path, tensor: Mapping[str, Any]) -> NDArray[Any]:
    """The values of a tensor, as bits in whole numbers; several of 64 bits where one has more."""
    lines = folder.joinpath("vectors", f"{tensor['name']}.hex").read_text().split()
    bits, shape = tensor["bits"], tensor["shape"]
    words = [(int(line, 16) % (1 << bits)).to_bytes(bits // 8, "little") for line in lines]
    values = np.frombuffer(b"".join(words), f"<u{min(bits, 64) // 8}")
    return values.reshape(shape if bits <= 64 else [*shape, bits // 64])


def run(kernel: Any, allocate: Callable[..., Any], folder: Path, seconds: float = 60) -> int:
    """Run a kernel once; how many elements of its result are not NumPy's.

    Parameters
    ----------
    kernel : object
        The kernel of an overlay, with ``read`` and ``write`` of registers.
    allocate : callable
        Allocates a buffer of a shape and a type.
    folder : Path
        The exported folder.
    seconds : float, optional
        How long the array may take.
    """
    stated = json.loads((folder / "expected.json").read_text())["rtl"]
    for tensor in stated["tensors"]:  # the last one is the result
        values = vector(folder, tensor)
        buffer = allocate(values.shape, values.dtype)
        buffer[:] = values if tensor["read"] else 0
        buffer.sync_to_device()
        kernel.write(tensor["register"], buffer.device_address & 0xFFFFFFFF)
        kernel.write(tensor["register"] + 4, buffer.device_address >> 32)
    end = time.monotonic() + seconds
    kernel.write(CONTROL, START)
    while not kernel.read(CONTROL) & DONE:
        if time.monotonic() > end:
            raise SystemExit(f"the array is not done after {seconds:g} s")
    if failed := kernel.read(stated["errors"]):
        raise SystemExit(f"memory answered with an error: tensors {failed:b}")
    buffer.sync_from_device()
    return int((buffer != values).sum())


if __name__ == "__main__":
    import pynq

    overlay = pynq.Overlay(sys.argv[1])
    array = getattr(overlay, next(name for name in overlay.ip_dict if "array_axi4" in name))
    wrong = run(array, pynq.allocate, Path(__file__).resolve().parents[1])
    print(f"{wrong} elements are wrong")
    sys.exit(bool(wrong))
