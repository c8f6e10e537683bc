"""Traces for viewers: phases for chrome://tracing and Perfetto, words as a value change dump."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from ithaca.files.errors import InputError
from ithaca.formulations.processes import ProcessNetwork


def phase_trace(
    network: ProcessNetwork, checkpoint: Callable[[], None] | None = None
) -> dict[str, Any]:
    """Every loop of every process as an event of the Trace Event Format; a cycle is 1 µs.

    Raises `InputError` if there are too many.
    """
    from ithaca.plugins.rtl.formulations.engine import MOST_EVENTS, run_network

    counts = run_network(network, phases=True, checkpoint=checkpoint)
    if counts is None:
        raise InputError(
            f"--trace: the run has more than {MOST_EVENTS:,} phases; allowed: a shorter run"
        )
    modules = {
        name: number
        for number, name in enumerate(
            dict.fromkeys(p.module or p.name for p in network.processes), start=1
        )
    }
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": number, "args": {"name": name}}
        for name, number in modules.items()
    ]
    for number, process in enumerate(network.processes, start=1):
        module = modules[process.module or process.name]
        events.append(
            {
                "name": "thread_name",
                "ph": "M",
                "pid": module,
                "tid": number,
                "args": {"name": process.name},
            }
        )
    for place, at, begin, end in counts.phases.tolist():
        module = modules[network.processes[place].module or network.processes[place].name]
        label = counts.labels[at]
        events.append(
            {
                "name": label,
                "ph": "X",
                "ts": begin,
                "dur": end - begin,
                "pid": module,
                "tid": place + 1,
            }
        )
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {"time": "one microsecond is one clock cycle"},
    }


def word_dump(network: ProcessNetwork, checkpoint: Callable[[], None] | None = None) -> str:
    """Words in every FIFO, cycle by cycle, as a value change dump; a cycle is 1 ns.

    Raises `InputError` if there are too many words.
    """
    from vcd import VCDWriter

    from ithaca.plugins.rtl.formulations.engine import MOST_EVENTS, run_network

    counts = run_network(network, words=True, checkpoint=checkpoint)
    if counts is None:
        raise InputError(f"--vcd: more than {MOST_EVENTS:,} words move; allowed: a shorter run")
    text = io.StringIO()
    with VCDWriter(text, timescale="1 ns", comment="words in every FIFO") as writer:
        signals = [
            writer.register_var(
                network.writers[fifo.name].replace(" ", "_"),
                fifo.name.replace(" ", "_"),
                "integer",
                32,
                0,
            )
            for fifo in network.fifos
        ]
        held = [0] * len(signals)
        words = counts.words[np.argsort(counts.words[:, 2], kind="stable")]
        for fifo, left, cycle in words.tolist():
            held[fifo] += -1 if left else 1
            writer.change(signals[fifo], cycle, held[fifo])
        writer.close(max(counts.ends.tolist(), default=0))
    return text.getvalue()
