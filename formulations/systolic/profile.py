"""The profile of a systolic array, for people and studies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.numbers import number, percent
from ithaca.files.registry import Registry
from ithaca.files.words import parse_loops
from ithaca.formulations.algebra.expression import SYMBOLIC, Expression, Symbol, Symbols
from ithaca.formulations.family import Breakdown, Profile, Remarks
from ithaca.formulations.problem import Limit
from ithaca.formulations.systolic import quantities
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import by_part, metric_values
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.systolic.tiling import Tiling, outer_loops
from ithaca.workloads.nest import LoopNest

#: Simulators by family: the cycles of a design's configuration, None where it waits for ever; a
#: checkpoint may end the run.
SIMULATORS: Registry[
    Callable[[SystolicDesign, Mapping[str, int], Callable[[], None]], int | None]
] = Registry("simulators")


class SystolicProfile(Profile[SystolicDesign]):
    """A derived array in words, with what may be kept on chip."""

    def native(self, configuration: Mapping[str, int]) -> Tiling:
        return self.design.tiling(configuration)

    @property
    def nest(self) -> LoopNest:
        return self.design.nest

    @property
    def runs(self) -> bool:
        machine, edition = self.design.technology.machine, self.design.array.edition
        return machine.fitted_fifos and edition is Edition.CYCLE

    @property
    def timed(self) -> frozenset[str]:
        costs, cycles = self.design.costs(Symbols(), SYMBOLIC), Symbol("cycles")
        metrics = metric_values(replace(costs, main=cycles, latency=cycles))
        return frozenset(
            name
            for name, value in metrics.items()
            if isinstance(value, Expression) and cycles.name in value.symbols
        )

    def run(self, configuration: Mapping[str, int], checkpoint: Callable[[], None]) -> int | None:
        if (cycles_of := SIMULATORS.get(self.design.family)) is None:
            raise InputError("no plug-in simulates arrays; allowed: one that does")
        return cycles_of(self.design, configuration, checkpoint)

    def metrics_of_run(
        self, configuration: Mapping[str, int], cycles: int
    ) -> Mapping[str, Fraction]:
        costs = self.design.costs(configuration)
        longer = cycles - costs.latency
        ran = replace(costs, main=costs.main + longer, latency=Fraction(cycles))
        return {
            name: value
            for name, value in metric_values(ran).items()
            if name in self.design.vocabulary
        }

    @property
    def fixed_hardware(self) -> Mapping[str, int]:
        return self.design.fixed_hardware

    @property
    def attributes(self) -> Mapping[str, str | float]:
        return {
            "workload": self.design.nest.name,
            "statement": str(self.design.nest),
            "sizes": json.dumps(dict(self.design.nest.sizes)),
            **self.design.nest.labels,
            "dtype": self.design.data.name,
            "design": self.design.name,
            "edition": self.design.array.edition.value,
            "clock_mhz": float(self.design.technology.clock_mhz),
        }

    @property
    def title(self) -> str:
        target = (
            ""
            if self.design.options.target is None
            else f", for {self.design.options.target.title}"
        )
        return (
            f"{self.design.nest.name} ({self.design.nest.shown_sizes}) {self.design.data.name}, "
            f"{self.design.array.edition.value} model edition{target}"
        )

    @property
    def heading(self) -> tuple[tuple[str, str], ...]:
        nest = self.design.nest
        sizes = ", ".join(f"{name} = {number(n)}" for name, n in nest.settings.items())
        return (
            ("workload", f"{nest.name} ({'; '.join([sizes, *nest.labels.values()])})"),
            ("statement", str(nest)),
            ("data type", self.design.data.name),
            ("edition", self.design.array.edition.value),
            *(
                ()
                if self.design.options.target is None
                else (("built by", self.design.options.target.title),)
            ),
            *(
                ("kept on chip", f"{tensor}, {number(words)} words")
                for tensor, words in self.design.kept
            ),
        )

    @property
    def obstacle(self) -> str | None:
        return self.design.obstacle

    def answers_to(self, text: str) -> bool:
        """Whether ``i,j C`` or ``[i,j] C`` is this design, or ``i,j C single A`` where buffers are
        single; the order of the loops does not matter."""
        words, array = text.replace("[", " ").replace("]", " ").split(), self.design.array
        return (
            len(words) >= 2
            and sorted(words[0].split(",")) == sorted(array.dataflow)
            and words[1] == array.permutation
            and words[2:] == (["single", ",".join(array.single)] if array.single else [])
        )

    def remarks(self, configuration: Mapping[str, int], limits: Sequence[Limit]) -> Remarks:
        from ithaca.formulations.systolic.insight.facts import remarks

        return remarks(
            self.design.nest,
            self.design.costs(configuration),
            limits,
            self.design.array.reservation,
        )

    def breakdown(
        self, configuration: Mapping[str, int], metrics: Mapping[str, Fraction]
    ) -> Breakdown:
        """The DSP blocks and block RAMs that each module takes, and the cycles that it works."""
        parts = by_part(self.design.costs(configuration))
        blocks = [name for name in ("dsp", "bram18k", "uram") if name in metrics]
        wholes = {**{name: name for name in blocks}, "cycles": "latency"}

        def row(module: str) -> tuple[tuple[str, str], ...]:
            cells = [("module", module)]
            for what, metric in wholes.items():
                value, whole = parts[f"{what}_by_module"].get(module, 0), metrics[metric]
                cells += [
                    (what, number(value) if value else "–"),
                    (f"of {metric}", percent(value / whole) if value else "–"),
                ]
            return tuple(cells)

        modules = dict.fromkeys((*parts["cycles_by_module"], *parts["bram18k_by_module"]))
        return Breakdown(tuple(map(row, modules)), frozenset({"module"}), ())

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        from ithaca.formulations.systolic.insight.loops import loop_lines

        return loop_lines(
            self.design.nest,
            self.design.array,
            {name: int(n) for name, n in (*self.design.extents.items(), *configuration.items())},
        )

    @property
    def restricting(self) -> Mapping[str, bool]:
        options = self.design.options
        return {
            "--min-lanes": options.min_lanes > 1,
            "--divisors-only": options.divisors_only,
            "--for": options.target is not None,
        }

    def meets(self, words: Mapping[str, Any]) -> bool:
        array, loops = self.design.array, parse_loops(words.get("dataflow"))
        return (loops is None or set(loops) == set(array.dataflow)) and words.get(
            "permutation"
        ) in (None, array.permutation)

    @property
    def options(self) -> Mapping[str, Any]:
        return {"dtype": self.design.data}

    @property
    def innate(self) -> str:
        target = self.design.options.target
        settings = [
            ("--min-lanes", self.design.options.min_lanes > 1),
            ("--divisors-only", self.design.options.divisors_only),
        ]
        settings += [] if target is None else [(f"--for {target.value}", True)]
        within = " and ".join(name for name, on in settings if on)
        causes = "the extents and the latency hiding that the accumulators need allow"
        return f"{causes}{f' (within {within})' if within else ''}"

    @property
    def landscape(self) -> tuple[str, str] | None:
        first, *rest = self.design.array.dataflow
        return quantities.lanes(first).name, quantities.lanes(
            rest[0]
        ).name if rest else quantities.t2(first).name

    def meaning(self, quantity: str) -> tuple[str, str]:
        kind, _, owner = quantity.partition(".")
        unit, text = quantities.MEANINGS[kind]
        return unit, f"{text} ({owner})"

    @property
    def parameters(self) -> Mapping[str, str]:
        """t1 and t2 of each band loop, of the SIMD loop the SIMD factor instead, the tiles of its
        outer tiles, and the packs and ports that may be chosen."""
        array, free = self.design.array, {quantity.name for quantity in self.design.space.free}
        names: dict[str, str] = {}
        for loop in array.band:
            names[f"t1_{loop}"] = quantities.t1(loop).name
            if loop in array.latency_hiding_loops:
                names[f"t2_{loop}"] = quantities.t2(loop).name
            if loop in outer_loops(array):
                names[f"inner_{loop}"] = quantities.inner(loop).name
        names["simd"] = quantities.t2(array.simd_loop).name
        packs = {
            f"pack_{group.name}": quantities.pack(group.name).name for group in array.packed_groups
        }
        ports = {
            f"ports_{group.name}": quantities.ports(group.name).name for group in array.split_groups
        }
        chosen = {name: quantity for name, quantity in packs.items() if quantity in free}
        return names | chosen | ports
