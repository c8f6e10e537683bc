"""`ithaca.estimate`: energies of an architecture by estimators, as a table beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.outputs import WRITTEN_FILE
from ithaca.files.answer import Wrote
from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.files.numbers import counted
from ithaca.files.timeloop_files import load_timeloop
from ithaca.files.words import REPEATED
from ithaca.files.writing import write_text_atomically
from ithaca.plugins.hierarchies.formulations.architecture_files import (
    ENERGY_FILES,
    architecture_document,
    field_beside,
    read_tree,
)
from ithaca.plugins.hierarchies.formulations.compound_components import compound_classes
from ithaca.plugins.hierarchies.formulations.energy_estimates import (
    estimated_table,
    installed_estimator,
)
from ithaca.plugins.hierarchies.formulations.energy_files import energy_tables


@public
def estimate(
    arch: Annotated[
        str | Path, Option("--arch", help="Architecture of Timeloop: a file, or its folder.")
    ],
    output: Annotated[
        str | Path | None,
        Option("-o", "--output", help="File to write. Default: ert.yaml beside the architecture."),
        WRITTEN_FILE,
    ] = None,
    *,
    components: Annotated[
        Sequence[str | Path] | None,
        Option(
            "--components",
            metavar="PATH",
            help="Files or folders with compound classes (repeatable).",
        ),
        REPEATED,
    ] = None,
) -> Wrote:
    """Estimate the energies of an architecture's components, and write them as a table (ERT).

    Classes that consist of others are those of the architecture's file and of ``components``;
    primitive classes are estimated by the installed packages of `hwcomponents` (CACTI,
    NeuroSim, published figures), `pip install 'ithaca[energy]'`. The table says what each figure
    is from; `ithaca map --arch` reads it beside the architecture. Components that ``ert.yaml``
    beside the architecture has already keep their energies in the new table of ``output``.

    Parameters
    ----------
    arch : str or Path
        The architecture, in Timeloop's format v0.3 or v0.4.
    output : str or Path, optional
        The table's file, of Accelergy's format (pJ an action); never one that there is already.
    components : sequence of str or Path, optional
        Files with compound classes, or folders of them.

    Returns
    -------
    Wrote
        One line on what was written.

    Raises
    ------
    InputError
        If a file cannot be read, no estimator is installed, or none knows a component.

    Examples
    --------
    >>> ithaca.estimate("arch.yaml")  # doctest: +SKIP
    'wrote ert.yaml: ...'
    """
    file, document = architecture_document(arch)
    if isinstance(document, dict) and document.get("ERT") is not None:
        raise refuse(file, "has an ERT already; allowed: an architecture without energies")
    path = Path(output) if output is not None else file.parent / ENERGY_FILES[0]
    if path.exists():
        raise refuse(path, "is there already; allowed: -o with a new file, or removing it")
    classes = compound_classes(document, file)
    for each in _files(components or ()):
        classes |= compound_classes(load_timeloop(each), each)
    _, tree = read_tree(document, file)
    stated = energy_tables(field_beside(file, document, "ERT", ENERGY_FILES), file)
    table = estimated_table(tree.elements, classes, installed_estimator(), stated)
    import yaml

    write_text_atomically(path, yaml.safe_dump(table, sort_keys=False, width=10_000))
    return Wrote(path, f"energies of {counted(len(table['ERT']['tables']), 'component')}")


def _files(paths: Sequence[str | Path]) -> list[Path]:
    """The files, and those of folders by name."""
    listed: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"components: {path} is no file or folder")
        inside = sorted(each for each in path.rglob("*.y*ml")) if path.is_dir() else [path]
        listed += inside
    return listed
