"""The comparison of benchmarks/test_fidelity.py, on a handful of arrays, and the figures of
docs/fidelity.md on measured boards."""

from pathlib import Path

import pytest

from benchmarks.fidelity import BOARDS, errors, rankings
from benchmarks.test_fidelity import SPACES, arrays_table, boards_table, rankings_table
from ithaca.formulations.machine import REGIMES
from ithaca.formulations.systolic.systolic_array import Edition

PAGE = Path(__file__).parents[4] / "docs" / "fidelity.md"

#: Latencies of the boards' arrays: by the exact (and odyssey) edition, and by the cycle edition in
#: both regimes.
MODELLED = (
    (680_353, 680_369, 680_941),
    (4_146_945, 4_146_961, 4_148_271),
    (140_033, 142_509, 157_461),
    (94_857, 94_873, 96_075),
    (4_203_009, 4_203_025, 4_204_843),
    (33_563_137, 33_563_153, 33_565_235),
)


@pytest.mark.parametrize(
    ("board", "modelled"),
    list(zip(BOARDS, MODELLED, strict=True)),
    ids=[board.title for board in BOARDS],
)
def test_boards_as_modelled(board, modelled):
    exact, *cycle = modelled
    for machine, latency in zip(REGIMES.values(), cycle, strict=True):
        assert board.modelled(machine) == {
            Edition.CYCLE: latency,
            Edition.EXACT: exact,
            Edition.ODYSSEY: exact,
        }
    rows = [line for line in PAGE.read_text().splitlines() if f"{board.measured:,}" in line]
    for row, latency in zip(rows, cycle, strict=True):
        assert f" {exact:,} " in row
        assert f" {latency:,} " in row


@pytest.mark.parametrize(
    "board", [board for board in BOARDS if board.dtype != "fp32"], ids=lambda board: board.title
)
def test_boards_simulated(board):
    for machine in REGIMES.values():
        ran = board.simulated(machine)
        assert ran.cycles == ran.models["cycle"]
        # the board's build is neither regime: its packs and schedule are not on record
        assert ran.cycles == pytest.approx(board.measured, rel=0.15)


def test_every_board_is_in_the_table(monkeypatch):
    monkeypatch.setattr("benchmarks.test_fidelity.BOARDS", BOARDS[2:4])
    *_, int16, int8 = boards_table()
    page = PAGE.read_text()
    assert int16 in page
    assert int8 in page


def test_a_handful_of_arrays():
    for regime, most in (("rtl", 0.08), ("hls", 0.09)):
        found = errors("mm", ("i", "k"), REGIMES[regime], 6)
        assert max(map(abs, found[Edition.CYCLE].errors)) <= most
        assert found[Edition.CYCLE].mean < found[Edition.EXACT].mean
    assert len(arrays_table((("conv2d", ("o", "i")),), 1)) == 4


def test_rankings_of_a_small_space():
    size, found = rankings("mm", {"i": 8, "j": 8, "k": 8}, ("i", "j"), REGIMES["hls"], 80, 20)
    assert size > 1000
    assert found[Edition.CYCLE].worst <= 0.05  # its bound on errors in this regime
    assert found[Edition.CYCLE].worst < found[Edition.EXACT].regret
    for ranking in found.values():
        assert 0 <= ranking.best <= ranking.regret <= ranking.worst
    assert (
        len(rankings_table(((*SPACES[0][:1], {"i": 4, "j": 4, "k": 4}, *SPACES[0][2:]),), 3)) == 4
    )
