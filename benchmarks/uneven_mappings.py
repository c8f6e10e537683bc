"""AccelForge's mapper beside edition ``uneven``, on one architecture and under one model:
``python -m benchmarks.uneven_mappings --python PYTHON``.

PYTHON has AccelForge 1.0.467 (extra ``bench``, from Python 3.12 on; Debian's package graphviz);
without it, or where it does not start, only Ithaca's rows are printed. A row is a problem: the
order of storage nodes, who answers, the energy of the mapping (AccelForge's as its
``evaluate_mapping`` has it, whose equal edition ``uneven`` is), what is proven, and CPU seconds on
one thread. Chains pass tiles on.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import ithaca
from benchmarks.decode import layers
from tests.plugins.hierarchies.formulations.cases import nest_of
from tests.plugins.hierarchies.formulations.placed import GOLDEN, STATEMENTS

SCRIPT = Path(__file__).with_name("accelforge_mapper.py")

#: The architecture ``GOLDEN`` in AccelForge's words, up to the workload.
SPEC = """
arch:
  nodes:
  - !Memory
    name: DRAM
    size: inf
    leak_power: 0
    area: 0
    tensors: {keep: ~Intermediates, may_keep: All}
    actions:
    - {name: read, energy: 200, throughput: 16}
    - {name: write, energy: 200, throughput: 16}
  - !Memory
    name: Buffer
    size: 65536
    leak_power: 0
    area: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 6, throughput: inf}
    - {name: write, energy: 6, throughput: inf}
  - !Container
    name: PE
    spatial: [{name: X, fanout: 16}, {name: Y, fanout: 16}]
  - !Memory
    name: RF
    size: 256
    leak_power: 0
    area: 0
    tensors: {keep: All}
    actions:
    - {name: read, energy: 1, throughput: inf}
    - {name: write, energy: 1, throughput: inf}
  - !Compute
    name: MAC
    leak_power: 0
    area: 0
    actions: [{name: compute, energy: 1, throughput: 1}]
workload:
  bits_per_value: {All: 1}
"""
PRODUCTS = ["T[m,n]=A[m,k]*B[k,n]", "U[m,o]=T[m,n]*V[n,o]", "X[m,p]=U[m,o]*W[o,p]"]
CONVOLUTION = ["O[n,m,p,q]=I[N:n,C:c,H:p+r,W:q+s]*W[m,c,r,s]"]
CHAIN = """
name: chain
layers:
- {op: kernel, kernel: mm, name: first, sizes: {i: 256, j: 256, k: 256}}
- {op: kernel, kernel: mm, name: second, sizes: {i: 256, j: 256, k: 256}, follows: true}
- {op: kernel, kernel: mm, name: third, sizes: {i: 256, j: 256, k: 256}, follows: true}
"""


def cases() -> Iterator[tuple[str, str, dict[str, int], list[str]]]:
    """Problems: name, statement (none for a chain), extents, and AccelForge's statements."""
    for extent in (256, 512, 1000, 1021, 1024, 2048, 4096):
        yield f"product {extent}", STATEMENTS["mm"], dict.fromkeys("mnk", extent), PRODUCTS[:1]
    for m, p in ((64, 56), (128, 28)):
        sizes = {"n": 1, "m": m, "c": m, "p": p, "q": p, "r": 3, "s": 3}
        yield f"convolution {m},{m},{p},{p},3,3", STATEMENTS["conv"], sizes, CONVOLUTION
    for batch in (1, 8):  # the matrices of a layer of Llama-3-8B that decodes
        for layer in layers(batch, 1, 2048):
            if layer.kernel == "mm":
                sizes = {"m": batch, "n": layer.sizes["j"], "k": layer.sizes["k"]}
                yield f"decode {batch} {layer.name}", STATEMENTS["mm"], sizes, PRODUCTS[:1]
    for count in (2, 3):
        sizes = dict.fromkeys("mnkop"[: 2 + count], 256)
        yield f"{count} products 256", "", sizes, PRODUCTS[:count]


def has_accelforge(python: str) -> bool:
    """Whether this Python starts AccelForge, in an empty folder."""
    with TemporaryDirectory() as folder:
        command = [python, "-P", "-c", "import accelforge"]
        return not subprocess.run(command, capture_output=True, cwd=folder).returncode


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", help="a Python that has AccelForge")
    parser.add_argument("--seconds", default="150", help="time limit; Ithaca's by the clock")
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--nodes", default="levels,free", help="orders of storage nodes")
    taken = parser.parse_args(arguments)
    if taken.python and not which(taken.python):
        parser.error(f"--python {taken.python} is no program")
    if not (beside := taken.python and has_accelforge(taken.python)):
        print("AccelForge is left out: --python names no Python that has it")
    options: Any = {
        "arch": GOLDEN,
        "edition": "uneven",
        "objective": "energy",
        "divisors_only": True,
        "time_limit": float(taken.seconds),
    }
    for name, statement, sizes, einsums in cases():
        for options["nodes"] in taken.nodes.split(",") if taken.only in name else ():
            row = f"{name} | {options['nodes']}"
            with TemporaryDirectory() as folder:
                chain, spec = folder + "/chain.yaml", folder + "/spec.yaml"
                Path(chain).write_text("\n".join(CHAIN.splitlines()[: 3 + len(einsums)]))
                shape = {loop: f"0 <= {loop} < {extent}" for loop, extent in sizes.items()}
                Path(spec).write_text(
                    f"{SPEC}  iteration_space_shape: {shape}\n  einsums: {einsums}"
                )
                began = time.process_time()
                answer: Any = (
                    ithaca.map(nest_of(statement, sizes), **options)
                    if statement
                    else ithaca.network(chain, fuse=True, **options)
                )
                print(
                    f"{row} | Ithaca | {float(answer.value):,.0f} | {answer.status}, "
                    f"≥ {float(answer.certificate.lower_bound or 0):,.0f} | "
                    f"{time.process_time() - began:.1f}",
                    flush=True,
                )
                if beside:
                    command = [taken.python, "-P", SCRIPT, spec, options["nodes"], taken.seconds]
                    run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
                    output = (run.stdout or run.stderr).strip() or f"none | | > {taken.seconds}"
                    print(f"{row} | AccelForge | {output.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
