"""Words for mappings with storage nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ithaca.files.numbers import number
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.family import Remedies
from ithaca.formulations.hardware.remedies import Remedy
from ithaca.plugins.hierarchies.formulations.profile import StorageProfile
from ithaca.plugins.hierarchies.formulations.remedies import RATES, lanes
from ithaca.plugins.hierarchies.formulations.uneven.design import UnevenDesign
from ithaca.plugins.hierarchies.formulations.uneven.documents import node_fields
from ithaca.plugins.hierarchies.formulations.uneven.turns import SharedLoops

#: An entry of a mapping in a document.
Entry = dict[str, Any]


class UnevenProfile(StorageProfile[UnevenDesign]):
    """Mappings as one loop nest with a line for every storage node."""

    @property
    def restricting(self) -> Mapping[str, bool]:
        """The restrictions of mappings beside capacities and meshes."""
        return {
            "--divisors-only": self.design.options.divisors_only,
            "--nodes": self.design.options.nodes_by_level,
        }

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        """Every storage node with the words of its tile, and the loops inside it."""
        metrics, indent = self.design.metrics(configuration, FRACTION), 0
        entries, inner = node_fields(self.design, configuration), 0
        if self.design.shared is not None:
            around, rest = _interleaved(entries, self.design.shared)
            entries, inner = [*around, *rest], len(around)
        lines: list[str] = []
        for place, entry in enumerate(entries):
            level = entry["level"]
            held = " ".join(
                f"{tensor}:{number(metrics[f'{level}.{tensor}.capacity'])}"
                for tensor in entry["keeps"]
            )
            heading = f"{level} [ {held} ]"
            lines += [heading, "-" * len(heading)]
            time = " (shared)" if place < inner else ""
            for name, along in (("loops", time), ("x", " (Spatial-X)"), ("y", " (Spatial-Y)")):
                for loop, trips in (text.split("=") for text in entry[name]):
                    lines.append(f"| {'  ' * indent}for {loop} in [0:{trips}){along}")
                    indent += 1
            lines.append("")
        return (*lines, "<<< Compute >>>")

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """Remedies: more multipliers, and more bandwidth of a level."""
        rates = {
            f"{level.name} {what}": (Remedy(f"{level.name}.{figure}"),)
            for level in self.design.architecture.levels
            for what, figure in RATES.items()
        }
        return {"computation": lanes(self.design.architecture), **rates}


def _interleaved(entries: Sequence[Entry], shared: SharedLoops) -> tuple[list[Entry], list[Entry]]:
    """The entries with the loops that are shared around each, and those of the nest's own."""
    around, before = [{**entries[0], "loops": []}], dict[str, int]()
    for tensor, trips in (*shared.around, (None, shared.trips)):
        more = {loop: n // before.get(loop, 1) for loop, n in trips}
        around[-1]["loops"] = [f"{loop}={n}" for loop, n in more.items() if n > 1]
        before = dict(trips)
        around += [entry for entry in entries[1:] if entry["keeps"] == [tensor]][:1]
    stay = {tensor for tensor, _ in shared.around}
    own = [e for e in entries[1:] if e not in around or not stay & {*e["keeps"]}]
    return around, own
