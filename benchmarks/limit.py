"""Proofs beside a bare enumeration in C: ``python -m benchmarks.limit [--sizes N,…] [--peers S]
[--write]``.

For matrix products N³ on one array ([i,j], U250, least latency) the cost model's expressions are
written as C, and compiled with `limit.c`, 150 lines that enumerate hardware first and whose
dominance over port widths and tile sizes is not proven: a limit of what a proof may cost, no
certificate. Its configuration is evaluated by the Fraction reference; where its value is not the
proven optimum the row says so. Beside it stand CP-SAT, SCIP (``pip install "ithaca[bench]"``) and
evolution, each with ``--peers`` seconds. ``--write`` writes the table of `benchmarks/README.md`.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measured import Taken, measured, write_between
from benchmarks.platform_limits import platform_limits
from ithaca.files.numbers import number
from ithaca.formulations.data_types import data_type
from ithaca.formulations.problem import Problem
from ithaca.formulations.space import Relation, Role
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.solver.certificate import Status
from ithaca.solver.engines import NotExpressibleError, engine
from ithaca.solver.options import SolveOptions
from ithaca.solver.tables.program import Program
from ithaca.workloads.library import workload

HERE = Path(__file__).parent

SIZES = (1024, 4096, 16384, 32768, 65536)

#: Operations of programs in C.
C_OPERATIONS = {
    "add": "{0} + {1}",
    "multiply": "{0} * {1}",
    "scale": "{0} * {constant!r}",
    "divide": "{0} / {1}",
    "maximum": "fmax({0}, {1})",
    "minimum": "fmin({0}, {1})",
    "ceil": "ceil({0})",
}

#: Rules that do not hold, in C.
BROKEN = {
    Relation.DIVIDES: "fmod({1}, {0}) != 0",
    Relation.AT_MOST: "{0} > {1}",
    Relation.EQUAL: "{0} != {1}",
}

#: Methods to compare with.
PEERS = ("cpsat", "scip", "evolve")

TABLE = ("<!-- table -->\n", "<!-- end -->\n")

HEAD = """\
| problem | here, CPU s | MB | all six designs | MB | C, CPU s | here / C | CP-SAT | SCIP | evolution |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Enumerated:
    """An enumeration in C as it ended."""

    value: Fraction
    """Its value, by the Fraction reference (cycles)."""
    seconds: float
    """CPU seconds of its process."""
    leaves: int
    """Configurations that it evaluated."""


def problem(size: int) -> Problem:
    """The least latency of a product of N³ on the array [i,j]."""
    nest = workload("mm", dict.fromkeys("ijk", size))
    array = derive(nest, ("i", "j"), "C", Edition.CYCLE)
    design = SystolicDesign(nest, array, data_type("fp32"))
    return Problem(design, platform_limits(design), parse_objective("latency"))


def generated(own: Problem) -> tuple[str, list[str]]:
    """The C of a problem, to stand before `limit.c`, and the names of its quantities in order."""
    symbolic, axes = own.symbolic(), own.space.axes
    program = Program([symbolic.objective, *(used for used, _ in symbolic.constraints)])
    names = [quantity.name for axis in axes for quantity in axis.quantities]
    place = {name: index for index, name in enumerate(names)}
    objective, *used = program.state[2]
    design = own.design
    assert isinstance(design, SystolicDesign)
    hardware = [next(q.name for q in axis.quantities if q.role is Role.HARDWARE) for axis in axes]
    blocks = next(limit.bound for limit in own.limits if limit.metric == "dsp")
    sizes = {
        "EXTENT": [design.nest.sizes[axis.name] for axis in axes],
        "LARGEST": [int(own.intervals[f"t1.{axis.name}"].high) for axis in axes],
        "WIDEST": [int(own.intervals[name].high) for name in hardware],
        "POWERS": [int(name.startswith("t2")) for name in hardware],
    }
    places = []
    for number_, (axis, mine) in enumerate(zip(axes, hardware, strict=True)):
        loop = axis.name
        other = f"lanes.{loop}" if mine.startswith("t2") else f"t2.{loop}"
        values = {mine: "h", other: "m", f"t1.{loop}": "h * m", f"tiles.{loop}": "tiles"}
        own_places = " ".join(f"at[{place[name]}] = {text};" for name, text in values.items())
        places.append(f"    if (loop == {number_}) {{ {own_places} }}")
    text = [
        "#include <math.h>",
        f"enum {{ LOOPS = {len(axes)}, SYMBOLS = {len(names)}, "
        f"MOST = {int(blocks / design.data.dsp_per_mac)} }};",
        *(f"static const long {name}[] = {_listed(own_)};" for name, own_ in sizes.items()),
        "static int evaluate(const double *at, double *value) {",
        *_statements(program, place),
        f"    *value = v{objective};",
        *(
            f"    if (v{slot} > {float(bound)!r}) return 0;"
            for slot, (_, bound) in zip(used, symbolic.constraints, strict=True)
        ),
        "    return 1;",
        "}",
        "static void place(double *at, int loop, double h, double m, double tiles) {",
        *places,
        "}",
        *_ports(own, place),
    ]
    return "\n".join(text) + "\n", names


