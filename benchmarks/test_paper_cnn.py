"""The published study of convolutional networks (Odyssey): Table 7 and Figures 11, 13 and 14,
remade with proven optima.

One command each::

    pytest benchmarks/test_paper_cnn.py --benchmark-only -s -k table_7
    pytest benchmarks/test_paper_cnn.py --benchmark-only -s -k figure_11
    pytest benchmarks/test_paper_cnn.py --benchmark-only -s -k figure_13   # VGG16
    pytest benchmarks/test_paper_cnn.py --benchmark-only -s -k figure_14   # ResNet50

Every design is on the U250 at 70 % (8601.6 DSP, 3763.2 BRAM18K) in fp32 at 300 MHz; both model
editions are solved. The *peak* is that of all MAC units of the budget, 1720 · 2 · 300 MHz = 1032
Gop/s; the *share* of a layer is its operations, unpadded, over what the peak allows in its latency.
The *average* of a network is the mean of the shares of its layers, each run counting once. What the
paper means by either is not known here (see ``paper_cnn.py``), so other averages are printed
beside.
"""

from __future__ import annotations

from benchmarks.paper.published_networks import MAC_UNITS, PEAK, network
from benchmarks.paper_cnn import (
    ASSUMED,
    AVERAGE,
    COMPARED,
    TABLE_7,
    Study,
    all_matches,
    by_dataflow,
    one_array,
    own_share,
    share,
    shown,
    solve_layer,
    study,
)
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.solution import Solution
from ithaca.workloads.networks.network import Layer

EDITIONS = (Edition.EXACT, Edition.ODYSSEY)

Solved = dict[tuple[str, ...], Solution]


def assumed_layers() -> dict[str, Layer]:
    """The layers taken for those of Table 7."""
    layers = {layer.name: layer for layer in network("vgg16").layers}
    return {row: layers[name] for row, name in ASSUMED.items()}


def sizes(layer: Layer) -> str:
    extents = dict(layer.nest.extents)
    return f"{extents['i']} to {extents['o']} channels, {extents['r']}×{extents['c']}, kernel {extents['p']}×{extents['q']}"


# -- Table 7 -------------------------------------------------------------------------------


def test_table_7(benchmark) -> None:  # type: ignore[no-untyped-def]
    """Two layers, two dataflows: neither dataflow is the faster of the two on both."""

    def solve() -> dict[tuple[str, Edition], list[Solution]]:
        layers = assumed_layers()
        return {
            (row, e): [solve_layer(layers[row], d, e) for d in COMPARED]
            for row in ASSUMED
            for e in EDITIONS
        }

    solved = benchmark.pedantic(solve, rounds=1)
    assert all(s.certificate.status is Status.OPTIMAL for pair in solved.values() for s in pair)
    first, second = map(shown, COMPARED)
    print(
        "\nTable 7: proven cycles of two dataflows in 10^5; the paper's figures in a unit that could not be confirmed"
    )
    heads = f"{first:>8}{second:>8}{'ratio':>7}"
    print(f"{'layer':<9}{'taken to be':<58}{'edition':<9}{heads}   paper {heads[1:]}")
    for (row, edition), pair in solved.items():
        cycles = [float(s.metrics["latency"]) / 1e5 for s in pair]
        stated = TABLE_7[row]
        layer = f"VGG16 {ASSUMED[row]}: {sizes(assumed_layers()[row])}"
        print(
            f"{row:<9}{layer:<58}{edition.value:<9}{cycles[0]:>8.2f}{cycles[1]:>8.2f}{cycles[0] / cycles[1]:>7.2f}"
            f"         {stated[0]:>6}{stated[1]:>7}{stated[0] / stated[1]:>7.2f}"
        )
        # read as latency, the paper's order
        assert (cycles[0] < cycles[1]) == (stated[0] < stated[1])
    print_limits(solved)
    found = all_matches()
    for row, of_row in found.items():
        quoted = next(m for m in of_row if not m.exchanged)
        exchanged = next(m for m in of_row if m.exchanged)
        print(f"{row}: of {len(of_row)} readings the closest is {quoted}")
        print(f"{'':<{len(row)}}  with the columns exchanged {exchanged}")
    worst = max(next(m.misfit for m in of_row if not m.exchanged) for of_row in found.values())
    below = [
        f"{row} {shown(dataflow)} {stated} < {float(solution.metrics['latency']) / 1e5:.2f} ({edition.value})"
        for (row, edition), pair in solved.items()
        for dataflow, stated, solution in zip(COMPARED, TABLE_7[row], pair, strict=True)
        if stated * 100_000 < solution.metrics["latency"]
    ]
    print(
        f"Why they differ: in 10^5 cycles these figures of the paper are below a proven optimum: {'; '.join(below) or 'none'}. "
        "So they are of other layers, of another budget, or in another unit. No layer of VGG16 or ResNet50 gives both rows as "
        "quoted, in cycles, milliseconds or throughput in any power of ten (the worse row is off by "
        f"{worst:.0%} at best), and among so many readings a close one may be chance. What agrees: VGG16 has layers of either "
        "order, so that neither dataflow is the better one for all (the two layers were chosen for their order)."
    )


