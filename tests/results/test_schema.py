"""The published schema of documents: what files hold, it names, and what it asks for, they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ithaca.commands.listing import schema
from tests.command_line import ithaca

DATA = Path(__file__).parent / "data"

TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def check(value: Any, asked: dict[str, Any], known: dict[str, Any], at: str) -> int:
    """Compare names and types of a document with a schema; returns how many objects were
    compared."""

    def resolved(part: dict[str, Any]) -> dict[str, Any]:
        return known[part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part

    options = [resolved(option) for option in resolved(asked).get("anyOf", [asked])]
    fitting = [
        option
        for option in options
        if "type" not in option or isinstance(value, TYPES[option["type"]])
    ]
    assert fitting, at
    found = fitting[0]
    if isinstance(value, list):
        return sum(check(item, found["items"], known, f"{at}[{i}]") for i, item in enumerate(value))
    if not isinstance(value, dict) or "properties" not in found:
        return 0
    assert set(found.get("required", ())) <= set(value), at
    assert found.get("additionalProperties") is not False or set(value) <= set(
        found["properties"]
    ), at
    inside = [(name, item) for name, item in value.items() if name in found["properties"]]
    return 1 + sum(
        check(item, found["properties"][name], known, f"{at}.{name}") for name, item in inside
    )


@pytest.mark.parametrize(
    ("kind", "file", "objects"),
    [("result", "solve.json", 30), ("network", "network.json", 20), ("whatif", "whatif.json", 20)],
)
def test_files_are_what_the_schema_says(kind: str, file: str, objects: int) -> None:
    found = schema(kind)
    document = json.loads((DATA / file).read_text())
    assert check(document, found, found["$defs"], kind) >= objects
    document["surprise"] = 1
    if kind != "whatif":  # a study may say more of what was fixed
        with pytest.raises(AssertionError):
            check(document, found, found["$defs"], kind)


def test_the_command_prints_it() -> None:
    assert json.loads(ithaca("list", "schema").stdout)["title"] == "ResultDocument"
    assert (
        json.loads(ithaca("list", "schema", "pareto").stdout)["properties"]["study"]["const"]
        == "pareto"
    )
    assert (
        "document is 'x'; allowed: result, mapping, network" in ithaca("list", "schema", "x").stderr
    )
