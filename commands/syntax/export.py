"""``ithaca export`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given


def export(file: given.ResultFile, to: given.Target, output: given.ExportOutput, nearest: given.Nearest = False) -> None:
    """Export the best configuration of a result for another tool."""
    from ithaca.commands.export import export_result

    print(export_result(file, to, output, nearest=nearest))
