"""Words for mappings with storage nodes."""

from __future__ import annotations

from collections.abc import Mapping

from ithaca.files.numbers import number
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.family import Remedies
from ithaca.formulations.hardware.remedies import Remedy
from ithaca.formulations.spatial.profile import StorageProfile
from ithaca.formulations.spatial.remedies import RATES, lanes
from ithaca.formulations.spatial.uneven.design import UnevenDesign
from ithaca.formulations.spatial.uneven.documents import node_fields


class UnevenProfile(StorageProfile[UnevenDesign]):
    """Mappings as one loop nest with a line for every storage node."""

    @property
    def relaxable(self) -> str:
        """The restrictions of mappings beside capacities and meshes, in words."""
        return "--divisors-only or --nodes"

    def loops(self, configuration: Mapping[str, int]) -> tuple[str, ...]:
        """Every storage node with the words of its tile, and the loops inside it."""
        metrics, indent = self.design.metrics(configuration, FRACTION), 0
        lines: list[str] = []
        for entry in node_fields(self.design, configuration):
            level = entry["level"]
            held = " ".join(
                f"{tensor}:{number(metrics[f'{level}.{tensor}.capacity'])}"
                for tensor in entry["keeps"]
            )
            heading = f"{level} [ {held} ]"
            lines += [heading, "-" * len(heading)]
            for name, along in (("loops", ""), ("x", " (Spatial-X)"), ("y", " (Spatial-Y)")):
                for loop, trips in (text.split("=") for text in entry[name]):
                    lines.append(f"| {'  ' * indent}for {loop} in [0:{trips}){along}")
                    indent += 1
            lines.append("")
        return (*lines, "<<< Compute >>>")

    def remedies(self, configuration: Mapping[str, int]) -> Remedies:
        """More multipliers, and more bandwidth of a level."""
        rates = {
            f"{level.name} {what}": (Remedy(f"{level.name}.{figure}"),)
            for level in self.design.architecture.levels
            for what, figure in RATES.items()
        }
        return {"computation": lanes(self.design.architecture), **rates}
