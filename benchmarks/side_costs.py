"""CPU seconds of whole commands beside what is asked of them: ``python -m benchmarks.side_costs
[WORD] [--runs N]``.

Each command is run once so that its code is compiled, then some times more; printed is the median
of user and system time, with the least and the most. On a machine that does other work, too, times
wander by half: compare only figures of one run.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measured import measured

#: A first answer in Python.
FIRST = "import ithaca; print(ithaca.solve('mm', i=16, j=16, k=16, platform='u250'{}).value)"

#: Files that commands name, and what makes them.
MADE = {
    "PRODUCT.json": "solve mm -s i=1024,j=1024,k=1024 --platform u250 -o PRODUCT.json",
    "AUTOSA.json": "solve mm -s i=1024,j=1024,k=1024 --platform u250 --for autosa -o AUTOSA.json",
    "OPEN.json": "solve mm -s i=1024,j=1024,k=1024 --platform rtl-open -o OPEN.json",
    "LAYERS.json": "network vgg16 --layers conv* --dataflow o,r -o LAYERS.json",
}

#: Commands, or Python, and the CPU seconds that are asked of them; None: no figure is.
QUESTIONS: tuple[tuple[str, float | None], ...] = (
    ("--help", 0.2),
    ("list platforms", 0.4),
    (FIRST.format(", dataflow='i,j'"), 1.0),
    (FIRST.format(""), 1.0),
    ("verify PRODUCT.json", 3.0),
    ("verify AUTOSA.json", 6.0),
    ("explain PRODUCT.json", 2.0),
    ("explain LAYERS.json", 2.0),
    ("report PRODUCT.json -o PAGE.html", 3.0),
    ("report LAYERS.json -o PAGE.html", 3.0),
    ("simulate PRODUCT.json", 3.0),
    ("simulate OPEN.json", 3.0),
    ("export OPEN.json --to rtl -o HARDWARE", 5.0),
    ("export PRODUCT.json --to autosa -o PROGRAM", None),
    ("network vgg16 -o NETWORK.json", 8.0),
    ("network vgg16 --all-designs -o NETWORK.json", 15.0),
    ("codesign explainable-edge resnet18", 20.0),
    ("codesign hasco-gemm", 4.0),
)


def words(question: str, folder: Path) -> list[str]:
    """The words of a question for the interpreter; those in capitals are files of a folder."""
    if question.startswith("import"):
        return ["-c", question]
    return ["-m", "ithaca", *(str(folder / w) if w[:4].isupper() else w for w in question.split())]


def seconds(question: str, folder: Path) -> float:
    """User and system time of a question (s), which must succeed."""
    taken = measured(words(question, folder), str(folder / "compiled"))
    assert not taken.status, taken.errors
    return taken.seconds


def lines(word: str, runs: int) -> Iterator[str]:
    """The figures of the commands in which a word stands, as they are measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for question, most in QUESTIONS:
            if word not in question:
                continue
            for file in MADE.keys() & set(question.split()):
                if not (folder / file).exists():
                    seconds(MADE[file], folder)
            times = []
            for _ in range(runs + 1):
                for output in ("HARDWARE", "PROGRAM"):
                    shutil.rmtree(folder / output, ignore_errors=True)
                times.append(seconds(question, folder))
            own = times[1:]
            limit = "" if most is None else f" of {most:4.1f}"
            yield (
                f"{statistics.median(own):6.2f}{limit:8} s ({min(own):.2f} to {max(own):.2f})  "
                f"{question}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="of the commands to run")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    for line in lines(options.word, options.runs):
        print(line, flush=True)
