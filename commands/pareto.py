"""``ithaca pareto``: the front printed, written to files, and drawn."""

from ithaca.commands.api import fronts
from ithaca.commands.conclusion import plotted
from ithaca.commands.typed import calls

pareto = calls(fronts.pareto)(
    plotted("Plot to .png, .svg, .pdf or .html (two or three objectives).", "check_front_plottable")
)
