"""The modes of networks whose layers share arrays: one physical array, or several."""

from ithaca.plugins.codesign.studies.arrays.arrays import solve_multi_array, solve_shared_array
from ithaca.plugins.codesign.studies.arrays.fused import solve_fused_multi_array
from ithaca.studies.network.modes import Mode

SHARED = Mode(solve_shared_array)
MULTI = Mode(solve_multi_array, solve_fused_multi_array)
