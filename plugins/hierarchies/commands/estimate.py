"""``ithaca estimate``: energies of an architecture, as a table beside it."""

from ithaca.commands.conclusion import line
from ithaca.commands.typed import calls
from ithaca.plugins.hierarchies.commands.estimating import estimate as estimate_energies

estimate = calls(estimate_energies)(line())
estimate.__name__ = "estimate"
