"""JSON lists with one item a line: easy to read, to compare and to cut."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def json_list(items: Iterable[Any]) -> str:
    """A JSON list as text, one item a line."""
    return "[\n" + ",\n".join("  " + json.dumps(item) for item in items) + "\n]\n"
