"""``ithaca solve``: the answer printed, and written to files."""

from ithaca.commands.api import solving
from ithaca.commands.conclusion import printed
from ithaca.commands.typed import calls

solve = calls(solving.solve)(printed())
