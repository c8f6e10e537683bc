"""Parameters of functions in the guide: what their help says of them, which is made of the options'
own words."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import griffe


class Parameters(griffe.Extension):
    """Gives the functions of `ithaca`, whose signatures are in stubs, the docstrings that `help`
    shows."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Called by mkdocstrings for every function that it reads."""
        import ithaca

        if func.path in {"ithaca.refine.refine", *(f"ithaca.{name}" for name in ithaca.__all__)}:
            text = resolve_name(func.path).__doc__ or ""
            func.docstring = griffe.Docstring(text, parent=func, parser="numpy")
