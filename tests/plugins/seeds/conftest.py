"""Seeds of a small problem."""

import pytest

from ithaca.plugins.seeds.exports.diverse import diverse_configurations
from ithaca.plugins.seeds.exports.parameters import Seeds, parameter_space
from tests.problems import mm_problem


@pytest.fixture(scope="module")
def seeds():
    """Eight seeds of a small problem."""
    problem = mm_problem((48, 40, 32))
    return Seeds(parameter_space(problem), diverse_configurations(problem, 8))
