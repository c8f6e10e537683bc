"""Geometric and nonlinear programs."""

from ithaca.files.extras import installed
from ithaca.files.plugin import Plugin

_SOLVER = "ithaca.plugins.geometric.solver"

PLUGIN = Plugin(
    {
        "engines": {"gp": f"{_SOLVER}.gp:solve_gp", "nlp": f"{_SOLVER}.nlp:solve_nlp"},
        "ranges": {"gp": f"{_SOLVER}.nonlinear:quantity_ranges"},
        # of the default engine, which goes without where Ipopt is not installed
        "starts": {"gp": f"{_SOLVER}.start:geometric_start"} if installed("cyipopt") else {},
    }
)
