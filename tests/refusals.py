"""Refused inputs, and the line that says why: tables in ``tests/data/refused``.

Each row is what a test takes. A command is typed as in a shell; a line is pieces, ``…`` between
them, that each stand in the message.
"""

from copy import deepcopy
from functools import cache, reduce
from operator import getitem
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent / "data" / "refused"

#: the value of a place that an edited document does not have
MISSING = "(missing)"


@cache
def _tables(name):
    return yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


def refusals(name, table):
    """The rows of a table of a file."""
    return list(_tables(name)[table])


def says(message, line):
    """Hold a message to the line it is to say."""
    for piece in line.split(" … "):
        assert piece in message


def edited(document, place, value=MISSING):
    """A copy of a document with another value, or none, at a place such as ``layers.0.count``."""
    copy = deepcopy(document)
    if isinstance(place, str):
        place = [int(step) if step.isdigit() else step for step in place.split(".")]
    *steps, last = place
    inner = reduce(getitem, steps, copy)
    if value == MISSING:
        del inner[last]
    else:
        inner[last] = value
    return copy
