"""Logic of platforms, fitted to synthesis reports."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin(
    {
        "commands": {"calibrate": "ithaca.plugins.calibration.commands.calibrate:calibrate"},
        "names": {"calibrate": "ithaca.plugins.calibration.commands.calibrating:calibrate"},
    },
    {"calibrate": "Fit look-up tables and flip-flops to synthesis reports."},
)
