"""Export a configuration to Timeloop, the accelerator model (Parashar et al., ISPASS 2019), in its format v0.4."""

from ithaca.exports.timeloop.folder import export_timeloop
from ithaca.exports.timeloop.requirements import obstacles

__all__ = ["export_timeloop", "obstacles"]
