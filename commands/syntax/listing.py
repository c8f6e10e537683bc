"""``ithaca list …`` as one types it."""

from __future__ import annotations

import typer

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import print_document

listing = typer.Typer(help="List workloads, platforms, or the designs of a workload.", no_args_is_help=True)


@listing.command("workloads")
def list_workloads() -> None:
    """Loop nests that come with Ithaca."""
    from ithaca.commands.listing import print_workloads

    print_workloads()


@listing.command("platforms")
def list_platforms() -> None:
    """Devices that come with Ithaca."""
    from ithaca.commands.listing import print_platforms

    print_platforms()


@listing.command("designs")
def list_designs(
    workload: given.Workload,
    edition: given.Edition = "exact",
    dtype: given.DType = "fp32",
    as_json: given.AsJson = False,
) -> None:
    """Every dataflow and permutation of a workload, with its modules and formulas."""
    from ithaca.commands.listing import designs_document, print_designs
    from ithaca.commands.options import parse_edition
    from ithaca.formulations.data_types import data_type
    from ithaca.workloads.library import workload as find_workload

    arguments = find_workload(workload), parse_edition(edition), data_type(dtype)
    if as_json:
        print_document(designs_document(*arguments))
    else:
        print_designs(*arguments)
