"""OR-Tools' CP-SAT: designs as integer programs."""

from ithaca.files.plugin import Plugin

_HERE = "ithaca.plugins.cpsat"
_ENGINE = {"cpsat": f"{_HERE}.solver.engine:solve_cpsat"}

PLUGIN = Plugin(
    {
        "engines": _ENGINE,
        "provers": _ENGINE,
        "tools": {"cpsat": f"{_HERE}.exports.folder:CPSAT"},
        "tool makers": {"cpsat": f"{_HERE}.exports.folder:for_family"},
        "programs": {"cpsat": f"{_HERE}.exports.folder:CPSAT"},
        "names": {"solve_pyomo": f"{_HERE}.solver.from_pyomo:solve_pyomo"},
    }
)
