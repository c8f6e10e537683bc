"""JSON schemas of documents: those that commands write, and those that people write for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ithaca.files.documents import json_schema, schemas
from ithaca.files.registry import Registry
from ithaca.files.writing import SCHEMA

#: What a document of a kind is: a JSON schema, made when it is asked for.
Made = Callable[[], dict[str, Any]]

#: What people and commands write beside results, by kind: models, or what makes a schema.
SCHEMAS: Registry[type | Made] = Registry("schemas")


def schema(kind: str) -> dict[str, Any]:
    """The JSON schema of a kind of document. Raises `InputError` if there is no such kind."""
    from ithaca.files.words import parse_choice
    from ithaca.formulations.families import FAMILIES
    from ithaca.results.schema import result_model

    known: dict[str, Made] = {}
    for family in FAMILIES.values():
        known[family.document] = partial(json_schema, result_model(family))
        known |= family.inputs
    known |= {name: partial(_schema, name) for name in SCHEMAS}
    body = known[parse_choice("document", kind, known)]()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


def _schema(name: str) -> dict[str, Any]:
    """The schema of a model, or what makes it."""
    thing = SCHEMAS[name]
    return json_schema(thing) if isinstance(thing, type) else thing()


def _rows(name: str, kind: str = "object", **more: Any) -> Made:
    """The schema of a table: a list of a name, and what else is said."""
    listed = {"type": "array", "items": {"type": kind}}
    fields = {"schema": {"const": SCHEMA}, name: listed, **more}
    return lambda: {"type": "object", "properties": fields, "required": [*fields]}


def problem() -> dict[str, Any]:
    from ithaca.workloads.problem_files import ProblemDocument

    (model,), defined = schemas([ProblemDocument])
    fields = {"properties": {"problem": model}, "required": ["problem"]}
    return {"title": "Problem", "type": "object", **fields, "$defs": defined}


def of_families(title: str, models: Mapping[str, Any], first: str) -> dict[str, Any]:
    """The schema of documents that say in ``family`` which model theirs is; those that say nothing
    are of the first.

    Parameters
    ----------
    title : str
        The title of the schema.
    models : mapping of str to object
        The model of each family.
    first : str
        The family of documents that name none.
    """
    references, defined = schemas(list(models.values()))
    cases = []
    for family, reference in zip(models, references, strict=True):
        named: dict[str, Any] = {"properties": {"family": {"const": family}}}
        needed = {} if family == first else {"required": ["family"]}
        cases.append({"if": named | needed, "then": reference})
    return {"title": title, "allOf": cases, "$defs": defined}


def network() -> dict[str, Any]:
    """A network that people write, or a result of one."""
    from ithaca.formulations.families import UNNAMED
    from ithaca.results.network import network_models
    from ithaca.workloads.networks.network_documents import network_schema

    results, own = of_families("Network", network_models(), UNNAMED), network_schema()
    defined = results.pop("$defs") | own.pop("$defs")
    case = {"properties": {"study": {"const": "network"}}, "required": ["study"]}
    return {"title": "Network", "if": case, "then": results, "else": own, "$defs": defined}


points, layers, designs = _rows("points"), _rows("answers"), _rows("designs")
explanation = _rows("statements", "string", study={"const": "explain"})
