"""Readers of the documents that systolic arrays alone have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ithaca.files.documents import validated
from ithaca.formulations.data_models import built
from ithaca.formulations.machine import Machine, MemoryTiming
from ithaca.plugins.rtl.commands.simulating import SimulationDocument, simulated
from ithaca.plugins.rtl.formulations.compared import Simulation
from ithaca.results.files import check_same
from ithaca.results.study_files import evaluated, posed_problems
from ithaca.results.verification import claims


def read_simulation(document: Any, path: Path) -> Simulation:
    """The simulation that a document states, simulated again. Raises `InputError` if something else
    happens."""
    run = validated(SimulationDocument, document, path).simulation
    question, problems = document["question"], posed_problems(document, path)
    solution = evaluated(question, problems, document["best"], path)
    platform = question["platform"]["name"]
    checked = "values" in document["simulation"]
    again = simulated(
        solution,
        platform,
        built(Machine, run.machine),
        built(MemoryTiming, run.memory),
        check_values=checked,
    )
    check_same(claims(document), claims(again.document), "")
    return again
