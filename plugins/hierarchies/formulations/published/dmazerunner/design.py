"""The design of the edition ``dmazerunner``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ithaca.formulations.design import Metric
from ithaca.plugins.hierarchies.formulations.published.dmazerunner import model
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.machine import BurstMachine
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.stage import (
    DmazerunnerStage,
    DmazerunnerTables,
)
from ithaca.plugins.hierarchies.formulations.published.dmazerunner.tilings import TilingDesign

VOCABULARY = {
    metric.name: metric
    for metric in (
        Metric("latency", "cycles", "compute, network and bursts, as far as they overlap"),
        Metric("energy", "pJ", "of multiply-accumulates, memories and network, rounded"),
        Metric("edp", "pJ·cycles", "energy times latency"),
        Metric("pes", "PEs", "processing elements that compute"),
        Metric("rf_words", "words", "of a register file"),
        Metric("spm_banks", "banks", "of a half of the scratchpad"),
        Metric("dram_words", "words", "read from DRAM and written to it"),
    )
}


@dataclass(frozen=True)
class DmazerunnerDesign(TilingDesign):
    """A layer on a machine of the edition `dmazerunner`."""

    edition = "dmazerunner"
    known = VOCABULARY
    model: ClassVar[Any] = model
    machine_kind, tables_kind, stage_kind = BurstMachine, DmazerunnerTables, DmazerunnerStage
