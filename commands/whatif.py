"""``ithaca whatif``: the study printed, written to files, and drawn."""

from ithaca.commands.api import studies
from ithaca.commands.conclusion import plotted
from ithaca.commands.typed import calls

whatif = calls(studies.whatif)(
    plotted("Plot to .png, .svg, .pdf or .html (one or two --vary).", "check_plottable")
)
