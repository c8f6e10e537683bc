"""The texts of exported files, written by Jinja.

In a template ``@{…}`` stands for a value, ``{% … %}`` and lines that begin with ``%%`` say what is
repeated or left out: nothing of the languages that are written looks like these.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ithaca.files.numbers import number

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ithaca.exports", "."),
        variable_start_string="@{",
        variable_end_string="}",
        line_statement_prefix="%%",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["number"] = number
    return environment


def template(path: str, /, **values: object) -> str:
    """The text of a template, by its path in this folder, such as ``autosa/kernel.c.txt``."""
    return _environment().get_template(path).render(values)
