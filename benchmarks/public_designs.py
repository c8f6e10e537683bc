"""Proofs of the best mappings onto public designs, and the time that they take: ``python -m
benchmarks.public_designs FOLDER``.

FOLDER is a clone of Accelergy-Project/timeloop-accelergy-exercises (of 2024). Of it every example
design is taken, with the energies that it is shipped with (``ref_outputs``), without what it does
with sparse tensors (as ``remove_sparse_opts`` of its script), and with its own problem, or else
``layer_shapes/alexnet/2.yaml``; and the mapper's tutorial, conv1d on three levels. Eyeriss of
``tests/data/timeloop.tar.xz`` follows with its six layers: every level may keep every tensor (4,096
choices with ``bypass=free``), or what the library's Eyeriss keeps (32). A row is a question: its
value, status, gap (%), CPU seconds, and rows of the search. Without FOLDER, only Eyeriss. The
thirteen of Eyeriss are EDP of the layers, padded and by the library free, and of the tutorial.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ithaca
from ithaca.files.errors import InputError
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.architecture_files import (
    architecture_document,
    architecture_of,
)
from tests.plugins.hierarchies.formulations.cases import golden

TUTORIAL = "05-mapper-conv1d+oc-3level"

#: Spaces by name: what divides, what is padded, and what divides with levels that may be passed by.
SPACES = {
    "divisors": {"divisors_only": True},
    "padded": {},
    "free": {"divisors_only": True, "bypass": "free"},
    "free padded": {"bypass": "free"},
}


def shipped(file: Path, energies: Path) -> Architecture:
    """A dense architecture with the energies of a file."""
    document = architecture_document(file)[1]
    document.pop("sparse_optimizations", None)
    document["architecture"] = dense(document["architecture"])
    return architecture_of(document, load_timeloop(energies)["ERT"], file.parent.name, file)


def dense(node: dict[str, Any]) -> dict[str, Any]:
    """A node, and those inside, without what they do with sparse tensors."""
    own = {name: each for name, each in node.items() if name != "sparse_optimizations"}
    return own | ({"nodes": [dense(each) for each in own["nodes"]]} if "nodes" in own else {})


def cases(folder: Path | None) -> Iterator[tuple[str, Any, Path, tuple[str, ...]]]:
    """Questions: name, architecture, problem, and spaces."""
    if folder is not None:
        designs = next(folder.rglob("layer_shapes")).parent
        for file in sorted(designs.rglob("arch.yaml")):
            for energies in sorted(file.parent.glob("ref_outputs/*/timeloop-mapper.ERT.yaml"))[:1]:
                own = file.parent / "problem.yaml"
                layer = own if own.is_file() else designs / "layer_shapes/alexnet/2.yaml"
                name = file.parent.name
                yield name, shipped(file, energies), layer, ("divisors", "padded")
        for tutorial in sorted(folder.rglob(TUTORIAL)):
            energies = tutorial / "ref-output/null/timeloop-mapper.ERT.yaml"
            arch = shipped(tutorial / "arch/3level.arch.yaml", energies)
            yield TUTORIAL, arch, tutorial / "prob/conv1d+oc.prob.yaml", (*SPACES,)
    for layer in sorted((golden() / "eyeriss").glob("problem_*.yaml")):
        name = f"eyeriss {layer.stem.removeprefix('problem_')}"
        yield name, str(golden() / "eyeriss"), layer, ("divisors", "free", "padded")
        yield f"library's {name}", "eyeriss", layer, ("free",)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seconds", type=float, default=600, help="time limit of each")
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--objectives", default="energy,latency,edp")
    parser.add_argument("--spaces", default=",".join(SPACES))
    options = parser.parse_args()
    for name, architecture, problem, spaces in cases(options.folder):
        for space in spaces if options.only in name else ():
            for objective in (
                options.objectives.split(",") if space in options.spaces.split(",") else ()
            ):
                began = time.process_time()
                try:
                    answer = ithaca.map(
                        str(problem),
                        arch=architecture,
                        objective=objective,
                        time_limit=options.seconds,
                        **SPACES[space],
                    )
                except InputError as error:
                    print(f"{name} | {space} | {objective} | {error}", flush=True)
                    continue
                least = answer.certificate.lower_bound
                gap = 100 if least is None else 100 * float(1 - least / answer.value)
                print(
                    f"{name} | {space} | {objective} | {float(answer.value):.10g} | {answer.status} "
                    f"| {gap:.3g} | {time.process_time() - began:.1f} | {answer.certificate.nodes}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
