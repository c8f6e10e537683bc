"""dMazeRunner's memory study: sizes of register files and scratchpad, the proven best against
searches."""

from __future__ import annotations

from benchmarks.paper.codesign import TRIALS, ask, progress, row, searches
from benchmarks.paper.experiment import Cell, Measured, Outcome, Run, Table, claims
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.codesign.studies.codesign import CodesignOptions, codesign
from ithaca.plugins.codesign.studies.evaluator import HardwareEvaluator
from ithaca.plugins.codesign.studies.layer_cache import LayerCache

SPACE, WORKLOAD, QUICK = "dmazerunner-memory", "resnet-dmazerunner", ("conv5_1", "conv5_2")

#: What the study chose (bytes, kB).
PUBLISHED = Configuration({"rf_bytes": 256, "spm_kb": 512})


def run(how: Run) -> Outcome:
    """Prove the best sizes for six layers, or two in quick mode, and search for them."""
    question = ask(SPACE, WORKLOAD, ["sum(edp)"], {}, () if how.full else QUICK)
    bank = LayerCache(question.space.accelerator)
    how.step("proof")
    proof = codesign(question, CodesignOptions(search=how.search), bank)
    how.check()
    assert proof.best is not None
    assert proof.settled
    optimum = proof.best.values[0]
    traces = searches(question, bank, TRIALS[0], how)
    proven: dict[str, Cell] = {
        "method": "proof",
        "seed": how.seed,
        "evaluations": None,
        "seconds": proof.certificate.seconds,
    }
    proven |= {
        "found after": None,
        "seconds until then": None,
        "value": optimum,
        "over the optimum": 1.0,
    }
    table = Table.of([proven, *(row(trace, optimum) for trace in traces)])
    published = HardwareEvaluator(question, bank, 1).evaluate(PUBLISHED).value
    explained = next(trace for trace in traces if trace.method == "explained").best()
    assert published is not None
    assert explained is not None
    assert explained.value is not None
    measured: Measured = {
        "published": published / optimum,
        "proofs": 100 * proof.counts.layers / (proof.counts.points * len(question.works)),
        "explained": explained.value / optimum,
    }
    words = {name: proof.best.point[name] for name in ("rf_bytes", "spm_kb")}
    chart = progress("Searches of dMazeRunner's memory sizes", traces, optimum)
    settings = {"space": SPACE, "workload": WORKLOAD, "trials": TRIALS[0]}
    return Outcome(table, claims("codesign-memory", measured, **words), chart, settings)
