"""A chart of a mapping: where its energy goes."""

from __future__ import annotations

from ithaca.exports.charts.chart import Bar, BarChart
from ithaca.files.errors import InputError
from ithaca.files.numbers import percent, rounded
from ithaca.plugins.hierarchies.exports.timeloop.hierarchy import MappedNest
from ithaca.plugins.hierarchies.exports.timeloop.mapper import spent


def energy_bars(mapped: MappedNest) -> BarChart:
    """The energy of each level and of the multipliers. Raises `InputError` where nothing says
    energies."""
    if parts := mapped.architecture.unpriced:
        raise InputError(
            f"--plot: nothing says the energies of {', '.join(parts)}; allowed: an ERT beside"
        )
    energies = spent(mapped)
    whole = energies.pop("Total")
    bars = tuple(
        Bar(name, float(own / 10**6), f"{rounded(own / 10**6)} µJ ({percent(own / whole)})")
        for name, own in reversed(energies.items())
    )
    title = f"{mapped.nest.name} on {mapped.name}: energy {rounded(whole / 10**6)} µJ by level"
    return BarChart(title, "µJ", bars)
