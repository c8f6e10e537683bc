"""The ``mapper`` of Timeloop's files: what is minimised, and what a search obeys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ithaca.files.messages import among, quoted, refuse
from ithaca.files.timeloop_files import load_timeloop

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


def read_mapper(path: str | Path) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
    """The metrics that the mapper of a file minimises, one after the other, and the paths of fields
    that nothing depends on.

    Raises `InputError`, one line that names the path, if it cannot be read or says what is not
    supported.
    """
    document = load_timeloop(Path(path))
    if not isinstance(document, dict) or "mapper" not in document:
        raise refuse(path, "has no field 'mapper'; allowed: a mapper of Timeloop")
    return mapper_objectives(document["mapper"], f"{path}: mapper")


def mapper_objectives(
    document: Any, where: object
) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
    """See `read_mapper`; error lines start with ``where``."""
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
    unread = tuple(f"{where}.{name}" for name in own if name not in SEARCHING)
    return tuple(METRICS[name] for name in names), unread
