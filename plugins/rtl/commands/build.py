"""``ithaca build``: simulate exported hardware, and synthesize it."""

from __future__ import annotations

from collections.abc import Callable

import typer

from ithaca.commands.api.outputs import AsJson
from ithaca.commands.display import show
from ithaca.commands.outcome import NOTHING_FOUND, nothing_found, print_document, say
from ithaca.commands.typed import calls
from ithaca.files.errors import NothingFoundError
from ithaca.files.numbers import number
from ithaca.plugins.rtl.commands.building import Build, NetworkBuild
from ithaca.plugins.rtl.commands.building import build as build_hardware
from ithaca.results.view import tabled


@calls(build_hardware)
def build(ask: Callable[..., Build | NetworkBuild], *, as_json: AsJson = False) -> None:
    """``ithaca build``."""
    try:
        built = ask()
    except NothingFoundError as why:
        nothing_found(str(why))
    if as_json:
        print_document(built.document)
    else:
        print_build(built)
    if not built.right:
        raise typer.Exit(NOTHING_FOUND)


def print_build(built: Build | NetworkBuild, layer: str = "") -> None:
    """Print what happened, of a layer of one array in front of each line."""
    if isinstance(built, NetworkBuild):
        for name, each in built.builds.items():
            if not built.one_array:
                say(f"== {name}")
            print_build(each, f"{name}: " if built.one_array else "")
        return
    for line in built.lines:
        say(layer + line)
    made = built.resources
    if made is None:
        return
    model = built.expected
    rows = [
        ("DSP48E2", model.dsp, made.dsp),
        ("BRAM18", model.bram18k, made.bram18k),
        ("LUT", model.lut, made.lut),
        ("of them memory", model.lutram, made.lutram),
        ("FF", model.ff, made.ff),
    ]
    cells = [
        [
            ("resource", name),
            ("model", "–" if stated is None else number(stated)),
            (made.tool, number(count)),
        ]
        for name, stated, count in rows
    ]
    show(tabled(cells, {"resource"}))
