"""``ithaca export``: what was written, in a line."""

from ithaca.commands.api import exporting
from ithaca.commands.conclusion import line
from ithaca.commands.typed import calls

export = calls(exporting.export)(line())
