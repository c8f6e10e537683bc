"""``ithaca map``: the proven-best mapping onto a memory hierarchy, or those of many layers."""

from ithaca.commands.conclusion import printed
from ithaca.commands.typed import calls
from ithaca.plugins.hierarchies.commands.mapping import map as map_problem

map = calls(map_problem)(printed())
map.__name__ = "map"