def print_limits(solved: dict[tuple[str, Edition], list[Solution]]) -> None:
    """Say what keeps each pair apart, in the exact model edition."""
    for row in ASSUMED:
        pair = solved[row, Edition.EXACT]
        parts = ", ".join(
            f"{shown(d)} {int(s.metrics['comp']):,} of {MAC_UNITS:,} MAC units busy {own_share(s):.0%} of the time"
            for d, s in zip(COMPARED, pair, strict=True)
        )
        print(f"{row}: {parts}")


# -- Figure 11 -----------------------------------------------------------------------------


def test_figure_11(benchmark) -> None:  # type: ignore[no-untyped-def]
    """The best latency and throughput of each of the 10 dataflows."""

    def solve() -> dict[tuple[str, Edition], Solved]:
        return {
            (row, edition): by_dataflow(layer, edition)
            for row, layer in assumed_layers().items()
            for edition in EDITIONS
        }

    solved = benchmark.pedantic(solve, rounds=1)
    for row, layer in assumed_layers().items():
        editions = {edition: solved[row, edition] for edition in EDITIONS}
        print(
            f"\nFigure 11: {row}, taken to be VGG16 {ASSUMED[row]} ({sizes(layer)}); all proven; peak {PEAK:,.0f} Gop/s"
        )
        print(
            f"{'dataflow':<9}"
            + "".join(f"{f'cycles, {e.value}':>17}{'Gop/s':>8}{'share':>7}" for e in editions)
            + "   paper"
        )
        order = sorted(
            editions[Edition.EXACT], key=lambda d: editions[Edition.EXACT][d].metrics["latency"]
        )
        assert len(order) == 10
        for dataflow in order:
            cells = ""
            for each in editions.values():
                solution = each[dataflow]
                assert solution.certificate.status is Status.OPTIMAL
                assert 0 < share(solution) <= own_share(solution) <= 1
                metrics = solution.metrics
                cells += f"{float(metrics['latency']):>17,.1f}{float(metrics['throughput']):>8.1f}{share(solution):>7.1%}"
            stated = (
                f"   {TABLE_7[row][COMPARED.index(dataflow)]} (Table 7)"
                if dataflow in COMPARED
                else ""
            )
            print(f"{shown(dataflow):<9}{cells}{stated}")
        fastest, slowest = (editions[Edition.EXACT][d] for d in (order[0], order[-1]))
        spread = float(slowest.metrics["latency"] / fastest.metrics["latency"])
        print(
            f"{shown(order[0])} is the fastest, {spread:,.0f} times as fast as {shown(order[-1])}. The figure's own values are "
            "not at hand: beside stand those of Table 7, in a unit that could not be confirmed."
        )


# -- Figures 13 and 14 ---------------------------------------------------------------------


def print_study(figure: int, name: str, of: Study) -> None:
    """The share of the peak of every layer under every dataflow, and the averages."""
    runs = sum(layer.count for layer, _ in of.solutions)
    what = f"share of the peak ({PEAK:,.0f} Gop/s), all proven"
    print(f"\nFigure {figure}: {name}, {runs} convolutions, {of.edition.value} edition: {what}")
    print(f"{'layer':<18}{'runs':>5}" + "".join(f"{shown(d):>7}" for d in of.dataflows) + "   best")
    for layer, each in of.solutions:
        best = max(of.dataflows, key=lambda d: share(each[d]))
        cells = "".join(f"{share(each[d]):>7.1%}" for d in of.dataflows)
        print(f"{layer.name:<18}{layer.count:>5}{cells}   {shown(best)}")
    for label, value in (
        ("mean of layers", of.mean),
        ("first layer apart", lambda d: of.mean(d, skip=1)),
        ("DSP efficiency", lambda d: of.mean(d, own=True)),
        ("by time", of.overall),
    ):
        print(f"{label:<23}" + "".join(f"{value(d):>7.1%}" for d in of.dataflows))


def check_study(of: Study) -> None:
    """What must hold of any network."""
    result = of.result
    assert result.total is not None
    assert result.total.certificate.status is Status.OPTIMAL
    for _, each in of.solutions:
        assert len(each) == 10
        assert all(s.certificate.status is Status.OPTIMAL for s in each.values())
        assert all(0 < share(s) <= own_share(s) <= 1 for s in each.values())
    # one dataflow for all is never faster than each layer's own
    alone = sum(
        layer.count * min(s.metrics["latency"] for s in each.values())
        for layer, each in of.solutions
    )
    assert result.total.value is not None
    assert result.total.value >= alone
    assert of.mean_of_best() >= max(map(of.mean, of.dataflows))


