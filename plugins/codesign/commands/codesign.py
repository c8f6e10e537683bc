"""``ithaca codesign``: the answer printed, written to files, and drawn."""

from ithaca.commands.conclusion import OutputOptions, plotted
from ithaca.commands.typed import calls
from ithaca.plugins.codesign.commands import choosing

codesign = calls(choosing.codesign)(
    plotted(
        "Plot the front, or energy by layer, to .png, .svg, .pdf or .html.", options=OutputOptions
    )
)
