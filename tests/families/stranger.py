"""The toy family as a package of somebody else: a plug-in that Ithaca finds once it is installed."""

from __future__ import annotations

from pathlib import Path

from ithaca.files.plugin import GROUP, Plugin

PLUGIN = Plugin(
    {
        "families": {"fir": "tests.families.fir:FAMILY"},
        "questions": {"fir": "tests.families.fir:FirQuestion"},
        "question kinds": {"fir": "tests.families.fir:KIND"},
    }
)


def install(folder: Path, place: str = "tests.families.stranger:PLUGIN") -> None:
    """Write into a folder what installers write of a package with one plug-in.

    Parameters
    ----------
    folder : Path
        The folder, which must be on the path of modules.
    place : str, optional
        Where the plug-in is.
    """
    data = folder / "filters-1.0.dist-info"
    data.mkdir()
    (data / "METADATA").write_text("Metadata-Version: 2.1\nName: filters\nVersion: 1.0\n")
    (data / "entry_points.txt").write_text(f"[{GROUP}]\nfilters = {place}\n")
