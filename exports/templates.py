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
def _environment(package: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package, "."),
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


def template(path: str, /, package: str = "ithaca.exports", **values: object) -> str:
    """The text of a template.

    Parameters
    ----------
    path : str
        Its path in the folder of a package, such as ``autosa/kernel.c.txt``.
    package : str, optional
        The package.
    **values : object
        The values of its names.
    """
    return _environment(package).get_template(path).render(values)
