"""``ithaca programs``: what was written, in a line."""

from ithaca.commands.api import modelling
from ithaca.commands.conclusion import line
from ithaca.commands.typed import calls

programs = calls(modelling.programs)(line())