def averages(of: Study) -> dict[str, float]:
    """What "average throughput of the best single dataflow" may mean; the best has the least total
    latency."""
    best, edition = of.dataflows[0], of.edition.value
    return {
        f"mean share, {edition} edition": of.mean(best),
        f"mean DSP efficiency, {edition} edition": of.mean(best, own=True),
        f"share by time, {edition} edition": of.overall(best),
    }


def solve_studies(name: str) -> list[Study]:
    return [study(name, edition) for edition in EDITIONS]


def compare(name: str, studies: list[Study], others: dict[str, float]) -> None:
    """Set Ithaca's averages beside the paper's, and say why they differ."""
    stated = AVERAGE[name]
    found = {key: value for of in studies for key, value in averages(of).items()} | others
    closest = min(found, key=lambda key: abs(found[key] - stated))
    exact, published = (next(of for of in studies if of.edition is e) for e in EDITIONS)
    best = exact.dataflows[0]
    mean, same_model = exact.mean(best), published.mean(published.dataflows[0])
    print(
        f"\n{name}: best single dataflow {shown(best)}; "
        f"average in the exact model edition {mean:.1%} of the peak, paper {stated:.0%}"
    )
    for key, value in found.items():
        print(f"  {key:<56}{value:>7.1%}  {value - stated:>+7.1%}")
    print(
        f"  {'mean share, each layer its own best, exact model edition':<56}{exact.mean_of_best():>7.1%}"
    )
    side = "above" if same_model > stated else "below"
    order = "lower" if mean < same_model else "higher"
    print(
        "Why they differ: in the paper's own cost model (odyssey model edition) the proven average is "
        f"{abs(same_model - stated):.1%} of the peak {side} its figure: what its search left, if it averages as here. "
        "The exact model edition, which counts what that model omits and chooses packing freely, is "
        f"{abs(same_model - mean):.1%} {order}. What the paper averages, over which peak, and whether its layers share the "
        f"array or only the dataflow could not be confirmed; of the averages above the closest is: {closest}."
    )


def test_figure_13(benchmark) -> None:  # type: ignore[no-untyped-def]
    """VGG16 under one dataflow; and, as the paper may have meant, on one array that is the same for
    all layers."""
    studies = benchmark.pedantic(solve_studies, args=("vgg16",), rounds=1)
    arrays: dict[str, float] = {}
    for of in studies:
        print_study(13, "VGG16", of)
        check_study(of)
        arrays |= array_averages("vgg16", of)
    compare("vgg16", studies, arrays)
    exact = next(of for of in studies if of.edition is Edition.EXACT)
    best = exact.dataflows[0]
    layer, each = exact.solutions[0]
    print(
        f"{layer.name}, of 3 input channels, gets {share(each[best]):.1%}; without it the mean of {shown(best)} is "
        f"{exact.mean(best, skip=1):.1%}."
    )


def array_averages(name: str, of: Study) -> dict[str, float]:
    """The same averages on one array that all layers share: proven, and never faster than sharing
    only the dataflow."""
    shared = one_array(name, of.dataflows[0], of.edition)
    assert shared.total is not None
    assert shared.total.certificate.status is Status.OPTIMAL
    assert shared.total.value is not None
    assert of.result.total is not None
    assert of.result.total.value is not None
    assert shared.total.value >= of.result.total.value
    runs = [(r.layer.count, r.answer.found) for r in shared.layers]
    solved = [(count, solution) for count, solution in runs if solution is not None]
    assert len(solved) == len(runs)
    total = sum(count for count, _ in solved)
    edition = f"one {shown(of.dataflows[0])} array, {of.edition.value} edition"
    return {
        f"mean share, {edition}": sum(n * share(s) for n, s in solved) / total,
        f"mean DSP efficiency, {edition}": sum(n * own_share(s) for n, s in solved) / total,
        f"share by time, {edition}": float(
            shared.network.operations / (MAC_UNITS * shared.total.value)
        ),
    }


def test_figure_14(benchmark) -> None:  # type: ignore[no-untyped-def]
    """ResNet50 under one dataflow; one array for all layers in the exact model edition, which takes
    most of the time."""
    studies = benchmark.pedantic(solve_studies, args=("resnet50",), rounds=1)
    for of in studies:
        print_study(14, "ResNet50", of)
        check_study(of)
    exact = next(of for of in studies if of.edition is Edition.EXACT)
    compare("resnet50", studies, array_averages("resnet50", exact))
    best = exact.dataflows[0]
    means = {}
    for kernel in (1, 3):
        parts = [
            (n.count, share(each[best]))
            for n, each in exact.solutions
            if dict(n.nest.extents)["p"] == kernel
        ]
        means[kernel] = sum(n * s for n, s in parts) / sum(n for n, _ in parts)
    print(
        f"{shown(best)} gets {means[1]:.1%} of the peak on the 1×1 layers and {means[3]:.1%} on the 3×3 layers, which use "
        "every word of input up to nine times as often."
    )
