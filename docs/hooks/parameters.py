"""Parameters of functions in the guide: what their help says of them, which is made of the options'
own words."""

from __future__ import annotations

from typing import Any

import griffe


class Parameters(griffe.Extension):
    """Gives the functions of `ithaca`, whose signatures are in its stub, the docstrings that `help`
    shows."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Called by mkdocstrings for every function that it reads."""
        import ithaca

        if func.parent is not None and func.parent.path == "ithaca" and func.name in ithaca.__all__:
            func.docstring = griffe.Docstring(
                getattr(ithaca, func.name).__doc__ or "", parent=func, parser="numpy"
            )
