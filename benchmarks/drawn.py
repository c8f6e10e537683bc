"""CPU time of drawn questions: ``python -m benchmarks.drawn [--count N] [--seed N] [--limit S]``.

Questions are of the kinds that people ask: products, convolutions, depthwise convolutions, mttkrp
and ttmc of realistic sizes, for latency, energy, their product or traffic, on five platforms, in
four data types. Each is one whole command, all its designs proven. Printed are the CPU seconds of
its process and its largest memory, the slowest last, and the medians by objective.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.measured import measured

WORKLOADS = {
    "mm": {"i": (64, 197, 512, 1000, 1024, 4096), "j": (64, 768, 1024, 3072), "k": (64, 768, 2048)},
    "conv2d": {
        "o": (64, 96, 256, 512),
        "i": (3, 64, 128, 512),
        "r": (7, 14, 28, 56),
        "c": (7, 14, 28, 56),
        "p": (1, 3, 5),
        "q": (1, 3, 5),
    },
    "depthwise_conv2d": {"o": (32, 144, 960), "r": (7, 14, 56, 112), "c": (7, 14, 56, 112)},
    "mttkrp": dict.fromkeys("ijkl", (16, 64, 128, 256)),
    "ttmc": dict.fromkeys("ijklm", (8, 16, 32, 64)),
}
OBJECTIVES = ("latency", "energy", "edp", "off_chip_words")
PLATFORMS = ("u250", "u280", "u55c", "vu9p", "zcu102")
TYPES = ("int8", "int16", "fp32", "bf16")


@dataclass(frozen=True)
class Run:
    """One question as it was run."""

    question: str
    """The command."""
    objective: str
    """The objective."""
    seconds: float
    """CPU seconds of the process."""
    memory: float
    """Largest memory (MiB)."""
    proven: str
    """Designs proven of all, in words."""


def drawn(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Drawn questions, each with its objective."""
    draw = random.Random(seed)
    for _ in range(count):
        name = draw.choice([*WORKLOADS])
        sizes = {loop: draw.choice(values) for loop, values in WORKLOADS[name].items()}
        if "q" in sizes:  # windows are square
            sizes["q"] = sizes["p"]
        objective = draw.choice(OBJECTIVES)
        words = ",".join(f"{loop}={extent}" for loop, extent in sizes.items())
        yield (
            f"solve {name} -s {words} --platform {draw.choice(PLATFORMS)} "
            f"--dtype {draw.choice(TYPES)} --objective {objective}",
            objective,
        )


def run(question: str, objective: str, limit: float) -> Run:
    """Run a question in a process of its own.

    Parameters
    ----------
    question : str
        The command.
    objective : str
        Its objective.
    limit : float
        Time limit (s).
    """
    words = [*question.split(), "--verbose", "--time-limit", str(limit)]
    taken = measured(["-m", "ithaca", *words])
    if taken.status:
        return Run(question, objective, 0.0, 0.0, taken.errors.splitlines()[0])
    verdicts = re.findall(r"│ (optimal|feasible|not better|infeasible|no answer)\b", taken.output)
    proven = f"{sum(v != 'feasible' for v in verdicts)} of {len(verdicts)}"
    return Run(question, objective, taken.seconds, taken.memory / 2**20, proven)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=60.0, help="time limit of each (s)")
    options = parser.parse_args()
    runs = [run(*each, options.limit) for each in drawn(options.count, options.seed)]
    for each in sorted(runs, key=lambda one: one.seconds):
        print(f"{each.seconds:6.2f} s {each.memory:6.0f} MiB  {each.proven:8} {each.question}")
    for name in OBJECTIVES:
        seconds = [each.seconds for each in runs if each.objective == name and each.seconds]
        print(f"median {name}: {statistics.median(seconds):.2f} s" if seconds else f"no {name}")
