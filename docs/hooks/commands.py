"""The command reference: written from the program's own options while the guide is built, so it
cannot lag behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mkdocs.structure.files import File, Files

PAGE = "commands.md"

_HEAD = """# Commands

This page is written from the program while the guide is built. `ithaca COMMAND --help` prints the
same. Exit status: 0 an answer was found; 1 infeasible, or nothing found in time; 2 bad input, with
one line on stderr; 130 interrupted before there was an answer.
"""


def on_files(files: Files, config: Any) -> Files:
    """Add the page (called by MkDocs)."""
    files.append(File.generated(config, PAGE, content=reference()))
    return files


def reference() -> str:
    """The page in Markdown."""
    from ithaca.cli import COMMANDS, load

    return "\n".join(
        [_HEAD, *(line for name in COMMANDS for line in _sections(load(name), f"ithaca {name}"))]
    )


def _sections(command: Any, name: str) -> Iterator[str]:
    """Sections of a command, or of the commands in a group."""
    if hasattr(command, "commands"):
        for inner in command.commands.values():
            yield from _sections(inner, f"{name} {inner.name}")
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    words = " ".join(str(p.metavar or p.name).upper() for p in arguments)
    yield (
        f"## {name}\n\n{command.help}\n\n```text\n{name} "
        f"{words}{' [OPTIONS]' if options else ''}\n```\n"
    )
    if command.params:
        yield "| argument or option | meaning | default |\n| --- | --- | --- |"
        yield from (_row(p) for p in (*arguments, *options))
        yield ""
    if command.epilog:
        examples = (line.strip() for line in command.epilog.splitlines()[2:])
        yield "```text\n{}\n```\n".format("\n".join(examples))


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        spelled = f"`{str(parameter.metavar or parameter.name).upper()}`"
    else:
        spelled = ", ".join(f"`{name}`" for name in parameter.opts)
    default = "required" if parameter.required else _default(parameter.default)
    return f"| {spelled} | {_cell(parameter.help)} | {default} |"


def _default(value: Any) -> str:
    return "" if value in (None, False, ()) or value == [] else f"`{_cell(value)}`"


def _cell(text: Any) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")
