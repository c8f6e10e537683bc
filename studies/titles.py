"""Titles of studies, of what is fixed."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.formulations.target import Target


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
