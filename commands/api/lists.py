"""Lists of the library that comes with Ithaca: workloads, networks, platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ithaca.formulations.platform import Platform
    from ithaca.workloads.nest import LoopNest
    from ithaca.workloads.networks.network import Network


def list_workloads() -> tuple[LoopNest, ...]:
    """The loop nests that come with Ithaca, and workloads of other kinds.

    Examples
    --------
    >>> [nest.name for nest in ithaca.list_workloads()][:2]
    ['attention_scores', 'attention_values']
    """
    from ithaca.workloads.library import KINDS, workload, workload_names

    others = (kind.find(name, {}) for kind in KINDS.values() for name in kind.names())
    return (*map(workload, workload_names()), *others)


def list_networks() -> tuple[Network, ...]:
    """The networks that come with Ithaca.

    Examples
    --------
    >>> ithaca.list_networks()[0]
    <Network alexnet: 8 distinct layers>
    """
    from ithaca.workloads.networks.find import find_network, network_names

    return tuple(map(find_network, network_names()))


def list_platforms() -> tuple[Platform, ...]:
    """The devices that come with Ithaca.

    Examples
    --------
    >>> [platform.name for platform in ithaca.list_platforms()][:2]
    ['asic-28nm', 'rtl-open']
    """
    from ithaca.formulations.platform_files import load_platform, platform_names

    return tuple(map(load_platform, platform_names()))
