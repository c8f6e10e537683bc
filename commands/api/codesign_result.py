"""What `ithaca.codesign` answers: the best accelerator of a space, or a front of them, with every
layer's mapping."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ithaca.commands.api.answers import NetworkResult, StudyAnswer
from ithaca.exports.charts.chart import Chart
from ithaca.exports.charts.codesign import codesign_chart
from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted
from ithaca.files.numbers import counted, number
from ithaca.results.codesign import codesign_document, hardware_fields
from ithaca.results.codesign_layers import architecture_of, networks
from ithaca.solver.certificate import OWN, Status
from ithaca.solver.shortfall import explain
from ithaca.studies.codesign import result as results

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, repr=False, eq=False)
class CodesignResult(StudyAnswer, results.CodesignResult):
    """The answer of `ithaca.codesign`: the best accelerator, or a front of them, and what is proven
    over the whole space."""

    source: str = field(default=OWN, compare=False)
    """The file it was read from, for messages."""
    trail: tuple[str, ...] = ()
    """What an explained search before the proof did and why, line by line; files do not have it."""

    @property
    def headline(self) -> str:
        objectives = ", ".join(objective.text for objective in self.question.objectives)
        what = f"{self.question.space.name} for {', '.join(self.question.workloads)}: {objectives}"
        if len(self.question.objectives) > 1:
            return f"{what}: {counted(len(self.front), 'point')} of the front ({self.status})"
        value = "" if self.value is None else f" {number(self.value)}"
        return f"{what}{value} ({self.certificate.told})"

    @property
    def status(self) -> str:
        """What is proven over the space: optimal (of several objectives the front is complete),
        feasible and so on."""
        return self.certificate.status.value

    @property
    def lower_bound(self) -> Fraction | None:
        """No accelerator of the space has a smaller objective; None where nothing is proven."""
        return self.certificate.lower_bound

    @property
    def hardware(self) -> dict[str, int | str]:
        """The quantities of the best accelerator, by name; empty where none was found."""
        return {} if self.best is None else hardware_fields(self.question.space, self.best.point)

    @property
    def architecture(self) -> Any:
        """The best accelerator as `ithaca.map` takes it; None where there is none, or it is no
        memory hierarchy."""
        return None if self.best is None else architecture_of(self.question, self.best)

    @cached_property
    def networks(self) -> tuple[NetworkResult, ...]:
        """The layers of every workload on the best accelerator, as `ithaca.network` answers; empty
        where none was found."""
        if self.best is None:
            return ()
        return tuple(
            NetworkResult.of(network, source=self.source)
            for network in networks(self.question, self.best, proven=self.complete)
        )

    @property
    def loops(self) -> dict[str, str]:
        """The mapping of every layer on the best accelerator as a loop nest, by name."""
        return {name: text for network in self.networks for name, text in network.loops.items()}

    def network_of(self, layer: str | None) -> NetworkResult:
        """The workload on the best accelerator that has a layer, as ``LAYER`` or
        ``WORKLOAD:LAYER``; without one the first.

        Raises `InputError` if there is none.
        """
        if not self.networks:
            raise InputError(
                f"{self.source} has no accelerator; allowed: a result that has a best one"
            )
        workload, _, name = (layer or "").rpartition(":")
        own = [network for network in self.networks if workload in ("", network.network.name)]
        names = [(network, each.layer.name) for network in own for each in network.layers]
        matching = [network for network, each in names if layer is None or each == name]
        if not matching:
            known = among(layer, [each for _, each in names] or self.question.workloads)
            raise InputError(f"--layer is {quoted(layer)}{known}")
        return matching[0]

    @property
    def failure(self) -> str:
        if self.best is not None:
            return ""
        space, limits = self.question.space, self.question.limits
        own = [
            f"{limit.metric} to {number(limit.bound)}"
            for limit in limits
            if space.limits.get(limit.metric) == limit.bound
        ]
        inherited = f"; space {space.name} itself limits {', '.join(own)}" if own else ""
        if self.certificate.status is not Status.INFEASIBLE:
            return self.certificate.failure + inherited
        if not self.shortfalls and len(limits) < 2:
            return "infeasible: a layer runs on no accelerator of the space, whatever the limits"
        spaces = {each.design for each in self.shortfalls}
        return f"infeasible: {'; '.join(explain(self.shortfalls, len(spaces)))}{inherited}"

    @property
    def document(self) -> dict[str, Any]:
        return codesign_document(self)

    def to_xarray(self) -> xr.Dataset:
        """The accelerators by point: quantities, costs and objectives, with units; numbers are
        doubles."""
        import xarray as xr

        space, columns = self.question.space, dict[str, Any]()
        for quantity in space.quantities:
            values = [hardware_fields(space, point.point)[quantity.name] for point in self.front]
            columns[quantity.name] = "point", values, {"units": quantity.unit}
        for name, metric in space.units.items():
            taken = [float(point.costs[name]) for point in self.front]
            columns[name] = "point", taken, {"units": metric.unit, "long_name": metric.meaning}
        texts = [objective.text for objective in self.question.objectives]
        columns["objectives"] = (
            ("point", "objective"),
            [list(map(float, point.values)) for point in self.front],
        )
        return xr.Dataset(
            columns, {"point": range(len(self.front)), "objective": texts}, {"title": self.headline}
        )

    @property
    def chart(self) -> Chart:
        return codesign_chart(self)
