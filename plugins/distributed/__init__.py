"""Searches on a cluster of Dask's."""

from ithaca.files.plugin import Plugin

PLUGIN = Plugin({"executors": {"scheduler": "ithaca.plugins.distributed.solver.cluster:Cluster"}})
