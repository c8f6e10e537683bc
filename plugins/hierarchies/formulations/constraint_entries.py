"""The lists of constraints on mappings in Timeloop's files, entry by entry."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse
from ithaca.files.numbers import unquoted

#: Sections of files that hold constraints.
SECTIONS = (
    "mapspace_constraints",
    "architecture_constraints",
    "constraints",
    "mapspace",
    "arch_constraints",
    "extra_mapping_constraints",
)

#: What a mapping around a list may hold beside it.
_AROUND = ("version", "targets", "constraints", "template")

#: Fields that stand for factors, as the tool's front end has them.
MACROS = (
    "factors_only",
    "maximize_dims",
    "maximize_dims_capacity",
    "must_iterate_over_dataspaces",
    "no_iteration_over_dataspaces",
)

#: What entries of a file may hold beside their target and type. Link transfers are off whatever a
#: file says of them.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "temporal": ("factors", "permutation", *MACROS),
    "spatial": ("factors", "permutation", "split", "no_link_transfer", *MACROS),
    "dataspace": ("keep", "bypass", "keep_only", "bypass_only"),
    "utilization": ("min",),
}

#: Fields that change costs or mappings in ways that are not counted here; they may be empty.
CHANGING = (
    "default_max_factor",
    "default_min_factor",
    "no_coalesce",
    "no_multicast_no_reduction",
    "no_reuse",
    "no_temporal_reuse",
    "remainders",
    "rmw_first_update",
)

#: The kinds of entries by their type.
TYPES = {
    "temporal": "temporal",
    "spatial": "spatial",
    **dict.fromkeys(("dataspace", "datatype", "bypass", "bypassing"), "dataspace"),
    **dict.fromkeys(("utilization", "parallelism"), "utilization"),
}


def constraints_schema() -> dict[str, Any]:
    """The JSON schema of constraints files."""
    entries = [
        {
            "properties": {
                "target": _JSON["target"],
                "type": {"enum": [name for name, of in TYPES.items() if of == kind]},
                **{name: _JSON[name] for name in sorted(names)},
            },
            "required": ["type"],
            "additionalProperties": False,
        }
        for kind, names in FIELDS.items()
    ]
    listed = {"type": "array", "items": {"oneOf": entries}}
    around = {"properties": {"version": {}, "targets": listed, "constraints": listed}}
    either = {"oneOf": [listed, {"type": "object", **around, "additionalProperties": False}]}
    return {
        "title": "Constraints",
        "type": "object",
        "properties": dict.fromkeys(SECTIONS, either),
        "additionalProperties": False,
        "minProperties": 1,
    }


_TEXT: dict[str, Any] = {"type": ["string", "array"]}
_NAMES: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_JSON = {
    **dict.fromkeys(("factors", "factors_only", "permutation"), _TEXT),
    **dict.fromkeys(("must_iterate_over_dataspaces", "no_iteration_over_dataspaces"), _NAMES),
    "maximize_dims": {
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    },
    "maximize_dims_capacity": {"type": "integer", "minimum": 1},
    **dict.fromkeys(("keep", "bypass", "keep_only", "bypass_only"), _NAMES),
    "split": {"type": ["integer", "string"]},
    "no_link_transfer": {"type": ["boolean", "array"]},
    "min": {"type": "number"},
    "target": {"type": ["string", "integer"]},
    "name": {"type": ["string", "integer"]},
    "attributes": {"type": "object"},
}

#: Types of values by their names in schemas.
_KINDS: Mapping[str, Any] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": int | float,
    "object": dict,
    "string": str,
}


def entries_of(
    sections: Mapping[str, Any], where: object, unread: list[str]
) -> list[tuple[str, str]]:
    """The entries of the sections of a file.

    Parameters
    ----------
    sections : mapping of str to object
        The sections by name.
    where : object
        What error lines begin with.
    unread : list of str
        Takes the paths of fields that nothing depends on.

    Returns
    -------
    list of tuple
        The path of each, and the entry as JSON.

    Raises
    ------
    InputError
        If one is no entry of a known type, or asks for what is not supported.
    """
    entries = []
    for key, part in sections.items():
        section, at = part, f"{where}: {key}"
        if isinstance(part, Mapping):
            name = "targets" if "targets" in part else "constraints"
            named = part.get(name, [])
            if isinstance(named, str):  # the name of one of several lists
                name = f"constraints_{named}"
            section = part.get(name, [] if isinstance(named, list) else named)
            unread += [
                f"{at}.{own}"
                for own in part
                if own not in _AROUND and not own.startswith("constraints_")
            ]
            at = f"{at}.{name}"
        if section is None:
            continue
        if not isinstance(section, list):
            raise refuse(at, "is no list; allowed: entries with target and type")
        for place, entry in enumerate(section):
            for own, path in _entries(entry, f"{at}[{place}]"):
                if isinstance(own, Mapping):  # an empty field states nothing
                    empty = [n for n in ("factors", "permutation") if own.get(n, "") is None]
                    own = {name: value for name, value in own.items() if name not in empty}
                entries.append((path, json.dumps(checked(own, path, unread))))
    return entries


def _entries(entry: Any, at: str) -> Iterator[tuple[Any, str]]:
    """An entry, or those that it holds for its target."""
    if not (isinstance(entry, Mapping) and isinstance(entry.get("constraints"), list)):
        yield entry, at
        return
    target = entry.get("target", entry.get("name"))
    for place, own in enumerate(entry["constraints"]):
        path = f"{at}.constraints[{place}]"
        if isinstance(own, Mapping):
            attributes = own.get("attributes", {})
            if not isinstance(attributes, Mapping):
                raise InputError(
                    f"{path}.attributes is {quoted(str(attributes))}; allowed: a mapping"
                )
            own = {"target": target, **own, **attributes}
        yield own, path


def checked(entry: Any, at: str, unread: list[str]) -> dict[str, Any]:
    """The known fields of an entry, once they are checked.

    Parameters
    ----------
    entry : object
        The entry of a file.
    at : str
        Its place, for messages.
    unread : list of str
        Takes up the fields that change nothing.
    """
    kind = TYPES.get(str(entry.get("type"))) if isinstance(entry, Mapping) else None
    if kind is None:
        own = entry.get("type") if isinstance(entry, Mapping) else entry
        raise refuse(at, f"type is {quoted(own)}{among(own, TYPES)}")
    known = ("target", "name", "type", "attributes", *FIELDS[kind])
    rest = {name: value for name, value in entry.items() if name not in known}
    if changing := min((n for n in rest if n in CHANGING and rest[n]), default=None):
        raise refuse(at, f"{changing} is not supported{among(changing, sorted(FIELDS[kind]))}")
    unread += [f"{at}.{name}" for name in rest if name not in CHANGING]
    own = {name: _normal(name, value) for name, value in entry.items() if name in known}
    check_types(own, at)
    return own


def _normal(name: str, value: Any) -> Any:
    """A field as the tool has it: factors by loop as text, and numbers without quotes."""
    if name in ("factors", "factors_only") and isinstance(value, dict):
        return [f"{loop}={n}" for loop, n in value.items()]
    if name == "maximize_dims" and isinstance(value, list):
        groups = [value] if all(isinstance(each, str) for each in value) else value
        return groups if value else []
    numbers = ("min", "split", "maximize_dims_capacity")
    return unquoted(value) if name in numbers else value


def check_types(entry: Mapping[str, Any], at: str) -> None:
    """Refuse values of an entry that are of another type than the schema says.

    Raises `InputError`.
    """
    for name in entry.keys() & _JSON.keys():
        kinds, value = _JSON[name]["type"], entry[name]
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        fits = any(isinstance(value, _KINDS[kind]) for kind in kinds)
        if isinstance(value, bool) and "boolean" not in kinds:
            fits = False
        if isinstance(value, list):
            groups = value if name == "maximize_dims" else [value]
            fits &= all(isinstance(group, list) for group in groups) and all(
                isinstance(each, str) for group in groups for each in group
            )
        if not fits:
            raise refuse(at, f"{name} is {quoted(value)}; allowed: {_words(name, kinds)}")


def _words(name: str, kinds: Sequence[str]) -> str:
    """The kinds of values that a field takes, in words."""
    of = "tensors" if _JSON[name] is _NAMES else "text"
    of = "lists of loops" if name == "maximize_dims" else of
    names = {"array": f"a list of {of}", "string": "text", "boolean": "true or false"}
    return " or ".join(names.get(kind, f"a {kind}") for kind in kinds).replace(
        "a integer", "an integer"
    )
