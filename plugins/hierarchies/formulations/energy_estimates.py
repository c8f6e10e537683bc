"""Energies of an architecture's components by estimators: a table (ERT) in Accelergy's format."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ithaca.files.errors import InputError
from ithaca.files.messages import refuse
from ithaca.plugins.hierarchies.formulations.architecture_elements import Element
from ithaca.plugins.hierarchies.formulations.architecture_trees import DUMMY
from ithaca.plugins.hierarchies.formulations.compound_components import (
    MAX_ACTIONS,
    CompoundClass,
    PrimitiveAction,
    Scope,
    primitive_actions,
)

#: Actions that are estimated, by what a component does; ``leak`` a cycle.
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "storage": ("read", "write", "update", "leak"),
    "compute": ("compute", "leak"),
}

#: What says the same as an action, in this order where a class has no action of the name.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "update": ("write",),
    "compute": ("mac_random", "mac", "multiply"),
}

#: A nanosecond (s), a nanometre (m).
NANO = 1 / 10**9

#: Attributes where files say none, as the front end of Timeloop v4 has them.
DEFAULTS: Mapping[str, Any] = {"global_cycle_seconds": NANO}

#: An action's energy (pJ; of ``leak`` in a cycle), and what it is from. Raises `InputError` if
#: nothing is known.
Estimator = Callable[[PrimitiveAction], tuple[float, str]]


def estimated_table(
    elements: Sequence[Element],
    classes: Mapping[str, CompoundClass],
    estimate: Estimator,
    known: Mapping[str, Mapping[str, Fraction]],
) -> dict[str, Any]:
    """Energies of all components as an ERT document.

    Parameters
    ----------
    elements : sequence of Element
        The components of an architecture; networks are not counted.
    classes : mapping of str to CompoundClass
        Classes that consist of others, by name.
    estimate : Estimator
        Says the energies of primitive components.
    known : mapping
        Energies of actions by component that are taken as they are.

    Returns
    -------
    dict
        ``ERT`` with tables of actions (pJ), and the source of each component's figures. Six
        significant digits. Components whose leakage nothing says have no action ``leak``.

    Raises
    ------
    InputError
        If nothing is known of a component: one line with its name and what to give, and the names
        of the others of which nothing is known.
    """
    tables, sources, unknown = [], {}, dict[str, InputError]()
    left = iter(range(MAX_ACTIONS))
    for element in elements:
        if element.role not in ACTIONS or element.kind == DUMMY:
            continue
        if stated := known.get(element.name):
            own = [{"name": name, "energy": float(energy)} for name, energy in stated.items()]
            tables.append({"name": element.name, "actions": own})
            sources[element.name] = "the table that was given"
            continue
        try:
            actions, origins = _actions(element, classes, left, estimate)
        except InputError as error:
            unknown[element.name] = error
            continue
        tables.append({"name": element.name, "actions": actions})
        sources[element.name] = "; ".join(filter(None, origins)) or "nothing that costs energy"
    if unknown:
        others = ", ".join(list(unknown)[1:])
        raise InputError(
            str(next(iter(unknown.values())))
            + (others and f"; nothing is known of {others} either")
        )
    return {"ERT": {"version": "0.4", "tables": tables, "sources": sources}}


def _actions(
    element: Element,
    classes: Mapping[str, CompoundClass],
    left: Iterator[int],
    estimate: Estimator,
) -> tuple[list[dict[str, Any]], dict[str, None]]:
    """Energies of a component's actions, and what they are from."""
    kind = element.subclass or element.kind
    around = Scope({**DEFAULTS, **element.variables, **element.inherited}, element.where)
    scope = Scope(element.attributes, f"{element.where}: {element.name}", around)
    actions, origins = [], dict[str, None]()
    for name in ACTIONS[element.role]:
        energy = 0.0
        try:
            for part in _parts(kind, name, scope, classes, left, estimate):
                energy += part[0]
                origins[part[1]] = None
        except InputError:
            if name == "leak":
                continue
            raise
        actions.append({"name": name, "energy": float(f"{energy:.6g}")})
    return actions, origins


def _parts(
    kind: str,
    action: str,
    scope: Scope,
    classes: Mapping[str, CompoundClass],
    left: Iterator[int],
    estimate: Estimator,
) -> list[tuple[float, str]]:
    """Energies of what an action consists of, under the first of its names that is known."""
    first: InputError | None = None
    for name in (action, *SYNONYMS.get(action, ())):
        try:
            return [
                (part.times * energy, source)
                for part in primitive_actions(kind, name, scope, classes, left)
                for energy, source in [estimate(part)]
            ]
        except InputError as error:
            first = first or error
    assert first is not None
    raise first


