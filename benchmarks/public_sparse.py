"""Compare published mappings of sparse tensors with Timeloop's own model, figure by figure:
``python -m benchmarks.public_sparse --tool timeloop-model FOLDER``.

FOLDER holds clones of Accelergy-Project/timeloop-accelergy-exercises (of 2024),
Accelergy-Project/micro22-sparseloop-artifact, bensonlzl/micro22-sparseloop-artifact and
Arcana-2236/sparseloop-results, or some of them; the tool is a build of NVlabs/timeloop. Without
``--tool``, figures are those that are published beside the mappings, where there are any; tools of
2022 count the first fills of outputs, too. A row is a mapping; at the end, counts of each source.
Mappings of several clones count once. Equal are words that differ by one at most, cycles by two,
and energies by 1e-5 beside those words (5e-3 of coordinates and bitmasks at uniform density,
as `docs/mapping-model.md` says).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from ithaca.files.errors import InputError
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture_files import architecture_of
from ithaca.plugins.hierarchies.formulations.constraint_entries import SECTIONS
from ithaca.plugins.hierarchies.formulations.points import evaluate_points, load_points
from ithaca.workloads.problem_files import problem_nest
from tests.plugins.hierarchies.formulations.test_sparse import unequal
from tests.plugins.hierarchies.test_timeloop_mapper import figures

#: Where mappings are, by source: the path of a mapping, and those of all else that it goes with.
LAYOUTS = {
    "exercises": (
        r"(?P<at>.*/sparseloop/[^/]+/ref_outputs/\w+)/parsed-processed-input\.yaml",
        ("{at}/timeloop-m*.ERT.yaml", "{at}/timeloop-mapper.map.yaml"),
    ),
    "formats (fig. 1)": (
        r"(?P<at>.*/fig1_[^/]+)/ref_outputs/output_(?P<share>[\d.]+)_(?P<format>\w+)/.*\.map\.yaml",
        (
            "{at}/arch/arch.yaml",
            "{at}/workload/spmspm.prob.{share}.yaml",
            "{at}/sparse-opt/{format}.yaml",
            "{at}/ert_art/ERT.yaml",
        ),
    ),
    "Eyeriss v2's PE (fig. 12)": (
        r"(?P<at>.*/fig12_[^/]+)/mappings/(?P<net>[^/]+)/(?P<layer>L\d+)-perfect_factor\.yaml",
        (
            "{at}/hardware-specs/*/arch.yaml",
            "{at}/hardware-specs/*/SI-SW.yaml",
            "{at}/workload/{net}/uniform/{layer}.yaml",
            "{at}/ert_art/ERT.yaml",
        ),
    ),
    "Eyeriss (table 7)": (
        r"(?P<at>.*/table7_[^/]+)/mappings_found/(?P<layer>\w+)\.yaml",
        (
            "{at}/arch/arch.yaml",
            "{at}/sparse_opt/{inputs}_iact_opt.yaml",
            "{at}/workload/{layer}.yaml",
            "{at}/ert_art/ERT.yaml",
        ),
    ),
    "STC (fig. 15)": (
        r"(?P<at>.*/fig15_[^/]+/ref_outputs/.*)/map\.yaml",
        ("{at}/aggregated_input.yaml", "{at}/ERT.yaml"),
    ),
    "PEs of 2 by 4 (bensonlzl)": (
        r"(?P<at>.*/notebook)/(?P<own>2-by-4[^/]*)/mapping/searched-mapping/"
        r"(?P<layer>[^/]+)-timeloop-mapper\.map\.yaml",
        (
            "{at}/{own}/design/arch.yaml",
            "{at}/{own}/design/SI-SW.yaml",
            "{at}/workloads/*/{problems}/{layer}.yaml",
            "{at}/{own}/ert_art/ERT.yaml",
        ),
    ),
    "sweeps (Arcana-2236)": (
        r"(?P<at>.*/(?P<own>\w+)/outputs/[^/]+)/aggregated_input\.yaml",
        ("{at}/ERT.yaml",),
    ),
    "DSTC (fig. 13)": (
        r"(?P<at>.*/fig13_[^/]+/ref_outputs/[^/]+)/aggregated_input\.yaml",
        ("{at}/ERT.yaml",),
    ),
}

#: Words of the tool's statistics by what they are called here.
WORDS = (
    {f"Actual scalar {kind} (per-instance)": kind for kind in ("reads", "fills", "updates")}
    | {
        f"{how.title()} scalar {kind} (per-instance)": f"{how}_{kind}"
        for how in ("gated", "skipped")
        for kind in ("reads", "updates")
    }
    | {"Max utilized data storage capacity": "capacity"}
)
COMPUTES = {
    f"{how} Computes (total)": name
    for how, name in (
        ("Actual", "computes"),
        ("Gated", "gated_computes"),
        ("Skipped", "skipped_computes"),
    )
}


@dataclass(frozen=True)
class Published:
    """A mapping that is published with all that it goes with."""

    source: str
    files: tuple[Path, ...]
    document: dict[str, Any]

    @property
    def doubles(self) -> bool:
        """Whether metadata is rounded of sums of doubles."""
        text = json.dumps(self.document.get("sparse_optimizations", ""))
        return "hypergeometric" in json.dumps(self.document["problem"]) and bool(
            re.search(r'"(CP|RLE|B)"', text.upper())
        )

    def metrics(self) -> dict[str, Any]:
        """The figures here. Raises `InputError` where the mapping cannot be."""
        document = dict(self.document)
        nest = problem_nest(document.pop("problem"), "problem")
        architecture = architecture_of(document, None, "own", "own")
        with TemporaryDirectory() as folder:
            path = Path(folder, "map.yaml")
            path.write_text(yaml.safe_dump({"mapping": document["mapping"]}, sort_keys=False))
            (row,) = evaluate_points(load_points(path, architecture, nest))
        if not row["valid"]:
            raise InputError(f"does not fit: {row['reason']}")
        return dict(row["metrics"])

    def run(self, tool: Path) -> str:
        """The statistics that the tool writes; what it says, where it writes none."""
        with TemporaryDirectory() as folder:
            text = yaml.safe_dump(self.document, sort_keys=False)
            # which the tool reads with underscores alone
            text = text.replace("payload-word-bits", "payload_word_bits")
            Path(folder, "all.yaml").write_text(text)
            done = subprocess.run(
                [tool.resolve(), "all.yaml"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            path = Path(folder, "timeloop-model.stats.txt")
            return path.read_text() if path.is_file() else " ".join(done.stderr.split()[-12:])

    def stated(self) -> str:
        """The statistics that are published beside it."""
        at = self.files[0].parent
        own = self.files[0].name.removesuffix("-timeloop-mapper.map.yaml")
        for place in (
            *at.glob("timeloop-m*.stats.txt"),
            *at.glob("out*/*.stats.txt"),
            *at.glob(f"../../raw-stats/*_{own}.yaml.stats.txt"),
        ):
            return place.read_text()
        return "publishes no figures"


def published(folder: Path, only: str) -> Iterator[Published]:
    """The mappings of a folder whose paths have a part in them, each once."""
    seen: set[str] = set()
    for path in sorted(folder.rglob("*.yaml")):
        for source, (pattern, others) in LAYOUTS.items():
            match = re.fullmatch(pattern, str(path))
            if match is None or only not in str(path):
                continue
            names = match.groupdict()
            names["inputs"] = "dense" if names.get("layer", "").endswith("conv1") else "sparse"
            names["problems"] = (names.get("own") or "").removesuffix("-UOP")
            names["problems"] = re.sub("-increasing.*", "", names["problems"])
            files = [path]
            for each in others:
                # what is published in squared brackets is no pattern
                wanted = str(Path(each.format_map(names)).relative_to(folder))
                files += sorted(folder.glob(wanted.replace("[", "[[]")))[:1]
            document: dict[str, Any] = {}
            try:
                for file in files:
                    document |= load_timeloop(file)
            except InputError as error:
                print(f"{path} | {source} | {error}")
                continue
            for name in {*document} & {*SECTIONS}:  # what a search may choose from
                del document[name]
            for table in document.get("ERT", {}).get("tables", []):
                for action in [each for each in table["actions"] if each["name"] == "access"]:
                    # the tool takes it for reads and writes
                    own = (action | {"name": name} for name in ("read", "write"))
                    table["actions"] = [*table["actions"], *own]
            text = json.dumps(document, sort_keys=True, default=str)
            if "problem" in document and "ERT" in document and text not in seen:
                seen.add(text)
                yield Published(source, tuple(files), document)


def tool_figures(text: str) -> dict[str, float]:
    """Figures of statistics by the names that they have here."""
    named: dict[str, float] = {}
    levels = {part.partition(".")[0] for part in figures(text) if "." in part}
    for part, fields in figures(text).items():
        level, _, tensor = part.partition(".")
        for field, value in fields.items():
            name = COMPUTES.get(field) if not tensor else WORDS.get(field)
            if name is not None:
                named[f"{part}.{name}" if tensor else name] = float(value.split()[0])
            elif field in ("Energy (total)", "Leakage energy (total)") and level in levels:
                name = f"{level}.energy_pJ"
                named[name] = named.get(name, 0) + float(value.split()[0])
            elif not tensor and field == "Cycles":
                computes = any(each.endswith("omputes (total)") for each in fields)
                name = f"{level}.cycles" if level != "Summary Stats" else "cycles"
                named["compute_cycles" if computes else name] = float(value)
    return named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", type=Path, help="the program timeloop-model")
    parser.add_argument("--only", default="", help="part of the paths")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for own in published(options.folder, options.only):
        path = own.files[0].relative_to(options.folder)
        text = own.run(options.tool) if options.tool else own.stated()
        theirs = tool_figures(text)
        try:
            ours = own.metrics()
        except InputError as error:
            says = f"refused: {error}"
        else:
            apart = unequal(
                ours, theirs, own.document["ERT"]["tables"], doubles=own.doubles, cycles=2.0
            )
            says = (
                f"the tool: {text}" if not theirs else f"unequal: {apart[:3]}" if apart else "equal"
            )
        sparse = "sparse_optimizations" in json.dumps(own.document, default=str)
        counts[own.source if sparse else f"{own.source}, dense", says.partition(":")[0]] += 1
        print(f"{path} | {own.source} | {says}", flush=True)
    for (source, says), n in sorted(counts.items()):
        print(f"{source}: {n} {says}")


if __name__ == "__main__":
    main()
