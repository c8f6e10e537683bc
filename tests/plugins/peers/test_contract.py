"""Search tools on a small problem of every family."""

import pytest

from ithaca.plugins.peers.studies.methods import PEERS, run_peer
from ithaca.plugins.peers.studies.recorder import SampleBudget
from tests.families.samples import each_family


@each_family
@pytest.mark.parametrize("name", [name for name, peer in PEERS.items() if not peer.libraries])
def test_peers_search_it(sample, name):
    problem = sample.problems[0]
    # samples of the exact search are its boxes
    trace = run_peer(
        name, problem, SampleBudget(samples=100_000 if name == "exact" else 20, seconds=20)
    )
    if name == "exact":
        assert trace.value == sample.optimum(problem)
    elif trace.best is not None:
        value = problem.feasible_value(trace.best)
        assert value >= (sample.optimum(problem) or 0)
