"""Export a configuration to AutoSA, the systolic array compiler (Wang, Guo & Cong, FPGA 2021)."""

from ithaca.exports.autosa.folder import export_autosa
from ithaca.exports.autosa.requirements import design_obstacles, nest_obstacles, obstacles

__all__ = ["design_obstacles", "export_autosa", "nest_obstacles", "obstacles"]