def _listed(values: Iterable[int]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def _statements(program: Program, place: Mapping[str, int]) -> Iterator[str]:
    """The C that computes the slots of a program, v0 and so on."""
    symbols, steps, _ = program.state
    for slot, (operation, arguments, constant) in enumerate(steps):
        if operation == "load":
            text = f"at[{place[symbols[arguments[0]]]}]"
        elif operation == "constant":
            text = repr(constant)
        else:
            slots = (f"v{argument}" for argument in arguments)
            text = C_OPERATIONS[operation].format(*slots, constant=constant)
        yield f"    double v{slot} = {text};"


def _ports(own: Problem, place: Mapping[str, int]) -> Iterator[str]:
    """The C of the ports: their places and greatest widths, and whether one has a legal width."""
    packs = [q.name for axis in own.space.axes for q in axis.quantities if q.role is Role.PORT]
    yield f"enum {{ PORTS = {len(packs)} }};"
    yield f"static const int PORT[] = {_listed(place[name] for name in packs)};"
    greatest = [1 << int(own.intervals[name].high).bit_length() - 1 for name in packs]
    yield f"static const double WIDEST_PORT[] = {_listed(greatest)};"
    yield "static int legal(const double *at, int port) {"
    links = [link for axis in own.space.axes for link in axis.links]
    for port, name in enumerate(packs):
        for link in (link for link in links if name in link.symbols):
            program = Program([link.left, link.right])
            left, right = (f"v{slot}" for slot in program.state[2])
            yield f"    if (port == {port}) {{"
            yield from _statements(program, place)
            yield f"    if ({BROKEN[link.relation].format(left, right)}) return 0;"
            yield "    }"
    yield "    return 1;"
    yield "}"


def enumerated(own: Problem, folder: Path, compiler: str) -> Enumerated:
    """Compile the enumeration of a problem, run it, and evaluate what it found exactly."""
    text, names = generated(own)
    source, binary = folder / "limit.c", folder / "limit"
    source.write_text(text + (HERE / "limit.c").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([compiler, "-O3", "-o", binary, source, "-lm"], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.split()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    values = {name: int(text) for name, text in zip(names, output[2:], strict=True)}
    value = own.feasible_value(own.space.configuration(values))
    assert value is not None, "the enumeration's configuration is not feasible"
    return Enumerated(value, seconds, int(output[1]))


def peer(own: Problem, name: str, seconds: float, optimum: Fraction) -> str:
    """The end of another method after some seconds: how far above the optimum, and whether it says
    that it has proven it."""
    if name == "scip":
        if find_spec("pyscipopt") is None:
            return "–"
        from benchmarks.scip_model import solve_by_scip

        run = solve_by_scip(own, seconds)
        value = min((value for _, value in run.incumbents), default=None)
        taken, proven = run.seconds, run.proven
    else:
        began = time.process_time()
        try:
            solution = engine(name)(own, SolveOptions(time_limit=seconds), None, None)
        except NotExpressibleError:
            return "numbers too large"
        taken, value = time.process_time() - began, solution.value
        proven = solution.certificate.status is Status.OPTIMAL
    if value is None:
        return f"nothing in {taken:.0f} s"
    above = "optimum" if value == optimum else f"+{float(value / optimum - 1):.2%}"
    return f"{above}, {'proven' if proven else 'open'} in {taken:.0f} s"


def here(size: int) -> tuple[Taken, Taken, Fraction]:
    """The command for one array and for all designs, as they ran, and the proven optimum of the
    first."""
    loops = f"i={size},j={size},k={size}"
    with tempfile.TemporaryDirectory() as name:
        answer = Path(name) / "answer.json"
        question = ["-m", "ithaca", "solve", "mm", "-s", loops, "--platform", "u250"]
        one = [*question, "--dataflow", "i,j", "-o", str(answer)]
        # compiled, and with the forms of bounds on disk, the second time
        runs = [measured(words) for words in (one, question, one, question)]
        for run in runs:
            assert not run.status, run.errors
        best = json.loads(answer.read_text(encoding="utf-8"))["best"]
    assert best["certificate"]["status"] == "optimal"
    return runs[2], runs[3], Fraction(str(best["metrics"]["latency"]))


def rows(sizes: Sequence[int], peers: float) -> Iterator[str]:
    """The rows of the table, as they are measured."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    # before anything else: the memory of a process begins with that of the one that starts it
    known = [here(size) for size in sizes]
    for size, (one, every, optimum) in zip(sizes, known, strict=True):
        own, bare, ratio = problem(size), "no compiler", "–"
        if compiler is not None:
            with tempfile.TemporaryDirectory() as name:
                limit = enumerated(own, Path(name), compiler)
            bare = f"{limit.seconds:.3f}"
            ratio = f"{one.seconds / max(limit.seconds, 1e-3):.1f}"
            if limit.value != optimum:
                bare += f" ({number(limit.value)})"
        others = [peer(own, each, peers, optimum) if peers else "–" for each in PEERS]
        cells = [f"{size}³", f"{one.seconds:.2f}", f"{one.memory / 1e6:.0f}"]
        cells += [f"{every.seconds:.2f}", f"{every.memory / 1e6:.0f}", bare, ratio, *others]
        yield "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table, and write it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--peers", type=float, default=0.0, help="seconds of each peer; 0: none")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    table = HEAD
    print(HEAD, end="", flush=True)
    for row in rows([int(size) for size in arguments.sizes.split(",")], arguments.peers):
        print(row, flush=True)
        table += row + "\n"
    if arguments.write:
        write_between(HERE / "README.md", TABLE, table)


if __name__ == "__main__":
    main()
