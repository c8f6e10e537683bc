"""``ithaca seed``: what was written, in a line."""

from __future__ import annotations

from functools import partial

from ithaca.commands.api.outputs import AsJson
from ithaca.commands.conclusion import line
from ithaca.commands.typed import calls
from ithaca.files.answer import Wrote
from ithaca.files.errors import InputError
from ithaca.plugins.seeds.commands import seeding


@calls(seeding.seed)
def seed(ask: partial[Wrote], *, as_json: AsJson = False) -> None:
    """Tell what was written."""
    if ask.keywords.get("output") is None:
        raise InputError("--output is missing; allowed: the name of a file, or of a folder")
    line()(ask, as_json=as_json)
