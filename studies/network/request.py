"""What a network is asked for: the same of every layer."""

from __future__ import annotations

from dataclasses import dataclass, field

from ithaca.formulations.platform import Platform
from ithaca.formulations.problem import Limit, Objective
from ithaca.formulations.systolic.data_types import DataType
from ithaca.formulations.systolic.design import SpaceOptions
from ithaca.formulations.systolic.systolic_array import Edition
from ithaca.studies.shared.plans import Minimise


@dataclass(frozen=True)
class NetworkRequest:
    """What a network is solved for."""

    data: DataType  #: The type of all tensors
    platform: Platform  #: The device
    limits: tuple[Limit, ...]  #: Upper limits on metrics: the platform's, and those that replace or extend them
    objective: Objective  #: What is minimised, of each run of a layer
    edition: Edition = Edition.EXACT  #: Statement of the cost model
    dataflow: tuple[str, ...] | None = None  #: The dataflow of every layer; None for all
    permutation: str | None = None  #: The permutation of every layer; None for all
    include_unbuildable: bool = False  #: Whether to consider designs that HLS cannot build
    space: SpaceOptions = field(default_factory=SpaceOptions)  #: Restrictions of the design space
    arrays: int = 1  #: How many arrays share the budget
    minimise: Minimise = Minimise.TOTAL  #: What of several arrays is minimised
