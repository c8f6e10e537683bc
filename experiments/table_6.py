"""Table 6: architectures for convolutional networks, the time between two inputs and of one, and what they take."""

from __future__ import annotations

from ithaca.experiments.architectures import FREE, ONE, Architecture, architecture_settings, architectures
from ithaca.experiments.experiment import NOT_AT_HAND, OWN, Cell, Claim, Experiment, Mode, Outcome, Run, Table
from ithaca.experiments.published_networks import MAC_UNITS
from ithaca.studies.charts.chart import LineChart


def run(how: Run) -> Outcome:
    """Solve the networks on every architecture."""
    found = list(architectures(how))
    table = Table.of(map(_row, found))
    chart = LineChart(
        "Cycles between two inputs by architecture (bars: down to the proven bound)",
        "architecture",
        "interval (cycles)",
        table.series(["network"], ["architecture"], "interval (cycles)", low="lower bound (cycles)"),
    )
    return Outcome(table, _claims(found), chart, architecture_settings(how))


def _row(of: Architecture) -> dict[str, Cell]:
    return {
        "network": of.network,
        "architecture": of.name,
        "arrays": len(of.result.arrays) or len(of.layers),
        "interval (cycles)": of.interval,
        "lower bound (cycles)": of.bound,
        "latency (cycles)": of.latency,
        "share of peak (%)": float(100 * of.result.network.operations / (MAC_UNITS * of.interval)),
        "DSP": of.resource("dsp"),
        "BRAM18K": of.resource("bram18k"),
        "layers by array": " | ".join(" ".join(array.layers) for array in of.result.arrays),
    }


def _claims(found: list[Architecture]) -> tuple[Claim, ...]:
    claims = []
    for net in dict.fromkeys(of.network for of in found):
        mine = {of.name: of for of in found if of.network == net}
        one, free = mine[ONE], mine[FREE]
        best = min((of for name, of in mine.items() if name not in (ONE, FREE)), key=lambda of: of.interval)
        claims += [
            Claim(
                f"{net}: several arrays take inputs at a higher rate than one array",
                NOT_AT_HAND,
                f"interval of {best.name} against that of one array (cycles)",
                best.interval,
                "<",
                one.interval,
                f"{float(one.interval / best.interval):.2f} times the rate, at most {float(one.interval / best.bound):.2f} "
                "(proven bound); the arrays share one device",
            ),
            Claim(
                f"{net}: several arrays take longer for one input",
                NOT_AT_HAND,
                f"latency of {best.name} against that of one array (cycles)",
                best.latency,
                ">",
                one.latency,
            ),
            Claim(
                f"{net}: one array for all layers is slower than each layer's own",
                NOT_AT_HAND,
                "proven latency of one array, against that of an array for each layer (cycles)",
                one.latency,
                ">",
                free.latency,
            ),
            Claim(
                f"{net}: one array is proven optimal",
                OWN,
                "latency against its lower bound (cycles)",
                one.interval,
                "=",
                one.bound,
            ),
        ]
    return tuple(claims)


#: What both experiments of the architecture study had to infer.
INFERENCE = (
    "that this is the architecture study was inferred from the released scripts run_arch1.sh to run_arch4.sh, which search "
    "one array, several arrays, several in batches and several with URAM; the last two are not modelled by Ithaca and left "
    "out, as is MobileNetV2"
)

EXPERIMENT = Experiment(
    "table-6",
    "architectures for networks: an array for each layer, one for all, several",
    NOT_AT_HAND,
    INFERENCE,
    run,
    clock=frozenset({Mode.FULL}),
    budgeted=True,
)
