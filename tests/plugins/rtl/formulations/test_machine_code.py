"""Machine code of the loop that runs networks: kept, and run without numba."""

import subprocess
import sys

import numpy as np
import pytest

from ithaca.formulations.processes import Fifo, Loop, Meet, Process, ProcessNetwork, Repeat
from ithaca.plugins.rtl.formulations import machine_code
from ithaca.plugins.rtl.formulations.engine import run_network
from tests.plugins.rtl.formulations.stepping import run_stepping

NETWORK = ProcessNetwork(
    (Fifo("f", 2, 3), Fifo("g", 3, 1)),
    (
        Process("a", (Repeat(50, (Loop(4, writes=("f",)), Meet("m", 2))),)),
        Process("b", (Repeat(100, (Loop(2, entry=1, reads=("f",), writes=("g",), interval=2),)),)),
        Process("c", (Repeat(50, (Meet("m", 2), Loop(4, reads=("g",)))),)),
    ),
)


def counts(network, **options):
    run = run_network(network, **options)
    arrays = (run.ends, run.finished, run.processes, run.waits, run.tally, run.phases, run.words)
    return [np.asarray(array).tolist() for array in arrays], run.skipped


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A cache of its own; the loop is looked for anew."""
    monkeypatch.setenv("ITHACA_CACHE", str(tmp_path))
    machine_code.kernel.cache_clear()
    yield tmp_path / "simulator"
    machine_code.kernel.cache_clear()


@pytest.mark.ci
def test_kept_machine_code_runs_as_numba_does(kept, monkeypatch):
    made, again = machine_code._compiled(), []
    monkeypatch.setattr(machine_code, "_compiled", lambda: again.append(1) or made)
    ways = ({}, {"stretch": 7, "cycles": 700}, {"phases": True, "words": True})
    own = [counts(NETWORK, **way) for way in ways]
    (file,) = kept.iterdir()
    assert own[0][1] > 0  # periods were skipped
    assert (max(own[0][0][0]), all(own[0][0][1])) == run_stepping(NETWORK)
    # the next process loads it, and no numba
    machine_code.kernel.cache_clear()
    assert [counts(NETWORK, **way) for way in ways] == own
    assert again == [1]
    code = "from ithaca.plugins.rtl.formulations import machine_code as m; m.kernel(); import sys; "
    code += "assert 'llvmlite' in sys.modules and 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    # what somebody else put there is not run
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    machine_code.kernel.cache_clear()
    assert counts(NETWORK) == own[0]
    assert again == [1, 1]
    # and numba says the same
    machine_code.kernel.cache_clear()
    monkeypatch.setenv("ITHACA_CACHE", "")
    assert [counts(NETWORK, **way) for way in ways] == own


def test_arguments_are_handed_over_as_they_are_compiled(monkeypatch):
    per_array = 5 * sum(n > 0 for n in machine_code.DIMENSIONS)
    per_axis = sum(2 * n or 1 for n in machine_code.DIMENSIONS)
    assert len(list(machine_code._types())) == per_array + per_axis
    monkeypatch.setattr(machine_code, "DIMENSIONS", (2, 0))
    matrix = np.arange(6, dtype=np.int64).reshape(2, 3)
    place = matrix.__array_interface__["data"][0]
    assert list(machine_code._flat([matrix, 5])) == [0, 0, 6, 8, place, 2, 3, 24, 8, 5]
    for wrong in (matrix[0], matrix.T, matrix.astype(np.int32), 5):
        with pytest.raises(AssertionError):
            list(machine_code._flat([wrong, 5]))
