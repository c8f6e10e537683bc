"""`ithaca.calibrate`: a platform file with coefficients of look-up tables and flip-flops."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.outputs import WRITTEN_FILE
from ithaca.files.answer import Wrote
from ithaca.files.csv_text import read_rows
from ithaca.files.errors import InputError
from ithaca.files.messages import among, errors_at, quoted, refuse
from ithaca.files.numbers import counted, json_number, number, percent
from ithaca.files.reading import read_text
from ithaca.files.words import REPEATED, parse_counts, parse_number
from ithaca.files.writing import write_text_atomically
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.formulations.data_types import data_type
from ithaca.formulations.formats import LISTED
from ithaca.formulations.platform import DEFAULT_USABLE
from ithaca.formulations.platform_files import (
    PlatformFile,
    ResourcesDocument,
    platform_file,
    platform_of,
)
from ithaca.formulations.systolic.logic import features
from ithaca.formulations.systolic.points import MAX_BYTES, load_points
from ithaca.formulations.technology import FEATURES
from ithaca.plugins.calibration.formulations.fitting import Numbers, errors, fitted
from ithaca.workloads.library import workload as find_workload
from ithaca.workloads.library import workload_names

#: The resources that are fitted.
RESOURCES = ("lut", "lutram", "ff")

#: Fewest arrays that a resource of a type is fitted to: half of AutoSA's 16.
LEAST = 8

#: Most look-up tables or flip-flops of a device.
MOST = 10**9


@public
def calibrate(
    reports: Annotated[
        str | Path,
        Argument(help="A CSV file: a synthesized array a row, with its lut, lutram or ff."),
    ],
    output: Annotated[
        str | Path, Option("-o", "--output", help="Platform file to write (YAML)."), WRITTEN_FILE
    ],
    *,
    platform: Annotated[
        str | Path,
        Option(
            "--platform", metavar="NAME|PATH", help="Platform that the arrays were synthesized for."
        ),
    ] = "u250",
    total: Annotated[
        Mapping[str, int] | list[str] | None,
        Option(
            "--total",
            metavar="NAME=COUNT",
            help="Totals of the device, e.g. lut=1728000,ff=3456000, which become limits, too.",
        ),
        REPEATED,
    ] = None,
    workload: Annotated[
        str | None,
        Option(
            "--workload",
            help="Loop nest of all rows, by name, file or statement. Default: the column app.",
        ),
    ] = None,
    dtype: Annotated[
        str | None, Option("--dtype", help=f"{LISTED} Default: the column dtype, or fp32.")
    ] = None,
) -> Wrote:
    """Fit look-up tables and flip-flops of a platform to synthesis reports.

    A row states an array by the columns that ``ithaca seed --to csv`` writes, and what synthesis
    made of it in ``lut``, ``lutram`` or ``ff``: counts, or shares of the device such as 38%. Each
    resource of each data type becomes a sum of seven features of the array, each times a
    coefficient that is not negative (see ``docs/calibrating.md``). On the platform that is written
    they are metrics, limits and objectives like others. The errors that are stated are of arrays
    that were held out of the fit, each once.

    Parameters
    ----------
    reports : str or Path
        The table, with at least 8 arrays of a data type.
    output : str or Path
        The platform file, whose stem is the platform's name.
    platform : str or Path, optional
        The device; clock, memory and machine are its.
    total : mapping of str to int or list of str, optional
        Look-up tables and flip-flops of the device, where its file does not state them.
    workload : str, optional
        The loop nest of all rows.
    dtype : str, optional
        The data type of all rows.

    Returns
    -------
    Wrote
        A line on the fits and their errors.

    Raises
    ------
    InputError
        If a row is no array or states no count, there are too few, or the device lacks a total.

    Examples
    --------
    >>> ithaca.calibrate("reports.csv", "mine.yaml", platform="u250")  # doctest: +SKIP
    wrote mine.yaml: lut of fp32 by 16 arrays, 6.1 % off on average and 14.0 % at most
    """
    path = Path(reports)
    read, place = platform_file(str(platform))
    totals = _totals(read, parse_counts("--total", total, "lut=1728000"))
    measured = _measured(path, totals)
    points = load_points(
        path,
        None if workload is None else find_workload(workload),
        None if dtype is None else data_type(dtype),
        platform=platform_of(read, place),
    )
    if len(points) != len(measured):
        raise refuse(path, "was written while it was read; allowed: a table that stays")
    kinds: dict[tuple[str, str], tuple[list[Numbers], list[float]]] = {}
    seen = dict[tuple[Any, ...], str]()
    for (design, configuration), (where, counts) in zip(points, measured, strict=True):
        own = (design.nest, design.array, design.data, configuration)
        if seen.setdefault(own, where) != where:
            raise refuse(where, f"is the array of {seen[own]}; allowed: each once")
        with errors_at(where):
            known = np.array([float(n) for n in features(design.costs(configuration, FRACTION))])
        for resource, count in counts.items():
            rows, figures = kinds.setdefault((resource, design.data.words), ([], []))
            rows.append(known)
            figures.append(count)
    if not kinds:
        raise refuse(path, f"states no resource; allowed: columns {', '.join(RESOURCES)}")
    fits, notes = [], []
    for (resource, words), (rows, figures) in sorted(kinds.items()):
        if len(rows) < LEAST:
            raise refuse(
                path,
                f"has {counted(len(rows), 'array')} of {words} with {resource}; allowed: at least "
                f"{LEAST} of a data type, or none",
            )
        known, synthesized = np.array(rows), np.array(figures)
        rates = [round(float(rate), 4) for rate in fitted(known, synthesized)]
        wrong = abs(errors(known, synthesized)).round(4)
        stated = {name: rate for name, rate in zip(FEATURES, rates, strict=True) if rate}
        fits.append({"resource": resource, "types": [words], **stated})
        notes.append(
            f"{resource} of {words} by {counted(len(rows), 'array')}, {percent(wrong.mean())} off "
            f"on average and {percent(wrong.max())} at most"
        )
    _write(Path(output), read, totals, fits, f"{'; '.join(notes)} (held out of the fit)")
    return Wrote(output, "; ".join(notes))


def _totals(read: PlatformFile, stated: Mapping[str, int]) -> dict[str, int]:
    """Totals of the device by resource of logic, as it states or an option does."""
    allowed = tuple(name for name in RESOURCES if name in ResourcesDocument.model_fields)
    own = {name: getattr(read.resources, name) for name in allowed}
    totals = {name: each.total for name, each in own.items() if each is not None}
    for name, count in stated.items():
        if name not in allowed:
            raise InputError(f"--total {quoted(name)} is unknown{among(name, allowed)}")
        if totals.setdefault(name, count) != count:
            raise InputError(
                f"--total {name} is {count}; allowed: {totals[name]}, which the platform states"
            )
    return totals


def _measured(path: Path, totals: Mapping[str, int]) -> list[tuple[str, dict[str, float]]]:
    """The counts of each row by resource, and where it stands."""
    measured = []
    for where, row in read_rows(read_text(path, MAX_BYTES), path, lambda names: names):
        with errors_at(where):
            name = row.get("app", "").strip()
            if name and name not in workload_names():
                # a table may come from a stranger, and names no files
                raise InputError(
                    f"app is {quoted(name)}; allowed: {', '.join(workload_names())}, or --workload"
                )
            cells = {r: text for r in RESOURCES if (text := row.get(r, "").strip())}
            measured.append((where, {r: _count(r, text, totals) for r, text in cells.items()}))
    return measured


def _count(resource: str, text: str, totals: Mapping[str, int]) -> float:
    """The number that a cell states, which may be a share of the device's."""
    share = text.endswith("%")
    if share and resource not in totals:
        raise InputError(f"{resource} is {quoted(text)}; allowed: a count, or --total {resource}=…")
    count = parse_number(resource, text.removesuffix("%").strip(), positive=True)
    count = count * totals[resource] / 100 if share else count
    if count > totals.get(resource, MOST):
        most = number(totals.get(resource, MOST))
        raise InputError(f"{resource} is {quoted(text)}; allowed: at most {most}")
    return count


def _write(
    path: Path,
    read: PlatformFile,
    totals: Mapping[str, int],
    fits: list[dict[str, Any]],
    note: str,
) -> None:
    """Write a platform with its fits: those of other resources and types that it has stay."""
    import yaml

    document: dict[str, Any] = read.model_dump(mode="json", by_alias=True, exclude_unset=True)
    stated = document["resources"]
    for name, count in totals.items():
        stated.setdefault(name, {"total": count, "usable": json_number(DEFAULT_USABLE)})
    replaced = {(fit["resource"], name) for fit in fits for name in fit["types"]}
    others = [
        {**fit, "types": left}
        for fit in document.get("logic", [])
        if (left := [name for name in fit["types"] if (fit["resource"], name) not in replaced])
    ]
    document |= {
        "name": path.stem,
        "logic": fits + others,
        "sources": {**document.get("sources", {}), "logic": note},
    }
    PlatformFile.model_validate(document)
    write_text_atomically(path, yaml.safe_dump(document, sort_keys=False, width=10_000))
