"""The files of an experiment: table (CSV), plot (PNG), claims and settings (JSON)."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.paper.experiment import Cell, Claim, Experiment, Outcome, Run
from ithaca.exports.charts.rendering import png
from ithaca.files.csv_text import csv_text
from ithaca.files.numbers import json_number
from ithaca.files.writing import document_text, write_folder

#: Version of the document.
SCHEMA = "ithaca-experiment/1"

#: The paper.
PAPER = "Wang & Cong, Odyssey, arXiv 2111.14252"

#: Endings of the files of an experiment.
ENDINGS = (".csv", ".png", ".json")


def file_names(name: str) -> list[str]:
    """The files of an experiment."""
    return [f"{name}{ending}" for ending in ENDINGS]


def write_experiment(
    folder: Path, experiment: Experiment, run: Run, outcome: Outcome
) -> tuple[Path, ...]:
    """Write the files of an experiment and return them: all or none; those of an earlier run are
    replaced.

    Raises `InputError` if one cannot be written.
    """
    contents = (
        csv_text(
            outcome.table.columns, ([_plain(cell) for cell in row] for row in outcome.table.rows)
        ),
        png(outcome.chart),
        document_text(experiment_document(experiment, run, outcome)),
    )
    names = file_names(experiment.name)
    write_folder(folder, dict(zip(names, contents, strict=True)))
    return tuple(folder / name for name in names)


def experiment_document(experiment: Experiment, run: Run, outcome: Outcome) -> dict[str, Any]:
    """The document of a run: its settings, and what it says about each claim."""
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": {
            "source": PAPER,
            "says": experiment.published,
            "inferred": experiment.inference or None,
        },
        "mode": run.mode.value,
        "seed": run.seed,
        "depends_on_clock": _timed(experiment, run),
        "settings": {
            **outcome.settings,
            **({"threads": run.threads} if _timed(experiment, run) else {}),
        },
        "claims": [_claim(claim) for claim in outcome.claims],
    }


def _timed(experiment: Experiment, run: Run) -> bool:
    return run.mode in experiment.clock or (experiment.budgeted and run.run_seconds is not None)


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "claim": claim.statement,
        "published": claim.published,
        "quantity": claim.quantity,
        "measured": _plain(claim.measured),
        "relation": claim.relation,
        "bound": _plain(claim.bound),
        "verdict": claim.verdict,
        "why": claim.why,
    }


def _plain(cell: Cell) -> str | int | float | bool | None:
    return json_number(cell) if isinstance(cell, Fraction) else cell
