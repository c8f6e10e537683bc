"""The comparison of benchmarks/test_fidelity.py, on a handful of arrays, and the figures of
docs/fidelity.md on measured boards."""

from pathlib import Path

import pytest

from benchmarks.fidelity import BOARDS
from benchmarks.test_fidelity import boards_table
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
