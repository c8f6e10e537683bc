"""Data types of nests as editions of the cost model count them."""

from __future__ import annotations

from ithaca.files.errors import InputError
from ithaca.formulations.data_types import DataType
from ithaca.formulations.formats import PUBLISHED
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.workloads.nest import LoopNest


def counted_type(data: DataType, nest: LoopNest, edition: Edition) -> DataType:
    """The data type of a nest as an edition counts it: the default counts what is built, as all
    do of formats that were never published, and of sums that have one.

    Parameters
    ----------
    data : DataType
        The type that was asked for.
    nest : LoopNest
        The nest, which may state formats of its tensors.
    edition : Edition
        The edition.

    Raises
    ------
    InputError
        If the edition publishes no such type.
    """
    typed = data.of(nest)
    summed = nest.output.tensor in dict(nest.formats)
    if edition is Edition.CYCLE or summed or not typed.plain:
        if edition is Edition.ODYSSEY:
            raise InputError(
                f"format {nest.labels.get('format', typed.name)}: --edition odyssey publishes one "
                f"type of all tensors; allowed: {', '.join(PUBLISHED)}"
            )
        return typed.built
    return typed
