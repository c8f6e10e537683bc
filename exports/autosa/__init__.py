"""Export a configuration to AutoSA, the systolic array compiler (Wang, Guo & Cong, FPGA 2021)."""

from ithaca.exports.autosa.folder import export_autosa
from ithaca.exports.autosa.requirements import obstacles

__all__ = ["export_autosa", "obstacles"]
