"""``ithaca list designs``: the designs of a workload."""

from __future__ import annotations

from typing import Annotated, Any

from rich.console import Console
from rich.markup import escape
from typer import Option

from ithaca.commands.api.keywords import public
from ithaca.commands.api.options import Extents, Sizes, Workload
from ithaca.commands.api.outputs import AsJson, TableFile
from ithaca.commands.api.parsing import check_sizes, parse_extents
from ithaca.commands.display import console, show
from ithaca.commands.outcome import print_document, write_rows
from ithaca.files.writing import SCHEMA
from ithaca.formulations.algebra.expression import SYMBOLIC, Symbols
from ithaca.formulations.data_types import DataType
from ithaca.formulations.formats import LISTED
from ithaca.formulations.systolic.cost_model import evaluate
from ithaca.formulations.systolic.derivation import designs
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.formulations.systolic.options import EDITIONS
from ithaca.formulations.systolic.question import read_data_type, read_edition
from ithaca.formulations.systolic.systolic_array import Edition, SystolicArray
from ithaca.results.view import Table
from ithaca.workloads.library import read_nest
from ithaca.workloads.nest import LoopNest

EditionName = Annotated[str, Option("--edition", help=f"Model edition: {EDITIONS}.")]
DType = Annotated[str | DataType, Option("--dtype", help=f"Data type: {LISTED}")]


@public
def list_designs(
    workload: Workload,
    *,
    sizes: Sizes = None,
    edition: EditionName = "exact",
    dtype: DType = "fp32",
    **extents: Extents,
) -> tuple[SystolicDesign, ...]:
    """Every design of a workload, buildable or not: a dataflow and a permutation.

    Examples
    --------
    >>> [design.name for design in ithaca.list_designs("mm", i=4, j=4, k=4)][:2]
    ['[i] A', '[i] B']
    """
    own = parse_extents(sizes, extents)
    nest = read_nest(workload, own)
    arrays, data = designs(nest, read_edition(edition)), read_data_type(dtype)
    check_sizes(workload, nest, own)
    return tuple(SystolicDesign(nest, array, data, technology=data.energies()) for array in arrays)


def print_list(
    *,
    workload: Workload,
    sizes: Sizes = None,
    edition: EditionName = "exact",
    dtype: DType = "fp32",
    as_json: AsJson = False,
    table: TableFile = None,
) -> None:
    """Every design of a workload, with its modules and formulas.

    Sizes of tiled loops do not matter; those of loops inside PEs, such as a filter's, do.
    """
    nest = read_nest(workload, parse_extents(sizes, {}))
    arguments = nest, read_edition(edition), read_data_type(dtype)
    document = designs_document(*arguments)
    rows = [(d, m) for d in document["designs"] for m in d["modules"]]
    columns = ["dataflow", "permutation", "buildable", *rows[0][1]]
    cells = [
        [",".join(d["dataflow"]), d["permutation"], d["buildable"], *m.values()] for d, m in rows
    ]
    write_rows(table, columns, cells)
    if as_json:
        print_document(document)
    else:
        print_designs(*arguments)


def print_designs(nest: LoopNest, edition: Edition, data: DataType) -> None:
    """Print every design of a nest: modules, resource formulas, buildable or not and why.

    Parameters
    ----------
    nest : LoopNest
        The workload.
    edition : Edition
        The edition of the cost model.
    data : DataType
        The type of all tensors.
    """
    out, listed = console(), designs_document(nest, edition, data)["designs"]
    buildable = sum(design["buildable"] for design in listed)
    out.print(
        f"{nest}: {len(listed)} designs, {buildable} buildable ({edition.value} model edition)"
    )
    for design in listed:
        _print_design(out, design)


def _print_design(out: Console, design: dict[str, Any]) -> None:
    loops = ", ".join(design["dataflow"])
    name = escape(f"[{loops.replace(' ', '')}] {design['permutation']}")
    out.print(
        f"\n[bold]{name}[/bold]  space loops {loops}; order {', '.join(design['order'])}",
        markup=True,
    )
    rows = []
    for module in design["modules"]:
        double = {True: "yes", False: "no", None: None}[module["double_buffered"]]
        cells = (module["buffer"], module["buffers"], double, module["instances"])
        dram = " (DRAM)" if module["dram"] else ""
        rows.append(
            (module["name"] + dram, f"L{module['level']}", *(cell or "–" for cell in cells))
        )
    for name, instances in design["helpers"].items():
        rows.append((name, "–", "–", "–", "–", instances))
    if design["accumulators"] is not None:
        rows.append(("PE", "–", design["accumulators"], design["pes"], "no", design["pes"]))
    headings = ("module", "level", "buffer (words)", "buffers", "double", "modules")
    show(Table("", headings, tuple(rows), frozenset(range(len(headings)))))
    out.print(f"  DSP      = {design['dsp']}")
    out.print(f"  BRAM18K  = {design['bram18k']}")
    out.print(f"  buildable: {'yes' if design['buildable'] else 'no: ' + design['obstacle']}")


def designs_document(nest: LoopNest, edition: Edition, data: DataType) -> dict[str, Any]:
    """Every design of a nest as a JSON document, with the sizes that it depends on.

    Parameters
    ----------
    nest : LoopNest
        The workload.
    edition : Edition
        The edition of the cost model.
    data : DataType
        The type of all tensors.
    """
    sizes = {name: n for name, n in nest.settings.items() if name not in nest.band}
    return {
        "schema": SCHEMA,
        "workload": {"name": nest.name, "sizes": sizes, "dtype": data.name},
        "edition": edition.value,
        "designs": [
            _design_document(array, data.built if edition is Edition.CYCLE else data)
            for array in designs(nest, edition)
        ],
    }


def _design_document(array: SystolicArray, data: DataType) -> dict[str, Any]:
    costs = evaluate(array, Symbols(), data, SYMBOLIC)
    return {
        "dataflow": list(array.dataflow),
        "permutation": array.permutation,
        "order": list(array.order),
        "buildable": array.buildable,
        "obstacle": array.obstacle,
        "modules": [
            {
                "name": module.name,
                "level": module.level,
                "instances": str(module.instances),
                "dram": module.dram,
                "buffer": str(group.size) if module.buffer else None,
                "buffers": str(group.count) if module.buffer else None,
                "double_buffered": group.double_buffered if module.buffer else None,
            }
            for group, module in array.modules
        ],
        "helpers": {name: str(instances) for name, instances in array.helpers.items()},
        "pes": str(array.pe.count),
        "accumulators": None if array.pe.accumulators is None else str(array.pe.accumulators),
        "dsp": str(costs.dsp),
        "bram18k": str(costs.bram18k),
    }
