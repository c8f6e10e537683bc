"""Halos as Timeloop's versions count them, beside its loops of two trips taken word by word."""

from itertools import product
from random import Random

import pytest

from ithaca.plugins.hierarchies.formulations.architecture_files import read_architecture
from ithaca.plugins.hierarchies.formulations.halos import (
    DirectedModel,
    RestartedModel,
    SteppedModel,
)
from ithaca.plugins.hierarchies.formulations.points import load_points, model_of
from ithaca.workloads.problem_files import read_problem

ARCHITECTURE = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8, width: 64}}
  - !Component {name: buffer, class: SRAM, attributes: {datawidth: 8, depth: 512, width: 8}}
  - !Component {name: mac, class: intmac}
"""

PROBLEM = """
problem:
  version: 0.4
  shape:
    name: rows
    dimensions: [M, P, R]
    data_spaces:
    - {name: Weights, projection: [[[M]], [[R]]]}
    - {name: Inputs, projection: [[[P], [R]]]}
    - {name: Outputs, projection: [[[M]], [[P]]], read_write: true}
  instance: {M: 4, P: 24, R: 6}
"""


def taken(kind, loops, inner):
    """Words of the inputs that the buffer takes: of every loop the first two trips, the second as
    often as there are more, and of every place what the one before does not have, where a version
    of the tool kept that."""
    words, place, move = 0, None, None
    steps = {"P": inner["P"], "R": inner["R"], "M": 0}
    sizes = [steps[loop] for loop, _ in loops]
    for at in range(len(loops) - 1, -1, -1):  # a loop outside another of its own steps further
        for other, n in loops[at + 1 :]:
            sizes[at] *= n if other == loops[at][0] else 1
    for trips in product(*(range(min(n, 2)) for _, n in loops)):
        often = 1
        for trip, (_, n) in zip(trips, loops, strict=True):
            often *= n - 1 if trip else 1
        first = sum(trip * size for trip, size in zip(trips, sizes, strict=True))
        now = {*range(first, first + inner["P"] + inner["R"] - 1)}
        new = len(now - place) if place is not None else len(now)
        by = None if place is None else first - min(place)
        if kind is DirectedModel:
            towards = (by > 0) - (by < 0) if by and new < len(now) else 0
            keep = by is None or not move or by == 0 or towards == move
            move = towards if keep else 0
        elif kind is RestartedModel:
            keep = move in (None, by)
            move = by if keep else None
        else:
            keep = not by or move in (None, by)
            move = (by or move) if keep else None
        words, place = words + often * (new if keep else len(now)), now
    return words


@pytest.mark.ci
@pytest.mark.parametrize("kind", [SteppedModel, RestartedModel, DirectedModel])
@pytest.mark.parametrize("seed", range(12))
def test_words_kept_from_step_to_step(tmp_path, kind, seed):
    random = Random(seed)
    inner = {"M": random.choice((1, 2)), "P": random.choice((1, 2, 4)), "R": random.choice((1, 2))}
    whole = {"M": 4, "P": 24, "R": 6}
    loops = [(loop, n // inner[loop]) for loop, n in whole.items()]
    random.shuffle(loops)
    lines = ["DRAM [ Weights:24 (24) Inputs:29 (29) Outputs:96 (96) ]", "---"]
    lines += [f"| for {loop} in [0:{n})" for loop, n in loops]
    lines += ["", "buffer [ Weights:4 (4) Inputs:5 (5) Outputs:8 (8) ]", "---"]
    lines += [f"| for {loop} in [0:{n})" for loop, n in inner.items()]
    texts = {"a.yaml": ARCHITECTURE, "p.yaml": PROBLEM}
    texts["m.map.txt"] = "\n".join([*lines, "|    << Compute >>"]) + "\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    nest = read_problem(tmp_path / "p.yaml")
    (point,) = load_points(tmp_path / "m.map.txt", read_architecture(tmp_path / "a.yaml"), nest)
    model = model_of(point.design, [point.mapping], kind)
    ((over, under),) = model.fills(1, "Inputs").entries(1)
    assert over == under * taken(kind, loops, inner)
