"""Titles of studies, of what is fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ithaca.formulations.question import Question
from ithaca.formulations.target import Target
from ithaca.studies.grid import StudyAxis
from ithaca.workloads.nest import LoopNest

#: Axes that say on what a study runs.
PLACES = ("platform", "arch", "architecture")


def stated_terms(question: Question, nest: LoopNest) -> dict[str, str]:
    """The terms of a question about a nest by name, for titles and the attributes of a Dataset."""
    sizes = ",".join(f"{loop}={n}" for loop, n in nest.sizes.items())
    of_nest = {"workload": nest.name, "statement": str(nest), "sizes": sizes}
    return {**of_nest, **nest.labels, **question.of(nest).facts}


def places_text(axes: Sequence[StudyAxis], places: str) -> str:
    """The place of a study for its title, where an axis says it: its name, or that there are
    several."""
    stated = [axis.labels for axis in axes if axis.name in PLACES]
    return str(stated[0][0]) if stated and len(stated[0]) == 1 else f"several {places}"


def study_title(fixed: Mapping[str, str], several: str = "") -> str:
    """The title of a study by what is fixed; ``several`` says on what it runs where that varies."""
    stated = (fixed.get(name) for name in ("block_sparse", "format"))
    known = fixed.get("sizes", "").replace(",", ", "), *stated
    sentence = f"{fixed['workload']} ({'; '.join(filter(None, known))}) {fixed.get('dtype', '')}"
    title = (
        f"{' '.join(sentence.replace('()', '').split())}, "
        f"{fixed.get('platform', fixed.get('arch', several))}, "
    )
    title += f"{fixed['edition']} model edition" if "edition" in fixed else "several model editions"
    return title + (f", for {Target(fixed['for']).title}" if "for" in fixed else "")
