"""Mappings onto wide and unaligned memories, and co-designs, each in a process of its own:
``python -m benchmarks.wide_mappings``.

A row is a problem: the value, the bound, the gap between them, the status, CPU seconds of the whole
process, the most memory that it had, and whether that is within what is aimed at: a gap of 1 % at
most, 60 CPU seconds, 2 GB.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ithaca
from benchmarks.measured import Taken, measured

#: Gap, CPU seconds and GB of each that are aimed at.
GAP, SECONDS, MEMORY = 0.01, 60.0, 2.0

#: Commands by the names of their rows.
CASES: Mapping[str, str] = {
    "product of 1024³, simba-like, energy": "map mm -s i=1024,j=1024,k=1024 --arch simba-like --objective energy",
    "product of 3072 × 768 × 2048, simba-like, any bypass, energy": "map mm -s i=3072,j=768,k=2048 --arch simba-like --bypass free --objective energy",
    "product of 3072 × 768 × 2048, eyeriss, any bypass, energy": "map mm -s i=3072,j=768,k=2048 --arch eyeriss --bypass free --objective energy",
    "product of 1024³, eyeriss, uneven, energy": "map mm -s i=1024,j=1024,k=1024 --arch eyeriss --edition uneven --objective energy",
    "product of 1000³, eyeriss, uneven, energy": "map mm -s i=1000,j=1000,k=1000 --arch eyeriss --edition uneven --objective energy",
    "U-Net convolution, 320 channels of 64 × 64, tpu-like, EDP": "map conv2d -s o=320,i=320,r=64,c=64,p=3,q=3 --arch tpu-like",
    "MobileNetV2, eyeriss, EDP": "network mobilenetv2 --arch eyeriss --objective edp",
    "co-design of explainable-edge, ResNet18": "codesign explainable-edge resnet18",
    "co-design of hasco-gemm, product of 1024³": "codesign hasco-gemm mm -s i=1024,j=1024,k=1024",
}


def answered(command: str, seconds: float | None) -> tuple[Any, Taken]:
    """The answer of a command, and what it took."""
    with TemporaryDirectory() as folder:
        output = Path(folder, "result.json")
        limit = [] if seconds is None else ["--time-limit", str(seconds)]
        taken = measured(["-m", "ithaca", *shlex.split(command), *limit, "-o", str(output)])
        if not output.is_file():
            raise SystemExit(taken.errors)
        return ithaca.load(output), taken


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="part of the names")
    parser.add_argument("--seconds", type=float, help="time limit of each, by the clock")
    taken = parser.parse_args(arguments)
    print("problem | value | bound | gap | status | CPU s | GB | beyond the aim")
    for name, command in CASES.items():
        if taken.only in name:
            answer, run = answered(command, taken.seconds)
            proof = answer.certificate
            bound, gap = proof.lower_bound, proof.gap
            beyond = {
                "gap": gap is None or gap > GAP,
                "time": run.seconds > SECONDS,
                "memory": run.memory > MEMORY * 1e9,
            }
            print(
                f"{name} | {float(answer.value):,.10g} | "
                f"{'none' if bound is None else f'{float(bound):,.10g}'} | "
                f"{'unknown' if gap is None else f'{float(gap):.2%}'} | {answer.status} | "
                f"{run.seconds:.1f} | {run.memory / 1e9:.2f} | "
                f"{', '.join(what for what, is_so in beyond.items() if is_so) or 'nothing'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
