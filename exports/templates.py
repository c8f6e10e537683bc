"""The texts of exported files, written by Jinja.

In a template ``@{…}`` stands for a value, ``{% … %}`` and lines that begin with ``%%`` say what is
repeated or left out: nothing of the languages that are written looks like these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ithaca.files.numbers import number

if TYPE_CHECKING:
    from jinja2 import Environment


#: Templates of plug-ins may use those beside this file.
_OWN = "ithaca.exports"


@cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(each, ".") for each in (package, _OWN)]),
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


def templates_of(package: str) -> Callable[..., str]:
    """The function that makes texts of the templates in a package."""

    def template(path: str, /, **values: object) -> str:
        """The text of a template, by its path in the package: ``autosa/kernel.c.txt``, say."""
        return _environment(package).get_template(path).render(values)

    return template


template = templates_of(_OWN)
