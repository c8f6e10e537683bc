"""The exported folder: the program, where its words lie, and what runs it."""

from __future__ import annotations

from typing import Any

from ithaca.files.writing import document_text
from ithaca.formulations.algebra.number_systems import FRACTION
from ithaca.plugins.hierarchies.exports.instructions.called import CalledNest, ToolOfCalls
from ithaca.plugins.hierarchies.exports.instructions.program import COLUMNS, rows
from ithaca.plugins.hierarchies.exports.templates import template


def expected(called: CalledNest) -> dict[str, int]:
    """The model's counts of the program's actions, by name; words off chip whether they take cycles
    or not."""
    work = called.design.work
    tiles = {p: -(-extent // called.tile[p]) for p, extent in work.extents}
    return {"off_chip_words": int(work.traffic(tiles, FRACTION))} | {
        name: int(called.metrics[name]) for name in ("subproblems", "calls", "words", "computes")
    }


def _layout(called: CalledNest) -> dict[str, Any]:
    """The places of words, off chip and in the scratchpad, and the model's counts."""
    work, computes = called.design.work, called.computes
    return {
        "statement": str(called.nest),
        "loops": called.nest.sizes,
        "scratchpad_words": work.scratchpad,
        "call": {"name": computes.name, "statement": str(computes), "sizes": computes.sizes},
        "operands": [
            {
                "tensor": operand.access.tensor,
                "off_chip": operand.off_chip + operand.first,
                "steps": operand.steps,
                "strides": {
                    p: operand.step(p) for p in computes.loops if operand.own.indexed_by(p)
                },
                "call_words": words,
                "held": known.held,
            }
            for operand, words, known in zip(
                called.operands, work.call_words, work.operands, strict=True
            )
        ],
        "model": expected(called),
    }


def files(called: CalledNest) -> dict[str, str]:
    """Content by file name."""
    return {
        "program.csv": "".join(f"{','.join(row)}\n" for row in (COLUMNS, *rows(called))),
        "layout.json": document_text(_layout(called)),
        "run.py": template("instructions/run.py.txt"),
        "README.md": template(
            "instructions/readme.md.txt",
            title=called.description,
            statement=called.nest,
            call=called.computes,
            metrics=expected(called),
        ),
    }


INSTRUCTIONS = ToolOfCalls(
    "no instructions compute",
    obstacles=lambda called: (),
    files=files,
    builds="`run.py` in every folder",
    command='python3 "$here/$folder/run.py" "$@"',
)
