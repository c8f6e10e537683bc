"""Export a configuration to SCALE-Sim, the systolic array simulator (Samajdar et al., ISPASS 2020), versions 2 and 3."""

from ithaca.exports.scalesim.folder import export_scalesim
from ithaca.exports.scalesim.requirements import nest_obstacles, obstacles

__all__ = ["export_scalesim", "nest_obstacles", "obstacles"]
