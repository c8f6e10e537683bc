"""Time and memory of commands under short limits: ``python -m benchmarks.time_limits [WORD]
[--limit S]``.

Each question is one whose problem takes long to build, or whose search takes long to look up. The
clock is that of the processor, so that what else runs does not count. Printed are the seconds as a
share of what is allowed, one and a half times the limit and two seconds, and the largest memory as
a share of 2 GiB.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

#: Runs a command by the processor's clock, and says what it took.
PROGRAM = """
import atexit, json, resource, sys, time
time.perf_counter = time.process_time
def say():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print("@", json.dumps([time.process_time(), usage.ru_maxrss * 1024]), file=sys.stderr)
atexit.register(say)
from ithaca.cli import main
sys.argv = ["ithaca", *sys.argv[1:]]
main()
"""

#: Four levels that keep every tensor, of which storage nodes have 1,680 orders.
LEVELS = (
    ("DRAM", ""),
    ("Buffer", ", entries: 16"),
    ("Inner", ", entries: 12"),
    ("Reg", ", entries: 11"),
)

#: Limits (s).
LIMITS = (0.5, 1.0, 3.0)

#: Files that questions name, beside ARCH.yaml, the architecture of four levels, and CHAIN.onnx, a model of 300
#: layers: what makes them, in this order.
MADE = {
    "PROOF.json": "solve mm -s i=64,j=64,k=64 -o PROOF.json",
    "LARGE.json": "solve mm -s i=4096,j=4096,k=4096 --time-limit 10 -o LARGE.json",
    "MAPPED.json": "map conv2d -s o=64,i=64,r=56,c=56 --arch eyeriss --time-limit 2 -o MAPPED.json",
    "UNEVEN.json": "map mm -s i=32,j=32,k=32 --arch eyeriss --edition uneven --time-limit 2 -o UNEVEN.json",
    "LAYERS.json": "network resnet50 --time-limit 20 -o LAYERS.json",
    "FUSED.json": "network resnet50 --arch eyeriss --fuse --time-limit 20 -o FUSED.json",
    "FRONT.json": "pareto mm -s i=64,j=64,k=64 --objectives latency,dsp --time-limit 8 -o FRONT.json",
    "STUDY.json": "whatif mm -s j=512,k=512 --vary i=256,512,1024,2048 --time-limit 8 -o STUDY.json",
    "SPACE.json": "codesign hasco-gemm mm -s i=1024,j=1024,k=1024 --time-limit 5 -o SPACE.json",
    "TIMELOOP": "export MAPPED.json --to timeloop -o TIMELOOP",
    "POINTS.csv": "seed LARGE.json --to csv --count 2000 -o POINTS.csv",
}

#: Questions that take no limit, as nothing is searched: they are asked without one.
BOUNDED = tuple(
    f"{command} {file}"
    for file in ("LAYERS.json", "FUSED.json", "FRONT.json", "STUDY.json")
    for command in ("explain", "report -o OUTPUT.html")
)

QUESTIONS = (
    "solve mm -s i=65536,j=65536,k=65536",
    "solve mm -s i=1,j=6144,k=4096 --dtype int8 --platform u280 --ports 32",
    "solve mm -s i=1,j=6144,k=4096 --dtype int8 --platform u280 --ports 32 --method gp",
    "solve mm -s i=65536,j=65536,k=65536 --method nlp",
    "solve mm -s i=65536,j=65536,k=65536 --method cpsat",
    "solve lu -s n=47",
    "solve lu -s n=66",
    "map mm -s i=3,j=2,k=3 --arch ARCH.yaml --edition uneven --objective energy",
    "map mm -s i=3,j=2,k=3 --arch ARCH.yaml --edition uneven --objective energy --method nlp",
    "map conv2d -s o=512,i=512,r=224,c=224,p=3,q=3 --arch simba-like --bypass free --remainders",
    "map conv2d -s o=512,i=512,r=224,c=224,p=3,q=3 --arch dmazerunner-256 --edition dmazerunner",
    "network resnet50",
    "network resnet50 --fuse",
    "network resnet50 --mode shared-array",
    "network resnet50 --mode multi-array --arrays 2",
    "network resnet50 --arch eyeriss --fuse",
    "network resnet50 --arch eyeriss --edition uneven --fuse",
    "network CHAIN.onnx",
    "network CHAIN.onnx --fuse",
    "network CHAIN.onnx --arch eyeriss",
    "network CHAIN.onnx --arch eyeriss --fuse",
    "network vgg16 --arch dmazerunner-256 --edition dmazerunner",
    "codesign hasco-gemm mm -s i=1024,j=1024,k=1024",
    "codesign dmazerunner-memory resnet18",
    "codesign explainable-edge resnet18",
    "codesign hasco-conv resnet18 --layers conv3_*",
    "codesign u250-arrays mm -s i=1024,j=1024,k=1024",
    "codesign u250-arrays vgg16 --fuse",
    "pareto mm -s i=512,j=512,k=512 --objectives latency,dsp",
    "pareto resnet50 --objectives latency,energy",
    "pareto conv2d -s o=64,i=64,r=56,c=56 --arch eyeriss --objectives energy,latency",
    "whatif mm -s k=512 --vary i=256,512,1024 --vary j=256,512",
    "whatif mm -s i=4096,j=4096,k=4096 --marginal 5",
    "whatif conv2d -s o=64,i=64,c=56 --arch eyeriss --vary r=14,28,56",
    "seed mm -s i=65536,j=65536,k=65536 --to csv -o OUTPUT.csv",
    "seed LARGE.json --to csv -o OUTPUT.csv",
    "seed LAYERS.json --to csv -o OUTPUT",
    "seed MAPPED.json --to csv -o OUTPUT.csv",
    "solve ttmc -s i=512,j=512,k=512,l=512,m=512 --method cpsat",
    "network llama3.2-1b --arch eyeriss",
    "network llama3.2-1b --fuse --arch simba-like",
    "codesign dmazerunner-memory vgg16 --objectives energy,area",
    "pareto mm -s i=4096,j=4096,k=4096 --objectives latency,dsp,bram18k",
    "whatif conv2d -s o=64,i=64,c=56 --arch eyeriss --edition uneven --vary r=14,28,56",
    "verify FRONT.json",
    "verify STUDY.json",
    "refine LARGE.json",
    "refine UNEVEN.json",
    "refine LAYERS.json",
    "refine LAYERS.json --layer conv1",
    "evaluate LARGE.json",
    "evaluate LAYERS.json",
    "evaluate SPACE.json",
    "evaluate mm --points POINTS.csv",
    "grid LARGE.json",
    "grid PROOF.json --around 40",
    "simulate LARGE.json",
    "simulate LAYERS.json --layer conv1",
    "simulate mm --points POINTS.csv",
    "export LARGE.json --to rtl -o OUTPUT",
    "export LAYERS.json --to rtl -o OUTPUT",
    "export LARGE.json --to autosa --nearest -o OUTPUT",
    "export LAYERS.json --to autosa --nearest -o OUTPUT",
    *(f"export PROOF.json --to {tool} -o OUTPUT" for tool in ("scalesim", "pyomo", "gams", "bar")),
    *(f"export PROOF.json --to {tool} -o OUTPUT" for tool in ("nl", "cpsat", "latex", "python")),
    "programs mm -s i=65536,j=65536,k=65536 --to gams -o OUTPUT",
    "programs ttmc -s i=512,j=512,k=512,l=512,m=512 --to nl -o OUTPUT",
    "programs ttmc -s i=32,j=32,k=32,l=32,m=32 --to mps -o OUTPUT",
    *BOUNDED,
    *(
        f"{command} {file}"
        for file in (
            "PROOF.json",
            "LARGE.json",
            "MAPPED.json",
            "UNEVEN.json",
            "SPACE.json",
        )
        for command in ("verify", "explain", "report -o OUTPUT.html")
    ),
    "verify LAYERS.json",
    "verify FUSED.json",
    "timeloop-mapper TIMELOOP/arch.yaml TIMELOOP/problem.yaml TIMELOOP/ert.yaml -o OUTPUT",
)


def architecture() -> str:
    """The file of four levels."""
    lines = ["architecture:", "  version: 0.4", "  nodes:"]
    for name, entries in LEVELS:
        figures = f"datawidth: 16, read_energy: 50, write_energy: 10{entries}"
        lines.append(f"  - !Component {{name: {name}, class: SRAM, attributes: {{{figures}}}}}")
    return "\n".join(
        [*lines, "  - !Component {name: mac, class: intmac, attributes: {energy: 20}}"]
    )


def chain(layers: int = 300) -> bytes:
    """A model of so many layers, no two alike, each of which reads what the one before writes."""
    from onnx import TensorProto, helper

    sizes = [8 + n % 7 * 4 + n // 7 for n in range(layers + 1)]
    names = [f"t{n}" for n in range(layers + 1)]
    first, last = (
        helper.make_tensor_value_info(names[n], TensorProto.FLOAT, [64, sizes[n]]) for n in (0, -1)
    )
    weights = [
        helper.make_tensor_value_info(f"w{n}", TensorProto.FLOAT, [*sizes[n : n + 2]])
        for n in range(layers)
    ]
    nodes = [helper.make_node("MatMul", [names[n], f"w{n}"], [names[n + 1]]) for n in range(layers)]
    graph = helper.make_graph(nodes, "chain", [first, *weights], [last])
    return bytes(helper.make_model(graph).SerializeToString())


def command(question: str, folder: Path, *more: str) -> list[str]:
    """The command of a question, whose words in capitals are files of a folder."""
    words = [str(folder / w) if w[:4].isupper() else w for w in question.split()]
    return [sys.executable, "-c", PROGRAM, *words, *more]


def measured(question: str, limit: float, folder: Path) -> tuple[float, float, int]:
    """Shares of the time and of the memory that a question may take under a limit, and its exit
    status.

    Parameters
    ----------
    question : str
        The command without the limit.
    limit : float
        The limit (s).
    folder : Path
        The folder of the files that it names.
    """
    more = [] if question in BOUNDED else ["--time-limit", str(limit)]
    words = command(question, folder, *more)
    # as where it is installed, code is compiled once
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    run = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
    seconds, memory = json.loads(run.stderr.rpartition("@ ")[2])
    return seconds / (1.5 * limit + 2), memory / 2**31, run.returncode


def make(folder: Path, names: Iterable[str]) -> None:
    """Make the files of some names, and those of which these are made."""
    for name in names:
        if name in MADE and not (folder / name).exists():
            question = MADE[name]
            make(folder, (word for word in question.split() if word != name))
            subprocess.run(command(question, folder), capture_output=True, check=False)
            assert (folder / name).exists(), question  # it need not be proven


def lines(word: str, limits: Sequence[float]) -> Iterator[str]:
    """Shares of questions in which a word stands, as they are measured."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ARCH.yaml").write_text(architecture())
        (folder / "CHAIN.onnx").write_bytes(chain())
        for question in (question for question in QUESTIONS if word in question):
            make(folder, (w.partition("/")[0] for w in question.split()))
            measured(question, limits[0], folder)  # what it needs is compiled
            for limit in limits:
                time, memory, status = measured(question, limit, folder)
                ended = f" (exit status {status})" if status else ""
                yield (
                    f"{time:5.2f} of the time, {memory:4.2f} of the memory: {limit} s  "
                    f"{question}{ended}"
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="of the questions to ask")
    parser.add_argument("--limit", type=float, action="append", help=f"default: {LIMITS}")
    options = parser.parse_args()
    for line in lines(options.word, options.limit or LIMITS):
        print(line, flush=True)
