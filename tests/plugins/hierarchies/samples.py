"""Small problems on memory hierarchies."""

from fractions import Fraction

from ithaca.formulations.problem import Limit
from tests.families.sample import Sample
from tests.plugins.hierarchies.mapped import front as mapped_front
from tests.plugins.hierarchies.mapped import mapped_problem
from tests.plugins.hierarchies.mapped import optimum as mapped_optimum
from tests.plugins.hierarchies.uneven import front as uneven_front
from tests.plugins.hierarchies.uneven import optimum as uneven_optimum
from tests.plugins.hierarchies.uneven import uneven_problem

SAMPLES = (
    Sample(
        "spatial",
        [mapped_problem(energy=2500)],
        mapped_optimum,
        mapped_front,
        Limit("pes", Fraction(2)),
        Limit("energy", Fraction(100)),
        objectives=("latency", "pes"),
        searches=("evolve",),  # "has more than one trip" is not smooth
    ),
    Sample(
        "uneven",
        [uneven_problem(energy=2500)],
        uneven_optimum,
        uneven_front,
        Limit("pes", Fraction(2)),
        Limit("energy", Fraction(100)),
        objectives=("latency", "pes"),
        searches=("evolve",),  # nor are orders
    ),
)
