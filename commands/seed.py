"""``ithaca seed``: what was written, in a line."""

from __future__ import annotations

from ithaca.commands.api import seeding
from ithaca.commands.plain import line
from ithaca.commands.typed import calls

seed = calls(seeding.seed)(line())
