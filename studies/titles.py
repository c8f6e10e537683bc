"""Titles of studies, of what is fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ithaca.formulations.target import Target
from ithaca.studies.grid import StudyAxis

#: Axes that say on what a study runs.
PLACES = ("platform", "arch", "architecture")


def places_text(axes: Sequence[StudyAxis], places: str) -> str:
    """The place of a study for its title, where an axis says it: its name, or that there are
    several."""
    stated = [axis.labels for axis in axes if axis.name in PLACES]
    return str(stated[0][0]) if stated and len(stated[0]) == 1 else f"several {places}"


def study_title(fixed: Mapping[str, str], several: str = "") -> str:
    """The title of a study by what is fixed; ``several`` says on what it runs where that varies."""
    known = fixed.get("sizes", "").replace(",", ", "), fixed.get("block_sparse")
    sentence = f"{fixed['workload']} ({'; '.join(filter(None, known))}) {fixed.get('dtype', '')}"
    title = (
        f"{' '.join(sentence.replace('()', '').split())}, "
        f"{fixed.get('platform', fixed.get('arch', several))}, "
    )
    title += f"{fixed['edition']} model edition" if "edition" in fixed else "several model editions"
    return title + (f", for {Target(fixed['for']).title}" if "for" in fixed else "")
