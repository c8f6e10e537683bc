"""What AccelForge's mapper answers. ``benchmarks.uneven_mappings`` runs this file in a Python that
has AccelForge, in an empty folder: arguments are a file, the order of storage nodes (``levels`` or
``free``), and a limit of processor time in seconds; what is printed is a part of a row."""

import resource
import sys
import time

import accelforge


def main(file: str, nodes: str, seconds: str) -> None:
    accelforge.set_n_parallel_jobs(1)
    spec = accelforge.Spec.from_yaml(file)
    spec.mapper.force_memory_hierarchy_order = nodes == "levels"
    began = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(began) + int(seconds),) * 2)
    found = spec.map_workload_to_arch(print_progress=False)
    spent = time.process_time() - began
    spec.mapping = found.mapping()
    try:
        value = f"{float(spec.evaluate_mapping().energy()):,.0f} | no bound"
    except Exception as error:  # whatever it refuses a mapping of its own with
        value = f"says {float(found.energy()):,.0f} | its evaluator: {error}"
    print(f"{value} | {spent:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
