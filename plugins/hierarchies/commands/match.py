"""``ithaca match``: the matches printed, and written to files."""

from ithaca.commands.conclusion import Outputs, printed
from ithaca.commands.typed import calls
from ithaca.plugins.hierarchies.commands import matching

match = calls(matching.match)(printed(Outputs))
