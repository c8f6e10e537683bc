"""``ithaca match``: the matches printed, and written to files."""

from __future__ import annotations

from ithaca.commands.api import matching
from ithaca.commands.conclusion import Outputs
from ithaca.commands.plain import printed
from ithaca.commands.typed import calls

match = calls(matching.match)(printed(Outputs))
