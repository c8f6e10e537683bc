"""``ithaca evaluate`` as one types it."""

from __future__ import annotations

from ithaca.commands.syntax import parameters as given
from ithaca.commands.syntax.outcome import print_document


def evaluate(
    workload: given.Workload, points: given.Points, dtype: given.DType = "fp32", as_json: given.AsJson = False
) -> None:
    """Compute all metrics of given configurations afresh, by the exact reference."""
    from ithaca.commands.evaluate import evaluate_file, print_points
    from ithaca.formulations.data_types import data_type
    from ithaca.workloads.library import workload as find_workload

    document = evaluate_file(find_workload(workload), points, data_type(dtype))
    if as_json:
        print_document(document)
    else:
        print_points(document)
