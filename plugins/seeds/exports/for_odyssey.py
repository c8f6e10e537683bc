"""Seeds for Odyssey, the tuner that AutoSA ships (autosa_scripts/odyssey).

They are its parameter sets, in a file a JSON list: extents (``i``), tiling factors (``i_t1``,
``i_t2``) and packs (``p9``, …), named as in the published design descriptions. Its genetic search
starts from one *ancestor*, a list of the tunable parameters in their order: `odyssey_ancestor`. It
infers packs itself; those given here say what Ithaca chose.
"""

from __future__ import annotations

from ithaca.files.errors import InputError
from ithaca.formulations.configuration import Configuration
from ithaca.formulations.formats import PUBLISHED
from ithaca.formulations.problem import Problem
from ithaca.formulations.systolic.derivation import derive
from ithaca.formulations.systolic.design import SystolicDesign, systolic
from ithaca.formulations.systolic.systolic_array import SERIALIZED, Edition
from ithaca.formulations.systolic.tiling import Tiling
from ithaca.plugins.seeds.exports.parameters import Seeds, json_list


def odyssey_text(seeds: Seeds) -> str:
    """The file: a JSON list of parameter sets."""
    return json_list(odyssey_seeds(seeds))


def odyssey_seeds(seeds: Seeds) -> list[dict[str, int]]:
    """The parameter sets.

    Raises `InputError` if the nest is strided or dilated, or has several memory ports or levels of
    tiles, which none of Odyssey's parameters could say.
    """
    nest = systolic(seeds.space.problem).nest
    if systolic(seeds.space.problem).options.dram != SERIALIZED:
        raise InputError(
            "Odyssey has one memory port of each tensor, which the host lays out, and one level of "
            "tiles; allowed: a result without --ports, --no-host-serialize, --two-level"
        )
    if systolic(seeds.space.problem).array.single:
        raise InputError(
            "Odyssey's buffers are doubled but for drains; allowed: a result without "
            "--double-buffer"
        )
    if nest.sparse is not None:
        raise InputError(
            f"block sparsity {nest.sparse}: Odyssey's tensors are dense; allowed: those"
        )
    data = systolic(seeds.space.problem).data
    if not data.plain:
        raise InputError(
            f"format {nest.labels.get('format', data.name)}: Odyssey's tensors are of one type; "
            f"allowed: {', '.join(PUBLISHED)}"
        )
    for access in nest.accesses:
        if any(c != 1 for subscript in access for _, c in subscript.terms):
            raise InputError(
                f"Odyssey has no designs for {access}, strided or dilated; "
                "allowed: strides and dilations of 1"
            )
    return [
        odyssey_parameters(seeds.space.problem, configuration)
        for configuration in seeds.configurations
    ]


def odyssey_parameters(problem: Problem, configuration: Configuration) -> dict[str, int]:
    """A configuration in Odyssey's names."""
    design = systolic(problem)
    tiling = design.tiling(configuration)
    packs = {
        name: tiling.pack[group]
        for group, name in pack_names(design).items()
        if group in tiling.pack
    }
    return {**design.nest.sizes, **_tunables(design, tiling), **packs}


def odyssey_ancestor(problem: Problem, configuration: Configuration) -> list[int]:
    """A configuration as the ``ancestor`` of Odyssey's genetic search."""
    design = systolic(problem)
    return list(_tunables(design, design.tiling(configuration)).values())


def pack_names(design: SystolicDesign) -> dict[str, str]:
    """Odyssey's name of the pack of every I/O group.

    All parameters are numbered: extents, t1, t2, then one pack per I/O group, by tensor, the drain
    last. The numbering does not know of merged drains, so the exact model edition's groups count.
    """
    nest, array = design.nest, design.array
    groups = derive(nest, array.dataflow, array.permutation, Edition.EXACT).groups
    first = len(nest.loops) + 2 * len(array.band)
    # sorting is stable: flow groups stay before the drain
    ordered = sorted(groups, key=lambda group: group.tensor)
    return {group.name: f"p{number}" for number, group in enumerate(ordered, start=first)}


def _tunables(design: SystolicDesign, tiling: Tiling) -> dict[str, int]:
    """The parameters of its search in order: all t1, space loops first; then t2, SIMD last."""
    array = design.array
    order = [*array.dataflow, *(loop for loop in array.band if loop not in array.dataflow)]
    outer = {f"{loop}_t1": tiling.array_part[loop] for loop in order}
    inner = {
        f"{loop}_t2": tiling.latency_hiding[loop]
        for loop in order
        if loop in array.latency_hiding_loops
    }
    return {**outer, **inner, f"{array.simd_loop}_t2": tiling.simd}
