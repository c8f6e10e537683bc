"""Small spaces of mappings of sparse tensors, drawn at random."""

import json
from random import Random

from ithaca.files.timeloop_yaml import MAX_DEPTH, TAGS
from ithaca.files.yaml_documents import parse_yaml
from ithaca.formulations.configuration import Configuration
from ithaca.plugins.hierarchies.formulations.architecture_files import architecture_of
from ithaca.plugins.hierarchies.formulations.library import fitted
from ithaca.plugins.hierarchies.formulations.mapping_space import MappingOptions
from ithaca.plugins.hierarchies.formulations.sparse.design import SparseDesign
from ithaca.workloads.problem_files import problem_nest
from tests.whole_spaces import every_row, size_of

#: Ranks of formats, outermost first.
FORMATS = ("CP", "B", "RLE", "UB", "UOP CP", "UOP RLE", "UOP B", "CP CP", "UOP CP CP")

PRODUCT = {
    "A": [[["M"]], [["K"]]],
    "B": [[["K"]], [["N"]]],
    "Z": [[["M"]], [["N"]]],
}
WINDOWS = {"A": [[["P"], ["R"]]], "B": [[["K"]], [["R"]]], "Z": [[["P"]], [["K"]]]}


def architecture_text(rng):
    """A machine of two or three levels, with formats, savings and energies."""
    count = rng.choice((2, 2, 3))
    stored = {
        tensor: (rng.choice(FORMATS), rng.randrange(4))
        for tensor, share in (("A", 0.6), ("B", 0.6), ("Z", 0.2))
        if rng.random() < share
    }
    lines, tables = ["architecture:", "  version: 0.4", "  nodes:"], []

    def add(kind, node):
        lines.append(f"  - !{kind} {json.dumps(node)}")

    for place, name in enumerate(("DRAM", "Buffer", "RF")[:count]):
        attributes = {
            "datawidth": 8,
            "width": rng.choice((8, 16, 32)),
            "metadata_storage_width": rng.choice((8, 32)),
            "metadata_datawidth": rng.choice((2, 4, 8)),
        }
        if place:
            attributes |= {
                "depth": rng.choice((8, 16, 64)),
                "metadata_storage_depth": rng.choice((16, 64)),
            }
            converts = rng.random() < 0.8
            attributes |= {
                "decompression_supported": converts,
                "compression_supported": converts,
            }
        if rng.random() < 0.5:
            attributes["shared_bandwidth"] = rng.choice((0.5, 1, 2))
        formats = [
            {"name": tensor, "ranks": [{"format": each} for each in ranks.split()]}
            for tensor, (ranks, last) in stored.items()
            if last >= place
        ]
        ways = [
            {
                "type": rng.choice(("skipping", "gating")),
                "options": [
                    {
                        "target": tensor,
                        "condition_on": rng.choice((others[:1], others[-1:], others)),
                    }
                ],
            }
            for tensor in "ABZ"
            if place and rng.random() < 0.35
            for others in [[each for each in "AB" if each != tensor]]
        ]
        sparse = {"representation_format": {"data_spaces": formats}} if formats else {}
        sparse |= {"action_optimization": ways} if ways else {}
        if place == count - 1 and place and rng.random() < 0.5:
            add("Container", {"name": "PE", "spatial": {"meshX": rng.choice((2, 4))}})
        kind = "SRAM" if place else "DRAM"
        own = {"sparse_optimizations": sparse} if sparse else {}
        add("Component", {"name": name, "class": kind, "attributes": attributes, **own})
        energy = rng.choice((2, 6, 10)) if place else 100
        actions = {"read": energy, "write": energy} | {
            action: round(energy * rng.random(), 2)
            for action in (
                "gated_read",
                "gated_write",
                "skipped_read",
                "metadata_read",
                "metadata_write",
                "gated_metadata_read",
            )
            if rng.random() < 0.5
        }
        actions |= {"leak": 0.5} if rng.random() < 0.3 else {}
        tables.append((name, actions))
    units = rng.sample(("gating", "skipping"), rng.randrange(3))
    sparse = {"compute_optimization": [{"type": each} for each in units]} if units else {}
    own = {"sparse_optimizations": sparse} if sparse else {}
    add("Component", {"name": "mac", "class": "intmac", **own})
    tables.append(("mac", {"compute": 1, "gated_compute": 0.3}))
    stated = [
        {"name": name, "actions": [{"name": a, "energy": e} for a, e in actions.items()]}
        for name, actions in tables
    ]
    return "\n".join((*lines, f"ERT: {json.dumps({'version': 0.4, 'tables': stated})}\n"))


def problem(rng):
    """A product, or a convolution of one dimension, perhaps of stride 2."""
    spaces, sizes = PRODUCT, {loop: rng.choice((1, 2, 3, 4, 4, 6)) for loop in "MNK"}
    coefficients = []
    if rng.random() < 0.25:
        spaces, sizes = WINDOWS, {loop: rng.choice((2, 3)) for loop in "PRK"}
        if rng.random() < 0.4:
            coefficients = [{"name": "S", "default": 2}]
            spaces = WINDOWS | {"A": [[["P", "S"], ["R"]]]}
    densities = {
        tensor: {
            "distribution": rng.choice(("hypergeometric", "fixed_structured")),
            "density": round(rng.uniform(0.05, 1), 2),
        }
        for tensor in "ABZ"
        if rng.random() < 0.8
    }
    shape = {
        "name": "drawn",
        "dimensions": list(sizes),
        "coefficients": coefficients,
        "data_spaces": [
            {"name": name, "projection": own, "read_write": name == "Z"}
            for name, own in spaces.items()
        ],
    }
    return {"shape": shape, "instance": {**sizes, "densities": densities}}


def of_bands(problem, rng):
    """Make the operands of a product square and banded; the output keeps its density."""
    side, instance = rng.choice((2, 3, 4)), problem["instance"]
    instance |= dict.fromkeys(problem["shape"]["dimensions"], side)
    for tensor in rng.choice(("A", "B", "AB")):
        own = {"distribution": "banded", "band_width": rng.randrange(side)}
        instance["densities"][tensor] = own


def drawn(number, *, banded=False):
    """The first design of a seed with something to choose, not too much, and to save."""
    rng = Random(number)
    while True:
        tree = parse_yaml(architecture_text(rng), "drawn", TAGS, MAX_DEPTH)
        architecture = architecture_of(tree, None, "drawn", "drawn")
        stated = problem(rng)
        if banded:
            if "M" not in stated["shape"]["dimensions"]:
                continue
            of_bands(stated, rng)
        nest = problem_nest(stated, "drawn")
        options = MappingOptions(divisors_only=rng.random() < 0.6, free_bypass=rng.random() < 0.3)
        if not architecture.sparse or max(nest.sizes.values()) == 1:
            continue
        design = SparseDesign(nest, fitted(architecture, nest, dense=False), options)
        if size_of(design.space) <= 2000:
            return design


def mappings(design):
    """All mappings of a space, in all orders of loops, of one trip or more."""
    names = design.space.quantities
    return [Configuration({name: own[name] for name in names}) for own in every_row(design.space)]
