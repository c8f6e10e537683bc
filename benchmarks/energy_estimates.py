"""Errors of `ithaca estimate` against the tables of energies that come with public designs.

    python -m benchmarks.energy_estimates FOLDER

FOLDER is a clone of Accelergy-Project/timeloop-accelergy-exercises, or part of it. Needs
`pip install -e '.[energy]'` with Python 3.12. Prints, for each design whose folder has
``ref_outputs``, the estimate over the shipped figure of every component's reads or computations.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ithaca.files.errors import InputError
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture_files import (
    architecture_document,
    read_tree,
)
from ithaca.plugins.hierarchies.formulations.compound_components import compound_classes
from ithaca.plugins.hierarchies.formulations.energy_estimates import (
    estimated_table,
    installed_estimator,
)
from ithaca.plugins.hierarchies.formulations.energy_files import energy_tables


def main(folder: Path) -> None:
    """Print a line for each design, and one for each component that is not as shipped."""
    estimator = installed_estimator()
    for shipped in sorted(folder.rglob("ref_outputs/**/timeloop-mapper.ERT.yaml")):
        design = next(each.parent for each in shipped.parents if each.name == "ref_outputs")
        files = [*design.rglob("*component*.yaml"), *design.parent.glob("_components/*.yaml")]
        files += design.parent.parent.glob("_components/*.yaml")
        try:
            file, document = architecture_document(design)
            classes = compound_classes(document, file)
            for each in files:
                classes |= compound_classes(load_timeloop(each), each)
            made = estimated_table(read_tree(document, file)[1].elements, classes, estimator, {})
        except InputError as error:
            print(f"{design.name}: {error}")
            continue
        ours = energy_tables(made["ERT"], file)
        theirs = energy_tables(load_timeloop(shipped)["ERT"], shipped)
        for name, actions in ours.items():
            action = "read" if "read" in actions else "compute"
            stated = theirs.get(name, {}).get(action)
            if stated:
                ratio = float(actions[action] / stated)
                print(
                    f"{design.name:28} {name:24} {action:8} {float(stated):10.4g} "
                    f"{float(actions[action]):10.4g} {ratio:7.2f}"
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
