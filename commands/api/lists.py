"""What comes with Ithaca: workloads, networks, platforms, architectures, hardware spaces; and the
designs of a workload."""

from __future__ import annotations

from ithaca.commands.api.keywords import public
from ithaca.commands.api.options import DType, Edition, Extents, Sizes, Workload
from ithaca.commands.api.parsing import parse_edition, parse_extents
from ithaca.commands.api.request import read_data_type, read_nest
from ithaca.formulations.hardware.files import find_space, space_names
from ithaca.formulations.hardware.space import HardwareSpace
from ithaca.formulations.platform import Platform
from ithaca.formulations.platform_files import load_platform, platform_names
from ithaca.formulations.spatial.architecture import Architecture
from ithaca.formulations.spatial.library import architecture_names, find_architecture
from ithaca.formulations.systolic import derivation
from ithaca.formulations.systolic.design import SystolicDesign
from ithaca.workloads.library import workload, workload_names
from ithaca.workloads.nest import LoopNest
from ithaca.workloads.networks.find import find_network, network_names
from ithaca.workloads.networks.network import Network


def list_workloads() -> tuple[LoopNest, ...]:
    """The loop nests that come with Ithaca."""
    return tuple(map(workload, workload_names()))


def list_networks() -> tuple[Network, ...]:
    """The networks that come with Ithaca."""
    return tuple(map(find_network, network_names()))


def list_platforms() -> tuple[Platform, ...]:
    """The devices that come with Ithaca."""
    return tuple(map(load_platform, platform_names()))


def list_architectures() -> tuple[Architecture, ...]:
    """The memory hierarchies that come with Ithaca."""
    return tuple(map(find_architecture, architecture_names()))


def list_spaces() -> tuple[HardwareSpace, ...]:
    """The hardware spaces that come with Ithaca."""
    return tuple(map(find_space, space_names()))


@public
def list_designs(
    workload: Workload,
    *,
    sizes: Sizes = None,
    edition: Edition = "exact",
    dtype: DType = "fp32",
    **extents: Extents,
) -> tuple[SystolicDesign, ...]:
    """Every design of a workload, buildable or not: a dataflow and a permutation."""
    found = read_nest(workload, parse_extents(sizes, extents))
    arrays, data = derivation.designs(found, parse_edition(edition)), read_data_type(dtype)
    return tuple(SystolicDesign(found, array, data, technology=data.energies()) for array in arrays)