#: Names of attributes as `hwcomponents` has them, by those of files.
_RENAMED = {
    "n_rdwr_ports": "n_rw_ports",
    "n_ports": "n_rw_ports",
    "nports": "n_rw_ports",
    "datawidth": "width",
    "n_bits": "width",
    "memory_width": "width",
    "memory_depth": "depth",
}


def installed_estimator() -> Estimator:
    """The estimators that are installed: packages of `hwcomponents` (CACTI, NeuroSim, the figures
    of Aladdin and others).

    Raises `InputError` if there are none.
    """
    try:
        import hwcomponents
    except ImportError:
        raise InputError(
            "estimates of energies need the package hwcomponents; allowed: "
            "pip install 'ithaca[energy]' with Python 3.12 or newer, or a table of energies (ERT)"
        ) from None
    from importlib.metadata import version

    def estimate(part: PrimitiveAction) -> tuple[float, str]:
        attributes = estimator_attributes(part)
        kind = part.kind.lower().replace("_", "")
        if kind == "dram":
            # LPDDR4 where nothing says another, as Accelergy's CACTI plug-in
            kind += str(attributes.pop("type", "LPDDR4")).lower()
        if kind.endswith("register"):
            attributes.setdefault("width", 1)
        leak = part.name in ("leak", "idle")
        cycle = attributes.get("cycle_period")
        try:
            if leak:
                made = hwcomponents.get_leak_power(kind, attributes, _return_estimation_object=True)
                if cycle is None and made.value:
                    raise refuse(part.scope.where, "nothing says global_cycle_seconds")
                joules = made.value * (cycle or 0)
            else:
                made = hwcomponents.get_action_cost(
                    kind, attributes, part.name, {}, _return_estimation_object=True
                )
                joules = made.value.energy
        except InputError:
            raise
        except Exception as error:  # of any estimator
            cacti = _unstarted_cacti() if "cacti" in str(error).lower() else ""
            unknown = f"no estimator knows {part.name} of class {part.kind}{_why(error)}"
            remedy = "its class in a file of --components, attributes that an estimator of "
            remedy += "hwcomponents takes, or its energies in ert.yaml"
            raise refuse(part.scope.where, cacti or f"{unknown}; allowed: {remedy}") from None
        package = next(
            model.model_cls.__module__.partition(".")[0]
            for model in hwcomponents.find_models.installed_models(_return_wrappers=True)
            if model.get_name() == made.model_name
        )
        return float(joules) * 1e12, f"{made.model_name} of {package} {version(package)}"

    return estimate


def estimator_attributes(part: PrimitiveAction) -> dict[str, Any]:
    """The attributes of a component under the names, and in the units (m, s, bits), of
    `hwcomponents`."""
    values = {name: part.scope.value(name) for name in part.scope.attributes}
    scope = part.scope
    attributes = {_RENAMED.get(name, name): value for name, value in values.items()}
    attributes |= {name: value for name, value in values.items() if name in _RENAMED.values()}
    for name in ("technology", "global_cycle_seconds"):
        if name not in attributes and scope.knows(name):
            attributes[name] = scope.value(name)
    if (node := attributes.pop("technology", None)) is not None:
        digits = str(node).lower().removesuffix("nm").strip()
        try:
            attributes["tech_node"] = float(digits) * NANO
        except ValueError:
            raise refuse(
                scope.where, f"technology is {node!r}; allowed: a length such as 45nm"
            ) from None
    if (cycle := attributes.pop("global_cycle_seconds", None)) is not None:
        attributes["cycle_period"] = float(cycle)
    if "n_bits" in values:
        attributes["n_bits"] = values["n_bits"]
    if {"width", "depth"} <= attributes.keys():
        attributes["size"] = attributes["width"] * attributes["depth"]
    return attributes


def _why(error: Exception) -> str:
    """The first line in which an estimator says what it lacks."""
    lines = (line.strip(" |\t") for line in str(error).splitlines())
    reason = next((line for line in lines if "Error:" in line or "Exception:" in line), "")
    return f" ({reason.split('. Please')[0][:200]})" if reason else ""


def _unstarted_cacti() -> str:
    """A message that tells how to repair CACTI, if the program that its package brings does not
    start here; else empty."""
    package = find_spec("hwcomponents_cacti")
    if package is None or package.origin is None:
        return ""
    folder = Path(package.origin).parent / "cacti"
    try:
        ran = subprocess.run([folder / "cacti"], capture_output=True, text=True, errors="replace")
        output = ran.stdout + ran.stderr
    except OSError as error:
        output = error.strerror or str(error)
    if "how to use CACTI" in output:
        return ""
    why = output.strip().partition("\n")[0].rpartition(": ")[2].partition(" (")[0]
    return (
        f"the program CACTI does not start on this machine ({why}); allowed: after "
        f"rm -rf {folder}/obj_dbg && make -C {folder} (with g++), which builds it from its "
        "package's sources, or energies in ert.yaml"
    )
