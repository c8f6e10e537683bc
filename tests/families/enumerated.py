"""All configurations of the toy family, without its space and its model."""

from fractions import Fraction
from itertools import product

from ithaca.plugins.codesign.formulations.custom.design import CustomDesign
from tests.families.custom import custom_points


def every_point(problem):
    """All configurations of a filter with their metrics, enumerated and computed without the space
    and the model."""
    fir = problem.design
    if isinstance(fir, CustomDesign):
        yield from custom_points()
        return
    for blocks, word, burst in product(range(1, fir.taps + 1), (4, 8, 16, 32), (1, 2, 4, 8, 16)):
        if burst * word > 64 or (fir.transposed and blocks % burst):
            continue
        fold = -(-fir.taps // blocks)
        latency = max(
            Fraction(fold * fir.samples), Fraction(fir.samples * word, burst)
        ) + blocks * (1 if fir.transposed else 2)
        energy = Fraction(word * word * fir.samples * fir.taps, 4)
        metrics = {
            "latency": latency,
            "dsp": Fraction(blocks * -(-word // 16)),
            "energy": energy,
            "noise": Fraction(32, word),
        }
        yield {"blocks": blocks, "fold": fold, "word": word, "burst": burst}, metrics
