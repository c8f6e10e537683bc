"""``ithaca refine``: the answer printed, and written to files."""

from __future__ import annotations

from ithaca.commands.api import refining
from ithaca.commands.plain import printed
from ithaca.commands.typed import calls

refine = calls(refining.refine)(printed())
