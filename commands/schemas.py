"""JSON schemas of documents: those that commands write, and those that people write for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pkgutil import resolve_name
from typing import Any

from ithaca.files.documents import json_schema, schemas
from ithaca.files.writing import SCHEMA

#: What a document of a kind is: a JSON schema, made when it is asked for.
Made = Callable[[], dict[str, Any]]


def schema(kind: str) -> dict[str, Any]:
    """The JSON schema of a kind of document. Raises `InputError` if there is no such kind."""
    from ithaca.files.words import parse_choice
    from ithaca.formulations.families import FAMILIES
    from ithaca.results.schema import result_model

    known: dict[str, Made] = {}
    for family in FAMILIES.values():
        known[family.document] = partial(json_schema, result_model(family))
        known |= family.inputs
    known |= {**READ, **WRITTEN}
    body = known[parse_choice("document", kind, known)]()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


def _of(place: str, name: str) -> Made:
    """The schema of a model."""
    return lambda: json_schema(resolve_name(f"ithaca.{place}:{name}"))


def _codesign() -> dict[str, Any]:
    from ithaca.formulations.families import ACCELERATORS, FAMILIES
    from ithaca.results.codesign import codesign_model

    return json_schema(codesign_model(FAMILIES[next(iter(ACCELERATORS))]))


def _simulation() -> dict[str, Any]:
    from ithaca.formulations.families import UNNAMED, module_of

    own: Any = module_of("ithaca.commands.families", UNNAMED, "simulating")
    return json_schema(own.SimulationDocument)


def _rows(name: str, kind: str = "object", **more: Any) -> Made:
    """The schema of a table: a list of a name, and what else is said."""
    listed = {"type": "array", "items": {"type": kind}}
    fields = {"schema": {"const": SCHEMA}, name: listed, **more}
    return lambda: {"type": "object", "properties": fields, "required": [*fields]}


def _problem() -> dict[str, Any]:
    from ithaca.workloads.problem_files import ProblemDocument

    (problem,), defined = schemas([ProblemDocument])
    fields = {"properties": {"problem": problem}, "required": ["problem"]}
    return {"title": "Problem", "type": "object", **fields, "$defs": defined}


def _of_families(title: str, models: Mapping[str, Any], first: str) -> dict[str, Any]:
    """The schema of documents that say in ``family`` which model theirs is; those that say nothing
    are of the first."""
    references, defined = schemas(list(models.values()))
    cases = []
    for family, reference in zip(models, references, strict=True):
        named: dict[str, Any] = {"properties": {"family": {"const": family}}}
        needed = {} if family == first else {"required": ["family"]}
        cases.append({"if": named | needed, "then": reference})
    return {"title": title, "allOf": cases, "$defs": defined}


def _network() -> dict[str, Any]:
    """A network that people write, or a result of one."""
    from ithaca.formulations.families import UNNAMED
    from ithaca.results.network import network_models
    from ithaca.workloads.networks.network_documents import network_schema

    results, own = _of_families("Network", network_models(), UNNAMED), network_schema()
    defined = results.pop("$defs") | own.pop("$defs")
    case = {"properties": {"study": {"const": "network"}}, "required": ["study"]}
    return {"title": "Network", "if": case, "then": results, "else": own, "$defs": defined}


def _space() -> dict[str, Any]:
    from ithaca.formulations.families import ACCELERATORS
    from ithaca.formulations.hardware.files import space_model

    models = {family: space_model(family) for family in ACCELERATORS}
    return _of_families("Space", models, next(iter(ACCELERATORS)))


#: What commands write beside results, each family's own.
WRITTEN: Mapping[str, Made] = {
    "codesign": _codesign,
    "codesign-whatif": _of("results.studies", "CodesignStudyDocument"),
    "match": _of("commands.api.matching", "MatchDocument"),
    "whatif": _of("results.studies", "StudyDocument"),
    "pareto": _of("results.studies", "FrontDocument"),
    "simulation": _simulation,
    "points": _rows("points"),
    "layers": _rows("answers"),
    "explanation": _rows("statements", "string", study={"const": "explain"}),
    "designs": _rows("designs"),
}

#: What people write for any family; networks are read and written.
READ: Mapping[str, Made] = {
    "workload": _of("workloads.kernel_files", "KernelFile"),
    "problem": _problem,
    "network": _network,
    "platform": _of("formulations.platform_files", "PlatformFile"),
    "space": _space,
    "graph": _of("formulations.flow.graph", "FlowGraph"),
}
