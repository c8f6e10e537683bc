"""Arrays that several layers share: modes of networks, and another proof of what they answer."""

from __future__ import annotations

from ithaca.plugins.codesign.studies.arrays.arrays import (
    none_alone,
    on_arrays,
    solve_multi_array,
    solve_shared_array,
)
from ithaca.plugins.codesign.studies.arrays.fused import solve_fused_multi_array
from ithaca.plugins.codesign.studies.arrays.proof import Proof

__all__ = [
    "Proof",
    "none_alone",
    "on_arrays",
    "solve_fused_multi_array",
    "solve_multi_array",
    "solve_shared_array",
]
