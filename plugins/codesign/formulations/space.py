"""A hardware space: quantities, rules between them, what they cost, and the kind of accelerator
that they are figures of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from ithaca.formulations.algebra.expression import Expression, Symbol
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.design import Metric
from ithaca.formulations.hardware.accelerator import Accelerator, Trend
from ithaca.formulations.hardware.kind import Figure
from ithaca.formulations.region import Region
from ithaca.formulations.space import Link, Quantity

#: What the full name of a quantity of the space begins with.
HARDWARE = "hardware."


@dataclass(frozen=True)
class HardwareSpace:
    """Accelerators to choose from.

    Examples
    --------
    >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
    >>> space
    <HardwareSpace hasco-gemm: 1,728 accelerators>
    >>> [quantity.name for quantity in space.quantities][:3]
    ['side', 'scratchpad_kb', 'local_kb']
    """

    name: str
    """Its name."""
    quantities: tuple[Quantity, ...]
    """The free quantities."""
    accelerator: Accelerator
    """The accelerator whose figures follow from them."""
    figures: Mapping[str, Figure]
    """Figures of the accelerator, over quantities."""
    rules: tuple[Link, ...] = ()
    """The rules that quantities must keep."""
    costs: Mapping[str, Figure] = field(default_factory=dict)
    """Metrics of the hardware itself, such as area and power."""
    units: Mapping[str, Metric] = field(default_factory=dict)
    """The metrics of those costs, by name."""
    description: str = ""
    """One line for people."""
    source: str = ""
    """Where its figures are from."""
    workloads: tuple[str, ...] = ()
    """The workloads to run unless something else is asked for."""
    objective: str | None = None
    """The objective unless something else is asked for."""
    limits: Mapping[str, Fraction] = field(default_factory=dict)
    """Upper limits unless others are asked for."""

    def __repr__(self) -> str:
        return f"<HardwareSpace {self.name}: {self.box.count:,} accelerators>"

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics of layers and of the hardware, by name."""
        return {**self.accelerator.metrics, **self.units}

    @property
    def box(self) -> Region:
        """All accelerators of the space."""
        return Region(self.quantities)

    def only(self, values: Mapping[str, Collection[int]]) -> HardwareSpace:
        """The part where some quantities have some of their values, one at least.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> space.only({"side": [16], "dataflow": [1]})
        <HardwareSpace hasco-gemm: 288 accelerators>
        """
        parts = (q.among(*values.get(q.name, q.values)) for q in self.quantities)
        return replace(self, quantities=tuple(parts))

    def fields(self, point: Configuration) -> dict[str, int | str]:
        """The quantities of an accelerator; choices by name.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> point = {q.name: q.values[0] for q in space.quantities}
        >>> space.fields(point)["dataflow"]
        'weight_stationary'
        """
        return {
            q.name: q.label(point[q.name]) if q.labels else point[q.name] for q in self.quantities
        }

    def text(self, point: Configuration) -> str:
        """An accelerator in words.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> point = {q.name: q.values[0] for q in space.quantities}
        >>> space.text(point)
        'side 8 PEs, scratchpad_kb 128 kB, local_kb 64 kB, dataflow weight_stationary, banks 1,
        bus_bits 64 bits, burst_bytes 64 B'
        """
        return ", ".join(
            f"{q.name} {q.label(point[q.name])}{f' {q.unit}' if q.unit else ''}"
            for q in self.quantities
        )

    @property
    def mixed(self) -> tuple[str, ...]:
        """Quantities that a figure of `Trend.MIXED` follows from: boxes have one value of each."""
        trends = self.accelerator.trends
        names = {
            s
            for name, figure in self.figures.items()
            if trends[name] is Trend.MIXED
            for s in figure.symbols
        }
        return tuple(quantity.name for quantity in self.quantities if quantity.name in names)

    def allows(self, point: Configuration) -> bool:
        """Whether an accelerator keeps all rules.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> point = {q.name: q.values[0] for q in space.quantities}
        >>> space.allows(point)
        True
        """
        return all(rule.allows(point) for rule in self.rules)

    def may_allow(self, box: Region) -> bool:
        """Whether some accelerator of a box may keep all rules; False is proven.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> space.may_allow(space.box)
        True
        """
        return all(box.may_hold(rule) for rule in self.rules)

    def at(self, point: Configuration) -> dict[str, Fraction]:
        """The figures of an accelerator.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> point = {q.name: q.values[0] for q in space.quantities}
        >>> len(space.at(point))
        8
        """
        return {name: figure.at(point) for name, figure in self.figures.items()}

    def best(self, box: Region) -> dict[str, Fraction]:
        """Figures that no accelerator of a box surpasses: each is at its best end, whatever the
        others are.

        Those of trend `Trend.MIXED` must have one value.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> box = space.only({q.name: q.values[:1] for q in space.quantities}).box
        >>> len(space.best(box))
        8
        """
        figures = {}
        for name, figure in self.figures.items():
            span, trend = figure.range(box), self.accelerator.trends[name]
            assert trend is not Trend.MIXED or span.low == span.high
            figures[name] = span.high if trend is Trend.HELPS else span.low
        return figures

    def cost(self, point: Configuration) -> dict[str, Fraction]:
        """The costs of an accelerator itself, by metric.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> point = {q.name: q.values[0] for q in space.quantities}
        >>> sorted(space.cost(point))
        ['area', 'power']
        """
        return {name: figure.at(point) for name, figure in self.costs.items()}

    @cached_property
    def named(self) -> Mapping[str, Figure]:
        """The figures of the hardware alone that expressions may speak of, by full name: costs, and
        quantities that are numbers."""
        numbers = (q.name for q in self.quantities if not q.labels)
        return {**{HARDWARE + name: Figure(Symbol(name)) for name in numbers}, **self.costs}

    @cached_property
    def short(self) -> Mapping[str, Symbol]:
        """The quantities that may go by their names alone, as no metric has these."""
        names = (name.removeprefix(HARDWARE) for name in self.named if name.startswith(HARDWARE))
        return {name: Symbol(HARDWARE + name) for name in names if name not in self.metrics}

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The names that expressions may use: metrics of layers and of the hardware, quantities."""
        return (*self.accelerator.metrics, *self.named, *self.short)

    def in_full(self, expression: Expression) -> Expression:
        """An expression with quantities by their full names.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> from ithaca.formulations.algebra.expression import Symbol
        >>> space.in_full(Symbol("side"))
        Symbol(name='hardware.side')
        """
        return expression.substitute({n: self.short[n] for n in expression.symbols & {*self.short}})

    def known(self, point: Configuration) -> dict[str, Fraction]:
        """The values of all that is `named`, of one accelerator.

        Examples
        --------
        >>> space = next(s for s in ithaca.list_spaces() if s.name == "hasco-gemm")
        >>> point = {q.name: q.values[0] for q in space.quantities}
        >>> space.known(point)["hardware.side"]
        Fraction(8, 1)
        """
        return {name: figure.at(point) for name, figure in self.named.items()}
