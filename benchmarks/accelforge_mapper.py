"""The answer of AccelForge's mapper. ``benchmarks.uneven_mappings`` runs this file in a Python that
has AccelForge, in an empty folder: arguments are a file, the order of storage nodes (``levels`` or
``free``), and a limit of processor time in seconds; a part of a row is printed.

The mapping is written to a file and read again: what its mapper attaches to the nodes of a mapping
makes its evaluator count too few words."""

import resource
import sys
import time
from pathlib import Path
from typing import Any

import accelforge

FIELDS = ("component", "tensors", "rank_variable", "tile_shape", "name", "einsum")


def written(node: Any) -> str:
    fields = [f"{field}: {getattr(node, field)}" for field in FIELDS if hasattr(node, field)]
    if hasattr(node, "nodes"):
        inside = [written(each) for each in node.nodes if type(each).__name__ != "Reservation"]
        fields = [f"nodes: [{', '.join(inside)}]"]
    return f"!{type(node).__name__} {{{', '.join(fields)}}}"


def main(file: str, nodes: str, seconds: str) -> None:
    accelforge.set_n_parallel_jobs(1)
    spec = accelforge.Spec.from_yaml(file)
    spec.mapper.force_memory_hierarchy_order = nodes == "levels"
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(began) + int(seconds),) * 2)
    mapped = spec.map_workload_to_arch(print_progress=False)
    spent = time.process_time() - began
    mapping = written(mapped.mapping())
    Path("mapping.yaml").write_text(f"{Path(file).read_text()}\nmapping: {mapping}\n")
    try:
        again = accelforge.Spec.from_yaml("mapping.yaml").evaluate_mapping()
        value = f"{float(again.energy()):,.0f} | no bound"
    except Exception as error:  # whatever it refuses a mapping of its own with
        value = f"says {float(mapped.energy()):,.0f} | its evaluator: {error}"
    print(f"{value} | {spent:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
