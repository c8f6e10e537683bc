"""Documents of Timeloop's front ends: YAML with references and merged mappings, perhaps rendered by
Jinja first."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from ithaca.files.messages import refuse
from ithaca.files.reading import parse_json, read_text
from ithaca.files.yaml_documents import parse_yaml

#: Largest file (bytes).
MAX_BYTES = 1 << 20

#: Deepest nesting of a file.
MAX_DEPTH = 40

TAGS = (
    "!Component",
    "!Container",
    "!Hierarchical",
    "!Nothing",
    "!Parallel",
    "!Pipelined",
    "!nomerge",
)

#: Deepest inclusion of a file in another one.
_INCLUSIONS = 8


def load_timeloop(path: Path, max_bytes: int = MAX_BYTES, tags: Collection[str] = TAGS) -> Any:
    """The document of a YAML or JSON file as Timeloop's front ends read it.

    Raises `InputError` if it cannot be read, is too large or malformed, or its template asks for
    what is not known.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int, optional
        Bytes that it may have.
    tags : collection of str, optional
        YAML tags that are read over.
    """
    if path.suffix.lower() == ".json":
        return parse_json(read_text(path, max_bytes), path)
    return parse_yaml(_text(path, 0, (), max_bytes), path, tags, MAX_DEPTH, references=True)


def _text(path: Path, depth: int, folders: tuple[Path, ...], max_bytes: int = MAX_BYTES) -> str:
    """The text of a file, rendered if it is a template."""
    text = read_text(path, max_bytes)
    if "{{" not in text and "{%" not in text:
        return text
    if depth == _INCLUSIONS:
        raise refuse(path, f"is included {depth} files deep; allowed: fewer")
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    here = [*folders, path.parent]

    def find(name: str) -> Path | None:
        return next((each for folder in here if (each := folder / name).is_file()), None)

    def include_text(name: str) -> str:
        file = find(name)
        if file is None:
            raise refuse(path, f"includes {name}, which there is not; allowed: a file beside it")
        return _text(file, depth + 1, tuple(here))

    def add(folder: str) -> str:
        here.append(path.parent / folder)
        return ""

    def include(name: str, key: str) -> str:
        part: Any = parse_yaml(include_text(name), name, TAGS, MAX_DEPTH, references=True)
        for each in key.split("."):
            if not isinstance(part, Mapping) or each not in part:
                raise refuse(path, f"includes {key} of {name}, which it has not")
            part = part[each]
        return _flow(part)

    def unsupported(*_: Any) -> NoReturn:
        raise refuse(path, "includes all files of a pattern; allowed: include, include_text")

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    environment.globals |= {
        "add_to_path": add,
        "cwd": lambda: str(path.parent),
        "find_path": lambda name: str(find(name) or name),
        "include": include,
        "include_all": unsupported,
        "include_text": include_text,
        "path_exists": lambda name: find(name) is not None,
    }
    try:
        return environment.from_string(text).render()
    except TemplateError as error:
        at = f": line {line}" if (line := getattr(error, "lineno", None)) else ""
        raise refuse(
            f"{path}{at}", f"its template fails: {error}; allowed: variables that files define"
        ) from None


def _flow(part: Any) -> str:
    """A document as YAML in a line; mappings with their tags."""
    if isinstance(part, Mapping):
        tag = f"!{part['!']} " if "!" in part else ""
        fields = ", ".join(f'"{name}": {_flow(own)}' for name, own in part.items() if name != "!")
        return f"{tag}{{{fields}}}"
    if isinstance(part, list):
        return f"[{', '.join(map(_flow, part))}]"
    if isinstance(part, bool) or part is None:
        return {True: "true", False: "false", None: "null"}[part]
    return str(part) if isinstance(part, int | float) else '"' + part.replace('"', '\\"') + '"'
