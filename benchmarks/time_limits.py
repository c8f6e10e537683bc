"""Time and memory of commands under short limits: ``python -m benchmarks.time_limits [WORD]``.

Each question is one whose problem takes long to build, or whose search takes long to look up. The
clock is that of the processor, so that what else runs does not count. Printed are the seconds as a
share of what is allowed, one and a half times the limit and two seconds, and the largest memory as
a share of 2 GiB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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

QUESTIONS = (
    "solve mm -s i=65536,j=65536,k=65536",
    "solve mm -s i=1,j=6144,k=4096 --dtype int8 --platform u280 --ports 32",
    "solve mm -s i=1,j=6144,k=4096 --dtype int8 --platform u280 --ports 32 --method gp",
    "solve mm -s i=65536,j=65536,k=65536 --method nlp",
    "solve mm -s i=65536,j=65536,k=65536 --method cpsat",
    "solve lu -s n=47",
    "solve lu -s n=66",
    "map mm -s i=3,j=2,k=3 --arch ARCH --edition uneven --objective energy",
    "map mm -s i=3,j=2,k=3 --arch ARCH --edition uneven --objective energy --method nlp",
    "map conv2d -s o=512,i=512,r=224,c=224,p=3,q=3 --arch simba-like --bypass free --remainders",
    "map conv2d -s o=512,i=512,r=224,c=224,p=3,q=3 --arch dmazerunner-256 --edition dmazerunner",
    "network resnet50",
    "network resnet50 --fuse",
    "network resnet50 --mode shared-array",
    "network resnet50 --mode multi-array --arrays 2",
    "network resnet50 --arch eyeriss --fuse",
    "network resnet50 --arch eyeriss --edition uneven --fuse",
    "network CHAIN",
    "network CHAIN --fuse",
    "network CHAIN --arch eyeriss",
    "codesign hasco-gemm",
    "pareto mm -s i=512,j=512,k=512 --objectives latency,dsp",
    "whatif mm -s k=512 --vary i=256,512,1024 --vary j=256,512",
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


def measured(question: str, limit: float, arch: Path) -> tuple[float, float]:
    """Shares of the time and of the memory that a question may take under a limit.

    Parameters
    ----------
    question : str
        The command without the limit; ARCH is the file of four levels, CHAIN that of a model.
    limit : float
        The limit (s).
    arch : Path
        That file.
    """
    model = arch.parent / "chain.onnx"
    words = question.replace("ARCH", str(arch)).replace("CHAIN", str(model)).split()
    command = [sys.executable, "-c", PROGRAM, *words, "--time-limit", str(limit)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds, memory = json.loads(run.stderr.rpartition("@ ")[2])
    return seconds / (1.5 * limit + 2), memory / 2**31


def lines(word: str) -> Iterator[str]:
    """Shares of questions in which a word stands, as they are measured."""
    with tempfile.TemporaryDirectory() as folder:
        arch = Path(folder) / "four_levels.yaml"
        arch.write_text(architecture())
        (arch.parent / "chain.onnx").write_bytes(chain())
        for question in (question for question in QUESTIONS if word in question):
            for limit in LIMITS:
                time, memory = measured(question, limit, arch)
                yield f"{time:5.2f} of the time, {memory:4.2f} of the memory: {limit} s  {question}"


if __name__ == "__main__":
    for line in lines(" ".join(sys.argv[1:])):
        print(line, flush=True)
