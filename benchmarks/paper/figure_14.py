"""Figure 14: how much of a network's peak throughput a single dataflow keeps on average."""

from __future__ import annotations

from benchmarks.paper.convolutions import dataflow_text, mean_over_peak, peak, ranking, throughputs
from benchmarks.paper.experiment import PUBLICATION, Claim, Outcome, Run, Table, claims
from benchmarks.paper.matrix_product import BRAM18K, DSP
from ithaca.exports.charts.chart import LineChart
from ithaca.formulations.systolic.systolic_array import Edition

#: Published means by network (%).
PUBLISHED = PUBLICATION["figure 14"]


def run(how: Run) -> Outcome:
    """Prove every layer's optimum under each dataflow: VGG16 and ResNet50 in both model editions,
    in quick mode VGG16 in the published one."""
    networks = tuple(PUBLISHED) if how.full else ("vgg16",)
    editions = (Edition.ODYSSEY, Edition.EXACT) if how.full else (Edition.ODYSSEY,)
    solved = {
        (name, edition): throughputs(name, edition, how)
        for name in networks
        for edition in editions
    }
    y = "geometric mean / peak (%)"
    table = Table.of(
        {
            "network": name,
            "edition": edition.value,
            "dataflow": dataflow_text(dataflow),
            y: round(100 * mean, 2),
            "each layer's best / peak (%)": round(100 * mean_over_peak(layers), 2),
            "peak (Gop/s)": round(peak(layers), 1),
            "published best (%)": PUBLISHED[name],
        }
        for (name, edition), layers in solved.items()
        for dataflow, mean in ranking(layers)
    )
    chart = LineChart(
        "A single dataflow for a whole network",
        "dataflow",
        y,
        table.series(["network", "edition"], ["dataflow"], y),
    )
    made: list[Claim] = []
    for name in networks:
        layers = solved[name, Edition.ODYSSEY]
        (first, best), (_, tied), (third, next_best), *_ = ranking(layers)
        published, own = PUBLISHED[name] / 100, mean_over_peak(layers)
        measured = {
            "bound": (best, published),
            "close": best - published,
            "tie": (tied, best),
            "best": (best, next_best),
            "own": own,
        }
        made += claims(
            "figure-14",
            measured,
            net=name,
            published=PUBLISHED[name],
            best=dataflow_text(first),
            third=dataflow_text(third),
            gain=100 * (own - best),
        )
    settings = {
        "networks": list(networks),
        "permutation": "cout",
        "limits": {"dsp": float(DSP), "bram18k": float(BRAM18K)},
    }
    return Outcome(table, tuple(made), chart, settings)
