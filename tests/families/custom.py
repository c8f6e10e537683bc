"""A layer with stated costs, and all that it may choose, computed by hand."""

from fractions import Fraction

from ithaca.formulations.problem import Limit, Problem, read_objective
from ithaca.plugins.codesign.formulations.custom.design import CustomDesign
from ithaca.plugins.codesign.formulations.custom.model import ModelDocument, read_model
from ithaca.workloads.library import workload

EXTENTS = {"i": 24, "j": 10, "k": 6}
MODEL = {
    "metrics": {
        "trips": "ceil(layer.i / tile)",
        "words": "layer.input1 + layer.input2 * trips + layer.output",
        "latency": {
            "of": "max(ceil(layer.operations / lanes), words / 4) + trips",
            "unit": "cycles",
        },
        "dsp": "lanes * ceil(bits / 16)",
        "noise": "32 / bits",
    },
    "choices": {
        "tile": {"range": [1, "layer.i"]},
        "lanes": {"powers_of_two": [1, 16]},
        "bits": {"powers_of_two": [4, 32]},
    },
    "conditions": ["tile * (layer.j + layer.k) <= buffer", "lanes <= tile"],
}


def custom_problem(**limits):
    model = read_model(ModelDocument.model_validate(MODEL), ["buffer"])
    design = CustomDesign(workload("mm", EXTENTS), model, (("buffer", Fraction(160)),))
    bounds = tuple(Limit(name, Fraction(bound)) for name, bound in limits.items())
    return Problem(design, bounds, read_objective("latency", "o", design.vocabulary))


def custom_points():
    """Every choice with its metrics, without the model."""
    i, j, k = EXTENTS.values()
    for tile in range(1, i + 1):
        for lanes in (1, 2, 4, 8, 16):
            for bits in (4, 8, 16, 32):
                if tile * (j + k) <= 160 and lanes <= tile:
                    trips = -(-i // tile)
                    words = i * k + j * k * trips + i * j
                    yield (
                        {"tile": tile, "lanes": lanes, "bits": bits},
                        {
                            "trips": Fraction(trips),
                            "words": Fraction(words),
                            "latency": max(Fraction(-(-i * j * k // lanes)), Fraction(words, 4))
                            + trips,
                            "dsp": Fraction(lanes * -(-bits // 16)),
                            "noise": Fraction(32, bits),
                        },
                    )
