"""``ithaca calibrate``: a platform whose look-up tables and flip-flops are known."""

from ithaca.commands.conclusion import line
from ithaca.commands.typed import calls
from ithaca.plugins.calibration.commands.calibrating import calibrate as fit_reports

calibrate = calls(fit_reports)(line())
calibrate.__name__ = "calibrate"
