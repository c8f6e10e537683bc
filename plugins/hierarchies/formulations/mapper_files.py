"""The input files of ``timeloop-mapper``: an architecture, a problem, constraints, and the
``mapper``, which states the objective and the settings of the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import among, quoted, refuse
from ithaca.files.timeloop_files import load_timeloop
from ithaca.plugins.hierarchies.formulations.architecture import Architecture
from ithaca.plugins.hierarchies.formulations.architecture_files import (
    ARCHITECTURE_FIELDS,
    ELSEWHERE,
    architecture_of,
)
from ithaca.plugins.hierarchies.formulations.constraint_entries import SECTIONS, entries_of
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.problem_files import problem_nest

#: Metrics of a mapper as objectives; None is the words of the outermost level.
METRICS = {"delay": "latency", "energy": "energy", "edp": "edp", "last_level_accesses": None}

#: Fields that say how to search, which a proof does not depend on, or what to print of it. Also the
#: most loops of mappings that are tried, since all are considered here.
SEARCHING = frozenset(
    """version out_prefix num_threads search_size timeout heartbeat victory_condition sync_interval
    log_interval log_oaves log_oaves_mappings log_oave_mappings log_all_mappings log_mappings_yaml
    log_mappings_verbose log_orojenesis_mappings log_stats log_suboptimal log_all live_status
    diagnostics penalize_consecutive_bypass_fails emit_whoop_nest algorithm filter_revisits
    max_permutations_per_if_visit max_temporal_loops_in_a_mapping""".split()  # noqa: SIM905
)

_OBJECTIVES = ("optimization_metrics", "optimization_metric")

#: Fields of files beside constraints: those that are read, and others, which several may have.
_READ = (*ARCHITECTURE_FIELDS, "mapper", "mapping", "problem")
_FIELDS = (*_READ, *(name for name in ELSEWHERE if name not in _READ))


@dataclass(frozen=True)
class MapperFiles:
    """The problem that input files pose to ``timeloop-mapper``."""

    nest: LoopNest
    """The problem."""
    architecture: Architecture
    """The architecture, with all constraints and the fields that nothing depends on."""
    objective: str
    """The objectives, minimised one after the other."""
    searching: tuple[str, ...]
    """Fields of the mapper that a proof does not depend on."""


def read_mapper_files(paths: Sequence[str | PathLike[str]]) -> MapperFiles:
    """Read files in any order, each with one or several fields of Timeloop's.

    Raises `InputError`, one line that names the path, if a field is missing, stands in two files,
    or says what is not supported.
    """
    fields: dict[str, tuple[Path, Any]] = {}
    entries: list[tuple[str, str]] = []
    unread: list[str] = []
    for path in map(Path, paths):
        if path.is_dir():
            raise refuse(path, f"is a folder; allowed: its files, {path}/*.yaml")
        document = load_timeloop(path)
        if not isinstance(document, dict):
            raise refuse(path, "is no mapping of fields; allowed: a file of Timeloop")
        for name, own in document.items():
            known = "architecture" if name == "arch" else name
            if known in SECTIONS:
                entries += entries_of({known: own}, path, unread)
            elif known not in _FIELDS:
                raise refuse(path, f"has the field {quoted(name)}{among(str(name), _FIELDS)}")
            elif known in fields and known in _READ:
                raise refuse(path, f"has {known}, as {fields[known][0]} has; allowed: in one file")
            else:
                fields[known] = path, own
    for name in ("architecture", "problem"):
        if name not in fields:
            raise InputError(f"no file has the field {name}; allowed: one that has it")
    (place, _), energies = fields["architecture"], fields.get("ERT", (None, None))[1]
    document = {name: own for name, (_, own) in fields.items() if name in ARCHITECTURE_FIELDS}
    architecture = architecture_of(document, energies, place.stem, place, keeping=False)
    at, mapper = fields.get("mapper", (None, {}))
    metrics, unknown, searching = mapper_objectives(mapper, f"{at}: mapper")
    at, problem = fields["problem"]
    nest = problem_nest(problem, f"{at}: problem")
    if fields.get("mapping", (None, None))[1]:
        unread.append(f"{fields['mapping'][0]}: mapping")
    outermost = " + ".join(
        f"{architecture.levels[0].name}.{access.tensor}.{what}"
        for access in nest.accesses
        for what in ("reads", "updates")
        if what == "reads" or access == nest.output
    )
    return MapperFiles(
        nest,
        replace(
            architecture,
            entries=(*architecture.entries, *entries),
            unread=(*architecture.unread, *unread, *unknown),
        ),
        ",".join(outermost if metric is None else metric for metric in metrics),
        searching,
    )


def mapper_objectives(
    document: Any, where: object
) -> tuple[tuple[str | None, ...], tuple[str, ...], tuple[str, ...]]:
    """The metrics that a mapper minimises, one after the other; the paths of unknown fields, and of
    those that a proof does not depend on.

    Raises `InputError`, which begins with ``where``, if it says what is not supported.
    """
    if not isinstance(document, dict):
        raise refuse(where, f"is {quoted(document)}; allowed: a mapping of fields")
    own = {name.replace("-", "_"): value for name, value in document.items()}
    metrics: Sequence[Any] = ["edp"]
    for name in _OBJECTIVES:
        stated = own.pop(name, None)
        metrics = (
            metrics if stated in (None, []) else stated if isinstance(stated, list) else [stated]
        )
    names = [str(metric).replace("-", "_") for metric in metrics]
    if unknown := next((name for name in names if name not in METRICS), None):
        raise refuse(where, f"optimization_metrics has {quoted(unknown)}{among(unknown, METRICS)}")
    paths = {name: f"{where}.{name}" for name in own if name != "version"}
    searching = tuple(path for name, path in paths.items() if name in SEARCHING)
    unread = tuple(path for name, path in paths.items() if name not in SEARCHING)
    return tuple(METRICS[name] for name in names), unread, searching
