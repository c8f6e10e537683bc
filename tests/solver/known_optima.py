"""Optima of small problems as enumeration found them, kept in a file, since finding them again
takes longer than the tests.

Slow tests enumerate always. Others look up, and fail where nothing is kept: ``UPDATE_BRUTE_FORCE=1
pytest`` with their names enumerates what they ask for and keeps it. (Delete the file first to be
rid of what no test asks for any more.)
"""

import fcntl
import gzip
import hashlib
import json
import os
from dataclasses import asdict, fields
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from ithaca.formulations.data_types import DATA_TYPES
from ithaca.formulations.machine import IDEAL, RTL
from ithaca.formulations.problem import Limit, Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SpaceOptions, SystolicDesign, systolic
from ithaca.formulations.systolic.metrics import parse_objective
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.formulations.technology import DEFAULT_TECHNOLOGY, Technology
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.statement import parse_statement
from tests.solver.enumeration import enumerated_optimum

FILE = Path(__file__).parents[1] / "data" / "optima.json.gz"
UPDATE = "UPDATE_BRUTE_FORCE"


#: Whether the test that runs is a slow one; `tests.conftest` says so before each.
slow = False

_found = {}


def brute_force(problem):
    """The least objective over the whole space; None if no point meets the limits."""
    facts = facts_of(problem)
    kept = known_optima().get(key_of(facts))
    if slow or os.environ.get(UPDATE):
        optimum = enumerated_optimum(problem)
        entry = facts | {"optimum": None if optimum is None else float(optimum)}
        if os.environ.get(UPDATE):
            _found[key_of(facts)] = entry
        else:
            assert kept is None or kept == entry
        return optimum
    if kept is None:
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        pytest.fail(
            f"{FILE.name} holds no optimum of this problem; to add it: {UPDATE}=1 pytest '{test}'\n{facts}"
        )
    return None if kept["optimum"] is None else Fraction(kept["optimum"])


@cache
def known_optima():
    """Kept optima, by key: what tells a problem from others, and its ``optimum``: a number, or null
    where it is infeasible."""
    if not FILE.exists():
        return {}
    return json.loads(gzip.decompress(FILE.read_bytes()))


def save_found():
    """Add what was found to the file; several processes may do so at once."""
    if not _found:
        return
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        kept = file.read()
        known = (json.loads(gzip.decompress(kept)) if kept else {}) | _found
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(known[key], sort_keys=True)}" for key in sorted(known)
        )
        file.truncate(0)
        file.write(gzip.compress(f"{{\n{lines}\n}}\n".encode(), mtime=0))


def key_of(facts):
    """A name for what tells a problem from others."""
    told = {name: value for name, value in facts.items() if name != "optimum"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def facts_of(problem):
    """The facts that tell a problem from others, in words that outlive its types."""
    design = systolic(problem)
    assert not design.hardware, "enumeration does not know about given arrays"
    nest, array = design.nest, design.array
    assert (design.technology.machine, design.technology.memory) == (RTL, IDEAL), (
        "kept problems are timed as RTL, with ideal memory"
    )
    space, technology = (
        asdict(design.options),
        asdict(design.technology) | {"machine": RTL, "memory": IDEAL},
    )
    return {
        "statement": str(nest),
        "extents": [list(extent) for extent in nest.extents],
        "simd": nest.simd,
        "untiled": sorted(nest.untiled),
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "edition": array.edition.value,
        "dtype": design.data.name,
        "limits": [[limit.metric, str(limit.bound)] for limit in problem.limits],
        "objective": problem.objective.text,
        "space": {
            name: value for name, value in space.items() if value != getattr(SpaceOptions(), name)
        },
        "technology": {
            name: str(value)
            for name, value in technology.items()
            if value != getattr(DEFAULT_TECHNOLOGY, name)
        },
    }


def problem_of(facts):
    """The problem that facts tell of."""
    extents = tuple((loop, extent) for loop, extent in facts["extents"])
    output, inputs = parse_statement(facts["statement"])
    nest = LoopNest("known", extents, output, inputs, facts["simd"], frozenset(facts["untiled"]))
    numbers = {field.name for field in fields(Technology)} - {"cost_tables", "machine", "memory"}
    return Problem(
        SystolicDesign(
            nest,
            derive(nest, tuple(facts["dataflow"]), facts["permutation"], Edition(facts["edition"])),
            DATA_TYPES[facts["dtype"]],
            SpaceOptions(**facts["space"]),
            technology=Technology(
                **{
                    name: Fraction(v) if name in numbers else v
                    for name, v in facts["technology"].items()
                }
            ),
        ),
        tuple(Limit(metric, Fraction(bound)) for metric, bound in facts["limits"]),
        parse_objective(facts["objective"]),
    )
